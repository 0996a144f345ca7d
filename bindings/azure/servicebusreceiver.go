package azure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// sdkReceiver is the common part of the client's two kinds of receivers.
type sdkReceiver interface {
	ReceiveMessages(ctx context.Context, n int, opts *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	ReceiveDeferredMessages(ctx context.Context, numbers []int64, opts *azservicebus.ReceiveDeferredMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	PeekMessages(ctx context.Context, n int, opts *azservicebus.PeekMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
	CompleteMessage(ctx context.Context, m *azservicebus.ReceivedMessage, opts *azservicebus.CompleteMessageOptions) error
	AbandonMessage(ctx context.Context, m *azservicebus.ReceivedMessage, opts *azservicebus.AbandonMessageOptions) error
	DeferMessage(ctx context.Context, m *azservicebus.ReceivedMessage, opts *azservicebus.DeferMessageOptions) error
	DeadLetterMessage(ctx context.Context, m *azservicebus.ReceivedMessage, opts *azservicebus.DeadLetterOptions) error
	Close(ctx context.Context) error
}

// receiver implements servicebus.Receiver.
type receiver struct {
	sdk  sdkReceiver
	bus  *ServiceBus
	path servicebus.Path
	mode servicebus.ReceiveMode

	links atomic.Int64 // how many were lost

	*gate
}

var _ servicebus.Receiver = (*receiver)(nil)

func newReceiver(sdk sdkReceiver, bus *ServiceBus, path servicebus.Path, mode servicebus.ReceiveMode) *receiver {
	return &receiver{sdk: sdk, bus: bus, path: path, mode: mode, gate: newGate()}
}

func (r *receiver) Source() string { return r.path.String() }

// maxCredits is how many messages the client asks for at most; it refuses more.
//
// Source: azservicebus: receiver.go, defaultLinkRxBuffer.
const maxCredits = 5000

// batchPause is how long the client goes on receiving after the first message.
const batchPause = 20 * time.Millisecond

func (r *receiver) Receive(ctx context.Context, n int, wait time.Duration) (out []*servicebus.Received, err error) {
	if err := r.bus.line.ask(ctx, func(ctx context.Context) error { _, err := r.Peek(ctx, 0, 1); return err }); err != nil {
		return nil, err
	}
	err = r.bus.line.call(ctx, func(ctx context.Context) (err error) {
		out, err = r.receive(ctx, n, wait)
		return err
	})
	return out, err
}

func (r *receiver) receive(ctx context.Context, n int, wait time.Duration) ([]*servicebus.Received, error) {
	within, cancel := waiting(ctx, wait)
	defer cancel()
	if ok, err := r.enter(ctx, within); !ok {
		return nil, err
	}
	defer r.leave()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // until Receive returns
		select {
		case <-r.closed:
			cancel()
		case <-stop:
		}
	}()
	for lost := 0; ; lost++ {
		begun := time.Now()
		list, err := r.sdk.ReceiveMessages(within, min(n, maxCredits), &azservicebus.ReceiveMessagesOptions{TimeAfterFirstMessage: batchPause})
		switch {
		case len(list) > 0:
			// Messages that the client has given back since the last call come
			// after messages that were on their way meanwhile.
			slices.SortStableFunc(list, func(a, b *azservicebus.ReceivedMessage) int {
				return cmp.Compare(value(a.SequenceNumber), value(b.SequenceNumber))
			})
			return r.take(list), nil
		case r.isClosed():
			return nil, messaging.ErrClosed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case within.Err() != nil:
			return nil, nil
		}
		if err != nil {
			return nil, r.translate(ctx, err, messaging.ConditionNotFound)
		}
		// This is how the client reports a lost link. It opens one when it is asked again,
		// in as many tries as it is allowed. A link that has lasted is no failed try: the
		// service detaches a link that was idle for ten minutes.
		r.links.Add(1)
		if time.Since(begun) >= linkLasts {
			lost = 0
		}
		switch {
		case lost > r.bus.retries:
			return nil, errLinkLost
		case lost > 0 && !pause(within, messagingRetryDelay<<(lost-1)) && ctx.Err() == nil && !r.isClosed():
			return nil, nil
		}
	}
}

// linkLasts is how long a link has to live to be no failed try when it is lost.
const linkLasts = time.Minute

// errLinkLost is the error of a Receive that lost one link after the other.
var errLinkLost = &bindings.UnreachableError{Err: errors.New("the link was lost")}

// pause waits; false: ctx has ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// take remembers what it will have to settle.
func (r *receiver) take(list []*azservicebus.ReceivedMessage) []*servicebus.Received {
	out := make([]*servicebus.Received, len(list))
	for i, m := range list {
		out[i] = incoming(m)
		if r.mode == servicebus.ReceiveAndDelete {
			out[i].LockToken, out[i].LockedUntil = bindings.GUID{}, time.Time{}
			continue
		}
		r.bus.held.add(&holding{m, r, r.links.Load()})
	}
	return out
}

func (r *receiver) ReceiveDeferred(ctx context.Context, sequenceNumbers ...int64) (out []*servicebus.Received, err error) {
	if len(sequenceNumbers) == 0 {
		return nil, nil
	}
	err = r.call(ctx, messaging.ConditionMessageNotFound, func(ctx context.Context) error {
		list, err := r.sdk.ReceiveDeferredMessages(ctx, sequenceNumbers, nil)
		if err == nil {
			out = r.take(list)
		}
		return err
	})
	return out, err
}

func (r *receiver) Peek(ctx context.Context, from int64, n int) ([]*servicebus.Received, error) {
	var list []*azservicebus.ReceivedMessage
	err := r.call(ctx, messaging.ConditionNotFound, func(ctx context.Context) (err error) {
		list, err = r.sdk.PeekMessages(ctx, n, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &from})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]*servicebus.Received, len(list))
	for i, m := range list {
		out[i] = incoming(m)
		out[i].LockToken, out[i].LockedUntil = bindings.GUID{}, time.Time{}
	}
	return out, nil
}

// settle finds the client's message and settles it, on its link, or by $management when
// the link was lost.
func (r *receiver) settle(ctx context.Context, m *servicebus.Received, f settlement) error {
	held, err := r.holding(m)
	if err != nil {
		return err
	}
	err = r.call(ctx, messaging.ConditionMessageLockLost, func(ctx context.Context) (err error) {
		if held.hasLink() {
			err = within(ctx, linkTime, held.m, f)
		}
		if !held.hasLink() || ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || isTransport(err)) {
			err = within(ctx, managementTime, held.withoutLink(), f)
		}
		return err
	})
	if err == nil || isLockLost(err) {
		r.bus.held.remove(m.LockToken)
	}
	return err
}

