package clock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// calls starts one goroutine per name that goes outside, until finish is called
// with its name. Once it has the baton again its name arrives on back.
func calls(v *clock.Virtual, order *trace, names ...string) (finish func(string), back <-chan string) {
	gates := map[string]chan struct{}{}
	in := make(chan string, len(names))
	outside := make(chan string, len(names))
	for _, name := range names {
		gates[name] = make(chan struct{})
	}
	v.Inside("start", func() {
		g := clock.NewGroup(v, 0)
		for _, name := range names {
			g.Go(name, func() {
				v.Outside(background(), name, func() {
					outside <- name
					<-gates[name]
				})
				order.add("%s@%v", name, since(v))
				in <- name
			})
		}
	})
	for range names {
		<-outside
	}
	return func(name string) { close(gates[name]) }, in
}

// The second promise: calls come back in the order in which they went out, with any
// order of the answers.
func TestCallsComeBackInOrder(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	finish, _ := calls(v, &order, "a", "b", "c", "d")
	for _, name := range []string{"d", "b", "c", "a"} {
		finish(name)
	}
	v.Advance(time.Second)
	order.is(t, "a@0s b@0s c@0s d@0s")
}

// A call that is back waits for the older ones, but ready goroutines do not.
func TestReadyRunsBeforeCallsComeBack(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	finish, _ := calls(v, &order, "a", "b")
	finish("b")
	v.Inside("input", func() {
		order.add("input")
		clock.NewGroup(v, 0).Go("ready", func() { order.add("ready") })
		finish("a")
		_ = v.Sleep(background(), 0)
		order.add("again")
	})
	v.Do("settle", nil)
	order.is(t, "input ready again a@0s b@0s")
}

func TestTimeStandsStillWhileACallIsOut(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, strict())
	var order trace
	finish, _ := calls(v, &order, "a", "b")
	v.Inside("sleeper", func() {
		clock.NewGroup(v, 0).Go("s", func() { _ = v.Sleep(background(), time.Minute); order.add("s@%v", since(v)) })
	})
	finish("b")
	advanced := make(chan struct{})
	go func() { v.Advance(time.Hour); close(advanced) }()
	v.Inside("look", func() {
		if since(v) != 0 {
			t.Errorf("time moved to %v with a call out", since(v))
		}
	})
	finish("a")
	<-advanced
	order.is(t, "a@0s b@0s s@1m0s")
}

func TestArrival(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, &clock.VirtualOptions{Strict: true, Arrival: true})
	var order trace
	finish, back := calls(v, &order, "a", "b")
	finish("b")
	<-back
	finish("a")
	v.Do("settle", nil)
	order.is(t, "b@0s a@0s")
}

func TestSerial(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(epoch, &clock.VirtualOptions{Strict: true, Serial: true})
	var order trace
	n := 0
	var mu sync.Mutex
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		for _, name := range []string{"a", "b", "c"} {
			g.Go(name, func() {
				for range 2 {
					v.Outside(background(), name, func() {
						mu.Lock()
						n++
						if n > 1 {
							t.Error("two calls out at once")
						}
						mu.Unlock()
						// The handler talks to one of our servers: it is answered
						// when all that follows has run.
						done := make(chan struct{})
						go func() {
							defer close(done)
							v.Inside("server", func() {
								order.add("server-%s", name)
								clock.NewGroup(v, 0).Go("follows", func() {
									_ = v.Sleep(background(), 0)
									order.add("follows-%s", name)
								})
							})
							order.add("answered-%s", name)
						}()
						<-done
						mu.Lock()
						n--
						mu.Unlock()
					})
					order.add("back-%s", name)
				}
			})
		}
	})
	turn := func(x string) string { return "server-" + x + " follows-" + x + " answered-" + x + " back-" + x }
	round := turn("a") + " " + turn("b") + " " + turn("c")
	order.is(t, round+" "+round)
}

