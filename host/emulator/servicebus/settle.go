package servicebus

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// actions are the names of settlements: as fault points, and as decisions in the
// journal (spec host-and-retry 0.3).
var actions = [...]struct{ op, decision string }{
	servicebus.Complete:   {"Complete", "completed"},
	servicebus.Abandon:    {"Abandon", "abandoned"},
	servicebus.Defer:      {"Defer", "deferred"},
	servicebus.DeadLetter: {"DeadLetter", "dead_lettered"},
	servicebus.Release:    {"Release", "released"},
}

// lockLostText is the service's text for a lost lock.
//
// Source: azservicebus: receiver_test.go, TestReceiverMessageLockExpires.
const lockLostText = "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue, or was received by a different receiver instance."

// locked returns the message that a token locks.
func (q *queue) locked(token bindings.GUID) (*message, error) {
	if m := q.tokens[token]; m != nil {
		return m, nil
	}
	return nil, refuseAs(messaging.ConditionMessageLockLost, lockLostText, "%s: the lock supplied is invalid: either it has expired, or the message has been settled", q.name)
}

// settle ends a message's lock in one of the five ways.
func (q *queue) settle(op *operation, token bindings.GUID, how *servicebus.Settlement) error {
	if op.ns.claims[token] != nil {
		return refuse(messaging.ConditionNotAllowed, "%s: the message is settled in a transaction that has not ended", q.name)
	}
	m, properties, err := q.settleable(token, how)
	if err != nil {
		return err
	}
	q.carryOut(op, m, how, properties)
	return nil
}

// settleable returns the message that a token locks if it can be settled so, and the
// properties to merge into it.
func (q *queue) settleable(token bindings.GUID, how *servicebus.Settlement) (*message, map[string]any, error) {
	m, err := q.locked(token)
	if err != nil {
		return nil, nil, err
	}
	if id := how.SessionID; id != nil && q.bySession() && (m.session == nil || m.session.id != *id) {
		return nil, nil, refuse(messaging.ConditionSessionLockLost, "%s: the message is not one of session %q", q.name, *id)
	}
	if how.Action == servicebus.DeadLetter {
		if err := q.deadLetterable(how); err != nil {
			return nil, nil, err
		}
	}
	properties, err := plainProperties(how.Properties)
	if err != nil {
		return nil, nil, err
	}
	if err := q.mergeable(m, properties); err != nil {
		return nil, nil, err
	}
	return m, properties, nil
}

// carryOut settles a message that is settleable.
func (q *queue) carryOut(op *operation, m *message, how *servicebus.Settlement, properties map[string]any) {
	if m.outside {
		op.note(journal.Record{
			Kind: journal.Settled, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq,
			DeliveryCount: m.count + 1, Decision: actions[how.Action].decision,
		})
	}
	switch how.Action {
	case servicebus.Complete:
		q.remove(op, m)
	case servicebus.Abandon:
		q.merge(op, m, properties)
		q.unlock(op, m)
		if q.fail(op, m) {
			q.putBack(op, m)
		}
	case servicebus.Defer:
		q.merge(op, m, properties)
		q.unlock(op, m)
		q.setAside(op, m)
	case servicebus.DeadLetter:
		q.deadLetter(op, m, verdict{how.Reason, how.Description}, properties)
	case servicebus.Release:
		q.unlock(op, m)
		q.putBack(op, m)
	}
}

func (q *queue) deadLetterable(how *servicebus.Settlement) error {
	if !q.main() {
		return refuse(messaging.ConditionNotAllowed, "%s: a message cannot be dead-lettered out of a dead-letter queue", q.name)
	}
	for _, text := range []string{how.Reason, how.Description} {
		if n := utf8.RuneCountInString(text); n > servicebus.MaxDeadLetterText {
			return refuse(messaging.ConditionArgumentOutOfRange, "dead-letter reason or description of %d characters: want at most %d", n, servicebus.MaxDeadLetterText)
		}
	}
	return nil
}

