package servicebus

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// MaxDelete is how many messages one call of DeleteMessages removes.
//
// Source: docs, Batch delete messages in Azure Service Bus.
const MaxDelete = 4000

// DeleteMessages removes up to n messages of a source that could be received now and were
// enqueued before a time, in order of their sequence numbers, and returns how many. Locked,
// deferred and scheduled messages stay. A source that requires sessions wants the name of
// one, locked by anybody or nobody; with any other source a session that is not nil
// names the messages too. It fails as Receive does, with messaging.ErrNotAllowed if the
// session is missing, and for an n outside 1 to MaxDelete.
//
// Source: docs, Batch delete messages in Azure Service Bus.
func (ns *Namespace) DeleteMessages(ctx context.Context, source string, session *string, n int, before time.Time) (deleted int, err error) {
	if n < 1 || n > MaxDelete {
		return 0, refuse(messaging.ConditionArgumentOutOfRange, "number of messages to delete %d: want 1 to %d", n, MaxDelete)
	}
	err = ns.operate(ctx, FaultPoint{Op: "DeleteMessages", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if err := q.receivable(); err != nil {
			return err
		}
		if q.bySession() && session == nil {
			return refuse(messaging.ConditionNotAllowed, "%s: messages of an entity that requires sessions are deleted by session", q.name)
		}
		q.sweep(op)
		for ; deleted < n; deleted++ {
			m := q.firstFree(session)
			if m == nil || !m.enqueuedBy(before) { // later numbers are enqueued later
				break
			}
			q.remove(op, m)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return deleted, nil
}

// firstFree returns the first message that could be received now, of a session ID if it is
// not nil.
func (q *queue) firstFree(session *string) (first *message) {
	switch {
	case session == nil:
		return q.all.first()
	case q.bySession():
		if s := q.sessions.byID[*session]; s != nil {
			first, _ = s.free.Min()
		}
		return first
	}
	q.from(session, 0, func(m *message) bool {
		if m.state == servicebus.StateActive && !m.locked() {
			first = m
		}
		return first == nil
	})
	return first
}

// enqueuedBy reports whether the message was there at a time of a client, which knows
// milliseconds only.
func (m *message) enqueuedBy(t time.Time) bool {
	return !m.enqueued.Truncate(time.Millisecond).After(t)
}
