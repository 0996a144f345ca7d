package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A visitor has the turn like a goroutine that comes in by Inside: it may wait, go
// out, and come in again while it is in.
func TestVisitor(t *testing.T) {
	t.Parallel()
	for _, clk := range []clock.Clock{clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true}), clock.System()} {
		visitor, steps := clock.NewVisitor(clk), 0
		for range 2 {
			visitor.Inside("visit", func() {
				visitor.Inside("again", func() { steps++ })
				clk.Outside(context.Background(), "out", func() { steps++ })
				clk.Inside("as anybody", func() { steps++ })
			})
		}
		if steps != 6 {
			t.Errorf("%T: %d steps, want 6", clk, steps)
		}
	}
}

func TestVisitorIsOneGoroutine(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true})
	visitor := clock.NewVisitor(clk)
	panicked := make(chan bool)
	go func() {
		defer func() { panicked <- recover() != nil }()
		visitor.Inside("somebody else", func() {})
	}()
	if !<-panicked {
		t.Error("another goroutine came in as the visitor")
	}
}
