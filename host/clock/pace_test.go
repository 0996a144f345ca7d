package clock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// pacer drives a clock whose real time is the test's.
type pacer struct {
	*clock.Virtual
	wall    *clock.FakeWall
	order   trace
	notices []clock.Notice
}

func newPacer(t *testing.T) *pacer {
	p := &pacer{wall: &clock.FakeWall{}}
	p.Virtual = clock.NewVirtualWall(epoch, &clock.VirtualOptions{
		Strict: true,
		Notify: func(n clock.Notice) {
			if n.Kind != clock.Moved {
				p.notices = append(p.notices, n)
			}
		},
	}, p.wall)
	t.Cleanup(p.Close)
	return p
}

// pass lets real time pass, and all that it starts run.
func (p *pacer) pass(d time.Duration) {
	p.wall.Pass(d, func() { clock.Settle(p.Virtual) })
	clock.Settle(p.Virtual)
}

// sleeps starts a goroutine that waits again and again, n times.
func (p *pacer) sleeps(name string, wait func(context.Context, time.Duration) error, d time.Duration, n int) {
	p.Do("start", func() {
		clock.NewGroup(p, 0).Go(name, func() {
			for range n {
				if wait(background(), d) != nil {
					return
				}
				p.order.add("%s@%v", name, since(p.Virtual))
			}
		})
	})
}

func TestRealFollowsTheWall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.sleeps("s", p.Sleep, time.Minute, 2)
	p.pass(time.Hour) // no pace: nothing moves
	p.order.is(t, "")
	p.Real()
	p.pass(59 * time.Second)
	p.order.is(t, "")
	if got := since(p.Virtual); got != 59*time.Second {
		t.Errorf("now %v", got)
	}
	p.pass(time.Second)
	p.order.is(t, "s@1m0s")
	p.Advance(30 * time.Second) // still jumps
	p.pass(29 * time.Second)
	p.order.is(t, "s@1m0s")
	p.pass(time.Second)
	p.order.is(t, "s@1m0s s@2m0s")
	p.pass(time.Minute) // nothing is due: Now is as late as the last event
	p.Do("input", func() {
		if got := since(p.Virtual); got != 3*time.Minute {
			t.Errorf("an input sees %v", got)
		}
	})
	p.Close()
	p.pass(time.Hour)
	if got := since(p.Virtual); got != 3*time.Minute {
		t.Errorf("after Close: %v", got)
	}
}

// Between events time is as late as the last one, but for who asks for the present; that
// overtakes nothing that is due, and starts no work.
func TestPresent(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	at := func(want time.Duration) {
		t.Helper()
		if got := p.Present().Sub(epoch); got != want {
			t.Errorf("present %v, want %v", got, want)
		}
	}
	p.sleeps("s", p.Sleep, time.Minute, 1)
	p.pass(time.Hour)
	at(0) // no pace
	p.Real()
	p.wall.Pass(10*time.Second, func() {})
	if got := since(p.Virtual); got != 0 {
		t.Errorf("before anybody asks: %v", got)
	}
	at(10 * time.Second)
	p.Do("turn", func() {
		p.wall.Pass(time.Second, func() {})
		at(10 * time.Second) // time stands still during a turn
	})
	p.pass(49 * time.Second)
	p.order.is(t, "s@1m0s")
	p.SetPace(clock.Manual)
	p.pass(time.Hour)
	at(time.Minute)
}

// With Real a call out does not hold time still: real durations count.
func TestRealDoesNotWaitForCalls(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	out, cancelled := make(chan struct{}), make(chan struct{})
	p.Real()
	p.Inside("start", func() {
		clock.NewGroup(p, 0).Go("handler", func() {
			ctx, cancel := p.WithTimeout(background(), 5*time.Minute)
			defer cancel()
			p.Outside(ctx, "call", func() {
				close(out)
				<-ctx.Done()
				close(cancelled)
			})
			p.order.add("%v@%v", ctx.Err(), since(p.Virtual))
		})
	})
	<-out
	p.wall.Pass(5*time.Minute, nil)
	<-cancelled
	p.pass(0)
	p.order.is(t, "context deadline exceeded@5m0s")
}

func TestAutoJumpsWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	p.sleeps("s", p.Sleep, time.Hour, 3)
	p.pass(4 * time.Millisecond)
	p.order.is(t, "") // the input was a moment ago
	p.pass(time.Millisecond)
	p.order.is(t, "s@1h0m0s s@2h0m0s s@3h0m0s")

	// Nobody depends on these: the wall decides.
	p.sleeps("i", p.Idle, time.Hour, 1)
	p.pass(time.Hour - time.Second)
	p.order.is(t, "s@1h0m0s s@2h0m0s s@3h0m0s")
	p.pass(time.Second)
	want := 4*time.Hour + 5*time.Millisecond // 5 ms of the wall before the first jump
	if got := since(p.Virtual); got < 4*time.Hour || got > want {
		t.Errorf("now %v, want some 4h", got)
	}
	if w := p.Waiting(); len(w) != 0 {
		t.Errorf("waiting %v", w)
	}
}

func TestAutoWaitsForAQuietMoment(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	p.sleeps("s", p.Sleep, time.Hour, 1)
	for range 10 {
		p.pass(4 * time.Millisecond)
		p.Inside("input", func() {})
	}
	p.order.is(t, "")
	p.pass(5 * time.Millisecond)
	p.order.is(t, "s@1h0m0s")
}

func TestAutoDoesNotJumpWhilePinned(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	unpin, other := p.Pin("server"), p.Pin("server")
	p.sleeps("s", p.Sleep, time.Hour, 2)
	p.pass(time.Minute)
	unpin()
	unpin()
	p.order.is(t, "")
	if got := since(p.Virtual); got != time.Minute {
		t.Errorf("pinned, it is %v: want it to follow the wall", got)
	}
	p.Advance(time.Hour) // a pin does not bind an explicit order
	p.order.is(t, "s@1h0m0s")
	p.pass(time.Minute)
	other()
	clock.Settle(p.Virtual)
	p.order.is(t, "s@1h0m0s s@2h0m0s")
}

// While a call is out time neither jumps nor stands still.
func TestAutoFollowsTheWallWhileACallIsOut(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	finish, back := calls(p.Virtual, &p.order, "a")
	p.Inside("start", func() {
		clock.NewGroup(p, 0).Go("s", func() { _ = p.Sleep(background(), time.Hour); p.order.add("s@%v", since(p.Virtual)) })
	})
	p.wall.Pass(10*time.Minute, nil)
	finish("a")
	<-back
	clock.Settle(p.Virtual)
	p.order.is(t, "a@10m0s s@1h0m0s")
}

// Callers that never leave a moment without a call do not slow time down.
func TestAutoIsNotSlowerThanTheWall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	finish, back := calls(p.Virtual, &p.order, "a", "b", "c", "d")
	for _, name := range []string{"a", "b", "c", "d"} { // each comes back while others are out
		p.wall.Pass(time.Second, nil)
		finish(name)
		<-back
	}
	p.order.is(t, "a@1s b@2s c@3s d@4s")
}

// A goroutine that is always ready does not hold time up, at either pace.
func TestAlwaysReadyIsNotSlowerThanTheWall(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*clock.Virtual){"Real": (*clock.Virtual).Real, "Auto": (*clock.Virtual).Auto} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPacer(t)
			start(p.Virtual)
			turns := 0
			p.Do("start", func() {
				g := clock.NewGroup(p, 0)
				for _, d := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond} {
					g.Go("tick", func() { _ = p.Idle(background(), d); p.order.add("tick@%v", since(p.Virtual)) })
				}
				ctx, cancel := p.WithTimeout(background(), 100*time.Millisecond)
				g.Go("retry", func() {
					defer cancel()
					for turns = 0; ctx.Err() == nil && turns < 10_000; turns++ {
						p.wall.Pass(time.Millisecond, nil) // what an attempt takes
						_ = p.Sleep(background(), 0)
					}
				})
			})
			p.order.is(t, "tick@30ms tick@60ms")
			if turns < 95 || turns > 110 {
				t.Errorf("%d turns of 1 ms until a timeout of 100 ms", turns)
			}
		})
	}
}

