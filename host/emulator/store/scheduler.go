package store

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// scheduler lets the engine run one compaction at a time, and none before it is
// open: an engine whose opening fails does not wait for what it has started.
// Unlike the engine's own it needs no ticker, so that an idle process sleeps; and it
// can be told to wait, without which the engine tries again and again to merge tables
// for which there is no room (TestMergingWithoutRoomRests).
//
// An engine that was refused once asks no more: it waits until it is granted what it
// has picked. So each end of a compaction grants the next.
type scheduler struct {
	db pebble.DBForCompaction // set before all calls of the engine

	mu       sync.Mutex
	open     bool
	running  bool
	asked    bool       // and was refused, since the last grant began
	granting int        // grants under way
	granted  *sync.Cond // on mu: one has ended; nil: without a waiter
}

var (
	_ pebble.CompactionScheduler   = (*scheduler)(nil)
	_ pebble.CompactionGrantHandle = (*scheduler)(nil)
)

// allow lets compactions run or not. To allow them takes locks of the engine.
func (s *scheduler) allow(open bool) {
	s.mu.Lock()
	s.open = open
	s.mu.Unlock()
	if open {
		s.grant()
	}
}

// grant runs what the engine waits for, if it does.
func (s *scheduler) grant() {
	for s.begin() {
		waiting, _ := s.db.GetWaitingCompaction()
		if accepted := waiting && s.db.Schedule(s); !s.end(accepted) {
			return
		}
	}
}

func (s *scheduler) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.running || s.db == nil {
		return false
	}
	s.running, s.asked = true, false
	s.granting++
	return true
}

// end ends a grant, and reports whether the engine has been refused meanwhile.
func (s *scheduler) end(accepted bool) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granting--
	if s.granted != nil {
		s.granted.Broadcast()
	}
	if accepted {
		return false
	}
	s.running = false
	return s.asked
}

// TrySchedule implements pebble.CompactionScheduler.
func (s *scheduler) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open || s.running {
		s.asked = true
		return false, nil
	}
	s.running = true
	return true, s
}

// Done implements pebble.CompactionGrantHandle.
func (s *scheduler) Done() {
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	s.grant()
}

// Register implements pebble.CompactionScheduler.
func (s *scheduler) Register(_ int, db pebble.DBForCompaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.db = db
}

// Unregister implements pebble.CompactionScheduler: it waits for a grant that is
// under way.
func (s *scheduler) Unregister() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	s.granted = sync.NewCond(&s.mu)
	for s.granting > 0 {
		s.granted.Wait()
	}
}

// The rest of both interfaces is for schedulers that measure.

func (*scheduler) UpdateGetAllowedWithoutPermission()                {}
func (*scheduler) Started()                                          {}
func (*scheduler) MeasureCPU(pebble.CompactionGoroutineKind)         {}
func (*scheduler) CumulativeStats(pebble.CompactionGrantHandleStats) {}
