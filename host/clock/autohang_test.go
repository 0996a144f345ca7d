package clock_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// In the pace Auto a call that hangs meets its timeout, in real time.
func TestAutoTimesOutCalls(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	out, cancelled, answer := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.Auto()
	p.Inside("start", func() {
		g := clock.NewGroup(p, 0)
		g.Go("sleeper", func() {
			_ = p.Sleep(background(), 7*time.Minute)
			p.order.add("s@%v", since(p.Virtual))
		})
		g.Go("handler", func() {
			timed, cancel := p.WithTimeout(background(), 5*time.Minute)
			defer cancel()
			ctx, release := p.WithCancel(timed)
			defer release()
			p.Outside(ctx, "hangs", func() {
				close(out)
				<-ctx.Done()
				close(cancelled)
				<-answer
			})
			p.order.add("back:%v@%v", ctx.Err(), since(p.Virtual))
		})
	})
	<-out
	p.wall.Pass(5*time.Minute-1, nil)
	p.order.is(t, "")
	p.wall.Pass(1, nil)
	<-cancelled
	close(answer)
	clock.Settle(p.Virtual)
	p.pass(time.Second)
	p.order.is(t, "back:context deadline exceeded@5m0s s@7m0s")
}

// Without a timeout a call keeps time from jumping for ever.
func TestAutoWaitsForCallsWithoutTimeout(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	out, answer, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p.Auto()
	p.Inside("start", func() {
		clock.NewGroup(p, 0).Go("handler", func() {
			defer close(back)
			ctx, cancel := p.WithCancel(background())
			defer cancel()
			p.Outside(ctx, "hangs", func() { close(out); <-answer })
		})
	})
	<-out
	p.wall.Pass(24*time.Hour, nil)
	if got := since(p.Virtual); got != 0 || len(p.notices) != 0 { // nothing was due
		t.Errorf("time is %v with notices %v", got, p.notices)
	}
	close(answer)
	<-back
}
