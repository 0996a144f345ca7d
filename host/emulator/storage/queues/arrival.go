package queues

import (
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// waker is one caller of OnArrival. Its address is its identity.
type waker struct{ wake func() }

// wakers are told when something happens to a queue, by its name. The lists are
// never changed in place.
type wakers map[string][]*waker

func (s *Service) addWaker(all wakers, queue string, wake func()) (stop func()) {
	w := &waker{wake: wake}
	s.mu.Lock()
	defer s.mu.Unlock()
	all[queue] = append(slices.Clip(all[queue]), w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(all[queue]), func(o *waker) bool { return o == w })
		if len(rest) == 0 {
			delete(all, queue)
			return
		}
		all[queue] = rest
	}
}

func (s *Service) wakeAll(all wakers, queue string) {
	s.mu.Lock()
	list := all[queue]
	s.mu.Unlock()
	for _, w := range list {
		w.wake()
	}
}

// OnVisibility implements queue.Foresight. With faults every poll counts, unless they
// answer the operation Foresee with keep.ErrNoEffect.
func (s *Service) OnVisibility(queue string, changed func()) (stop func(), ok bool) {
	if s.opts.Fault != nil && s.opts.Fault(account.FaultPoint{Op: Foresee, Queue: queue}) != keep.ErrNoEffect {
		return func() {}, false
	}
	return s.addWaker(s.changes, queue, changed), true
}

// NextVisible implements queue.Foresight.
func (s *Service) NextVisible(queue string) (from time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.queues[queue]
	if state == nil {
		return time.Time{}, false
	}
	m, ok := state.byVisible.Min()
	if !ok {
		return time.Time{}, false
	}
	return m.at(visible), true
}

// changeAllLocked tells all waits for a change of any queue, in a turn of its own.
func (s *Service) changeAllLocked() {
	queues := slices.Sorted(maps.Keys(s.changes))
	if len(queues) == 0 {
		return
	}
	s.clk.AfterFunc(0, "change of all queues", func() {
		for _, queue := range queues {
			s.wakeAll(s.changes, queue)
		}
	})
}

// OnArrival calls wake each time a message put into queue becomes visible for
// the first time, until stop is called. Callers are served in order of
// registration. The queue need not exist yet.
func (s *Service) OnArrival(queue string, wake func()) (stop func()) {
	return s.addWaker(s.arrivals, queue, wake)
}

// expectArrival announces a message that was put or changed before anybody has
// seen it: now, or through the clock when it becomes visible.
func (s *Service) expectArrival(queue string, m *message, visibility time.Duration, e *effects) {
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
func (s *Service) arrive(queue string, m *message) {
	s.mu.Lock()
	err := s.kept.Ready() // which expects arrivals anew if it reads anew
	state := s.queues[queue]
	announce := err == nil && state != nil && state.byID[m.id] == m && !m.arrived && !m.at(visible).After(s.now())
	if announce {
		m.arrived = true
		m.arrival = nil
	}
	s.mu.Unlock()
	if announce {
		s.wakeAll(s.arrivals, queue)
	}
}

// stop is called before all messages go.
func (q *queueState) stop() {
	q.expiry.stop()
	for _, m := range q.byID {
		if m.arrival != nil {
			m.arrival.Stop()
		}
	}
}
