package servicebus

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// Send implements servicebus.Namespace.
func (ns *Namespace) Send(ctx context.Context, entity string, messages ...*servicebus.Message) error {
	return ns.operate(ctx, FaultPoint{Op: "Send", Entity: entity}, func(op *operation) error {
		e, err := op.sendTarget(entity, messages)
		if err != nil {
			return err
		}
		for _, m := range messages {
			c := op.own(m)
			if c.ScheduledEnqueueTime.After(op.now) {
				e.schedule(op, c)
				continue
			}
			e.arrive(op, c, past{})
		}
		return nil
	})
}

// Schedule implements servicebus.Namespace.
func (ns *Namespace) Schedule(ctx context.Context, entity string, at time.Time, messages ...*servicebus.Message) ([]int64, error) {
	return scheduleAll(ctx, ns, entity, messages, func(*servicebus.Message) time.Time { return at })
}

// ScheduleEach implements servicebus.Management.
func (ns *Namespace) ScheduleEach(ctx context.Context, entity string, messages ...*servicebus.Message) ([]int64, error) {
	return scheduleAll(ctx, ns, entity, messages, func(m *servicebus.Message) time.Time { return m.ScheduledEnqueueTime })
}

func scheduleAll(ctx context.Context, ns *Namespace, entity string, messages []*servicebus.Message, at func(*servicebus.Message) time.Time) (numbers []int64, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Schedule", Entity: entity}, func(op *operation) error {
		e, err := op.sendTarget(entity, messages)
		if err != nil {
			return err
		}
		for _, m := range messages {
			c := op.own(m)
			c.ScheduledEnqueueTime = at(m).UTC().Round(0)
			numbers = append(numbers, e.schedule(op, c))
		}
		e.main.tick(op) // times that have come
		return nil
	})
	if err != nil {
		return nil, err
	}
	return numbers, nil
}

// CancelScheduled implements servicebus.Namespace.
func (ns *Namespace) CancelScheduled(ctx context.Context, entity string, sequenceNumbers ...int64) error {
	return ns.operate(ctx, FaultPoint{Op: "CancelScheduled", Entity: entity}, func(op *operation) error {
		q, err := op.find(entity)
		if err != nil {
			return err
		}
		found, err := q.findScheduled(sequenceNumbers)
		if err != nil {
			return err
		}
		q.cancel(op, found)
		return nil
	})
}

// findScheduled returns the scheduled messages of those numbers, all or none.
func (q *queue) findScheduled(numbers []int64) ([]*message, error) {
	found := make([]*message, 0, len(numbers))
	for _, n := range numbers {
		m := q.all.find(n)
		if m == nil || m.state != servicebus.StateScheduled {
			return nil, refuse(messaging.ConditionMessageNotFound, "%s: there is no scheduled message with sequence number %d", q.name, n)
		}
		found = append(found, m)
	}
	return found, nil
}

// cancel removes scheduled messages.
func (q *queue) cancel(op *operation, found []*message) {
	for _, m := range found {
		if m.page != nil { // named twice
			q.remove(op, m)
		}
	}
}

// schedule keeps a message until its time.
func (e *entity) schedule(op *operation, c *servicebus.Message) int64 {
	return e.scheduleAs(op, c, e.main.nextSequence(op))
}

// scheduleAs is schedule with a sequence number that was given before.
func (e *entity) scheduleAs(op *operation, c *servicebus.Message, seq int64) int64 {
	m := &message{content: c, size: sizeOf(c), seq: seq, enqueued: op.now, state: servicebus.StateScheduled}
	if e.duplicate(op, c) {
		op.note(journal.Record{Kind: journal.Enqueued, Source: e.main.name, MessageID: c.MessageID, Status: "duplicate"})
		return m.seq
	}
	e.main.add(op, m)
	op.note(journal.Record{
		Kind: journal.Enqueued, Source: e.main.name, MessageID: c.MessageID, MessageNumber: m.seq, Status: "scheduled",
		Delay: c.ScheduledEnqueueTime.Sub(op.now), HasDelay: true,
	})
	return m.seq
}

// own copies a message that is sent, without its bytes, and gives it an identifier if it has
// none.
func (op *operation) own(m *servicebus.Message) *servicebus.Message {
	c := *m
	c.ApplicationProperties, _ = plainProperties(m.ApplicationProperties) // sendTarget has seen them
	c.ScheduledEnqueueTime = c.ScheduledEnqueueTime.UTC().Round(0)
	if c.MessageID == "" {
		c.MessageID = op.ns.ids.GUID().String()
		if c.Wire != nil {
			w := *c.Wire
			w.PropertiesChanged = true
			c.Wire = &w
		}
	}
	return &c
}

// sendTarget returns the entity if it takes all the messages.
func (op *operation) sendTarget(path string, messages []*servicebus.Message) (*entity, error) {
	q, err := op.find(path)
	if err != nil {
		return nil, err
	}
	e := q.owner
	switch {
	case !q.main():
		return nil, refuse(messaging.ConditionNotAllowed, "%s: nothing can be sent to a sub-queue", q.name)
	case e.subscription != nil:
		return nil, refuse(messaging.ConditionNotAllowed, "%s: messages are sent to the topic, not to a subscription", q.name)
	case !e.sends():
		return nil, refuse(messaging.ConditionEntityDisabled, "the messaging entity %q is disabled for sending", q.name)
	}
	total := 0
	for _, m := range messages {
		size := sizeOf(m)
		total += size
		if size > e.maxMessage {
			return nil, refuse(messaging.ConditionMessageSizeExceeded, "%s: a message of %d bytes: want at most %d", q.name, size, e.maxMessage)
		}
		if err := checkIDs(m); err != nil {
			return nil, err
		}
		if _, err := plainProperties(m.ApplicationProperties); err != nil {
			return nil, err
		}
		if e.requiresSession && m.SessionID == nil && op.ns.opts.StrictSessionSend {
			return nil, refuse(messaging.ConditionNotAllowed, "%s: the entity requires sessions, and the message has no session id", q.name)
		}
	}
	if e.full(total) {
		return nil, refuse(messaging.ConditionResourceLimitExceeded, "the maximum size of %q, %d bytes, has been reached", q.name, e.maxSize)
	}
	return e, nil
}

func checkIDs(m *servicebus.Message) error {
	check := func(what, id string) error {
		if len(id) > messaging.MaxID && utf8.RuneCountInString(id) > messaging.MaxID {
			return refuse(messaging.ConditionArgumentOutOfRange, "%s of %d characters: want at most %d", what, utf8.RuneCountInString(id), messaging.MaxID)
		}
		return nil
	}
	if err := check("message id", m.MessageID); err != nil {
		return err
	}
	if m.SessionID != nil {
		if err := check("session id", *m.SessionID); err != nil {
			return err
		}
	}
	for _, more := range []struct {
		what string
		id   *string
	}{{"partition key", m.PartitionKey}, {"transaction partition key", m.TransactionPartitionKey}, {"reply-to session id", m.ReplyToSessionID}} {
		if more.id != nil {
			if err := check(more.what, *more.id); err != nil {
				return err
			}
		}
	}
	return checkPartitionKey(m)
}
