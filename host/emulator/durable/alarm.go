package durable

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
)

// alarm is something of an instance that is due at a time.
type alarm struct {
	inst   *instance
	at     time.Time
	seq    uint64
	number int           // of a timer; -1: something else
	event  durable.Event // what comes into the inbox; of a wait that ends: none
	place  int
}

// name is what the clock shows.
func (a *alarm) name() string {
	switch {
	case a.number >= 0:
		return fmt.Sprintf("timer #%d of %s", a.number, a.inst.ID)
	case a.event.Type == durable.EventRaised:
		return "signal to " + a.inst.ID
	}
	return "turn of " + a.inst.ID
}

// bell rings at the earliest alarm.
type bell struct {
	at     time.Time
	timer  *clock.Timer
	reason time.Time
	cancel context.CancelFunc
	silent bool // for good: see Stop
}

// set makes an alarm.
func (op *operation) set(inst *instance, number int, at time.Time, e durable.Event) *alarm {
	a := &alarm{inst: inst, at: at, seq: op.e.st.next(), number: number, event: e}
	inst.alarms = append(inst.alarms, a)
	op.e.due.Push(a)
	op.saveAlarm(a)
	return a
}

// unset takes an alarm off the clock.
func (op *operation) unset(a *alarm) {
	op.e.due.Remove(a)
	a.inst.alarms = slices.DeleteFunc(a.inst.alarms, func(other *alarm) bool { return other == a })
	op.dropAlarm(a)
}

// timer finds an instance's timer.
func (inst *instance) timer(number int) *alarm {
	for _, a := range inst.alarms {
		if a.number == number {
			return a
		}
	}
	return nil
}

// arm sets the clock for the next alarm. Work depends on it where functions are served, so
// virtual time may jump there: the reason is a context with that deadline, which nobody
// waits for.
func (e *Engine) arm() {
	next, ok := e.due.Min()
	ok = ok && !e.alarm.silent
	var at, reason time.Time
	if ok {
		at = next.at
		if e.desk(next.inst.hub.key).served() {
			reason = at
		} else {
			reason = e.nextServed()
		}
	}
	now := e.now()
	if !e.alarm.at.Equal(at) {
		if e.alarm.timer != nil {
			e.alarm.timer.Stop()
		}
		e.alarm.at, e.alarm.timer = at, nil
		if ok {
			e.alarm.timer = e.clk.AfterFunc(max(at.Sub(now), 0), next.name(), e.ring)
		}
	}
	if !e.alarm.reason.Equal(reason) {
		if e.alarm.cancel != nil {
			e.alarm.cancel()
			e.alarm.cancel = nil
		}
		e.alarm.reason = reason
		if !reason.IsZero() {
			_, e.alarm.cancel = e.clk.WithTimeout(context.Background(), max(reason.Sub(now), 0))
		}
	}
}

// nextServed is the time of the next alarm of a hub whose functions are served.
func (e *Engine) nextServed() (at time.Time) {
	for _, a := range e.due.All() {
		if e.desk(a.inst.hub.key).served() && (at.IsZero() || a.at.Before(at)) {
			at = a.at
		}
	}
	return at
}

// Stop ends what the engine does by itself: nothing falls due any more.
func (e *Engine) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alarm.silent = true
	e.arm()
}

// ring is the timer's function.
func (e *Engine) ring() {
	op, err := e.begin()
	if e.alarm.silent {
		e.mu.Unlock()
		return
	}
	e.alarm.at, e.alarm.timer = time.Time{}, nil
	if err == nil {
		for a, ok := e.due.Min(); ok && !a.at.After(op.now); a, ok = e.due.Min() {
			op.unset(a)
			if a.number >= 0 || a.event.Type == durable.EventRaised {
				op.send(a.inst, "", a.event)
			} else {
				op.touch(a.inst)
			}
		}
	}
	// A change that could not be written is undone by the next call, which says so.
	_ = op.finish(e.context())
}

// context is that of what the engine does by itself.
func (e *Engine) context() context.Context { return context.Background() }

// javaLate is how much later a timer fires for Java, whose package loops at the very
// instant (DF-17).
const javaLate = time.Millisecond