func TestPatience(t *testing.T) {
	t.Parallel()
	wall := &clock.FakeWall{}
	var order trace
	v := clock.NewVirtualWall(epoch, &clock.VirtualOptions{
		Strict: true, Patience: 10 * time.Second,
		Notify: func(n clock.Notice) {
			if n.Kind == clock.PatienceUsedUp {
				order.add("notice:%s:%v", n.Name, n.Real)
			}
		},
	}, wall)
	out := make(chan struct{})
	cancelled := make(chan struct{})
	answer := make(chan struct{})
	v.Inside("start", func() {
		g := clock.NewGroup(v, 0)
		g.Go("handler", func() {
			ctx, cancel := v.WithTimeout(background(), 5*time.Minute)
			defer cancel()
			v.Outside(ctx, "hangs", func() {
				close(out)
				<-ctx.Done() // a real channel, closed by virtual time
				close(cancelled)
				<-answer
			})
			order.add("back:%v@%v", ctx.Err(), since(v))
		})
		g.Go("sleeper", func() {
			for range 3 {
				_ = v.Sleep(background(), 2*time.Minute)
				order.add("s@%v", since(v))
			}
		})
	})
	<-out
	ran := make(chan time.Duration)
	go func() { ran <- v.Run(time.Hour) }()
	wall.Pass(10*time.Second-1, nil)
	order.is(t, "")
	wall.Pass(1, nil)
	<-cancelled
	// The clock waits for it again: the sleeper's third deadline does not come.
	v.Inside("look", func() {
		if since(v) != 5*time.Minute {
			t.Errorf("time is %v, want it to stand still at the timeout", since(v))
		}
	})
	close(answer)
	if got := <-ran; got != 6*time.Minute {
		t.Errorf("Run = %v", got)
	}
	order.is(t, "notice:hangs:10s s@2m0s s@4m0s back:context deadline exceeded@5m0s s@6m0s")
}

// A call that ignores even its cancellation uses up its patience once more.
func TestPatienceTwice(t *testing.T) {
	t.Parallel()
	wall := &clock.FakeWall{}
	notices := make(chan clock.Notice, 10)
	v := clock.NewVirtualWall(epoch, &clock.VirtualOptions{
		Serial: true, Patience: time.Second,
		Notify: func(n clock.Notice) {
			if n.Kind == clock.PatienceUsedUp {
				notices <- n
			}
		},
	}, wall)
	out, answer, ended, back := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	other := false
	v.Inside("start", func() {
		g := clock.NewGroup(v, 0)
		g.Go("handler", func() {
			ctx, cancel := v.WithTimeout(background(), time.Minute)
			defer cancel()
			v.Outside(ctx, "hangs", func() {
				context.AfterFunc(ctx, func() { close(ended) })
				close(out)
				<-answer
			})
			close(back)
		})
		// The place outside is free again once the first has used up its patience.
		g.Go("other", func() { v.Outside(background(), "quick", func() {}); other = true })
	})
	<-out
	ran := make(chan struct{})
	go func() { v.Advance(time.Hour); close(ran) }()
	wall.Pass(time.Second, nil)
	<-ended
	wall.Pass(time.Second, nil)
	<-ran
	if !other {
		t.Error("the queued call did not go out")
	}
	if len(notices) != 2 {
		t.Errorf("%d notices, want 2", len(notices))
	}
	close(answer)
	<-back
}

// A call that comes back after its patience takes the next free turn.
func TestComesBackLate(t *testing.T) {
	t.Parallel()
	wall := &clock.FakeWall{}
	v := clock.NewVirtualWall(epoch, &clock.VirtualOptions{Strict: true, Patience: time.Second}, wall)
	var order trace
	finish, back := calls(v, &order, "a")
	wall.Pass(time.Second, nil)
	v.Advance(time.Minute)
	finish("a")
	<-back
	order.is(t, "a@1m0s")
}
