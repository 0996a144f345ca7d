package clock_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// The first promise: time stands still while anybody has work, and then
// jumps to the next deadline.
func TestTimeMovesOnlyWhenNobodyHasWork(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		g.Go("sleeper", func() {
			_ = v.Sleep(background(), time.Hour)
			order.add("woke@%v", since(v))
		})
		g.Go("busy", func() {
			for range 1000 {
				_ = v.Sleep(background(), 0)
			}
			v.Outside(background(), "call", func() { runtime.Gosched() })
			order.add("busy@%v", since(v))
		})
	})
	v.Run(2 * time.Hour)
	order.is(t, "busy@0s woke@1h0m0s")
}

func TestDueInOrderOfSetting(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	var mu sync.Mutex
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		ctx, cancel := v.WithTimeout(background(), time.Second) // set first
		g.Go("sleep", func() { _ = v.Sleep(background(), time.Second); order.add("sleep") })
		g.Go("cond", func() {
			mu.Lock()
			defer mu.Unlock()
			_ = clock.NewCond(v, &mu).WaitUntil(background(), epoch.Add(time.Second))
			order.add("cond")
		})
		g.Go("timer", func() { v.AfterFunc(time.Second, "timer", func() { order.add("timer") }) })
		g.Go("idle", func() { _ = v.Idle(background(), time.Second); order.add("idle") })
		g.Go("timeout", func() { defer cancel(); _ = v.Sleep(ctx, time.Hour); order.add("timeout") })
		g.Go("early", func() { _ = v.Sleep(background(), time.Second/2); order.add("early") })
	})
	v.Advance(time.Second)
	order.is(t, "early timeout sleep cond timer idle")
}

func TestReadyIsFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		for _, name := range []string{"a", "b", "c"} {
			g.Go(name, func() {
				for range 2 {
					order.add("%s", name)
					_ = v.Sleep(background(), 0)
				}
			})
		}
		order.add("start")
	})
	order.is(t, "start a b c a b c")
}

func TestCancelWakesInOrderOfWaiting(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	v.Do("start", func() {
		root, cancel := v.WithCancel(background())
		g := clock.NewGroup(v, 0)
		for i := range 9 {
			ctx := root
			if i%3 == 1 {
				ctx, _ = v.WithCancel(root) //nolint:all // ends with root
			} else if i%3 == 2 {
				ctx, _ = v.WithTimeout(context.WithValue(root, traceKey{}, i), time.Hour) //nolint:all // ends with root
			}
			g.Go("w", func() {
				err := v.Sleep(ctx, time.Minute)
				order.add("%d:%v", i, err == context.Canceled)
			})
		}
		g.Go("cancel", cancel)
	})
	order.is(t, "0:true 1:true 2:true 3:true 4:true 5:true 6:true 7:true 8:true")
	if got := v.Run(time.Hour); got != 0 {
		t.Errorf("ended deadlines still move time: %v", got)
	}
}

func TestTimeJumps(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	for name, tc := range map[string]struct {
		wait   func(*clock.Virtual)
		reason bool
	}{
		"Sleep": {func(v *clock.Virtual) { _ = v.Sleep(background(), time.Minute) }, true},
		"WaitUntil": {func(v *clock.Virtual) {
			mu.Lock()
			defer mu.Unlock()
			_ = clock.NewCond(v, &mu).WaitUntil(background(), epoch.Add(time.Minute))
		}, true},
		"WithTimeout": {func(v *clock.Virtual) {
			ctx, cancel := v.WithTimeout(background(), time.Minute)
			defer cancel()
			_ = v.Idle(ctx, time.Hour)
		}, true},
		"Idle":      {func(v *clock.Virtual) { _ = v.Idle(background(), time.Minute) }, false},
		"AfterFunc": {func(v *clock.Virtual) { v.AfterFunc(time.Minute, "x", func() {}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := clock.NewVirtual(epoch, strict())
			v.Do("start", func() { clock.NewGroup(v, 0).Go("w", func() { tc.wait(v) }) })
			var want time.Duration
			if tc.reason {
				want = time.Minute
			}
			if got := v.Run(time.Hour); got != want || since(v) != want {
				t.Errorf("Run moved by %v to %v, want %v", got, since(v), want)
			}
			v.Advance(time.Hour) // passes through all of them
			if w := v.Waiting(); len(w) != 0 {
				t.Errorf("after Advance still waiting: %v", w)
			}
		})
	}
}

// Idle and AfterFunc are served on the way to a deadline that matters.
func TestServedOnTheWay(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		v.AfterFunc(time.Minute, "timer", func() { order.add("timer@%v", since(v)) })
		g.Go("idle", func() { _ = v.Idle(background(), 2*time.Minute); order.add("idle@%v", since(v)) })
		g.Go("sleep", func() { _ = v.Sleep(background(), 3*time.Minute); order.add("sleep@%v", since(v)) })
		g.Go("late", func() { _ = v.Idle(background(), 4*time.Minute); order.add("late@%v", since(v)) })
	})
	v.Run(time.Hour)
	order.is(t, "timer@1m0s idle@2m0s sleep@3m0s")
	v.Advance(time.Hour)
	order.is(t, "timer@1m0s idle@2m0s sleep@3m0s late@4m0s")
}

