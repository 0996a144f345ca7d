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
	Work  bool      // of Due: work waits for it, so that Auto and Run jump to it
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

// Due lists the next n deadlines, in order of time, that want wants, or with nil any: waits
// of goroutines and timers as in Waiting, and the ends of contexts, which have no name and
// are for "timeout". Any goroutine may call it.
func (v *Virtual) Due(n int, want func(Wait) bool) []Wait {
	v.mu.Lock()
	defer v.mu.Unlock()
	next := slices.Clone(v.deadlines.heap)
	slices.SortFunc(next, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	var list []Wait
	for _, e := range next {
		w := Wait{For: "timeout", Until: v.at(e.at), Work: e.d.reason}
		switch d := e.d; {
		case d.task != nil:
			w.Name, w.For = d.task.name, d.task.doing.String()
		case d.timer != nil && d.timer.lapse:
			w.Name, w.For = d.timer.name, "lapse"
		case d.timer != nil:
			w.Name, w.For = d.timer.name, "timer"
		}
		if len(list) < n && (want == nil || want(w)) {
			list = append(list, w)
		}
	}
	return list
}
