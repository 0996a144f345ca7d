package clock_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A cancel and a deadline at one instant: the context ends by the one that was
// set first.
func TestCancelAndDeadlineAtOneInstant(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"timer", "sleep"} {
		for _, cancelFirst := range []bool{true, false} {
			v := clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true})
			var ctx context.Context
			var cancel context.CancelFunc
			var err error
			v.Do("test", func() {
				g := clock.NewGroup(v, 0)
				deadline := func() {
					ctx, cancel = v.WithTimeout(context.Background(), time.Second)
					g.Go("waiter", func() { err = v.Sleep(ctx, time.Minute) })
				}
				canceller := func() {
					if how == "timer" {
						v.AfterFunc(time.Second, "cancel", func() { cancel() })
						return
					}
					g.Go("cancel", func() {
						_ = v.Sleep(context.Background(), time.Second)
						cancel()
					})
					_ = v.Sleep(context.Background(), 0) // it sleeps now
				}
				if cancelFirst {
					canceller()
					deadline()
				} else {
					deadline()
					canceller()
				}
			})
			v.Next()
			want := context.DeadlineExceeded
			if cancelFirst {
				want = context.Canceled
			}
			if !errors.Is(err, want) || !errors.Is(ctx.Err(), want) {
				t.Errorf("%s, cancel first %v: the wait ended with %v, the context with %v; want %v", how, cancelFirst, err, ctx.Err(), want)
			}
		}
	}
}

// Past its last moment the clock stands still: what would be due later never is.
func TestAdvancePastTheLastYear(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true})
	ticks := 0
	ctx, cancel := v.WithCancel(context.Background())
	defer v.Do("stop", cancel)
	v.Do("test", func() {
		clock.NewGroup(v, 0).Go("ticks", func() {
			for v.Idle(ctx, 50*365*24*time.Hour) == nil {
				ticks++
			}
		})
		v.AfterFunc(math.MaxInt64, "never", func() { t.Error("the last moment came") })
	})
	for range 3 {
		v.Advance(200 * 365 * 24 * time.Hour)
	}
	if moved := v.Run(math.MaxInt64); ticks != 5 || moved != 0 || v.Next() {
		t.Errorf("%d ticks in 292 years of fifty each, and %v more; want 5 and an end", ticks, moved)
	}
}
