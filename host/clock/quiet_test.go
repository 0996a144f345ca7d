package clock_test

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// UntilQuiet passes through what somebody waits for, however long, and through ticks
// until each has come once more; polls that go on for ever do not keep it.
func TestUntilQuiet(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, test := range []struct {
		name    string
		idles   []time.Duration // loops that nobody depends on
		sleeps  int             // of a day each, one after the other
		timer   time.Duration   // of an AfterFunc; 0: none
		lapse   bool            // it ends something's life
		until   time.Duration   // when it is done; 0: never
		reaches bool
		atMost  time.Duration // how far time moves at the most
	}{
		{name: "nothing at all"},
		{name: "polls", idles: []time.Duration{2 * time.Second, 10 * time.Second}, atMost: 11 * time.Minute},
		{name: "a slow tick", idles: []time.Duration{2 * time.Second, day}, atMost: 2*day + time.Minute},
		{name: "a slow tick that is awaited", idles: []time.Duration{time.Minute, day}, until: day, reaches: true, atMost: day},
		{name: "waits that matter", idles: []time.Duration{time.Hour}, sleeps: 30, until: 29 * day, reaches: true, atMost: 29 * day},
		{name: "after waits that matter", idles: []time.Duration{time.Hour}, sleeps: 30, atMost: 30*day + 3*time.Hour},
		{name: "a timer", idles: []time.Duration{time.Minute}, timer: 7 * day, until: 7 * day, reaches: true, atMost: 7 * day},
		{name: "the end of a life in some days", idles: []time.Duration{time.Minute}, timer: 7 * day, lapse: true, atMost: 11 * time.Minute},
		{name: "the end of a life within a day", idles: []time.Duration{time.Minute}, timer: day, lapse: true, until: day, reaches: true, atMost: day},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := clock.NewVirtual(epoch, strict())
			ctx, cancel := v.WithCancel(background())
			v.Do("start", func() {
				g := clock.NewGroup(v, 0)
				for _, d := range test.idles {
					g.Go("idle", func() {
						for v.Idle(ctx, d) == nil {
						}
					})
				}
				g.Go("sleeper", func() {
					for range test.sleeps {
						_ = v.Sleep(ctx, day)
					}
				})
				if test.timer > 0 {
					timer := v.AfterFunc(test.timer, "timer", func() {})
					if test.lapse {
						timer.Lapse()
					}
				}
			})
			done := func() bool { return test.until > 0 && since(v) >= test.until }
			if got := v.UntilQuiet(nil, done, 365*day); got != test.reaches {
				t.Errorf("UntilQuiet = %v at %v", got, since(v))
			}
			if got := since(v); got > test.atMost {
				t.Errorf("it moved time by %v, want at most %v", got, test.atMost)
			}
			v.Do("end", cancel)
		})
	}
}
