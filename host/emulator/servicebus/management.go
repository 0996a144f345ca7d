package servicebus

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// Settle implements servicebus.Management.
func (ns *Namespace) Settle(ctx context.Context, source string, how servicebus.Settlement, tokens ...bindings.GUID) error {
	if err := checkAction(how.Action); err != nil {
		return err
	}
	return ns.operate(ctx, FaultPoint{Op: actions[how.Action].op, Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if how.SessionID != nil && q.bySession() {
			if _, err := q.heldSession(*how.SessionID); err != nil {
				return err
			}
		}
		var first error
		for _, token := range tokens {
			if err := q.settle(op, token, &how); err != nil && first == nil {
				first = err
			}
		}
		return first
	})
}

// SettleEach implements servicebus.Management: one operation, and so one commit.
// Each settlement has its own fault points.
func (ns *Namespace) SettleEach(ctx context.Context, source string, session servicebus.Session, list []servicebus.Disposition) []error {
	errs := make([]error, len(list))
	fail := func(err error) []error {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	ask := func(i int, after bool) {
		if errs[i] == nil {
			errs[i] = ns.opts.points(FaultPoint{Op: actions[list[i].Action].op, Entity: source})(after)
		}
	}
	for i := range list {
		if errs[i] = checkAction(list[i].Action); errs[i] == nil {
			ask(i, false)
		}
	}
	op := operations.Get().(*operation)
	defer operations.Put(op)
	err := op.begin(ns)
	if err == nil {
		err = op.settleEach(source, session, list, errs)
	}
	if finishErr := op.finish(ctx); finishErr != nil {
		err = finishErr
	}
	if err != nil {
		return fail(err)
	}
	for i := range list {
		ask(i, true)
	}
	return errs
}

// settleEach settles the messages without an error so far. Its own error holds for
// all of them.
func (op *operation) settleEach(source string, session servicebus.Session, list []servicebus.Disposition, errs []error) error {
	var q *queue
	var err error
	if r, ok := session.(*sessionReceiver); ok {
		if err := r.settles(op); err != nil {
			return err
		}
		q = r.q
	} else if q, err = op.find(source); err != nil {
		return err
	}
	for i := range list {
		if errs[i] == nil {
			errs[i] = q.settle(op, list[i].LockToken, &list[i].Settlement)
		}
	}
	return nil
}

func checkAction(a servicebus.Action) error {
	if a < 0 || int(a) >= len(actions) {
		return refuse(messaging.ConditionArgumentError, "unknown settlement %d", a)
	}
	return nil
}

// RenewLocks implements servicebus.Management.
func (ns *Namespace) RenewLocks(ctx context.Context, source string, tokens ...bindings.GUID) (until []time.Time, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Renew", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if q.bySession() {
			return refuse(messaging.ConditionNotAllowed, "%s: the lock of a session is renewed as a whole", q.name)
		}
		found := make([]*message, len(tokens))
		for i, token := range tokens {
			if found[i], err = q.locked(token); err != nil {
				return err
			}
		}
		for _, m := range found {
			until = append(until, q.renew(op, m))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return until, nil
}

// ReceiveDeferred implements servicebus.Management.
func (ns *Namespace) ReceiveDeferred(ctx context.Context, source string, id *string, opts servicebus.ReceiverOptions, sequenceNumbers ...int64) (out []*servicebus.Received, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "ReceiveDeferred", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		var s *session
		if q.bySession() {
			if id == nil {
				return refuse(messaging.ConditionNotAllowed, "%s: the entity requires sessions, and none is named", q.name)
			}
			if s, err = q.heldSession(*id); err != nil {
				return err
			}
		}
		out, err = q.deliverDeferred(op, s, opts, sequenceNumbers)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Peek implements servicebus.Management.
func (ns *Namespace) Peek(ctx context.Context, source string, session *string, from int64, n int) (out []*servicebus.Received, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Peek", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		out, err = q.peek(session, from, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// RenewSession implements servicebus.Management.
func (ns *Namespace) RenewSession(ctx context.Context, source, session string) (until time.Time, err error) {
	err = onSessions(ctx, ns, "RenewSession", source, func(op *operation, q *queue) error {
		s, err := q.heldSession(session)
		if err != nil {
			return err
		}
		s.renew(op)
		until = s.until
		return nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return until, nil
}

// SessionState implements servicebus.Management.
func (ns *Namespace) SessionState(ctx context.Context, source, session string) (state []byte, err error) {
	err = onSessions(ctx, ns, "State", source, func(_ *operation, q *queue) error {
		if s := q.sessions.byID[session]; s != nil {
			state = cloneState(s.state)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return state, nil
}

// SetSessionState implements servicebus.Management.
func (ns *Namespace) SetSessionState(ctx context.Context, source, session string, state []byte) error {
	return onSessions(ctx, ns, "SetState", source, func(op *operation, q *queue) error {
		return q.sessions.get(q, session).setState(op, state)
	})
}

// farFuture as a time of change asks for sessions with messages or a state (spec messaging
// 1.10; clients send the last day of year 9999 or what follows it).
const farFuture = 9999

// Sessions implements servicebus.Management.
func (ns *Namespace) Sessions(ctx context.Context, source string, changedAfter time.Time, skip, top int) (ids []string, err error) {
	err = onSessions(ctx, ns, "Sessions", source, func(_ *operation, q *queue) error {
		if skip < 0 || top < 0 {
			return refuse(messaging.ConditionArgumentOutOfRange, "skip %d, top %d: want 0 or more", skip, top)
		}
		ids = q.sessions.list(changedAfter, skip, top)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// onSessions runs f on a queue that requires sessions.
func onSessions(ctx context.Context, ns *Namespace, what, source string, f func(op *operation, q *queue) error) error {
	return ns.operate(ctx, FaultPoint{Op: what, Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if !q.bySession() {
			return refuse(messaging.ConditionNotAllowed, "%s: the entity does not require sessions", q.name)
		}
		return f(op, q)
	})
}

// heldSession returns the session of that name if it is locked.
func (q *queue) heldSession(id string) (*session, error) {
	if s := q.sessions.byID[id]; s != nil && s.held() {
		return s, nil
	}
	return nil, refuse(messaging.ConditionSessionLockLost, "%s: the lock of session %q has ended", q.name, id)
}
