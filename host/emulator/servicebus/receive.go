package servicebus

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
)

// receiver is a handle on one queue. A sessionReceiver adds the session.
type receiver struct {
	ns    *Namespace
	epoch *epoch.Epoch // the epoch of the receiver's holder; nil: it does not end
	opts  servicebus.ReceiverOptions
	name  string // of the queue

	// Guarded by ns.mu.
	q       *queue
	session *session // nil: plain
	closed  bool
	leaves  map[int64]leaving // by sequence number
}

var (
	_ servicebus.Link    = (*receiver)(nil)
	_ servicebus.Session = (*sessionReceiver)(nil)
	_ servicebus.Link    = (*sessionReceiver)(nil)
)

// noSessionText is the service's text for a plain receiver of an entity with sessions.
//
// Source: azservicebus: session_receiver_test.go, TestSessionReceiver_nonSessionReceiver.
const noSessionText = "It is not possible for an entity that requires sessions to create a non-sessionful message receiver."

// Receiver implements servicebus.Namespace.
func (ns *Namespace) Receiver(ctx context.Context, source string, opts *servicebus.ReceiverOptions) (servicebus.Receiver, error) {
	r := &receiver{ns: ns}
	if opts != nil {
		r.opts = *opts
	}
	err := ns.operate(ctx, FaultPoint{Op: "Receiver", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if q.bySession() {
			return refuseAs(messaging.ConditionNotAllowed, noSessionText, "it is not possible for an entity that requires sessions to create a non-sessionful message receiver: %q", q.name)
		}
		r.q, r.name = q, q.name
		return q.receivable()
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// operate is the namespace's operate in the receiver's epoch.
func (r *receiver) operate(ctx context.Context, p FaultPoint, f func(op *operation) error) error {
	return r.epoch.During(func() error { return r.ns.operate(ctx, p, f) })
}

// await is the namespace's await in the receiver's epoch.
func (r *receiver) await(ctx context.Context, p FaultPoint, wait time.Duration, try func(*operation) (*queue, *clock.Cond, *int, error)) error {
	return r.epoch.During(func() error { return r.ns.await(ctx, p, wait, r.opts.RealTime, try) })
}

// receivable reports why the queue cannot be received from now.
func (q *queue) receivable() error {
	switch {
	case q.gone != nil:
		return q.gone
	case q.owner.topic != nil:
		return refuse(messaging.ConditionNotAllowed, "%s: messages are received from a subscription, not from the topic", q.name)
	case !q.owner.receives():
		return refuse(messaging.ConditionEntityDisabled, "the messaging entity %q is disabled for receiving", q.name)
	case q.main() && q.owner.forwardTo != "":
		return refuse(messaging.ConditionNotAllowed, "cannot create a message receiver on an entity with auto-forwarding enabled: %q", q.name)
	}
	return nil
}

// Source implements servicebus.Receiver.
func (r *receiver) Source() string { return r.name }

// check returns why the receiver cannot go on. Its queue is up to date then.
func (r *receiver) check(op *operation) error {
	if r.closed {
		return fmt.Errorf("receiver on %q: %w", r.name, messaging.ErrClosed)
	}
	if r.q.gone == errReloaded && r.session == nil {
		q, err := op.find(r.name)
		if err != nil {
			return err
		}
		r.q = q
	}
	if r.q.gone != nil && r.q.gone != errReloaded {
		return r.q.gone
	}
	r.q.owner.use(op)
	r.q.tick(op)
	if s := r.session; s != nil && (s.holder != r || !s.held() || r.q.gone != nil) {
		return refuse(messaging.ConditionSessionLockLost, "%s: the lock of session %q has ended", r.name, s.id)
	}
	return nil
}

// Receive implements servicebus.Receiver.
func (r *receiver) Receive(ctx context.Context, n int, wait time.Duration) (out []*servicebus.Received, err error) {
	if n < 1 {
		return nil, refuse(messaging.ConditionArgumentOutOfRange, "number of messages %d: want 1 or more", n)
	}
	err = r.await(ctx, FaultPoint{Op: "Receive", Entity: r.name}, wait, func(op *operation) (*queue, *clock.Cond, *int, error) {
		if err := r.check(op); err != nil {
			return nil, nil, nil, err
		}
		q, s := r.q, r.session
		if err := q.receivable(); err != nil {
			return nil, nil, nil, err
		}
		q.owner.use(op)
		q.sweep(op)
		switch out = q.take(op, s, n, r); {
		case len(out) > 0:
			return nil, nil, nil, nil
		case s != nil:
			return q, s.changed, &q.sessionWaiters, nil
		}
		return q, q.arrived, &q.waiters, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// await runs try until it fails, has what it wants (it returns no queue), or wait
// is over, and otherwise waits for the Cond that try returns.
func (ns *Namespace) await(ctx context.Context, p FaultPoint, wait time.Duration, outside bool, try func(*operation) (*queue, *clock.Cond, *int, error)) error {
	return ns.kept.Operate(ctx, false, ns.opts.points(p), func() error {
		op := operations.Get().(*operation)
		defer operations.Put(op)
		var end time.Time
		if wait > 0 {
			end = ns.now().Add(wait)
		}
		for {
			err := op.begin(ns)
			done := false
			for err == nil {
				q, cond, waiters, tryErr := try(op)
				if err = tryErr; err != nil || q == nil || wait == 0 || !end.IsZero() && !end.After(op.now) {
					done = true
					break
				}
				if len(op.records) > 0 || op.Written() {
					break // tell first
				}
				q.waiting(op, waiters, 1)
				op.settleTimes()
				if outside {
					err = cond.IdleUntil(ctx, end)
				} else {
					err = cond.WaitUntil(ctx, end)
				}
				op.now = ns.now()
				q.waiting(op, waiters, -1)
				if err == nil {
					err = ctx.Err() // a caller that was woken and has given up since takes nothing
				}
				if err == nil {
					err = ns.kept.Ready()
				}
			}
			if finishErr := op.finish(ctx); finishErr != nil {
				return finishErr
			}
			if err != nil || done {
				return err
			}
		}
	})
}

// ReceiveDeferred implements servicebus.Receiver.
func (r *receiver) ReceiveDeferred(ctx context.Context, sequenceNumbers ...int64) (out []*servicebus.Received, err error) {
	err = r.operate(ctx, FaultPoint{Op: "ReceiveDeferred", Entity: r.name}, func(op *operation) error {
		if err := r.check(op); err != nil {
			return err
		}
		out, err = r.q.deliverDeferred(op, r.session, r.opts, sequenceNumbers)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// deliverDeferred hands out deferred messages by number, all or none.
func (q *queue) deliverDeferred(op *operation, s *session, opts servicebus.ReceiverOptions, numbers []int64) ([]*servicebus.Received, error) {
	if err := q.receivable(); err != nil {
		return nil, err
	}
	q.sweep(op)
	found := make([]*message, 0, len(numbers))
	for _, n := range numbers {
		m := q.all.find(n)
		if m == nil || m.state != servicebus.StateDeferred || m.locked() || m.session != s {
			return nil, refuse(messaging.ConditionMessageNotFound, "%s: there is no deferred message with sequence number %d, or it is locked", q.name, n)
		}
		found = append(found, m)
	}
	var out []*servicebus.Received
	for _, m := range found {
		if m.page != nil && !m.locked() { // else it was named twice
			out = append(out, q.deliver(op, m, opts, nil))
		}
	}
	return out, nil
}

// Peek implements servicebus.Receiver.
func (r *receiver) Peek(ctx context.Context, from int64, n int) (out []*servicebus.Received, err error) {
	err = r.operate(ctx, FaultPoint{Op: "Peek", Entity: r.name}, func(op *operation) error {
		if err := r.check(op); err != nil {
			return err
		}
		var id *string
		if r.session != nil {
			id = &r.session.id
		}
		out, err = r.q.peek(id, from, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (q *queue) peek(session *string, from int64, n int) ([]*servicebus.Received, error) {
	if n < 1 {
		return nil, refuse(messaging.ConditionArgumentOutOfRange, "number of messages %d: want 1 or more", n)
	}
	var out []*servicebus.Received
	q.from(session, from, func(m *message) bool {
		out = append(out, m.peeked())
		return len(out) < n
	})
	return out, nil
}

// Close implements servicebus.Receiver. The receiver ends also when it fails:
// then as by Vanish.
func (r *receiver) Close(ctx context.Context) error {
	defer r.Vanish()
	return r.ns.operate(ctx, FaultPoint{Op: "Close", Entity: r.name}, func(op *operation) error {
		if s := r.session; !r.closed && s != nil && s.holder == r && r.q.gone == nil {
			r.q.tick(op)
			if s.holder == r {
				s.unlock(op, false)
			}
		}
		r.end()
		return nil
	})
}

// Vanish implements servicebus.Link.
func (r *receiver) Vanish() {
	r.ns.mu.Lock()
	defer r.ns.mu.Unlock()
	r.end()
}

func (r *receiver) end() {
	if r.closed {
		return
	}
	r.closed = true
	r.q.ended.Broadcast()
	if r.session != nil {
		r.session.changed.Broadcast()
		return
	}
	r.q.arrived.Broadcast()
}

// Lost implements servicebus.Link.
func (r *receiver) Lost(ctx context.Context) error {
	forever := messaging.Forever
	return r.ns.await(ctx, FaultPoint{Op: "Lost", Entity: r.name}, forever, true, func(op *operation) (*queue, *clock.Cond, *int, error) {
		err := r.check(op)
		if err == nil {
			err = r.q.receivable()
		}
		return r.q, r.q.ended, new(int), err
	})
}
