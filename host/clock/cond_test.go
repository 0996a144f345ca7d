package clock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

func TestCondWakesInOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		var mu sync.Mutex
		cond := clock.NewCond(clk, &mu)
		g := clock.NewGroup(clk, 0)
		var woken []int
		started := 0
		begun := clock.NewCond(clk, &mu)
		mu.Lock()
		for i := range 5 {
			g.Go("waiter", func() {
				mu.Lock()
				defer mu.Unlock()
				started++
				begun.Signal()
				if err := cond.Wait(background()); err != nil {
					t.Error(err)
				}
				woken = append(woken, i)
				begun.Signal()
			})
			for started <= i {
				_ = begun.Wait(background())
			}
		}
		for i := range 3 {
			cond.Signal()
			for len(woken) <= i {
				_ = begun.Wait(background())
			}
		}
		cond.Broadcast()
		mu.Unlock()
		g.Wait()
		for i := range 3 {
			if woken[i] != i {
				t.Errorf("woken in order %v", woken)
			}
		}
		if len(woken) != 5 {
			t.Errorf("woken: %v", woken)
		}
	})
}

// A signal that comes when the wait it might have ended is over already must not
// be kept for a later one, and must not be swallowed by one that has given up.
func TestCondKeepsNoStaleSignal(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		var mu sync.Mutex
		cond := clock.NewCond(clk, &mu)
		cond.Signal() // nobody waits
		cond.Broadcast()
		mu.Lock()
		defer mu.Unlock()
		for round := range 4 {
			ctx, cancel := clk.WithTimeout(background(), unit)
			if round%2 == 0 {
				cancel()
			}
			_ = cond.WaitUntil(ctx, clk.Now().Add(unit))
			cond.Signal()
			cond.Broadcast()
			cancel()
			ctx, cancel = clk.WithTimeout(background(), unit)
			if err := cond.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("round %d: a stale signal ended a later wait (%v)", round, err)
			}
			cancel()
		}
	})
}

// A wait that was signalled returns nil, even if its context ends before it can run.
func TestSignalBeforeCancelCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		for range 100 {
			var mu sync.Mutex
			cond, begun := clock.NewCond(clk, &mu), clock.NewCond(clk, &mu)
			started := false
			ctx, cancel := clk.WithCancel(background())
			g := clock.NewGroup(clk, 0)
			g.Go("waiter", func() {
				mu.Lock()
				defer mu.Unlock()
				started = true
				begun.Signal()
				if err := cond.Wait(ctx); err != nil {
					t.Errorf("the signal was lost: %v", err)
				}
			})
			mu.Lock()
			for !started {
				_ = begun.Wait(background())
			}
			cond.Signal()
			cancel()
			mu.Unlock()
			g.Wait()
		}
	})
}

// unlockThen is a lock that does something more when it is given up for a wait.
type unlockThen struct {
	sync.Mutex
	then func()
}

func (l *unlockThen) Unlock() {
	l.Mutex.Unlock()
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
}

// The same on System, where both may be there before the wait looks.
func TestSignalBeforeCancelCountsOnSystem(t *testing.T) {
	t.Parallel()
	for range 64 {
		ctx, cancel := context.WithCancel(background())
		l := &unlockThen{}
		cond := clock.NewCond(clock.System(), l)
		l.Lock()
		l.then = func() { cond.Signal(); cancel() }
		if err := cond.Wait(ctx); err != nil {
			t.Fatalf("the signal was lost: %v", err)
		}
		l.Unlock()
		cancel()
	}
}

// Signals that race with cancellation and deadlines: every signal either meets a
// waiter, which then returns nil, or nobody; and two tokens always reach two takers.
func TestCondSignalRaces(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, clk clock.Clock) {
		for range 50 {
			var mu sync.Mutex
			cond := clock.NewCond(clk, &mu)
			tokens, taken := 0, 0
			g := clock.NewGroup(clk, 0)
			ctx, cancel := clk.WithCancel(background())
			take := func(ctx context.Context) {
				mu.Lock()
				defer mu.Unlock()
				for tokens == 0 {
					if err := cond.Wait(ctx); err != nil && tokens > 0 {
						cond.Signal() // pass on what may have been meant for this wait
						return
					} else if err != nil {
						return
					}
				}
				tokens--
				taken++
			}
			g.Go("impatient", func() { take(ctx) })
			g.Go("patient", func() { take(background()) })
			g.Go("cancel", cancel)
			g.Go("give", func() {
				mu.Lock()
				defer mu.Unlock()
				tokens += 2
				cond.Signal()
				cond.Signal()
			})
			g.Wait()
			if tokens+taken != 2 || taken == 0 {
				t.Errorf("tokens %d, taken %d", tokens, taken)
			}
		}
	})
}

// IdleUntil ends at its time, and is no reason to jump there.
func TestIdleUntil(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, &clock.VirtualOptions{Strict: true})
	var mu sync.Mutex
	cond := clock.NewCond(v, &mu)
	var ended time.Duration
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("poller", func() {
			mu.Lock()
			defer mu.Unlock()
			if err := cond.IdleUntil(background(), epoch.Add(time.Hour)); err != nil {
				t.Errorf("IdleUntil: %v", err)
			}
			ended = v.Now().Sub(epoch)
		})
	})
	if moved := v.Run(24 * time.Hour); moved != 0 {
		t.Errorf("Run moved time by %v for an idle wait", moved)
	}
	v.Advance(2 * time.Hour)
	if ended != time.Hour {
		t.Errorf("IdleUntil ended after %v, want 1h", ended)
	}
}