// holding finds the client's message of one that was received.
func (r *receiver) holding(m *servicebus.Received) (*holding, error) {
	if r.mode == servicebus.ReceiveAndDelete {
		return nil, messaging.NewError(messaging.ConditionNotAllowed, "the message was removed when it was received")
	}
	if r.isClosed() {
		return nil, messaging.ErrClosed
	}
	held := r.bus.held.get(m.LockToken)
	if held == nil {
		return nil, messaging.NewError(messaging.ConditionMessageLockLost, fmt.Sprintf("%q: the message is not locked", r.path))
	}
	return held, nil
}

// settlement is one of the client's calls for a message.
type settlement func(ctx context.Context, m *azservicebus.ReceivedMessage) error

const (
	// linkTime is how long a message's own link has for its settlement. The client goes
	// on for most of a minute with a link that is no more.
	linkTime = 3 * time.Second
	// managementTime is how long $management has, where the link was lost. With a service
	// that does not answer the client would wait without end.
	managementTime = 5 * time.Second
)

// within settles a message in a time.
func within(ctx context.Context, limit time.Duration, m *azservicebus.ReceivedMessage, f settlement) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := abandoned(ctx, func() (struct{}, error) { return struct{}{}, f(ctx, m) })
	return err
}

func (r *receiver) Complete(ctx context.Context, m *servicebus.Received) error {
	return r.settle(ctx, m, func(ctx context.Context, m *azservicebus.ReceivedMessage) error {
		return r.sdk.CompleteMessage(ctx, m, nil)
	})
}

