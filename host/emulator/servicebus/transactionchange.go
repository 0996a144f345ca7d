package servicebus

import (
	"bytes"
	"context"
	"slices"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// CancelScheduled implements servicebus.Transaction.
func (t *transaction) CancelScheduled(ctx context.Context, entity string, through bool, numbers ...int64) error {
	return t.do(ctx, FaultPoint{Op: "CancelScheduled", Entity: entity}, func(op *operation) (step, error) {
		q, err := op.find(entity)
		if err != nil {
			return step{}, err
		}
		if err := t.enter(q.owner, through); err != nil {
			return step{}, err
		}
		others := slices.DeleteFunc(slices.Clone(numbers), func(n int64) bool { return t.unschedule(q.owner, n) })
		change := func(op *operation) (func(), error) {
			if q.gone != nil {
				return nil, q.gone
			}
			found, err := q.findScheduled(others)
			return func() { q.cancel(op, found) }, err
		}
		if _, err := change(op); err != nil {
			return step{}, err
		}
		return step{entity: entity, change: change}, nil
	})
}

// unschedule leaves out a message that the transaction was to schedule.
func (t *transaction) unschedule(e *entity, number int64) bool {
	for i := range t.steps {
		s := &t.steps[i]
		if s.numbered != e {
			continue
		}
		if at := slices.Index(s.numbers, number); at >= 0 {
			s.numbers, s.messages = slices.Delete(s.numbers, at, at+1), slices.Delete(s.messages, at, at+1)
			return true
		}
	}
	return false
}

// SetState implements servicebus.Transaction (azure-sdk-for-net: Sample06_Transactions.md,
// setting session state within a transaction).
func (t *transaction) SetState(ctx context.Context, session servicebus.Session, state []byte) error {
	r, ok := session.(*sessionReceiver)
	if !ok || r.ns != t.ns {
		return refuse(messaging.ConditionNotAllowed, "session %q is not of this namespace", session.SessionID())
	}
	state = bytes.Clone(state)
	return t.do(ctx, FaultPoint{Op: "SetState", Entity: r.name}, func(op *operation) (step, error) {
		change := func(op *operation) (func(), error) {
			if err := r.check(op); err != nil {
				return nil, err
			}
			if err := r.session.checkState(state); err != nil {
				return nil, err
			}
			return func() { r.session.putState(op, state) }, nil
		}
		if _, err := change(op); err != nil {
			return step{}, err
		}
		if err := t.enter(r.q.owner, false); err != nil {
			return step{}, err
		}
		return step{entity: r.name, change: change}, nil
	})
}
