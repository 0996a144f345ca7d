package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// withRetry is the platform's machine for attempts (spec durable 4.6). begin schedules
// one.
//
// Source: core RetryInterceptor.cs.
func (m *Machine) withRetry(a *Action, o *RetryOptions, begin func(Scheduled) *task) *task {
	if o == nil {
		return m.walk.stop("Value cannot be null. (Parameter 'retryOptions')")
	}
	if o.First > durable.LongTimer || o.Max > durable.LongTimer {
		m.note(refusedAction, fmt.Sprintf("%s calls %s with a retry interval of more than 6 days: the platform refuses it and the instance hangs; make it shorter", m.in.Name, a.Name))
		return done(true)
	}
	if o.Attempts <= 0 {
		return done(true)
	}
	r := &retry{m: m, of: a, options: o, begin: begin, first: m.now, outer: &task{}}
	r.run()
	return r.outer
}

type retry struct {
	m       *Machine
	of      *Action
	options *RetryOptions
	begin   func(Scheduled) *task
	first   time.Time
	attempt int
	outer   *task
}

// run makes the next attempt.
func (r *retry) run() {
	r.attempt++
	t := r.begin(Scheduled{Attempt: r.attempt, Attempts: r.options.Attempts})
	t.await(func() { r.ended(t) })
}

// ended decides after an attempt.
func (r *retry) ended(t *task) {
	m := r.m
	switch {
	case !t.failed:
		r.outer.resolve(false, t.end)
	case t.end != nil && t.end.Failure != nil && t.end.Failure.NonRetriable:
		r.leave(t, "its failure may not be retried")
	case r.attempt >= r.options.Attempts:
		m.wait(m.now, "extra", r.attempt, r.options.Attempts).await(func() { r.outer.resolve(true, t.end) })
	case r.options.Timeout > 0 && !m.now.Before(r.first.Add(r.options.Timeout)):
		r.leave(t, "its retryTimeout has run out")
	default:
		m.wait(m.now.Add(r.delay()), "retry", r.attempt, r.options.Attempts).await(r.run)
	}
}

// leave ends the machine without the timer for which the worker waits.
func (r *retry) leave(t *task, why string) {
	if r.m.in.Runtime == "node" {
		r.m.note(retryTimeout, fmt.Sprintf("%s calls %s with retries, and %s: the host makes no further timer, but the package waits for one, so the instance hangs, as on the platform (azure-functions-durable-js#629); limit the number of attempts instead", r.m.in.Name, r.of.Name, why))
	}
	r.outer.resolve(true, t.end)
}

// delay is the wait after an attempt: to the nearest millisecond, at most 6 days.
func (r *retry) delay() time.Duration {
	most := r.options.Max
	if most <= 0 {
		most = durable.LongTimer
	}
	coefficient := r.options.Coefficient
	if coefficient == 0 {
		coefficient = 1
	}
	ms := math.Round(float64(r.options.First/time.Millisecond) * math.Pow(coefficient, float64(r.attempt-1)))
	if !(ms < float64(most/time.Millisecond)) { // also what is no number
		return most
	}
	return max(time.Duration(ms), 0) * time.Millisecond
}

// wait schedules a timer that is not an action of its own.
func (m *Machine) wait(due time.Time, what string, attempt, attempts int) *task {
	return m.schedule(durable.Event{Type: durable.TimerCreated, FireAt: due}, Scheduled{what, attempt, attempts}).task
}
