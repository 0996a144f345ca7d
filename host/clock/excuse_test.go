package clock_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// goesOut starts a call that is out until answer is called, which waits until it is back.
func goesOut(v *clock.Virtual) (answer func()) {
	out, leave, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	v.Inside("start", func() {
		clock.NewGroup(v, 0).Go("handler", func() {
			v.Outside(background(), "handler", func() {
				close(out)
				<-leave
			})
			close(back)
		})
	})
	<-out
	return func() {
		close(leave)
		<-back
	}
}

// timer sets a timer that work waits for.
func (p *pacer) timer(d time.Duration) {
	p.Inside("timer", func() { p.AfterFunc(d, "work", func() {}).Work(true) })
}

// is checks the time after real time has passed.
func (p *pacer) is(t *testing.T, after, want time.Duration) {
	t.Helper()
	p.wall.Pass(after, nil)
	p.Present()
	if got := since(p.Virtual); got < want || got > want+2*time.Minute {
		t.Errorf("it is %v, want %v", got, want)
	}
}

// Auto jumps past as many calls as are excused, and past no more.
func TestAutoJumpsPastAnExcusedCall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	answer := goesOut(p.Virtual)
	p.timer(time.Hour)
	p.timer(5 * time.Hour)
	p.is(t, time.Minute, time.Minute)
	other := goesOut(p.Virtual)
	end := clock.Excuse(p.Virtual)
	p.is(t, time.Minute, 2*time.Minute)
	other()
	p.is(t, time.Second, 5*time.Hour)
	end()
	end()
	p.timer(time.Hour)
	p.is(t, time.Minute, 5*time.Hour)
	answer()
}

// Auto does not jump to the timeout of the call that waits.
func TestAutoDoesNotTimeOutAnExcusedCall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.Auto()
	answer := goesOut(p.Virtual)
	p.Inside("limit", func() {
		_, cancel := p.WithTimeout(background(), time.Hour)
		t.Cleanup(cancel)
	})
	end := clock.Excuse(p.Virtual)
	p.is(t, time.Minute, time.Minute)
	p.timer(3 * time.Hour) // behind the timeout
	p.is(t, time.Minute, 3*time.Hour)
	end()
	answer()
}

// Debug lets time go on while the only call that is out is excused.
func TestDebugGoesOnPastAnExcusedCall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	p.SetPace(clock.Debug)
	answer := goesOut(p.Virtual)
	p.timer(time.Hour)
	p.is(t, time.Hour, 0)
	end := clock.Excuse(p.Virtual)
	p.is(t, time.Hour, time.Hour)
	end()
	p.is(t, time.Hour, time.Hour)
	answer()
}

// A drive does not wait for an excused call, and a later call comes back before it.
func TestDriveGoesOnPastAnExcusedCall(t *testing.T) {
	t.Parallel()
	p := newPacer(t)
	answer := goesOut(p.Virtual)
	end := clock.Excuse(p.Virtual)
	goesOut(p.Virtual)()
	p.timer(time.Hour)
	p.Advance(2 * time.Hour)
	p.is(t, 0, 2*time.Hour)
	end()
	answer()
}
