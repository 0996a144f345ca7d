package clock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// The tests in this file hold for both clocks. Their bodies run as a goroutine
// of the clock; on System a unit of time is short, and orders that depend on two
// deadlines leave room between them.

const (
	unit = 2 * time.Millisecond
	long = time.Hour
)

func onBoth(t *testing.T, body func(t *testing.T, clk clock.Clock)) {
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		body(t, clock.System())
	})
	for name, opts := range map[string]*clock.VirtualOptions{
		"Virtual":        nil,
		"Virtual strict": strict(),
		"Virtual serial": {Strict: true, Serial: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := clock.NewVirtual(epoch, opts)
			done := false
			v.Do("start", func() {
				clock.NewGroup(v, 0).Go("test", func() {
					body(t, v)
					done = true
				})
			})
			v.Run(24 * time.Hour)
			if !done {
				t.Errorf("the test did not end; waiting: %v", v.Waiting())
			}
		})
	}
}

func TestSleepLasts(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(clock.Clock) error{
		"Sleep": func(c clock.Clock) error { return c.Sleep(background(), unit) },
		"WaitUntil": func(c clock.Clock) error {
			var mu sync.Mutex
			mu.Lock()
			defer mu.Unlock()
			return clock.NewCond(c, &mu).WaitUntil(background(), c.Now().Add(unit))
		},
		"WithTimeout": func(c clock.Clock) error {
			ctx, cancel := c.WithTimeout(background(), unit)
			defer cancel()
			if err := c.Sleep(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
				return errors.New("sleep did not end with the timeout")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, clk clock.Clock) {
				from := clk.Now()
				if err := wait(clk); err != nil {
					t.Error(err)
				}
				got := clk.Now().Sub(from)
				if _, virtual := clk.(*clock.Virtual); got < unit || virtual && got != unit {
					t.Errorf("lasted %v, want %v", got, unit)
				}
			})
		})
	}
}

func TestIdleLasts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		from := clk.Now()
		g := clock.NewGroup(clk, 0)
		g.Go("idle", func() {
			if err := clk.Idle(background(), unit); err != nil {
				t.Error(err)
			}
			if got := clk.Now().Sub(from); got < unit {
				t.Errorf("lasted %v, want %v", got, unit)
			}
		})
		_ = clk.Sleep(background(), 2*unit)
		g.Wait()
	})
}

func TestWaitsOfNoLength(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		var mu sync.Mutex
		mu.Lock()
		defer mu.Unlock()
		cond := clock.NewCond(clk, &mu)
		for _, d := range []time.Duration{0, -1, -long} {
			if err := clk.Sleep(background(), d); err != nil {
				t.Error(err)
			}
			if err := clk.Idle(background(), d); err != nil {
				t.Error(err)
			}
			if err := cond.WaitUntil(background(), clk.Now().Add(d)); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := clk.WithTimeout(background(), 0)
		defer cancel()
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WithTimeout(0).Err() = %v", err)
		}
	})
}

func TestCancelEndsEveryWait(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		ctx, cancel := clk.WithCancel(context.WithValue(background(), traceKey{}, "x"))
		defer cancel()
		var mu sync.Mutex
		cond := clock.NewCond(clk, &mu)
		full := clock.NewGroup(clk, 0)
		full.Go("member", func() { _ = clk.Sleep(ctx, long) })
		locked := func(f func() error) func() error {
			return func() error {
				mu.Lock()
				defer mu.Unlock()
				return f()
			}
		}
		below, stop := clk.WithTimeout(context.WithValue(ctx, traceKey{}, "y"), long)
		defer stop()
		waits := map[string]func() error{
			"Sleep":       func() error { return clk.Sleep(ctx, long) },
			"Sleep below": func() error { return clk.Sleep(below, long) },
			"Idle":        func() error { return clk.Idle(ctx, long) },
			"Wait":        locked(func() error { return cond.Wait(ctx) }),
			"WaitUntil":   locked(func() error { return cond.WaitUntil(below, clk.Now().Add(long)) }),
			"Below":       func() error { return full.Below(ctx, 0) },
		}
		g := clock.NewGroup(clk, 0)
		for name, wait := range waits {
			g.Go(name, func() {
				for range 2 { // the second time it has ended already
					if err := wait(); !errors.Is(err, context.Canceled) {
						t.Errorf("%s: got %v, want %v", name, err, context.Canceled)
					}
				}
			})
		}
		_ = clk.Sleep(background(), unit)
		cancel()
		g.Wait()
		full.Wait()
	})
}

type traceKey struct{}