func TestRunStopsAtMax(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	n := 0
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("poll", func() {
			for n < 1000 {
				n++
				_ = v.Sleep(background(), time.Minute)
			}
		})
	})
	if got, want := v.Run(90*time.Second), 90*time.Second; got != want {
		t.Errorf("Run = %v, want %v", got, want)
	}
	if n != 2 || since(v) != 90*time.Second {
		t.Errorf("polled %d times until %v", n, since(v))
	}
	if got := v.Run(0); got != 0 {
		t.Errorf("Run(0) = %v", got)
	}
	v.Run(1000 * time.Hour)
}

func TestNext(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		g.Go("a", func() { _ = v.Sleep(background(), time.Second); _ = v.Sleep(background(), 0); order.add("a") })
		g.Go("b", func() { _ = v.Idle(background(), time.Second); order.add("b") })
		v.AfterFunc(time.Hour, "c", func() { order.add("c") })
	})
	for i, want := range []string{"b a", "b a c", "b a c"} {
		if got := v.Next(); got != (i < 2) {
			t.Errorf("Next %d = %v", i, got)
		}
		order.is(t, want)
	}
	if since(v) != time.Hour {
		t.Errorf("now %v", since(v))
	}
}

func TestAdvanceFinishesWokenGoroutines(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	done := false
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("w", func() {
			_ = v.Sleep(background(), time.Minute)
			v.Outside(background(), "call", func() { runtime.Gosched() })
			g := clock.NewGroup(v, 0)
			g.Go("child", func() { done = true })
			g.Wait()
		})
	})
	v.Advance(time.Minute)
	if !done || since(v) != time.Minute {
		t.Errorf("done %v at %v", done, since(v))
	}
	v.Advance(0)
	if since(v) != time.Minute {
		t.Errorf("Advance(0) moved to %v", since(v))
	}
	wantIn(t, mustPanic(t, func() { v.Advance(-1) }), "negative")
}

func TestDoReturnsWhenNobodyIsReady(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	g := clock.NewGroup(v, 0)
	var mu sync.Mutex
	cond := clock.NewCond(v, &mu)
	ctx, cancel := v.WithCancel(background())
	v.Do("start", func() {
		g.Go("forever", func() {
			mu.Lock()
			defer mu.Unlock()
			_ = cond.Wait(ctx)
		})
	})
	v.Do("nothing", nil)
	v.Run(time.Hour)
	if since(v) != 0 || g.Len() != 1 {
		t.Errorf("now %v, %d run", since(v), g.Len())
	}
	v.Do("cancel", cancel)
	if g.Len() != 0 {
		t.Errorf("after cancel %d run", g.Len())
	}
}

func TestTimerStoppedWhenDue(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	ran, stopped := 0, false
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("stopper", func() {
			var timer *clock.Timer
			_ = v.Sleep(background(), time.Second)
			timer = v.AfterFunc(0, "due", func() { ran++ })
			stopped = timer.Stop()
			timer.Reset(-1)
			timer.Reset(0)
		})
	})
	v.Advance(time.Minute)
	if !stopped || ran != 1 {
		t.Errorf("Stop of a due timer = %v; ran %d times, want once", stopped, ran)
	}
}

