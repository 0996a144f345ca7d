package servicebus

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// Held is a lock of a receiver.
type Held struct {
	MessageID      string
	SequenceNumber int64
	DeliveryNumber int64   // of the delivery that goes on, from 1
	SessionID      *string // the session whose lock it is; nil: the message's own
	Token          bindings.GUID
	Until          time.Time
}

// Held lists the locked messages of a source by sequence number.
func (ns *Namespace) Held(ctx context.Context, source string) (list []Held, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Held", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		for _, m := range q.held() {
			h := Held{
				MessageID: m.content.MessageID, SequenceNumber: m.seq, DeliveryNumber: m.count + 1, Token: m.token, Until: m.lockedUntil(),
			}
			if m.session != nil {
				h.SessionID = &m.session.id
			}
			list = append(list, h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// held returns the locked messages, by sequence number.
func (q *queue) held() []*message {
	return slices.SortedFunc(maps.Values(q.tokens), func(a, b *message) int { return cmp.Compare(a.seq, b.seq) })
}

// ExpireLocks ends locks of a source now, as if their time were over: each counts
// as a failed delivery. Without numbers it ends every lock, session locks
// included; else the locks of the named messages, with ErrMessageNotFound and no
// effect when one of them has no lock of its own. It returns how many messages
// were locked.
func (ns *Namespace) ExpireLocks(ctx context.Context, source string, sequenceNumbers ...int64) (n int, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "ExpireLocks", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		var list []*message
		if len(sequenceNumbers) == 0 {
			list = q.held()
		} else {
			for _, number := range sequenceNumbers {
				m := q.all.find(number)
				if m == nil || !m.locked() || m.session != nil {
					return refuse(messaging.ConditionMessageNotFound, "%s: message %d has no lock of its own", q.name, number)
				}
				list = append(list, m)
			}
		}
		for _, m := range list {
			switch {
			case m.page == nil || !m.locked(): // ended with its session, or named twice
				continue
			case m.session != nil:
				n += m.session.locked.Len()
				m.session.unlock(op, true)
			default:
				n++
				q.lapse(op, m)
			}
		}
		if len(sequenceNumbers) == 0 {
			for _, s := range q.sessions.held() {
				if s.held() {
					s.unlock(op, true)
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// ExpireSession ends the lock of one session now, as if its time were over. It
// fails with ErrSessionLockLost when the session is not locked.
func (ns *Namespace) ExpireSession(ctx context.Context, source, session string) error {
	return onSessions(ctx, ns, "ExpireSession", source, func(op *operation, q *queue) error {
		s, err := q.heldSession(session)
		if err != nil {
			return err
		}
		s.unlock(op, true)
		return nil
	})
}

// Purge removes every message of a source, in any state, and returns how many.
// Locks on them are lost; states of sessions stay.
func (ns *Namespace) Purge(ctx context.Context, source string) (n int, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Purge", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		list := q.messages(func(*message) bool { return true })
		for _, m := range list {
			q.takeOut(op, m)
		}
		op.dropMessages(q, list)
		n = len(list)
		op.note(journal.Record{Kind: journal.Purged, Source: q.name, Fields: []journal.Field{{Key: "messages", Value: strconv.Itoa(n)}}})
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// messages lists the messages that f wants, by sequence number.
func (q *queue) messages(f func(*message) bool) []*message {
	var list []*message
	q.all.from(0, func(m *message) bool {
		if f(m) {
			list = append(list, m)
		}
		return true
	})
	return list
}

// Redrive moves messages of a dead-letter or transfer dead-letter queue back to
// their queue or subscription, as new messages: with a new number, no failed
// deliveries, and without the properties that dead-lettering set. Without
// numbers it moves every message that is not locked; else the named messages,
// with ErrMessageNotFound and no effect when one of them is missing or locked.
// It returns how many.
func (ns *Namespace) Redrive(ctx context.Context, source string, sequenceNumbers ...int64) (n int, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Redrive", Entity: source}, func(op *operation) error {
		q, err := op.find(source)
		if err != nil {
			return err
		}
		if q.main() {
			return refuse(messaging.ConditionNotAllowed, "%s: only messages of a dead-letter queue can be redriven", q.name)
		}
		var list []*message
		if len(sequenceNumbers) == 0 {
			list = q.messages(func(m *message) bool { return !m.locked() })
		} else {
			named := map[*message]bool{}
			for _, number := range sequenceNumbers {
				m := q.all.find(number)
				if m == nil || m.locked() {
					return refuse(messaging.ConditionMessageNotFound, "%s: there is no message %d, or it is locked", q.name, number)
				}
				if !named[m] {
					named[m] = true
					list = append(list, m)
				}
			}
		}
		for _, m := range list {
			q.remove(op, m)
			c := editable(m.content)
			if c.Wire != nil {
				c.Wire.PropertiesChanged = m.content.Wire.PropertiesChanged
			}
			delete(c.ApplicationProperties, servicebus.DeadLetterReason)
			delete(c.ApplicationProperties, servicebus.DeadLetterErrorDescription)
			op.note(journal.Record{Kind: journal.Forwarded, Source: q.name, Target: q.owner.name(), MessageID: c.MessageID, MessageNumber: m.seq, Cause: "redrive"})
			q.owner.place(op, c, past{source: m.source, was: was{q.name, m.seq}})
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
