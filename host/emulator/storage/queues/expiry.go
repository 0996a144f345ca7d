package queues

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// expiry is the timer that removes messages when they expire. Time does not jump
// for it.
type expiry struct {
	timer *clock.Timer // nil: none yet
	armed time.Time    // when it runs; zero: it does not
}

// awaitExpiryLocked sees to it that the timer of a queue runs when its next message
// expires. It may run too soon, and then is set anew: messages that go before they
// expire cost no timer.
func (s *Service) awaitExpiryLocked(name string, q *queueState, now time.Time) {
	m, ok := q.byExpiry.Min()
	switch {
	case !ok:
		q.expiry.stop()
	case !q.expiry.armed.IsZero() && !q.expiry.armed.After(m.at(expires)):
	default:
		q.expiry.armed = m.at(expires)
		d := max(q.expiry.armed.Sub(now), 0)
		if q.expiry.timer == nil {
			q.expiry.timer = s.clk.AfterFunc(d, "expiry in queue "+name, func() { s.expire(name, q) }).Lapse()
			return
		}
		q.expiry.timer.Reset(d)
	}
}

func (e *expiry) stop() {
	if !e.armed.IsZero() {
		e.timer.Stop()
		e.armed = time.Time{}
	}
}

// expire removes the expired messages of a queue, if the queue still has its name.
// A failed write is left to the next call, which reports it.
func (s *Service) expire(name string, q *queueState) {
	e := &effects{queue: name, change: change{s.kept.Change()}}
	commit, err := s.expireNow(q, e)
	if err == nil {
		err = s.kept.Wait(context.Background(), commit)
	}
	if err == nil {
		s.publish(e)
	}
}

func (s *Service) expireNow(q *queueState, e *effects) (keep.Awaited, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kept.Ready(); err != nil { // which awaits expiries anew if it reads anew
		return keep.Awaited{}, err
	}
	if s.queues[e.queue] != q {
		return keep.Awaited{}, nil
	}
	q.expiry.armed = time.Time{}
	if err := s.kept.Writable(); err != nil {
		return keep.Awaited{}, err
	}
	now := s.now()
	e.expire(q, now)
	s.awaitExpiryLocked(e.queue, q, now)
	return s.kept.Begin(&e.Change)
}

// expire removes what has expired from a queue, and writes that down.
func (e *effects) expire(q *queueState, now time.Time) {
	for _, m := range q.purge(now) {
		e.note(journal.Expired, m)
		e.dropMessage(e.queue, m)
	}
}
