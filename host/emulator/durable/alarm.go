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
	timer  *clock.Timer
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

// set makes an alarm.
func (op *operation) set(inst *instance, number int, at time.Time, e durable.Event) *alarm {
	a := &alarm{inst: inst, at: at, seq: op.e.st.next(), number: number, event: e}
	inst.alarms = append(inst.alarms, a)
	op.e.due.Push(a)
	op.e.arm(a)
	op.saveAlarm(a)
	return a
}

// unset takes an alarm off the clock.
func (op *operation) unset(a *alarm) {
	op.e.due.Remove(a)
	a.disarm()
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

// arm sets the clock for an alarm. Work depends on it where functions are served, so that
// virtual time may jump there.
func (e *Engine) arm(a *alarm) {
	if e.silent {
		return
	}
	a.timer = e.clk.AfterFunc(max(a.at.Sub(e.now()), 0), a.name(), e.ring)
	a.timer.Work(e.desk(a.inst.hub.key).served())
}

// armAll sets the clock for the alarms of a state that was read; reading may happen outside
// the clock.
func (e *Engine) armAll() {
	if !e.unarmed {
		return
	}
	e.unarmed = false
	for _, a := range e.due.All() {
		if a.timer == nil {
			e.arm(a)
		}
	}
}

// disarm takes an alarm off the clock.
func (a *alarm) disarm() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// depend marks the alarms of a hub: work depends on them while its functions are served.
func (e *Engine) depend(hubKey string) {
	served := e.desk(hubKey).served()
	for _, a := range e.due.All() {
		if a.timer != nil && a.inst.hub.key == hubKey {
			a.timer.Work(served)
		}
	}
}

// Stop ends what the engine does by itself: nothing falls due any more, and requests of
// callHttp are broken off. Stopped waits for them.
func (e *Engine) Stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silent = true
	e.calls.cancel()
	for _, a := range e.due.All() {
		a.disarm()
	}
}

// ring is the function of all timers: the first one of an instant does what is due at it.
func (e *Engine) ring() {
	op, err := e.begin()
	if e.silent {
		e.mu.Unlock()
		return
	}
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
	if err != nil {
		e.again(op.now)
	}
}

// again has what was due and could not be done set anew by the next operation.
func (e *Engine) again(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.due.All() {
		if !a.at.After(now) {
			a.disarm()
			e.unarmed = true
		}
	}
}

// context is that of what the engine does by itself.
func (e *Engine) context() context.Context { return context.Background() }

// javaLate is how much later a timer fires for Java, whose package loops at the very
// instant (DF-17).
const javaLate = time.Millisecond
