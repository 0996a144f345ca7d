package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// outsideBus is a Service Bus namespace outside: its calls are trips.
type outsideBus struct {
	trip
	ns servicebus.Namespace
}

var (
	_ servicebus.Namespace = outsideBus{}
	_ servicebus.Session   = outsideSession{}
)

func (o outsideBus) Send(ctx context.Context, entity string, messages ...*servicebus.Message) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.ns.Send(ctx, entity, messages...) })
}

func (o outsideBus) Schedule(ctx context.Context, entity string, at time.Time, messages ...*servicebus.Message) ([]int64, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]int64, error) { return o.ns.Schedule(ctx, entity, at, messages...) })
}

func (o outsideBus) CancelScheduled(ctx context.Context, entity string, sequenceNumbers ...int64) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.ns.CancelScheduled(ctx, entity, sequenceNumbers...) })
}

func (o outsideBus) Receiver(ctx context.Context, source string, opts *servicebus.ReceiverOptions) (servicebus.Receiver, error) {
	r, err := away(ctx, o.trip, func(ctx context.Context) (servicebus.Receiver, error) {
		return o.ns.Receiver(ctx, source, opts)
	})
	if err != nil {
		return nil, err
	}
	return outsideReceiver{o.trip, r}, nil
}

func (o outsideBus) AcceptSession(ctx context.Context, source string, opts *servicebus.SessionOptions) (servicebus.Session, error) {
	if err := o.ask(ctx, func(ctx context.Context) error {
		r, err := o.ns.Receiver(ctx, source, nil)
		if err == nil {
			_ = r.Close(ctx)
		}
		return err
	}); err != nil {
		return nil, err
	}
	s, err := away(ctx, o.trip, func(ctx context.Context) (servicebus.Session, error) {
		return o.ns.AcceptSession(ctx, source, opts)
	})
	if err != nil {
		return nil, err
	}
	return outsideSession{outsideReceiver{o.trip, s}, s}, nil
}

// outsideReceiver is a receiver of a namespace outside.
type outsideReceiver struct {
	trip
	r servicebus.Receiver
}

func (o outsideReceiver) Source() string { return o.r.Source() }

func (o outsideReceiver) Receive(ctx context.Context, n int, wait time.Duration) ([]*servicebus.Received, error) {
	if err := o.ask(ctx, func(ctx context.Context) error { _, err := o.r.Peek(ctx, 0, 1); return err }); err != nil {
		return nil, err
	}
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) { return o.r.Receive(ctx, n, wait) })
}

func (o outsideReceiver) ReceiveDeferred(ctx context.Context, sequenceNumbers ...int64) ([]*servicebus.Received, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) {
		return o.r.ReceiveDeferred(ctx, sequenceNumbers...)
	})
}

func (o outsideReceiver) Peek(ctx context.Context, from int64, n int) ([]*servicebus.Received, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) { return o.r.Peek(ctx, from, n) })
}

func (o outsideReceiver) Complete(ctx context.Context, m *servicebus.Received) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Complete(ctx, m) })
}

func (o outsideReceiver) Abandon(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Abandon(ctx, m, properties) })
}

func (o outsideReceiver) Defer(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Defer(ctx, m, properties) })
}

func (o outsideReceiver) DeadLetter(ctx context.Context, m *servicebus.Received, reason, description string, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.DeadLetter(ctx, m, reason, description, properties) })
}

func (o outsideReceiver) Release(ctx context.Context, m *servicebus.Received) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Release(ctx, m) })
}

func (o outsideReceiver) Renew(ctx context.Context, m *servicebus.Received) (time.Time, error) {
	return away(ctx, o.trip, func(ctx context.Context) (time.Time, error) { return o.r.Renew(ctx, m) })
}

func (o outsideReceiver) Close(ctx context.Context) error {
	return last(ctx, o.trip, o.r.Close)
}

// outsideSession is a session of a namespace outside.
type outsideSession struct {
	outsideReceiver
	s servicebus.Session
}

func (o outsideSession) SessionID() string { return o.s.SessionID() }

func (o outsideSession) LockedUntil() time.Time { return o.s.LockedUntil() }

func (o outsideSession) RenewSession(ctx context.Context) (time.Time, error) {
	return away(ctx, o.trip, o.s.RenewSession)
}

func (o outsideSession) State(ctx context.Context) ([]byte, error) {
	return away(ctx, o.trip, o.s.State)
}

func (o outsideSession) SetState(ctx context.Context, state []byte) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.s.SetState(ctx, state) })
}
