package servicebus

import (
	"bytes"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/journal"
)

// session is the messages of one session in a queue, its state and its lock. It
// is there as long as any of these.
type session struct {
	id     string
	n      int // messages in the queue, except scheduled ones
	free   heap.Of[*message]
	locked heap.Of[*message] // by sequence number too

	state []byte
	set   time.Time // when the state was set; zero: never

	until     time.Time // end of the lock; zero: not locked
	lastUntil time.Time // end of the present or last lock
	outside   bool
	holder    *receiver   // nil for a lock from before a restart
	changed   *clock.Cond // for the holder: there is something to take, or the lock is gone

	inFree, inLocks, inBusy int
	inListed, inStateful    bool
}

func sessionsByEnd(place func(*session) *int) heap.Of[*session] {
	return heap.New(func(a, b *session) bool {
		if c := a.until.Compare(b.until); c != 0 {
			return c < 0
		}
		return a.id < b.id
	}, place)
}

func messagesBySequence(place func(*message) *int) heap.Of[*message] {
	return heap.New(func(a, b *message) bool { return a.seq < b.seq }, place)
}

// session returns the session of that name, making it if need be.
func (q *queue) session(id string) *session {
	s := q.sessions[id]
	if s == nil {
		s = &session{
			id:      id,
			free:    messagesBySequence(func(m *message) *int { return &m.inSessionFree }),
			locked:  messagesBySequence(func(m *message) *int { return &m.inSessionLocked }),
			changed: clock.NewCond(q.ns.clk, &q.ns.mu),
		}
		q.sessions[id] = s
	}
	return s
}

func (s *session) held() bool { return !s.until.IsZero() }

// first is the number of the first free message.
func (s *session) first() int64 {
	if m, ok := s.free.Min(); ok {
		return m.seq
	}
	return 0
}

// rank puts a session where it belongs after a change, and forgets it when nothing
// is left of it. It may have been forgotten before, and be another one's name now: a
// message that goes on from here can come back in the same operation.
func (q *queue) rank(s *session) {
	position(&q.freeSessions, s, s.inFree > 0, !s.held() && s.free.Len() > 0)
	position(&q.busySessions, s, s.inBusy > 0, s.held() && !s.outside && s.free.Len()+s.locked.Len() > 0)
	if q.sessions[s.id] != s {
		return
	}
	enter(&q.listed, s.id, &s.inListed, s.state != nil || s.free.Len()+s.locked.Len() > 0)
	enter(&q.stateful, s.id, &s.inStateful, s.state != nil)
	if s.n == 0 && !s.held() && s.state == nil {
		delete(q.sessions, s.id)
	}
}

func enter(set *ordered.Set[string], id string, in *bool, wanted bool) {
	switch {
	case *in == wanted:
		return
	case wanted:
		set.Insert(id)
	default:
		set.Remove(id)
	}
	*in = wanted
}

func position(h *heap.Of[*session], s *session, in, wanted bool) {
	switch {
	case in && wanted:
		h.Fix(s)
	case in:
		h.Remove(s)
	case wanted:
		h.Push(s)
	}
}

// lockSession locks a session that is free.
func (q *queue) lockSession(op *operation, s *session, holder *receiver, outside bool) {
	s.until = op.now.Add(q.owner.lockDuration)
	s.lastUntil = s.until
	s.holder, s.outside = holder, outside
	q.sessionLocks[half(outside)].Push(s)
	q.pinSession(s, op.now)
	q.rank(s)
	op.touch(q)
	op.saveSession(q, s)
}

func (q *queue) renewSession(op *operation, s *session) {
	s.until = op.now.Add(q.owner.lockDuration)
	s.lastUntil = s.until
	q.sessionLocks[half(s.outside)].Fix(s)
	q.pinSession(s, op.now)
	q.rank(s)
	op.touch(q)
	op.saveSession(q, s)
	if s.outside {
		return // a client's own affair
	}
	op.note(journal.Record{Kind: journal.LockRenewed, Source: q.name, Fields: sessionField(s)})
}

// unlockSession ends a session's lock. Its locked messages come back, in order,
// counted or not.
func (q *queue) unlockSession(op *operation, s *session, counted bool) {
	q.sessionLocks[half(s.outside)].Remove(s)
	q.unpinSession(s)
	s.until, s.holder = time.Time{}, nil
	q.rank(s)
	op.touch(q)
	op.saveSession(q, s)
	s.changed.Broadcast()
	q.ended.Broadcast()
	if counted {
		op.note(journal.Record{Kind: journal.LockExpired, Source: q.name, Fields: sessionField(s)})
	}
	for m, ok := s.locked.Min(); ok; m, ok = s.locked.Min() {
		if counted {
			q.lapse(op, m)
			continue
		}
		q.unlock(op, m)
		q.putBack(op, m)
	}
	if s.inFree > 0 {
		q.arrived.Signal()
	}
	q.rank(s)
}

// setState replaces a session's state.
func (q *queue) setState(op *operation, s *session, state []byte) error {
	if err := q.checkState(state); err != nil {
		q.rank(s)
		return err
	}
	q.putState(op, s, state)
	return nil
}

// checkState refuses a session's state that is larger than a message.
func (q *queue) checkState(state []byte) error {
	if len(state) > q.owner.maxMessage {
		return refuse(messaging.ConditionMessageSizeExceeded, "%s: a session state of %d bytes: want at most %d", q.name, len(state), q.owner.maxMessage)
	}
	return nil
}

func (q *queue) putState(op *operation, s *session, state []byte) {
	s.state, s.set = nil, time.Time{}
	if len(state) > 0 { // the client for Go clears it with an empty one
		s.state, s.set = bytes.Clone(state), op.now
	}
	op.touch(q)
	op.saveSession(q, s)
	q.rank(s)
}

func sessionField(s *session) []journal.Field {
	return []journal.Field{{Key: "session", Value: s.id}}
}

// sessionOf returns the session of that name if it is locked.
func (q *queue) sessionOf(id string) (*session, error) {
	if s := q.sessions[id]; s != nil && s.held() {
		return s, nil
	}
	return nil, refuse(messaging.ConditionSessionLockLost, "%s: the lock of session %q has ended", q.name, id)
}
