package emulator

import (
	"slices"
	"time"
)

// waker is one caller of OnArrival. Its address is its identity.
type waker struct{ wake func() }

// OnArrival calls wake each time a message put into queue becomes visible for
// the first time, until stop is called. Callers are served in order of
// registration. The queue need not exist yet.
func (s *Storage) OnArrival(queue string, wake func()) (stop func()) {
	w := &waker{wake: wake}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakers[queue] = append(s.wakers[queue], w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(s.wakers[queue]), func(o *waker) bool { return o == w })
		if len(rest) == 0 {
			delete(s.wakers, queue)
			return
		}
		s.wakers[queue] = rest
	}
}

func (s *Storage) wake(queue string) {
	s.mu.Lock()
	wakers := s.wakers[queue] // never changed in place
	s.mu.Unlock()
	for _, w := range wakers {
		w.wake()
	}
}

// expectArrival announces a message that was put or changed before anybody has
// seen it: now, or through the clock when it becomes visible.
func (s *Storage) expectArrival(queue string, m *message, visibility time.Duration, e *effects) {
	if m.arrival != nil {
		m.arrival.Stop()
		m.arrival = nil
	}
	switch {
	case m.arrived:
	case visibility == 0:
		m.arrived = true
		e.arrived = true
	default:
		m.arrival = s.clk.AfterFunc(visibility, "arrival in queue "+queue, func() { s.arrive(queue, m) })
	}
}

// arrive announces m if it is still there and unseen.
func (s *Storage) arrive(queue string, m *message) {
	s.mu.Lock()
	err := s.readyLocked() // which expects arrivals anew if it reads anew
	state := s.queues[queue]
	announce := err == nil && state != nil && state.byID[m.id] == m && !m.arrived && !m.visible.After(s.now())
	if announce {
		m.arrived = true
		m.arrival = nil
	}
	s.mu.Unlock()
	if announce {
		s.wake(queue)
	}
}

// stopArrivals is called before all messages go.
func (q *queueState) stopArrivals() {
	for _, m := range q.byID {
		if m.arrival != nil {
			m.arrival.Stop()
		}
	}
}
