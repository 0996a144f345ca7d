package servicebus

import (
	"bytes"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/journal"
)

// session is the messages of one session in a queue, its state and its lock. It
// is there as long as any of these.
type session struct {
	q      *queue
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

func messagesBySequence(place func(*message) *int) heap.Of[*message] {
	return heap.New(func(a, b *message) bool { return a.seq < b.seq }, place)
}

func (s *session) held() bool { return !s.until.IsZero() }

// first is the number of the first free message.
func (s *session) first() int64 {
	if m, ok := s.free.Min(); ok {
		return m.seq
	}
	return 0
}

// lock locks a session that is free.
func (s *session) lock(op *operation, holder *receiver, outside bool) {
	s.until = op.now.Add(s.q.owner.lockDuration)
	s.lastUntil = s.until
	s.holder, s.outside = holder, outside
	s.q.sessions.locks[half(outside)].Push(s)
	s.pin(op.now)
	s.rank()
	op.touch(s.q)
	op.saveSession(s)
}

func (s *session) renew(op *operation) {
	s.until = op.now.Add(s.q.owner.lockDuration)
	s.lastUntil = s.until
	s.q.sessions.locks[half(s.outside)].Fix(s)
	s.pin(op.now)
	s.rank()
	op.touch(s.q)
	op.saveSession(s)
	if s.outside {
		return // a client's own affair
	}
	op.note(journal.Record{Kind: journal.LockRenewed, Source: s.q.name, Fields: s.field()})
}

// unlock ends a session's lock. Its locked messages come back, in order,
// counted or not.
func (s *session) unlock(op *operation, counted bool) {
	s.q.sessions.locks[half(s.outside)].Remove(s)
	s.unpin()
	s.until, s.holder = time.Time{}, nil
	s.rank()
	op.touch(s.q)
	op.saveSession(s)
	s.changed.Broadcast()
	s.q.ended.Broadcast()
	if counted {
		op.note(journal.Record{Kind: journal.LockExpired, Source: s.q.name, Fields: s.field()})
	}
	for m, ok := s.locked.Min(); ok; m, ok = s.locked.Min() {
		if counted {
			s.q.lapse(op, m)
			continue
		}
		s.q.unlock(op, m)
		s.q.putBack(op, m)
	}
	if s.inFree > 0 {
		s.q.arrived.Signal()
	}
	s.rank()
}

// setState replaces a session's state.
func (s *session) setState(op *operation, state []byte) error {
	if err := s.checkState(state); err != nil {
		s.rank()
		return err
	}
	s.putState(op, state)
	return nil
}

// checkState refuses a session's state that is larger than a message.
func (s *session) checkState(state []byte) error {
	if len(state) > s.q.owner.maxMessage {
		return refuse(messaging.ConditionMessageSizeExceeded, "%s: a session state of %d bytes: want at most %d", s.q.name, len(state), s.q.owner.maxMessage)
	}
	return nil
}

func (s *session) putState(op *operation, state []byte) {
	s.state, s.set = nil, time.Time{}
	if len(state) > 0 { // the client for Go clears it with an empty one
		s.state, s.set = bytes.Clone(state), op.now
	}
	op.touch(s.q)
	op.saveSession(s)
	s.rank()
}

func (s *session) field() []journal.Field {
	return []journal.Field{{Key: "session", Value: s.id}}
}
