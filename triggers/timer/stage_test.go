package timer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/timer"
)

// A stage runs one listener and takes down what it does, one line for each call
// of its sink, with the time of day.
type stage struct {
	clk    clock.Clock
	v      *clock.Virtual // nil on the system clock
	group  *clock.Group
	cancel context.CancelFunc

	handle   func(ctx context.Context, ev *triggers.Event) triggers.Result // nil: success
	open     bool                                                          // the circuit
	draining bool

	mu       sync.Mutex
	lines    []string
	events   []*triggers.Event
	settled  map[*triggers.Event]int
	finished bool
	err      error
}

func newStage(t *testing.T, start string) *stage {
	t.Helper()
	v := clock.NewVirtual(instant(t, start), &clock.VirtualOptions{Strict: true})
	return &stage{clk: v, v: v, settled: map[*triggers.Event]int{}}
}

// run starts the listener; it is stopped at the end of the test at the latest.
func (s *stage) run(t *testing.T, schedule string, opts *timer.Options) {
	t.Helper()
	l := timer.New(s.clk, mustParse(t, schedule), opts)
	s.group = clock.NewGroup(s.clk, 0)
	s.clk.Inside("start", func() {
		var ctx context.Context
		ctx, s.cancel = s.clk.WithCancel(context.Background())
		s.group.Go("listener", func() {
			err := l.Run(ctx, s)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.finished, s.err = true, err
		})
	})
	if s.v != nil {
		s.v.Advance(0)
	}
	t.Cleanup(func() {
		s.stop()
		s.clk.Inside("wait", s.group.Wait)
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, ev := range s.events {
			if s.settled[ev] != 1 {
				t.Errorf("a tick was settled %d times", s.settled[ev])
			}
		}
	})
}

func (s *stage) stop() {
	s.clk.Inside("stop", func() { s.cancel() })
	if s.v != nil {
		s.v.Advance(0)
	}
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, s.clk.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (s *stage) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

func (s *stage) Handle(ctx context.Context, ev *triggers.Event) triggers.Result {
	s.note("run %s", ev.Messages[0].Value.Text)
	s.mu.Lock()
	s.events = append(s.events, ev)
	s.mu.Unlock()
	if s.handle == nil {
		return triggers.Result{Attempts: 1}
	}
	return s.handle(ctx, ev)
}

func (s *stage) Settled(ev *triggers.Event, settlement triggers.Settlement) {
	line := "settled " + string(settlement.Decision)
	if settlement.Note != "" {
		line += " (" + settlement.Note + ")"
	}
	if settlement.Err != nil {
		line += ": " + settlement.Err.Error()
	}
	s.note("%s", line)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled[ev]++
}

func (s *stage) Gate() triggers.Gate                         { return s }
func (s *stage) Admit(_ context.Context, n int) (int, error) { return n, nil }
func (s *stage) Try() (time.Duration, bool)                  { return 0, !s.open }

func (s *stage) WhileAdmitted(ctx context.Context) (context.Context, func()) {
	return ctx, func() {}
}
func (s *stage) Skip(*triggers.Event) {}
func (s *stage) Unused(int)           {}

func (s *stage) Draining() bool { return s.draining }
func (s *stage) Replaced() bool { return false }
func (s *stage) BeginAgain(_ context.Context, cause error) error {
	return cause
}

// plain is the payload of a timer without a monitor.
const unmonitored = `{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":false}`
