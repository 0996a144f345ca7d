package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// pastBus is a Service Bus namespace outside: its calls are trips.
type pastBus struct {
	trip
	ns servicebus.Namespace
}

var (
	_ servicebus.Namespace = pastBus{}
	_ servicebus.Session   = pastSession{}
)

func (o pastBus) Send(ctx context.Context, entity string, messages ...*servicebus.Message) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.ns.Send(ctx, entity, messages...) })
}

func (o pastBus) Schedule(ctx context.Context, entity string, at time.Time, messages ...*servicebus.Message) ([]int64, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]int64, error) { return o.ns.Schedule(ctx, entity, at, messages...) })
}

func (o pastBus) CancelScheduled(ctx context.Context, entity string, sequenceNumbers ...int64) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.ns.CancelScheduled(ctx, entity, sequenceNumbers...) })
}

func (o pastBus) Receiver(ctx context.Context, source string, opts *servicebus.ReceiverOptions) (servicebus.Receiver, error) {
	r, err := away(ctx, o.trip, func(ctx context.Context) (servicebus.Receiver, error) {
		return o.ns.Receiver(ctx, source, opts)
	})
	if err != nil {
		return nil, err
	}
	return pastReceiver{o.trip, r}, nil
}

func (o pastBus) AcceptSession(ctx context.Context, source string, opts *servicebus.SessionOptions) (servicebus.Session, error) {
	s, err := away(ctx, o.trip, func(ctx context.Context) (servicebus.Session, error) {
		return o.ns.AcceptSession(ctx, source, opts)
	})
	if err != nil {
		return nil, err
	}
	return pastSession{pastReceiver{o.trip, s}, s}, nil
}

// pastReceiver is a receiver of a namespace outside.
type pastReceiver struct {
	trip
	r servicebus.Receiver
}

func (o pastReceiver) Source() string { return o.r.Source() }

func (o pastReceiver) Receive(ctx context.Context, n int, wait time.Duration) ([]*servicebus.Received, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) { return o.r.Receive(ctx, n, wait) })
}

func (o pastReceiver) ReceiveDeferred(ctx context.Context, sequenceNumbers ...int64) ([]*servicebus.Received, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) {
		return o.r.ReceiveDeferred(ctx, sequenceNumbers...)
	})
}

func (o pastReceiver) Peek(ctx context.Context, from int64, n int) ([]*servicebus.Received, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*servicebus.Received, error) { return o.r.Peek(ctx, from, n) })
}

func (o pastReceiver) Complete(ctx context.Context, m *servicebus.Received) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Complete(ctx, m) })
}

func (o pastReceiver) Abandon(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Abandon(ctx, m, properties) })
}

func (o pastReceiver) Defer(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Defer(ctx, m, properties) })
}

func (o pastReceiver) DeadLetter(ctx context.Context, m *servicebus.Received, reason, description string, properties map[string]any) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.DeadLetter(ctx, m, reason, description, properties) })
}

func (o pastReceiver) Release(ctx context.Context, m *servicebus.Received) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.r.Release(ctx, m) })
}

func (o pastReceiver) Renew(ctx context.Context, m *servicebus.Received) (time.Time, error) {
	return away(ctx, o.trip, func(ctx context.Context) (time.Time, error) { return o.r.Renew(ctx, m) })
}

func (o pastReceiver) Close(ctx context.Context) error {
	return last(ctx, o.trip, o.r.Close)
}

// pastSession is a session of a namespace outside.
type pastSession struct {
	pastReceiver
	s servicebus.Session
}

func (o pastSession) SessionID() string { return o.s.SessionID() }

func (o pastSession) LockedUntil() time.Time { return o.s.LockedUntil() }

func (o pastSession) RenewSession(ctx context.Context) (time.Time, error) {
	return away(ctx, o.trip, o.s.RenewSession)
}

func (o pastSession) State(ctx context.Context) ([]byte, error) {
	return away(ctx, o.trip, o.s.State)
}

func (o pastSession) SetState(ctx context.Context, state []byte) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.s.SetState(ctx, state) })
}
