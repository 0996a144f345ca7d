package listening

import (
	"context"
	"sync"

	"github.com/redeliver/redeliver/host/clock"
)

// singletons are the listener locks of this process: of a kind that must not
// run twice (a timer), the next generation's listener starts when the last
// one's has ended, so that no tick overlaps another across a reload. Locks
// between hosts are in package locks: see turn.listenAlone.
type singletons struct {
	mu   sync.Mutex
	held map[string]bool
	free *clock.Cond
}

func newSingletons(clk clock.Clock) *singletons {
	s := &singletons{held: map[string]bool{}}
	s.free = clock.NewCond(clk, &s.mu)
	return s
}

// acquire waits for the lock of that name and returns its release.
func (s *singletons) acquire(ctx context.Context, name string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held[name] {
		if err := s.free.Wait(ctx); err != nil {
			return nil, err
		}
	}
	s.held[name] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, name)
		s.free.Broadcast()
	}, nil
}