func TestAutoStopsSevenDaysAhead(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	ctx, cancel := p.WithCancel(background())
	n := 0
	p.Do("start", func() {
		clock.NewGroup(p, 0).Go("retry", func() {
			for p.Sleep(ctx, 24*time.Hour) == nil {
				n++
			}
		})
	})
	p.pass(time.Minute)
	if n != 7 {
		t.Errorf("retried %d times, want 7", n)
	}
	p.pass(24 * time.Hour)
	if n != 8 {
		t.Errorf("retried %d times, want one more with the wall", n)
	}
	if len(p.notices) != 1 || p.notices[0].Kind != clock.RanAhead {
		t.Errorf("notices %v, want one", p.notices)
	}
	p.Do("input", nil)
	p.pass(time.Minute)
	if n != 15 || len(p.notices) != 2 {
		t.Errorf("after an input: retried %d times, %d notices", n, len(p.notices))
	}
	p.Do("end", cancel)
}

func TestChangeOfPace(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Real()
	p.sleeps("s", p.Sleep, time.Hour, 3)
	p.pass(time.Minute)
	p.Auto()
	p.pass(time.Minute)
	p.order.is(t, "s@1h0m0s s@2h0m0s s@3h0m0s")
	p.Close()
	p.Close()
	p.Real()
	at := since(p.Virtual)
	p.pass(time.Minute)
	p.Do("look", func() {
		if got := since(p.Virtual) - at; got != time.Minute {
			t.Errorf("moved %v", got)
		}
	})
}

// The paces on the wall itself.
func TestPacesOnTheRealWall(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*clock.Virtual){"Real": (*clock.Virtual).Real, "Auto": (*clock.Virtual).Auto} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := clock.NewVirtual(epoch, strict())
			defer v.Close()
			start(v)
			done := make(chan time.Duration)
			v.Inside("start", func() {
				clock.NewGroup(v, 0).Go("s", func() {
					_ = v.Sleep(background(), 10*time.Millisecond)
					now := since(v)
					v.Outside(background(), "report", func() { done <- now })
				})
			})
			if got := <-done; got < 10*time.Millisecond {
				t.Errorf("woke at %v", got)
			}
			if virtual, real := v.Elapsed(); virtual < 10*time.Millisecond || real <= 0 {
				t.Errorf("Elapsed = %v, %v", virtual, real)
			}
		})
	}
}

// After a sleep of the process everything overdue is due now, and sees the present
// time: a lease that ended meanwhile has ended for every reader.
func TestRealAfterASleep(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.sleeps("tick", p.Idle, time.Minute, 2)
	p.sleeps("renewal", p.Idle, 30*time.Second, 1)
	p.Real()
	p.wall.Sleep(10*time.Minute, func() { clock.Settle(p.Virtual) })
	clock.Settle(p.Virtual)
	p.order.is(t, "renewal@10m0s tick@10m0s")
	p.pass(time.Minute)
	p.order.is(t, "renewal@10m0s tick@10m0s tick@11m0s")
}

// The machine's clock goes on while the machine sleeps, and follows no small correction
// of the calendar, nor one into the past.
func TestMachineSleep(t *testing.T) {
	t.Parallel()
	w := clock.NewWallAt()
	const h = time.Hour
	for _, step := range []struct{ monotonic, calendar, want time.Duration }{
		{h, h, h},
		{h + time.Second, h + 2*time.Second, h + time.Second}, // corrected
		{h + 2*time.Second, 9 * h, 9 * h},                     // slept
		{h + 3*time.Second, 9*h + time.Second, 9*h + time.Second},
		{h + 4*time.Second, 2 * h, 9*h + 2*time.Second}, // set back
		{h + 5*time.Second, 20 * h, 20 * h},             // slept again
	} {
		if got := w(step.monotonic, step.calendar); got != step.want {
			t.Errorf("after %v, %v of the calendar: %v, want %v", step.monotonic, step.calendar, got, step.want)
		}
	}
}

