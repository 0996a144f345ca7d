package clock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// calls starts a goroutine that sleeps a minute before each of n calls, which stand in out
// until they are answered.
func (p *pacer) calls(n int) (out chan struct{}, answer chan struct{}) {
	out, answer = make(chan struct{}), make(chan struct{})
	p.Inside("start", func() {
		clock.NewGroup(p, 0).Go("handler", func() {
			for range n {
				if p.Sleep(background(), time.Minute) != nil {
					return
				}
				p.Outside(background(), "call", func() { out <- struct{}{}; <-answer })
				p.order.add("back@%v", since(p.Virtual))
			}
		})
	})
	return out, answer
}

// A drive waits for calls that are out: where time stands still for them as long as they
// take, in all; where it does not, a second for each.
func TestDriveWaitsForCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pace clock.Pace
		take time.Duration // each of the calls
	}{
		{"", time.Hour}, {clock.Manual, time.Hour}, {clock.Debug, time.Hour},
		{clock.Real, 900 * time.Millisecond}, {clock.Auto, 900 * time.Millisecond},
	} {
		for name, drive := range map[string]func(p *pacer){
			"Advance": func(p *pacer) { p.Advance(3 * time.Minute) },
			"Next":    func(p *pacer) { p.Next(); p.Next(); p.Next() },
			"Run":     func(p *pacer) { p.Run(time.Hour) },
			"Until": func(p *pacer) {
				p.Until(func() bool { return strings.Count(p.order.String(), "back") == 3 }, time.Hour)
			},
			"UntilQuiet": func(p *pacer) {
				p.UntilQuiet(nil, func() bool { return strings.Count(p.order.String(), "back") == 3 }, time.Hour)
			},
		} {
			t.Run(string(c.pace)+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := newPacer(t)
				p.SetPace(c.pace)
				out, answer := p.calls(3)
				done := make(chan struct{})
				go func() {
					defer close(done)
					drive(p)
				}()
				for range 3 {
					<-out
					p.wall.Pass(c.take, nil)
					answer <- struct{}{}
				}
				<-done
				p.order.is(t, "back@1m0s back@2m0s back@3m0s")
			})
		}
	}
}

// A jump waits for a call that is out when it begins, too.
func TestJumpWaitsForCalls(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.SetPace(clock.Manual)
	out, answer := p.calls(1)
	go p.Advance(time.Minute)
	<-out
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Jump(time.Hour)
	}()
	p.wall.Pass(time.Hour, nil)
	if got := since(p.Virtual); got != time.Minute {
		t.Errorf("with a call out the time is %v", got)
	}
	answer <- struct{}{}
	<-done
	p.order.is(t, "back@1m0s")
}

// A call that hangs does not hold a drive for ever where time would not stand still for it.
func TestDriveLeavesAHangingCall(t *testing.T) {
	t.Parallel()
	for _, pace := range []clock.Pace{clock.Real, clock.Auto} {
		p := newPacer(t)
		p.SetPace(pace)
		out, answer := p.calls(1)
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Advance(3 * time.Minute)
		}()
		<-out
		p.wall.Pass(2*time.Second, nil)
		<-done
		answer <- struct{}{}
		p.pass(0)
		p.order.is(t, "back@3m0s")
	}
}

// A change to a pace whose time moves frees a drive that a call holds.
func TestChangeOfPaceFreesADrive(t *testing.T) {
	t.Parallel()
	for _, before := range []clock.Pace{"", clock.Manual, clock.Debug} {
		for _, after := range []clock.Pace{clock.Real, clock.Auto} {
			t.Run(string(before)+"/"+string(after), func(t *testing.T) {
				t.Parallel()
				p := newPacer(t)
				p.SetPace(before)
				out, answer := p.calls(1)
				done := make(chan struct{})
				go func() {
					defer close(done)
					p.Advance(3 * time.Minute)
				}()
				<-out
				p.wall.Pass(time.Minute, nil)
				p.SetPace(after)
				p.wall.Pass(2*time.Second, nil)
				<-done
				answer <- struct{}{}
				p.pass(0)
			})
		}
	}
}

// Whoever leaves stops time where it is; what was due stays due, and calls go on.
func TestDriveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, pace := range []clock.Pace{"", clock.Manual, clock.Debug, clock.Real} {
		for name, drive := range map[string]func(clock.Driver) error{
			"Advance": func(d clock.Driver) error { return d.Advance(time.Hour) },
			"Jump":    func(d clock.Driver) error { return d.Jump(time.Hour) },
			"Next":    func(d clock.Driver) error { _, err := d.Next(); return err },
			"UntilQuiet": func(d clock.Driver) error {
				_, err := d.UntilQuiet(nil, func() bool { return false }, time.Hour)
				return err
			},
		} {
			t.Run(string(pace)+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := newPacer(t)
				p.SetPace(pace)
				out, answer := p.calls(2)
				ctx, leave := context.WithCancel(context.Background())
				left, waited := make(chan error), make(chan error)
				go func() { left <- drive(p.For(ctx)) }()
				<-out
				go func() { waited <- drive(p.For(ctx)) }()
				leave()
				for _, failed := range []chan error{left, waited} {
					if err := <-failed; !errors.Is(err, context.Canceled) {
						t.Errorf("a drive that was left: %v", err)
					}
				}
				at := since(p.Virtual)
				answer <- struct{}{}
				done := make(chan struct{})
				go func() {
					defer close(done)
					p.Advance(time.Minute)
				}()
				<-out
				answer <- struct{}{}
				<-done
				p.order.is(t, fmt.Sprintf("back@%v back@%v", at, at+time.Minute))
			})
		}
	}
}

// Whoever has left before a drive begins moves nothing, whether or not another drive is at work.
func TestDriveOfOneWhoHasLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(context.Background())
	leave()
	p := newPacer(t)
	for range 50 {
		if err := p.For(ctx).Advance(time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("a drive that was left before it began: %v", err)
		}
		if at := since(p.Virtual); at != 0 {
			t.Fatalf("it has moved time to %v", at)
		}
	}
	p.Advance(time.Minute)
	if at := since(p.Virtual); at != time.Minute {
		t.Errorf("the next drive has moved time to %v", at)
	}
}
