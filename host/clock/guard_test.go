package clock_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A wait on a context that the clock cannot see would make both promises hollow.
func TestForeignContextsPanic(t *testing.T) {
	t.Parallel()
	std, cancel := context.WithCancel(background())
	defer cancel()
	v := clock.NewVirtual(epoch, nil)
	ours, cancelOurs := v.WithCancel(background())
	defer cancelOurs()
	below, cancelBelow := context.WithTimeout(ours, time.Hour)
	defer cancelBelow()
	elsewhere, cancelElsewhere := clock.NewVirtual(epoch, nil).WithCancel(background())
	defer cancelElsewhere()

	var mu sync.Mutex
	cond := clock.NewCond(v, &mu)
	g := clock.NewGroup(v, 0)
	for name, use := range map[string]func(context.Context){
		"Sleep":       func(ctx context.Context) { _ = v.Sleep(ctx, 1) },
		"Idle":        func(ctx context.Context) { _ = v.Idle(ctx, 1) },
		"Cond.Wait":   func(ctx context.Context) { _ = cond.Wait(ctx) },
		"WithCancel":  func(ctx context.Context) { v.WithCancel(ctx) },     //nolint:all // panics
		"WithTimeout": func(ctx context.Context) { v.WithTimeout(ctx, 1) }, //nolint:all // panics
	} {
		t.Run(name, func(t *testing.T) {
			for _, ctx := range []context.Context{std, below, context.WithValue(below, traceKey{}, 1)} {
				wantIn(t, mustPanic(t, func() { v.Inside("test", func() { use(ctx) }) }),
					name, "WithCancel or WithTimeout", "errgroup")
			}
			wantIn(t, mustPanic(t, func() { v.Inside("test", func() { use(elsewhere) }) }), name, "another clock")
		})
	}
	v.Do("fine", func() {
		g.Go("outside", func() { v.Outside(below, "call", func() {}) }) // not a wait of the clock's
		for _, ctx := range []context.Context{background(), context.TODO(), context.WithValue(ours, traceKey{}, 1), context.WithoutCancel(std), context.WithoutCancel(below)} {
			if err := v.Sleep(ctx, 0); err != nil {
				t.Error(err)
			}
		}
	})
}

// Standard contexts below ours cost no goroutine, so that none can leak.
func TestStandardChildrenNeedNoGoroutine(t *testing.T) {
	// Not parallel: it counts goroutines.
	v := clock.NewVirtual(epoch, nil)
	ctx, cancel := v.WithTimeout(context.WithValue(background(), traceKey{}, 1), time.Minute)
	defer cancel()
	before := runtime.NumGoroutine()
	var children []context.Context
	for range 100 {
		child, stop := context.WithCancel(context.WithValue(ctx, traceKey{}, 2))
		defer stop()
		children = append(children, child)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines for 100 children", n-before)
	}
	v.Advance(time.Minute)
	for _, c := range children {
		if c.Err() != context.DeadlineExceeded {
			t.Fatalf("Err = %v", c.Err())
		}
	}
	if _, ok := ctx.Deadline(); ok {
		t.Error("a virtual context shows a deadline")
	}
}

func TestStrictCatchesForeignGoroutines(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var mu sync.Mutex
	mu.Lock()
	cond := clock.NewCond(v, &mu)
	g := clock.NewGroup(v, 0)
	var timer *clock.Timer
	waited, cancelWaited := v.WithCancel(background())
	uses := map[string]func(){
		"Sleep":          func() { _ = v.Sleep(background(), 1) },
		"Idle":           func() { _ = v.Idle(background(), 1) },
		"Cond.Wait":      func() { _ = cond.Wait(background()) },
		"Cond.Signal":    cond.Signal,
		"Cond.Broadcast": cond.Broadcast,
		"Group.Go":       func() { g.Go("x", func() {}) },
		"AfterFunc":      func() { v.AfterFunc(1, "x", func() {}) },
		"Timer.Stop":     func() { timer.Stop() },
		"Timer.Reset":    func() { timer.Reset(1) },
		"WithTimeout":    func() { v.WithTimeout(background(), 1) }, //nolint:all // panics
		"Outside":        func() { v.Outside(background(), "x", func() {}) },
		"Away":           func() { v.Away(background(), "x", func() {}) },
		"cancel":         cancelWaited,
	}
	inTurn, look := make(chan struct{}), make(chan struct{})
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		v.Do("start", func() {
			timer = v.AfterFunc(time.Hour, "t", func() {})
			clock.NewGroup(v, 0).Go("waits", func() { _ = v.Sleep(waited, time.Hour) })
			_ = v.Sleep(background(), 0)
			close(inTurn)
			<-look
		})
	}()
	<-inTurn
	for name, use := range uses {
		wantIn(t, mustPanic(t, use), name, "Inside or Do")
	}
	close(look)
	<-idle
	for name, use := range uses {
		wantIn(t, mustPanic(t, use), name, "Inside or Do")
	}

	// The calls that a foreign goroutine may make.
	if v.Now() != epoch {
		t.Error("Now")
	}
	_, cancel := v.WithCancel(background())
	cancel()
	v.Do("end", cancelWaited)
	cancelWaited()
}