// From Real to Manual time stops where the wall is, and from Manual to Real it goes on from
// where it stands, however long that was.
func TestManualAndBack(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Real()
	p.sleeps("s", p.Sleep, time.Minute, 3)
	p.pass(20 * time.Second)
	p.wall.Pass(20*time.Second, nil)
	p.SetPace(clock.Manual)
	if got := since(p.Virtual); got != 40*time.Second {
		t.Errorf("stopped at %v", got)
	}
	p.pass(time.Hour)
	p.Inside("input", func() {})
	p.order.is(t, "")
	if got := since(p.Virtual); got != 40*time.Second {
		t.Errorf("an input moved time to %v", got)
	}
	if !p.Next() {
		t.Error("nothing is next")
	}
	p.order.is(t, "s@1m0s")
	p.Advance(30 * time.Second)
	p.pass(time.Hour)
	p.order.is(t, "s@1m0s")
	p.SetPace(clock.Real)
	p.pass(29 * time.Second)
	p.order.is(t, "s@1m0s")
	p.pass(time.Second)
	p.order.is(t, "s@1m0s s@2m0s")
	p.SetPace(clock.Manual)
	p.SetPace(clock.Auto)
	p.pass(5 * time.Millisecond)
	p.order.is(t, "s@1m0s s@2m0s s@3m0s")
	if got := p.Pace(); got != clock.Auto {
		t.Errorf("the pace is %q", got)
	}
}

// A deadline that has passed unserved is not overtaken by a stop: it comes with the next
// move, at its own time.
func TestManualOvertakesNothing(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Real()
	p.sleeps("s", p.Sleep, time.Minute, 1)
	p.wall.Skip(2 * time.Minute)
	p.SetPace(clock.Manual)
	if got := since(p.Virtual); got != time.Minute {
		t.Errorf("stopped at %v", got)
	}
	p.pass(time.Hour)
	p.order.is(t, "")
	p.Advance(0)
	p.order.is(t, "s@1m0s")
}

// In Debug time stands still as long as a call is out, and its duration is left out.
func TestDebugWaitsForCalls(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.SetPace(clock.Debug)
	p.pass(time.Minute)
	out, answer := make(chan struct{}), make(chan struct{})
	p.Inside("start", func() {
		clock.NewGroup(p, 0).Go("handler", func() {
			ctx, cancel := p.WithTimeout(background(), 5*time.Minute)
			defer cancel()
			p.Outside(ctx, "call", func() { close(out); <-answer })
			p.order.add("%v@%v", ctx.Err(), since(p.Virtual))
			_ = p.Sleep(background(), time.Minute)
			p.order.add("done@%v", since(p.Virtual))
		})
	})
	<-out
	p.wall.Pass(time.Hour, nil)
	p.Inside("input", func() {})
	if got := since(p.Virtual); got != time.Minute {
		t.Errorf("time moved to %v under a breakpoint", got)
	}
	close(answer)
	p.pass(0)
	p.pass(59 * time.Second)
	p.order.is(t, "<nil>@1m0s")
	p.pass(time.Second)
	p.order.is(t, "<nil>@1m0s done@2m0s")
}

func TestDue(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.sleeps("work", p.Sleep, time.Hour, 1)
	p.sleeps("tick", p.Idle, time.Minute, 1)
	p.Do("more", func() {
		p.AfterFunc(time.Second, "renewal", func() {})
		_, cancel := p.WithTimeout(background(), 2*time.Minute)
		t.Cleanup(cancel)
	})
	got := p.Due(3, nil)
	want := []clock.Wait{
		{Name: "renewal", For: "timer", Until: epoch.Add(time.Second)},
		{Name: "tick", For: "idle", Until: epoch.Add(time.Minute)},
		{For: "timeout", Until: epoch.Add(2 * time.Minute), Work: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("due: %v, want %v", got, want)
	}
	got = p.Due(9, func(w clock.Wait) bool { return w.For == "sleep" })
	if want := (clock.Wait{Name: "work", For: "sleep", Until: epoch.Add(time.Hour), Work: true}); len(got) != 1 || got[0] != want {
		t.Errorf("sleeping: %v, want %v", got, want)
	}
	p.Advance(time.Hour) // all end
}
