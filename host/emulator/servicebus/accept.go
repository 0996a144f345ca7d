package servicebus

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// sessionReceiver is a receiver that holds the lock of a session.
type sessionReceiver struct{ receiver }

// AcceptSession implements servicebus.Namespace.
func (ns *Namespace) AcceptSession(ctx context.Context, source string, opts *servicebus.SessionOptions) (servicebus.Session, error) {
	r := &sessionReceiver{receiver{ns: ns}}
	wait, id := messaging.Forever, (*string)(nil)
	if opts != nil {
		r.opts, wait, id = opts.ReceiverOptions, opts.Wait, opts.SessionID
	}
	err := ns.await(ctx, FaultPoint{Op: "AcceptSession", Entity: source}, wait, r.opts.RealTime, func(op *operation) (*queue, *clock.Cond, *int, error) {
		q, err := op.find(source)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := q.receivable(); err != nil {
			return nil, nil, nil, err
		}
		if !q.bySession() {
			return nil, nil, nil, refuse(messaging.ConditionNotAllowed, "%s: the entity does not require sessions", q.name)
		}
		r.q, r.name = q, q.name
		q.sweep(op)
		s, err := q.sessionFor(id)
		if err != nil {
			return nil, nil, nil, err
		}
		if s == nil {
			return q, q.arrived, &q.waiters, nil
		}
		s.lock(op, &r.receiver, r.opts.RealTime)
		r.session = s
		return nil, nil, nil, nil
	})
	if err != nil {
		return nil, err
	}
	if r.session == nil {
		return nil, refuse(messaging.ConditionTimeout, "%s: no session has become available within %v", r.name, wait)
	}
	return r, nil
}

// SessionID implements servicebus.Session.
func (r *sessionReceiver) SessionID() string { return r.session.id }

// LockedUntil implements servicebus.Session.
func (r *sessionReceiver) LockedUntil() time.Time {
	r.ns.mu.Lock()
	defer r.ns.mu.Unlock()
	return r.session.lastUntil
}

// RenewSession implements servicebus.Session.
func (r *sessionReceiver) RenewSession(ctx context.Context) (until time.Time, err error) {
	err = r.operate(ctx, FaultPoint{Op: "RenewSession", Entity: r.name}, func(op *operation) error {
		if err := r.check(op); err != nil {
			return err
		}
		r.session.renew(op)
		until = r.session.until
		return nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return until, nil
}

// State implements servicebus.Session.
func (r *sessionReceiver) State(ctx context.Context) (state []byte, err error) {
	err = r.operate(ctx, FaultPoint{Op: "State", Entity: r.name}, func(op *operation) error {
		if err := r.check(op); err != nil {
			return err
		}
		state = cloneState(r.session.state)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return state, nil
}

// SetState implements servicebus.Session.
func (r *sessionReceiver) SetState(ctx context.Context, state []byte) error {
	return r.operate(ctx, FaultPoint{Op: "SetState", Entity: r.name}, func(op *operation) error {
		if err := r.check(op); err != nil {
			return err
		}
		return r.session.setState(op, state)
	})
}

// cloneState keeps the difference between an empty state and none.
func cloneState(state []byte) []byte {
	if state == nil {
		return nil
	}
	return append([]byte{}, state...)
}

// sessionFor returns the session to lock: the one named, or the free one whose
// message is the oldest; nil when no session is free yet.
func (q *queue) sessionFor(id *string) (*session, error) {
	if id == nil {
		s, _ := q.sessions.free.Min()
		return s, nil
	}
	if len(*id) > messaging.MaxID {
		if err := checkIDs(&servicebus.Message{SessionID: id}); err != nil {
			return nil, err
		}
	}
	s := q.sessions.get(q, *id)
	if s.held() {
		return nil, refuse(messaging.ConditionSessionCannotBeLocked, "%s: the requested session %q cannot be accepted: it may be locked by another receiver", q.name, *id)
	}
	return s, nil
}
