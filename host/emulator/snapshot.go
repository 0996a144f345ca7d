package emulator

import (
	"maps"
	"slices"
)

// Snapshot is the state of an account at one moment. It never changes and may
// be restored any number of times.
type Snapshot struct {
	ids    ids
	queues map[string]queueSnapshot
}

type queueSnapshot struct {
	sequence uint64
	messages []message // by insertion; no timers, no places
}

// Reset removes everything, so that the account is as New made it. Callers of
// OnArrival stay.
func (s *Storage) Reset() {
	s.Restore(&Snapshot{ids: ids{seed: s.opts.Seed}})
}

// Snapshot copies the account's state.
func (s *Storage) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := &Snapshot{ids: s.ids, queues: make(map[string]queueSnapshot, len(s.queues))}
	for name, state := range s.queues {
		q := queueSnapshot{sequence: state.sequence, messages: make([]message, 0, len(state.byID))}
		for _, m := range state.byID {
			c := *m
			c.arrival, c.byVisible, c.byExpiry = nil, 0, 0
			q.messages = append(q.messages, c)
		}
		slices.SortFunc(q.messages, func(a, b message) int { return int(int64(a.sequence) - int64(b.sequence)) })
		snap.queues[name] = q
	}
	return snap
}

// Restore replaces the account's state. Times in it are kept: what was due
// meanwhile has ended.
func (s *Storage) Restore(snap *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.queues {
		state.stopArrivals()
	}
	s.ids = snap.ids
	s.queues = make(map[string]*queueState, len(snap.queues))
	now := s.now()
	for _, name := range slices.Sorted(maps.Keys(snap.queues)) {
		from := snap.queues[name]
		state := newQueueState()
		state.sequence = from.sequence
		for i := range from.messages {
			m := from.messages[i]
			state.add(&m)
			if !m.arrived {
				m.arrival = s.clk.AfterFunc(max(m.visible.Sub(now), 0), "arrival in queue "+name, func() { s.arrive(name, &m) })
			}
		}
		s.queues[name] = state
	}
}
