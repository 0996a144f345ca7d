package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// Turns at one instant are told, each time that so many more have begun; time that moves
// and what comes in from the outside begin the count anew.
func TestCrowdedInstant(t *testing.T) {
	t.Parallel()
	var told []uint64
	v := clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Notify: func(n clock.Notice) {
		if n.Kind == clock.Crowded {
			told = append(told, n.Turns)
		}
	}})
	turns := func(n int, wait time.Duration) {
		g := clock.NewGroup(v, 0)
		v.Do("test", func() {
			g.Go("busy", func() {
				for range n {
					_ = v.Sleep(context.Background(), wait)
				}
			})
		})
		v.Run(time.Hour)
	}
	turns(clock.StandingTurns-100, 0)
	turns(clock.StandingTurns-100, 0) // the second input
	turns(2*clock.StandingTurns, time.Nanosecond)
	if len(told) != 0 {
		t.Errorf("told after %d turns", told)
	}
	turns(2*clock.StandingTurns+100, 0)
	if len(told) != 2 || told[1] != 2*clock.StandingTurns {
		t.Errorf("told after %d turns, want twice", told)
	}
}
