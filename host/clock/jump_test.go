package clock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A jump passes over what is due on the way: it happens at the end, in its order, and what
// is set there counts from the end.
func TestJump(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	var got []string
	note := func(what string) { got = append(got, what+" "+clk.Now().Sub(start).String()) }
	group := clock.NewGroup(clk, 0)
	clk.Do("begin", func() {
		clk.AfterFunc(time.Minute, "timer", func() { note("timer") })
		group.Go("sleeper", func() {
			for range 2 {
				if clk.Sleep(context.Background(), 40*time.Second) == nil {
					note("sleeper")
				}
			}
		})
		clk.AfterFunc(2*time.Hour, "later", func() { note("later") })
	})
	clk.Jump(time.Hour)
	if now := clk.Now(); !now.Equal(start.Add(time.Hour)) {
		t.Errorf("it is %v", now)
	}
	clk.Advance(time.Hour)
	if want := []string{"sleeper 1h0m0s", "timer 1h0m0s", "sleeper 1h0m40s", "later 2h0m0s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
