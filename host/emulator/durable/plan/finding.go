package plan

import (
	"fmt"

	"github.com/redeliver/redeliver/bindings/durable"
)

// EventsDropped is the finding of a hub that does not keep unread events.
const EventsDropped = "events_dropped"

// Nondeterministic is the finding of an execution whose code has not done what its history
// has.
const Nondeterministic = "nondeterministic"

// The findings that a plan shows (spec durable 12.5).
const (
	unknownFunction  = "unknown_function"
	refusedAction    = "refused_action"
	retryTimeout     = "retry_timeout"
	openTasks        = "open_tasks"
	allWaits         = "all_waits"
	longTimerCancel  = "long_timer_cancel"
	hostWaits        = "host_waits"
	rescheduled      = "rescheduled"
	eventOverwritten = "event_overwritten"
	notAnError       = "not_an_error"
	lateThrow        = "late_throw"
	stuck            = "stuck"
)

// Hopeless reports whether an instance with a finding can never go on (spec durable 9,
// durableStuck).
func Hopeless(finding string) bool {
	switch finding {
	case unknownFunction, refusedAction, retryTimeout, stuck:
		return true
	}
	return false
}

func add(list []durable.Finding, name, message string) []durable.Finding {
	for _, f := range list {
		if f.Name == name {
			return list
		}
	}
	return append(list, durable.Finding{Name: name, Message: message})
}

// note adds a finding, once each.
func (m *Machine) note(name, message string) { m.findings = add(m.findings, name, message) }

func (st *State) note(name, message string) { st.findings = add(st.findings, name, message) }

// lookAround returns the findings of how the machine stands.
func (m *Machine) lookAround(o *Outcome) []durable.Finding {
	list := m.findings[:len(m.findings):len(m.findings)]
	w, in := &m.walk, m.in.Name
	switch {
	case m.mismatch != nil:
		return add(list, Nondeterministic, *o.Value+" The plan has "+plannedText(m.mismatch.Planned)+".")
	case o != nil && o.Status == durable.ContinuedAsNew && len(m.buffer) > 0:
		return add(list, EventsDropped, fmt.Sprintf("%s calls continueAsNew while %d events wait unread, which the platform drops (azure-functions-durable-python#331): read them first, or set durableEvents to keep", in, len(m.buffer)))
	case o != nil || m.suspended || !w.begun:
		return list
	case !w.through && w.stopped == "" && w.now != nil && !w.last():
		return m.waitsAhead(list)
	case (m.st.Done || m.st.Failed) && len(m.open) > 0:
		return add(list, openTasks, fmt.Sprintf("%s has ended, but %s is still open, and the platform keeps the instance Running until it ends: cancel timers that are not needed any more, and await what was started", in, m.openText()))
	case w.through && len(m.open) == 0 && len(m.waiting()) == 0 && !m.st.Done && !m.st.Failed && m.next == nil:
		return add(list, stuck, fmt.Sprintf("%s waits, and nothing is open that could end: the instance stays Running for ever, as on the platform", in))
	}
	return list
}

// waitsAhead names why the walk waits while the worker has gone on.
func (m *Machine) waitsAhead(list []durable.Finding) []durable.Finding {
	w, in := &m.walk, m.in.Name
	switch {
	case w.now.Kind == WhenAll && w.task.childFailed:
		return add(list, allWaits, fmt.Sprintf("%s goes on after the first failure of a Task.all, but the host schedules what follows only when all of its members have ended: end or cancel the others first", in))
	case w.now.Kind == CreateTimer && m.in.Runtime == "python":
		return add(list, longTimerCancel, fmt.Sprintf("%s goes on while a piece of a timer of more than 6 days is open, for which the host waits (azure-functions-durable-python#573): wait in steps of at most 6 days", in))
	}
	return add(list, hostWaits, fmt.Sprintf("%s goes on behind %s %s, for which the host still waits: what follows is scheduled only when it has ended", in, w.now.Kind, w.now.Name))
}

// openText names what is open.
func (m *Machine) openText() string {
	list := m.due()
	s := list[0]
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(" and %d more", len(list)-1)
	}
	return fmt.Sprintf("%s #%d%s", whatText(s), s.event.ID, more)
}

func whatText(s *scheduled) string {
	if s.event.Name == "" {
		return "timer"
	}
	return s.event.Name
}

func plannedText(e *durable.Event) string {
	if e == nil {
		return "nothing under this number"
	}
	return fmt.Sprintf("%s %s under this number", typeText(e.Type), e.Name)
}