func TestTimesBeyondTheEnd(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	v.Advance(time.Hour)
	ctx, cancel := v.WithCancel(background())
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("w", func() { _ = v.Idle(ctx, 1<<63-1) })
	})
	v.Advance(time.Hour)
	if w := v.Waiting(); len(w) != 1 || w[0].For != "idle" {
		t.Errorf("waiting %v", w)
	}
	v.Do("end", cancel)
}

// Inside takes its turn and lets what it made ready run, without anybody driving.
func TestInsideNeedsNoDriver(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	ran := make(chan string, 10)
	v.Inside("request", func() {
		clock.NewGroup(v, 0).Go("follows", func() { ran <- "follows" })
		v.Inside("nested", func() { ran <- "nested" })
		ran <- "request"
	})
	for _, want := range []string{"nested", "request", "follows"} {
		if got := <-ran; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestInsideOfManyGoroutines(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var wg sync.WaitGroup
	n := 0 // guarded by the baton alone
	for range 16 {
		wg.Go(func() {
			for range 50 {
				v.Inside("request", func() {
					n++
					_ = v.Sleep(background(), 0)
					n++
				})
			}
		})
	}
	wg.Wait()
	if n != 16*50*2 {
		t.Errorf("n = %d", n)
	}
}

// A goroutine that leaves in the middle of its turn does not keep the baton.
func TestGoexitAndPanicPassTheBaton(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	v.Do("start", func() { clock.NewGroup(v, 0).Go("exits", runtime.Goexit) })
	mustPanic(t, func() { v.Do("panics", func() { panic("x") }) })
	mustPanic(t, func() { v.Inside("panics", func() { panic("x") }) })
	ran := false
	v.Do("after", func() { ran = true })
	if !ran {
		t.Error("the baton was lost")
	}
}

// A panic in Do is not held up by what is still out.
func TestPanicInDoDoesNotWait(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	finish, back := calls(v, &order, "a")
	mustPanic(t, func() { v.Do("panics", func() { panic("x") }) })
	finish("a")
	<-back
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	ctx, cancel := v.WithCancel(background())
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		var mu sync.Mutex
		v.AfterFunc(time.Hour, "later", func() {})
		v.AfterFunc(time.Minute, "soon", func() {})
		g.Go("a", func() { _ = v.Sleep(ctx, time.Second) })
		g.Go("b", func() { mu.Lock(); defer mu.Unlock(); _ = clock.NewCond(v, &mu).Wait(ctx) })
	})
	defer v.Pin("server")()
	var got trace
	for _, w := range v.Waiting() {
		got.add("[%v]", w)
	}
	got.is(t, "[a: sleep until 2030-01-01T00:00:01Z] [b: cond] [soon: timer until 2030-01-01T00:01:00Z] [later: timer until 2030-01-01T01:00:00Z] [server: pin]")
	v.Do("end", cancel)
}

// No turn begins while a notice is delivered, not even one from outside.
func TestNoticesHaveATurn(t *testing.T) {
	t.Parallel()
	var v *clock.Virtual
	n := 0
	v = clock.NewVirtual(epoch, &clock.VirtualOptions{Notify: func(clock.Notice) {
		n++
		if clock.Free(v) {
			t.Error("the baton is free during a notice")
		}
	}})
	v.Advance(time.Minute)
	if n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestMovedNotices(t *testing.T) {
	t.Parallel()
	var got trace
	v := clock.NewVirtual(epoch, &clock.VirtualOptions{Notify: func(n clock.Notice) { got.add("%v>%v", n.Kind, n.To.Sub(n.From)) }})
	v.Do("start", func() {
		clock.NewGroup(v, 0).Go("a", func() { _ = v.Sleep(background(), time.Second); got.add("woke") })
	})
	v.Advance(time.Minute)
	got.is(t, "moved>1s woke moved>59s")
}
