package host

import (
	"strings"
	"sync"

	"github.com/redeliver/redeliver/triggers/timer"
)

// schedules hold the status of every timer of the app, by function name
// ignoring case. They outlive a generation, so that a reload neither repeats
// nor loses a tick.
type schedules struct {
	mu     sync.Mutex
	byName map[string]*timer.Memory
}

func newSchedules() *schedules { return &schedules{byName: map[string]*timer.Memory{}} }

// store returns the status of the function's timer.
func (s *schedules) store(function string) timer.StatusStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(function)
	if s.byName[key] == nil {
		s.byName[key] = new(timer.Memory)
	}
	return s.byName[key]
}

// reset forgets every status. Listeners keep the stores that they have.
func (s *schedules) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byName)
}