func TestAfterFunc(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		var mu sync.Mutex
		cond := clock.NewCond(clk, &mu)
		runs := 0
		f := func() {
			mu.Lock()
			defer mu.Unlock()
			runs++
			cond.Signal()
		}
		timer := clk.AfterFunc(long, "long", f)
		if !timer.Stop() {
			t.Error("Stop before it was due = false")
		}
		if timer.Stop() {
			t.Error("second Stop = true")
		}
		if timer.Reset(long) {
			t.Error("Reset of a stopped timer = true")
		}
		if !timer.Reset(unit) {
			t.Error("Reset of a pending timer = false")
		}
		mu.Lock()
		for runs == 0 {
			// Somebody has to wait for it: housekeeping is no reason for time to move.
			if err := cond.WaitUntil(background(), clk.Now().Add(long/2)); err != nil {
				t.Error(err)
			}
		}
		mu.Unlock()
		if timer.Stop() {
			t.Error("Stop after it ran = true")
		}
		if runs != 1 {
			t.Errorf("ran %d times", runs)
		}
	})
}

type midKey struct{}

func TestContexts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		root, cancelRoot := clk.WithCancel(context.WithValue(background(), traceKey{}, "v"))
		mid := context.WithValue(root, midKey{}, 1)
		leaf, cancelLeaf := clk.WithTimeout(mid, long)
		other, cancelOther := clk.WithTimeout(mid, unit)
		defer cancelOther()
		quiet, cancelQuiet := clk.WithTimeout(mid, unit) // nobody asks for its Done
		defer cancelQuiet()
		std, cancelStd := context.WithCancel(context.WithValue(other, midKey{}, 2))
		defer cancelStd()

		if got := leaf.Value(traceKey{}); got != "v" {
			t.Errorf("Value = %v", got)
		}
		for _, ctx := range []context.Context{root, leaf, other, std} {
			if ctx.Err() != nil || context.Cause(ctx) != nil {
				t.Errorf("ended too soon: %v, cause %v", ctx.Err(), context.Cause(ctx))
			}
		}
		_ = clk.Sleep(background(), 10*unit)
		clk.Outside(background(), "wait", func() { <-std.Done() })
		for _, ctx := range []context.Context{other, std} {
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				t.Errorf("after the timeout: %v, cause %v", ctx.Err(), context.Cause(ctx))
			}
		}
		cancelLeaf()
		if root.Err() != nil || !errors.Is(leaf.Err(), context.Canceled) || !errors.Is(context.Cause(leaf), context.Canceled) {
			t.Errorf("after cancelLeaf: root %v, leaf %v, cause %v", root.Err(), leaf.Err(), context.Cause(leaf))
		}
		cancelRoot()
		cancelRoot()
		if got := context.Cause(quiet); !errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("cause of a timeout below a cancelled context: %v", got)
		}
		late, cancelLate := clk.WithTimeout(root, long)
		defer cancelLate()
		for _, ctx := range []context.Context{root, late} {
			if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), context.Canceled) {
				t.Errorf("after cancelRoot: %v, cause %v", ctx.Err(), context.Cause(ctx))
			}
			<-ctx.Done() //nolint:all // closed by now
		}
		free := context.WithoutCancel(root)
		if err := clk.Sleep(free, unit); err != nil {
			t.Errorf("Sleep under WithoutCancel: %v", err)
		}
	})
}

func TestGroupLimits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		g := clock.NewGroup(clk, 3)
		var mu sync.Mutex
		running, most := 0, 0
		for range 10 {
			g.Go("member", func() {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				_ = clk.Sleep(background(), unit/4)
				mu.Lock()
				running--
				mu.Unlock()
			})
		}
		if err := g.Below(background(), 3); err != nil {
			t.Error(err)
		}
		if n := g.Len(); n > 2 {
			t.Errorf("Len after Below(3) = %d", n)
		}
		g.Wait()
		if g.Len() != 0 || running != 0 || most > 3 {
			t.Errorf("Len %d, running %d, most %d", g.Len(), running, most)
		}
		ctx, cancel := clk.WithCancel(background())
		cancel()
		if err := g.Below(ctx, 5); !errors.Is(err, context.Canceled) {
			t.Errorf("Below with an ended context: %v", err)
		}
	})
}

func TestOutsideAndInside(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		for _, out := range []func(context.Context, string, func()){clk.Outside, clk.Away} {
			var order trace
			out(background(), "call", func() {
				order.add("out")
				clk.Outside(background(), "nested", func() { order.add("nested") })
			})
			order.add("back")
			clk.Inside("again", func() { order.add("in") })
			order.is(t, "out nested back in")

			// A context's end reaches a call that is outside.
			ctx, cancel := clk.WithCancel(background())
			g := clock.NewGroup(clk, 0)
			g.Go("cancel", cancel)
			out(ctx, "waits", func() { <-ctx.Done() })
			g.Wait()

			func() {
				defer func() { _ = recover() }()
				out(background(), "panics", func() { panic("x") })
			}()
			if err := clk.Sleep(background(), unit); err != nil {
				t.Error(err)
			}
		}
	})
}
