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

// Calls that belong to a visitor come in as such, also from below its context, and other
// calls and other clocks as they always do.
func TestEnter(t *testing.T) {
	t.Parallel()
	type key struct{}
	strict := func() *clock.Virtual {
		return clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true})
	}
	own, steps := strict(), 0
	visiting := clock.ForVisitor(context.Background())
	for _, ctx := range []context.Context{visiting, context.WithValue(visiting, key{}, 1), context.Background()} {
		for _, clk := range []clock.Clock{own, strict(), clock.System()} {
			clock.Enter(ctx, clk, "visit", func() {
				clock.Enter(ctx, clk, "again", func() { steps++ })
				clk.Outside(context.Background(), "out", func() { steps++ })
			})
		}
	}
	if steps != 18 {
		t.Errorf("%d steps, want 18", steps)
	}
	panicked := make(chan bool)
	go func() {
		defer func() { panicked <- recover() != nil }()
		clock.Enter(visiting, own, "somebody else", func() {})
	}()
	if !<-panicked {
		t.Error("another goroutine came in as the visitor")
	}
}
