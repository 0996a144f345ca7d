package servicebus

import (
	"context"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// Release makes a message available now: a lock of its own ends as if its time were over,
// which counts as a failed delivery, and a scheduled message becomes active, under a new
// number. It fails with ErrMessageNotFound when there is no such message, and refuses one
// that waits for nothing: an active one, a deferred one, one of a locked session.
func (ns *Namespace) Release(ctx context.Context, source string, sequenceNumber int64) error {
	return byHand(ctx, ns, "Release", source, sequenceNumber, func(op *operation, q *queue, m *message) error {
		switch {
		case m.inScheduled > 0:
			q.activate(op, m)
		case m.locked() && m.session == nil:
			q.lapse(op, m)
		case m.locked():
			return refuse(messaging.ConditionNotAllowed, "%s: message %d is locked with its session %q", q.name, sequenceNumber, m.session.id)
		default:
			return refuse(messaging.ConditionNotAllowed, "%s: message %d is not locked and not scheduled", q.name, sequenceNumber)
		}
		return nil
	})
}

// Bury moves a message of a queue or subscription to its dead-letter queue, with a reason
// and a description; who has locked it has lost the lock.
func (ns *Namespace) Bury(ctx context.Context, source string, sequenceNumber int64, reason, description string) error {
	return byHand(ctx, ns, "Bury", source, sequenceNumber, func(op *operation, q *queue, m *message) error {
		if !q.main() {
			return refuse(messaging.ConditionNotAllowed, "%s: a message cannot be dead-lettered out of a dead-letter queue", q.name)
		}
		if q.owner.dead == nil {
			return refuse(messaging.ConditionNotAllowed, "%s: a topic has no dead-letter queue", q.name)
		}
		q.deadLetter(op, m, verdict{reason, description}, nil)
		return nil
	})
}

// byHand does something to one message of a source.
func byHand(ctx context.Context, ns *Namespace, name, source string, sequenceNumber int64, do func(*operation, *queue, *message) error) error {
	return ns.operate(ctx, FaultPoint{Op: name, Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		m := q.all.find(sequenceNumber)
		if m == nil {
			return refuse(messaging.ConditionMessageNotFound, "%s: there is no message %d", q.name, sequenceNumber)
		}
		return do(op, q, m)
	})
}
