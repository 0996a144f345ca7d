package servicebus

import (
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/journal"
)

// queue holds messages that can be locked. Queues, subscriptions and their
// sub-queues have one each; the queue of a topic holds its scheduled messages only.
//
// Its methods are the rules of one queue; route.go has the rules that concern other
// entities. They are called with the namespace's lock held.
type queue struct {
	ns    *Namespace
	owner *entity
	sub   servicebus.SubQueue
	name  string // the path

	next      int64 // sequence number that was given last
	all       ledger
	tokens    map[bindings.GUID]*message // those locked
	locks     [2]heap.Of[*message]       // messages with a lock of their own, by its end: held in virtual time, in real time
	expiry    heap.Of[*message]          // free messages that expire
	scheduled heap.Of[*message]
	deferred  int
	named     bySessionID // messages with a session ID, by it

	sessions sessions // only where they are required

	arrived *clock.Cond // there is something to take
	ended   *clock.Cond // a receiver cannot go on
	gone    error       // why the queue can no longer be used

	waiters        int // that would take what a lock gives back
	sessionWaiters int // that wait for messages of their own session
	pulled         time.Time

	touched      bool
	timer        *clock.Timer
	armed        time.Time // when the timer is to run; zero: it is not set
	reason       time.Time // for which time may move
	cancelReason func()
}

func newQueue(e *entity, sub servicebus.SubQueue) *queue {
	path := e.path
	path.SubQueue = sub
	q := &queue{
		ns: e.ns, owner: e, sub: sub, name: path.String(),
		all:       newLedger(),
		tokens:    map[bindings.GUID]*message{},
		expiry:    messagesBy(func(m *message) time.Time { return m.expires }, func(m *message) *int { return &m.inExpiry }),
		scheduled: messagesBy(func(m *message) time.Time { return m.content.ScheduledEnqueueTime }, func(m *message) *int { return &m.inScheduled }),
		named:     bySessionID{},
		sessions:  newSessions(),
		arrived:   clock.NewCond(e.ns.clk, &e.ns.mu),
		ended:     clock.NewCond(e.ns.clk, &e.ns.mu),
	}
	for i := range q.locks {
		q.locks[i] = messagesBy(func(m *message) time.Time { return m.until }, func(m *message) *int { return &m.inLocks })
	}
	return q
}

// messagesBy is a heap of messages by time, then by sequence number.
func messagesBy(at func(*message) time.Time, place func(*message) *int) heap.Of[*message] {
	return heap.New(func(a, b *message) bool {
		if c := at(a).Compare(at(b)); c != 0 {
			return c < 0
		}
		return a.seq < b.seq
	}, place)
}

func half(outside bool) int {
	if outside {
		return 1
	}
	return 0
}

// main reports whether it is the entity itself and no sub-queue.
func (q *queue) main() bool { return q.sub == servicebus.MainQueue }

// bySession reports whether messages are handed out by session only.
func (q *queue) bySession() bool { return q.main() && q.owner.requiresSession }

func (q *queue) nextSequence(op *operation) int64 {
	q.next++
	op.saveSequence(q)
	return q.next
}

// add puts a message in, to be taken unless it is deferred or scheduled.
func (q *queue) add(op *operation, m *message) {
	m.nested, m.was = 0, was{}
	q.insert(m)
	q.owner.grow(m.size)
	op.touch(q)
	op.saveMessage(q, m)
	if m.state == servicebus.StateActive {
		q.free(op, m)
	}
}

// insert is the common part of add and loading.
func (q *queue) insert(m *message) {
	q.all.add(m)
	q.named.add(m)
	switch m.state {
	case servicebus.StateScheduled:
		q.scheduled.Push(m)
	case servicebus.StateDeferred:
		q.deferred++
	}
	if q.bySession() && m.state != servicebus.StateScheduled {
		m.session = q.sessions.get(q, *m.content.SessionID)
		m.session.n++
	}
}

// remove takes a message out, locked or not.
func (q *queue) remove(op *operation, m *message) {
	q.takeOut(op, m)
	op.dropMessage(q, m)
}

// takeOut is remove for a message that the caller removes from the store himself.
func (q *queue) takeOut(op *operation, m *message) {
	q.unlock(op, m)
	q.unfree(m)
	switch m.state {
	case servicebus.StateScheduled:
		q.scheduled.Remove(m)
	case servicebus.StateDeferred:
		q.deferred--
	}
	if s := m.session; s != nil {
		s.n--
		m.session = nil
		s.rank()
	}
	q.all.remove(m)
	q.named.remove(m)
	q.owner.grow(-m.size)
}

// free makes a message that is in the queue available, and wakes a receiver
// that waits for one.
func (q *queue) free(op *operation, m *message) {
	op.touch(q)
	if !m.expires.IsZero() {
		q.expiry.Push(m)
	}
	if s := m.session; s != nil {
		s.free.Push(m)
		s.rank()
		if s.held() {
			s.changed.Signal()
			return
		}
	} else {
		q.all.setFree(m, true)
	}
	q.arrived.Signal()
}

// unfree is the reverse; it does nothing for a message that is not available.
func (q *queue) unfree(m *message) {
	q.expiry.Remove(m)
	if s := m.session; s != nil {
		s.free.Remove(m)
		s.rank()
	} else {
		q.all.setFree(m, false)
	}
}