// mergeable reports why a message cannot get these properties: the limits of a send hold
// wherever a message grows.
func (q *queue) mergeable(m *message, properties map[string]any) error {
	if len(properties) == 0 {
		return nil
	}
	grown := *m
	grown.merge(properties)
	header, more := headerSize(grown.content), grown.size-m.size
	switch {
	case more <= 0:
	case header > servicebus.MaxHeader:
		return refuse(messaging.ConditionMessageSizeExceeded, "%s: application properties of %d bytes: want at most %d", q.name, header, servicebus.MaxHeader)
	case grown.size > q.owner.maxMessage:
		return refuse(messaging.ConditionMessageSizeExceeded, "%s: a message of %d bytes with its new properties: want at most %d", q.name, grown.size, q.owner.maxMessage)
	case q.owner.full(more):
		return refuse(messaging.ConditionResourceLimitExceeded, "%s: the maximum size of the entity has been reached: the message cannot get more properties", q.name)
	}
	return nil
}

// merge changes the application properties of a message in the queue.
func (q *queue) merge(op *operation, m *message, properties map[string]any) {
	if len(properties) > 0 {
		before := m.size
		m.merge(properties)
		q.owner.grow(m.size - before)
		op.saveMessage(q, m)
	}
}

// setAside makes a message deferred. That counts as a failed delivery, but never
// dead-letters (spec messaging 1.3).
func (q *queue) setAside(op *operation, m *message) {
	if q.main() {
		m.count++
	}
	if m.state != servicebus.StateDeferred {
		m.state = servicebus.StateDeferred
		q.deferred++
	}
	op.saveState(q, m)
}

func (q *queue) renew(op *operation, m *message) time.Time {
	m.until = op.now.Add(q.owner.lockDuration)
	q.locks[half(m.outside)].Fix(m)
	m.pin(q.ns.pins, op.now)
	op.touch(q)
	op.saveState(q, m)
	if m.outside {
		return m.until // a client's own affair
	}
	op.note(journal.Record{Kind: journal.LockRenewed, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq, DeliveryCount: m.count + 1})
	return m.until
}

// settle is the common part of a receiver's settlements.
func (r *receiver) settle(ctx context.Context, m *servicebus.Received, how servicebus.Settlement) error {
	return r.operate(ctx, FaultPoint{Op: actions[how.Action].op, Entity: r.name, MessageID: m.MessageID}, func(op *operation) error {
		if err := r.settles(op); err != nil {
			return err
		}
		return r.q.settle(op, m.LockToken, &how)
	})
}

func (r *receiver) settles(op *operation) error {
	if r.opts.Mode == servicebus.ReceiveAndDelete {
		return refuse(messaging.ConditionNotAllowed, "%s: a message that was received in receive-and-delete mode cannot be settled", r.name)
	}
	return r.check(op)
}

// Complete implements servicebus.Receiver.
func (r *receiver) Complete(ctx context.Context, m *servicebus.Received) error {
	return r.settle(ctx, m, servicebus.Settlement{Action: servicebus.Complete})
}

// Abandon implements servicebus.Receiver.
func (r *receiver) Abandon(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return r.settle(ctx, m, servicebus.Settlement{Action: servicebus.Abandon, Properties: properties})
}

// Defer implements servicebus.Receiver.
func (r *receiver) Defer(ctx context.Context, m *servicebus.Received, properties map[string]any) error {
	return r.settle(ctx, m, servicebus.Settlement{Action: servicebus.Defer, Properties: properties})
}

// DeadLetter implements servicebus.Receiver.
func (r *receiver) DeadLetter(ctx context.Context, m *servicebus.Received, reason, description string, properties map[string]any) error {
	return r.settle(ctx, m, servicebus.Settlement{
		Action: servicebus.DeadLetter, Reason: reason, Description: description, Properties: properties,
	})
}

// Release implements servicebus.Receiver.
func (r *receiver) Release(ctx context.Context, m *servicebus.Received) error {
	return r.settle(ctx, m, servicebus.Settlement{Action: servicebus.Release})
}

// Renew implements servicebus.Receiver.
func (r *receiver) Renew(ctx context.Context, m *servicebus.Received) (time.Time, error) {
	err := r.operate(ctx, FaultPoint{Op: "Renew", Entity: r.name, MessageID: m.MessageID}, func(op *operation) error {
		if err := r.settles(op); err != nil {
			return err
		}
		if r.session != nil {
			return refuse(messaging.ConditionNotAllowed, "%s: the lock of a session is renewed as a whole", r.name)
		}
		own, err := r.q.locked(m.LockToken)
		if err != nil {
			return err
		}
		m.LockedUntil = r.q.renew(op, own)
		return nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return m.LockedUntil, nil
}
