package store

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler lets the engine run one compaction at a time, and none before it is
// open: an engine whose opening fails does not wait for what it has started.
// Unlike the engine's own it needs no ticker, so that an idle process sleeps.
type scheduler struct {
	mu      sync.Mutex
	open    bool
	running bool
}

var (
	_ pebble.CompactionScheduler   = (*scheduler)(nil)
	_ pebble.CompactionGrantHandle = (*scheduler)(nil)
)

func (s *scheduler) allow(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
}

// TrySchedule implements pebble.CompactionScheduler. The engine asks again after
// each flush and each compaction.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.running {
		return false, nil
	}
	s.running = true
	return true, s
}

// Done implements pebble.CompactionGrantHandle.
func (s *scheduler) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// Unregister implements pebble.CompactionScheduler.
func (s *scheduler) Unregister() { s.allow(false) }

// The rest of both interfaces is for schedulers that measure.

func (*scheduler) Register(int, pebble.DBForCompaction)              {}
func (*scheduler) UpdateGetAllowedWithoutPermission()                {}
func (*scheduler) Started()                                          {}
func (*scheduler) MeasureCPU(pebble.CompactionGoroutineKind)         {}
func (*scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}