// lock locks a message for a receiver. Messages of a session are locked as long
// as the session is.
func (q *queue) lock(op *operation, m *message, outside bool) {
	q.unfree(m)
	m.token = seeded.UUID(op.ns.ids.Token())
	m.outside = outside
	q.tokens[m.token] = m
	if s := m.session; s != nil {
		s.locked.Push(m)
		s.rank()
	} else {
		m.until = op.now.Add(q.owner.lockDuration)
		q.locks[half(outside)].Push(m)
		m.pin(q.ns.pins, op.now)
	}
	op.touch(q)
	op.saveState(q, m)
}

// unlock ends a message's lock; it does nothing without one.
func (q *queue) unlock(op *operation, m *message) {
	op.touch(q)
	if !m.locked() {
		return
	}
	delete(q.tokens, m.token)
	if s := m.session; s != nil {
		s.locked.Remove(m)
		s.rank()
	} else {
		q.locks[half(m.outside)].Remove(m)
		m.unpin(q.ns.pins)
	}
	m.token, m.until = bindings.GUID{}, time.Time{}
}

// deliver hands a message that is not locked to a receiver; by is nil when the
// message is received by its number.
func (q *queue) deliver(op *operation, m *message, opts servicebus.ReceiverOptions, by *receiver) *servicebus.Received {
	if opts.RealTime {
		op.note(journal.Record{Kind: journal.Received, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq, DeliveryCount: m.count + 1})
	}
	if opts.Mode == servicebus.PeekLock {
		q.lock(op, m, opts.RealTime)
		return m.received()
	}
	q.remove(op, m)
	switch {
	case opts.Transfers && by != nil:
		by.leave(q, m)
	case opts.RealTime:
		op.note(journal.Record{Kind: journal.Settled, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq, DeliveryCount: m.count + 1, Decision: "completed"})
	}
	return m.received()
}

// putBack returns a message whose lock has ended to where it was, unless it has
// expired meanwhile, or may not stay.
func (q *queue) putBack(op *operation, m *message) {
	switch {
	case m.state == servicebus.StateDeferred:
		op.saveState(q, m)
	case m.expired(op.now):
		q.expire(op, m)
	case q.main() && q.owner.forwardTo != "":
		q.remove(op, m)
		q.owner.forward(op, m)
	default:
		op.saveState(q, m)
		q.free(op, m)
	}
}

// fail counts a failed delivery of a message that is not locked any more, and
// reports whether it may be delivered again. Otherwise it has gone to the
// dead-letter queue.
func (q *queue) fail(op *operation, m *message) bool {
	if !q.main() {
		return true // nothing counts in a sub-queue (spec messaging 1.3)
	}
	m.count++
	if m.count < q.owner.maxDeliveryCount {
		return true
	}
	q.deadLetter(op, m, maxDeliveries(q.owner.maxDeliveryCount), nil)
	return false
}

// deadLetter moves a message to the dead-letter queue of its entity.
func (q *queue) deadLetter(op *operation, m *message, why verdict, properties map[string]any) {
	q.remove(op, m)
	m.merge(properties)
	q.owner.bury(op, m, why)
}

func (m *message) expired(now time.Time) bool { return !m.expires.IsZero() && !m.expires.After(now) }

// expire removes a message whose time is over.
func (q *queue) expire(op *operation, m *message) {
	op.note(journal.Record{Kind: journal.Expired, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq, DeliveryCount: m.count})
	if q.owner.deadLetterExpired {
		q.deadLetter(op, m, expiredVerdict, nil)
		return
	}
	q.remove(op, m)
}

// sweep removes expired messages, because a receiver pulls (spec messaging 1.5). A pull
// that takes nothing arms the timer too: from now on what expires leaves by itself.
func (q *queue) sweep(op *operation) {
	q.pulled = op.now
	op.touch(q)
	for m, ok := q.expiry.Min(); ok && m.expired(op.now); m, ok = q.expiry.Min() {
		q.expire(op, m)
	}
}

// lapse ends a lock whose time is over.
func (q *queue) lapse(op *operation, m *message) {
	q.unlock(op, m)
	op.note(journal.Record{Kind: journal.LockExpired, Source: q.name, MessageID: m.content.MessageID, MessageNumber: m.seq, DeliveryCount: m.count + 1})
	if q.fail(op, m) {
		q.putBack(op, m)
	}
}

// take hands out up to n available messages in order, of s or, in a queue without
// sessions, of all.
func (q *queue) take(op *operation, s *session, n int, by *receiver) []*servicebus.Received {
	var out []*servicebus.Received
	for len(out) < n {
		var m *message
		if s != nil {
			m, _ = s.free.Min()
		} else {
			m = q.all.first()
		}
		if m == nil {
			break
		}
		if out == nil {
			out = make([]*servicebus.Received, 0, min(n, q.all.n))
		}
		out = append(out, q.deliver(op, m, by.opts, by))
	}
	return out
}

// counts are the numbers of messages in the queue by state.
func (q *queue) counts() (active, deferred, scheduled int64) {
	scheduled, deferred = int64(q.scheduled.Len()), int64(q.deferred)
	return int64(q.all.n) - scheduled - deferred, deferred, scheduled
}