func (r *receiver) Abandon(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	set, err := outgoingProperties(properties)
	if err != nil {
		return err
	}
	return r.settle(ctx, m, func(ctx context.Context, m *azservicebus.ReceivedMessage) error {
		return r.sdk.AbandonMessage(ctx, m, &azservicebus.AbandonMessageOptions{PropertiesToModify: set})
	})
}

func (r *receiver) Defer(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	set, err := outgoingProperties(properties)
	if err != nil {
		return err
	}
	return r.settle(ctx, m, func(ctx context.Context, m *azservicebus.ReceivedMessage) error {
		return r.sdk.DeferMessage(ctx, m, &azservicebus.DeferMessageOptions{PropertiesToModify: set})
	})
}

// DeadLetter checks what the service would refuse after it had settled the message
// on the client's side.
func (r *receiver) DeadLetter(ctx context.Context, m *servicebus.Received, reason, description string, properties map[string]any) error {
	set, err := outgoingProperties(properties)
	if err != nil {
		return err
	}
	switch {
	case r.mode == servicebus.ReceiveAndDelete: // settle says so
	case r.path.SubQueue != servicebus.MainQueue:
		return messaging.NewError(messaging.ConditionNotAllowed, fmt.Sprintf("%q: a message cannot be dead-lettered out of a dead-letter queue", r.path))
	case utf8.RuneCountInString(reason) > servicebus.MaxDeadLetterText || utf8.RuneCountInString(description) > servicebus.MaxDeadLetterText:
		return messaging.NewError(messaging.ConditionArgumentOutOfRange, fmt.Sprintf("dead-letter reason and description have up to %d characters", servicebus.MaxDeadLetterText))
	}
	o := &azservicebus.DeadLetterOptions{PropertiesToModify: set}
	if reason != "" {
		o.Reason = &reason
	}
	if description != "" {
		o.ErrorDescription = &description
	}
	return r.settle(ctx, m, func(ctx context.Context, m *azservicebus.ReceivedMessage) error {
		return r.sdk.DeadLetterMessage(ctx, m, o)
	})
}

func (r *receiver) Release(context.Context, *servicebus.Received) error {
	return messaging.NewError(messaging.ConditionNotImplemented, "the client releases no message on request")
}

func (r *receiver) Renew(ctx context.Context, m *servicebus.Received) (time.Time, error) {
	plain, ok := r.sdk.(*azservicebus.Receiver)
	if !ok {
		return time.Time{}, messaging.NewError(messaging.ConditionNotAllowed, "the session's lock is renewed, not a message's")
	}
	held, err := r.holding(m)
	if err != nil {
		return time.Time{}, err
	}
	copied := *held.m // calls for one message may overlap
	err = r.call(ctx, messaging.ConditionMessageLockLost, func(ctx context.Context) error {
		return plain.RenewMessageLock(ctx, &copied, nil)
	})
	if err != nil {
		if isLockLost(err) {
			r.bus.held.remove(m.LockToken)
		}
		return time.Time{}, err
	}
	if copied.LockedUntil != nil {
		m.LockedUntil = copied.LockedUntil.UTC()
	}
	return m.LockedUntil, nil
}

func (r *receiver) Close(ctx context.Context) error {
	return r.bus.line.opts.end(ctx, func(ctx context.Context) error {
		return r.shut(func() error { return translateBus(ctx, closeSoon(ctx, r.sdk.Close), messaging.ConditionNotFound) })
	})
}

// call makes a call of the client's.
func (r *receiver) call(ctx context.Context, missing messaging.Condition, f func(ctx context.Context) error) error {
	return r.bus.line.call(ctx, func(ctx context.Context) error { return r.translate(ctx, f(ctx), missing) })
}

// translate returns an error as package bindings has it. A client's code does not
// tell a message's lock from a session's.
func (r *receiver) translate(ctx context.Context, err error, missing messaging.Condition) error {
	if err = translateBus(ctx, err, missing); err == nil {
		return nil
	}
	if _, inSession := r.sdk.(*azservicebus.SessionReceiver); inSession {
		return sessionError(err)
	}
	return err
}