func TestUnknownGoroutineMayNotWait(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, nil)
	wantIn(t, mustPanic(t, func() { _ = v.Sleep(background(), 1) }), "Sleep", "Inside or Do")
	wantIn(t, mustPanic(t, func() { v.Away(background(), "call", func() {}) }), "Away", "Inside or Do")
}

// Without Strict, what does not wait works from anywhere, and goes on by itself.
func TestForeignSignals(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, nil)
	var mu sync.Mutex
	cond := clock.NewCond(v, &mu)
	ctx, cancel := v.WithCancel(background())
	g := clock.NewGroup(v, 0)
	woke := make(chan error, 2)
	wait := func() {
		mu.Lock()
		defer mu.Unlock()
		woke <- cond.Wait(ctx)
	}
	g.Go("a", wait)
	g.Go("b", wait)
	v.Do("settle", nil)
	cond.Signal()
	if err := <-woke; err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-woke; err != context.Canceled {
		t.Error(err)
	}
	v.AfterFunc(0, "now", func() { woke <- nil })
	<-woke
	v.Outside(background(), "anywhere", func() { woke <- nil })
	<-woke
}

// A goroutine that the clock waits for cannot drive it.
func TestDrivingFromWithinPanics(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, nil)
	for name, use := range map[string]func(){
		"Do":      func() { v.Do("x", nil) },
		"Advance": func() { v.Advance(1) },
		"Next":    func() { v.Next() },
		"Run":     func() { v.Run(1) },
	} {
		v.Do("test", func() {
			wantIn(t, mustPanic(t, use), name, `has the turn: "test"`)
			v.Outside(background(), "call", func() {
				wantIn(t, mustPanic(t, use), name, `is outside: "test"`)
			})
		})
	}
	// Inside is allowed from outside.
	ran := false
	v.Do("test", func() {
		v.Outside(background(), "call", func() { v.Inside("back", func() { ran = true }) })
	})
	if !ran {
		t.Error("Inside did not run")
	}
}

func keepsTheBaton(begun, end chan struct{}) {
	close(begun)
	<-end
}

func TestWatchdogNamesTheHolderOfTheBaton(t *testing.T) {
	t.Parallel()
	wall := &clock.FakeWall{}
	notices := make(chan clock.Notice, 10)
	v := clock.NewVirtualWall(epoch, &clock.VirtualOptions{Watchdog: 4 * time.Second, Notify: func(n clock.Notice) { notices <- n }}, wall)
	for round := range 2 {
		begun, end, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
		v.Inside("start", func() {
			clock.NewGroup(v, 0).Go("culprit", func() {
				keepsTheBaton(begun, end)
				close(gone)
			})
		})
		<-begun
		wall.Pass(time.Minute, nil)
		if len(notices) != 1 {
			t.Fatalf("round %d: %d notices, want 1", round, len(notices))
		}
		n := <-notices
		if n.Kind != clock.BatonKept || n.Name != "culprit" || n.Real < 4*time.Second || n.Real > 6*time.Second {
			t.Errorf("notice %v", n)
		}
		wantIn(t, n.String(), `"culprit"`)
		wantIn(t, n.Stack, "keepsTheBaton", "clock_test.TestWatchdog")
		if strings.Count(n.Stack, "goroutine ") > 2 { // its own, and "created by ... in goroutine"
			t.Errorf("more than one stack:\n%s", n.Stack)
		}
		close(end)
		<-gone
		clock.Settle(v)
	}
	wall.Pass(time.Minute, nil)
	for range 100 { // many short turns are no offence
		v.Do("short", nil)
		wall.Pass(time.Second, nil)
	}
	if len(notices) != 0 {
		t.Errorf("notice %v", <-notices)
	}
	v.Close()
}

// A panic in a goroutine of the clock ends the process, rather than leave the others
// hanging. The test binary runs itself to show it.
func TestPanicEndsTheProcess(t *testing.T) {
	t.Parallel()
	const key = "CLOCK_TEST_PANIC"
	if os.Getenv(key) != "" {
		v := clock.NewVirtual(epoch, nil)
		v.Do("start", func() {
			clock.NewGroup(v, 0).Go("panics", func() {
				_ = v.Sleep(background(), time.Hour)
				panic("broken invariant")
			})
		})
		v.Advance(time.Hour)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanicEndsTheProcess$")
	cmd.Env = append(os.Environ(), key+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the process went on")
	}
	wantIn(t, string(out), "panic: broken invariant", "TestPanicEndsTheProcess")
}

func TestNoticesReadWell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n    clock.Notice
		want string
	}{
		{clock.Notice{Kind: clock.PatienceUsedUp, Name: "Orders", Real: time.Second}, `call "Orders" has been out for 1s: time moves on without it`},
		{clock.Notice{Kind: clock.BatonKept, Name: "x", Real: time.Second}, `goroutine "x" has kept the clock for 1s`},
		{clock.Notice{Kind: clock.RanAhead, To: epoch}, "time has run ahead far enough since the last input: it follows the wall until the next (next deadline 2030-01-01T00:00:00Z)"},
		{clock.Notice{Kind: clock.Moved, From: epoch, To: epoch.Add(time.Second)}, "time moved by 1s to 2030-01-01T00:00:01Z"},
		{clock.Notice{Kind: 99}, "NoticeKind(99)"},
	} {
		if got := tc.n.String(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
