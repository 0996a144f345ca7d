package clock

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Wait describes one pending wait of the clock.
type Wait struct {
	Name  string    // of the goroutine, timer, call or pin
	For   string    // running; ready; sleep; idle; cond; outside; outside, queued; timer; lapse (see Timer.Lapse); pin
	Until time.Time // the deadline; zero if there is none
}

// String returns the wait in a few words.
func (w Wait) String() string {
	if w.Until.IsZero() {
		return fmt.Sprintf("%s: %s", w.Name, w.For)
	}
	return fmt.Sprintf("%s: %s until %s", w.Name, w.For, w.Until.Format(time.RFC3339Nano))
}

// Waiting lists the goroutines of the clock in order of their start, then the
// pending timers in order of their deadlines, then the pins by name. Any
// goroutine may call it.
func (v *Virtual) Waiting() []Wait {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []Wait
	for t := v.tasks.first; t != nil; t = t.next {
		if t.void {
			continue
		}
		w := Wait{Name: t.name, For: t.doing.String()}
		if t.due.pos > 0 {
			w.Until = v.at(t.due.at)
		}
		list = append(list, w)
	}
	timers := slices.Clone(v.deadlines.heap)
	timers = slices.DeleteFunc(timers, func(e entry) bool { return e.d.timer == nil })
	slices.SortFunc(timers, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq))
	})
	for _, e := range timers {
		w := Wait{Name: e.d.timer.name, For: "timer", Until: v.at(e.at)}
		if e.d.timer.lapse {
			w.For = "lapse"
		}
		list = append(list, w)
	}
	pins := make([]Wait, 0, len(v.pace.pins))
	for p := range v.pace.pins {
		pins = append(pins, Wait{Name: p.name, For: "pin"})
	}
	slices.SortFunc(pins, func(a, b Wait) int { return cmp.Compare(a.Name, b.Name) })
	return append(list, pins...)
}
