package servicebus

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/journal"
)

// actions are the names of settlements: as fault points, and as decisions in the
// journal (spec host-and-retry 0.3).
var actions = [...]struct{ op, decision string }{
	bindings.ServiceBusComplete:         {"Complete", "completed"},
	bindings.ServiceBusAbandon:          {"Abandon", "abandoned"},
	bindings.ServiceBusDefer:            {"Defer", "deferred"},
	bindings.ServiceBusDeadLetterAction: {"DeadLetter", "dead_lettered"},
	bindings.ServiceBusRelease:          {"Release", "released"},
}

// lockLostText is what the service says of a lock that is lost.
//
// Source: azservicebus: receiver_test.go, TestReceiverMessageLockExpires.
const lockLostText = "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue, or was received by a different receiver instance."

// locked returns the message that a token locks.
func (q *queue) locked(token bindings.GUID) (*message, error) {
	if m := q.tokens[token]; m != nil {
		return m, nil
	}
	return nil, refuseAs(bindings.ConditionMessageLockLost, lockLostText, "%s: the lock supplied is invalid: either it has expired, or the message has been settled", q.name)
}

// settle ends a message's lock in one of the five ways.
func (q *queue) settle(op *operation, token bindings.GUID, how *bindings.ServiceBusSettlement) error {
	if op.ns.claims[token] != nil {
		return refuse(bindings.ConditionNotAllowed, "%s: the message is settled in a transaction that has not ended", q.name)
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
func (q *queue) settleable(token bindings.GUID, how *bindings.ServiceBusSettlement) (*message, map[string]any, error) {
	m, err := q.locked(token)
	if err != nil {
		return nil, nil, err
	}
	if id := how.SessionID; id != nil && q.bySession() && (m.session == nil || m.session.id != *id) {
		return nil, nil, refuse(bindings.ConditionSessionLockLost, "%s: the message is not one of session %q", q.name, *id)
	}
	if how.Action == bindings.ServiceBusDeadLetterAction {
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
func (q *queue) carryOut(op *operation, m *message, how *bindings.ServiceBusSettlement, properties map[string]any) {
	if m.outside {
		op.note(journal.Record{
			Kind: journal.Settled, Source: q.name, MessageID: m.content.MessageID,
			DeliveryCount: m.count + 1, Decision: actions[how.Action].decision,
		})
	}
	switch how.Action {
	case bindings.ServiceBusComplete:
		q.remove(op, m)
	case bindings.ServiceBusAbandon:
		q.merge(op, m, properties)
		q.unlock(op, m)
		if q.fail(op, m) {
			q.putBack(op, m)
		}
	case bindings.ServiceBusDefer:
		q.merge(op, m, properties)
		q.unlock(op, m)
		q.setAside(op, m)
	case bindings.ServiceBusDeadLetterAction:
		q.deadLetter(op, m, verdict{how.Reason, how.Description}, properties)
	case bindings.ServiceBusRelease:
		q.unlock(op, m)
		q.putBack(op, m)
	}
}

func (q *queue) deadLetterable(how *bindings.ServiceBusSettlement) error {
	if !q.main() {
		return refuse(bindings.ConditionNotAllowed, "%s: a message cannot be dead-lettered out of a dead-letter queue", q.name)
	}
	for _, text := range []string{how.Reason, how.Description} {
		if n := utf8.RuneCountInString(text); n > bindings.MaxDeadLetterText {
			return refuse(bindings.ConditionArgumentOutOfRange, "dead-letter reason or description of %d characters: want at most %d", n, bindings.MaxDeadLetterText)
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
	case header > bindings.MaxServiceBusHeader:
		return refuse(bindings.ConditionMessageSizeExceeded, "%s: application properties of %d bytes: want at most %d", q.name, header, bindings.MaxServiceBusHeader)
	case grown.size > q.owner.maxMessage:
		return refuse(bindings.ConditionMessageSizeExceeded, "%s: a message of %d bytes with its new properties: want at most %d", q.name, grown.size, q.owner.maxMessage)
	case q.owner.full(more):
		return refuse(bindings.ConditionResourceLimitExceeded, "%s: the maximum size of the entity has been reached: the message cannot get more properties", q.name)
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
	if m.state != bindings.ServiceBusDeferred {
		m.state = bindings.ServiceBusDeferred
		q.deferred++
	}
	op.saveState(q, m)
}

func (q *queue) renew(op *operation, m *message) time.Time {
	m.until = op.now.Add(q.owner.lockDuration)
	q.locks[half(m.outside)].Fix(m)
	q.pinMessage(m, op.now)
	op.touch(q)
	op.saveState(q, m)
	if m.outside {
		return m.until // a client's own affair
	}
	op.note(journal.Record{Kind: journal.LockRenewed, Source: q.name, MessageID: m.content.MessageID, DeliveryCount: m.count + 1})
	return m.until
}

// settle is what the settlements of a receiver have in common.
func (r *receiver) settle(ctx context.Context, m *bindings.ServiceBusReceived, how bindings.ServiceBusSettlement) error {
	return r.ns.operate(ctx, FaultPoint{Op: actions[how.Action].op, Entity: r.name, MessageID: m.MessageID}, func(op *operation) error {
		if err := r.settles(op); err != nil {
			return err
		}
		return r.q.settle(op, m.LockToken, &how)
	})
}

func (r *receiver) settles(op *operation) error {
	if r.opts.Mode == bindings.ServiceBusReceiveAndDelete {
		return refuse(bindings.ConditionNotAllowed, "%s: a message that was received in receive-and-delete mode cannot be settled", r.name)
	}
	return r.check(op)
}

// Complete implements bindings.ServiceBusReceiver.
func (r *receiver) Complete(ctx context.Context, m *bindings.ServiceBusReceived) error {
	return r.settle(ctx, m, bindings.ServiceBusSettlement{Action: bindings.ServiceBusComplete})
}

// Abandon implements bindings.ServiceBusReceiver.
func (r *receiver) Abandon(ctx context.Context, m *bindings.ServiceBusReceived, properties map[string]any) error {
	return r.settle(ctx, m, bindings.ServiceBusSettlement{Action: bindings.ServiceBusAbandon, Properties: properties})
}

// Defer implements bindings.ServiceBusReceiver.
func (r *receiver) Defer(ctx context.Context, m *bindings.ServiceBusReceived, properties map[string]any) error {
	return r.settle(ctx, m, bindings.ServiceBusSettlement{Action: bindings.ServiceBusDefer, Properties: properties})
}

// DeadLetter implements bindings.ServiceBusReceiver.
func (r *receiver) DeadLetter(ctx context.Context, m *bindings.ServiceBusReceived, reason, description string, properties map[string]any) error {
	return r.settle(ctx, m, bindings.ServiceBusSettlement{
		Action: bindings.ServiceBusDeadLetterAction, Reason: reason, Description: description, Properties: properties,
	})
}

// Release implements bindings.ServiceBusReceiver.
func (r *receiver) Release(ctx context.Context, m *bindings.ServiceBusReceived) error {
	return r.settle(ctx, m, bindings.ServiceBusSettlement{Action: bindings.ServiceBusRelease})
}

// Renew implements bindings.ServiceBusReceiver.
func (r *receiver) Renew(ctx context.Context, m *bindings.ServiceBusReceived) (time.Time, error) {
	err := r.ns.operate(ctx, FaultPoint{Op: "Renew", Entity: r.name, MessageID: m.MessageID}, func(op *operation) error {
		if err := r.settles(op); err != nil {
			return err
		}
		if r.session != nil {
			return refuse(bindings.ConditionNotAllowed, "%s: the lock of a session is renewed as a whole", r.name)
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
