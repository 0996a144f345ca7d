package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Result tells how the machine stands after the events that it was fed.
func (m *Machine) Result() *Result {
	r := &Result{Outcome: m.outcome(), Suspended: m.suspended, Mismatch: m.mismatch, Carried: m.carried, Buffered: m.buffer, Raised: m.raised, Ignored: m.ignored, Next: m.n}
	r.Findings = m.lookAround(r.Outcome)
	if !m.suspended && !(m.ended != nil && m.ended.Status == durable.Terminated) {
		for _, s := range m.scheduled {
			if !s.matched {
				r.Events = append(r.Events, s.event)
				r.Scheduled = append(r.Scheduled, s.Scheduled)
			}
		}
	}
	for _, s := range m.scheduled {
		r.Numbers = append(r.Numbers, s.Scheduled)
	}
	r.Cancelled = m.cancelled
	if r.Outcome == nil {
		r.Open = m.openNow()
	}
	return r
}

// outcome is how the execution ends: only when nothing is open and the walk is through
// (spec durable 4.9).
func (m *Machine) outcome() *Outcome {
	w, st := &m.walk, m.st
	switch {
	case m.ended != nil:
		return m.ended
	case m.suspended || len(m.open) > 0 || !w.begun || !w.through && w.stopped == "":
		return nil
	case w.stopped != "":
		return &Outcome{Status: durable.Failed, Number: m.n, Value: text(w.stopped), Details: text("Message: " + w.stopped + ", StackTrace: ")}
	case st.Failed && st.Failure != nil:
		return &Outcome{Status: durable.Failed, Number: m.n, Value: text(st.Failure.Type + ": " + st.Failure.Message), Failure: st.Failure}
	case st.Failed:
		return &Outcome{Status: durable.Failed, Number: m.n, Value: text(failedText(m.in.Name, st.Error)), Details: text(st.Details)}
	case m.next != nil:
		return &Outcome{Status: durable.ContinuedAsNew, Number: m.n, Value: m.next}
	case st.Done:
		return &Outcome{Status: durable.Completed, Number: m.n, Value: st.Output}
	}
	return nil
}

// mismatched ends the execution as not deterministic (spec durable 4.10).
func (m *Machine) mismatched(e *durable.Event, planned *durable.Event) {
	m.mismatch = &Mismatch{Event: *e}
	if planned != nil {
		own := *planned
		m.mismatch.Planned = &own
	}
	m.ended = Mismatched(e, planned, m.n)
}

// Mismatched is the end of an execution whose history has e, where the code now wants
// planned; nil: nothing. number is the EventId of the end.
//
// Source: core TaskOrchestrationContext.cs.
func Mismatched(e, planned *durable.Event, number int) *Outcome {
	const changed = "Was a change made to the orchestrator code after this instance had already started running?"
	message := "Non-Deterministic workflow detected: "
	switch {
	case planned == nil && e.Type == durable.TimerCreated:
		message += fmt.Sprintf("A previous execution of this orchestration scheduled a timer task with sequence number %d but the current replay execution hasn't (yet?) scheduled this task. %s", e.ID, changed)
	case planned == nil:
		message += fmt.Sprintf("A previous execution of this orchestration scheduled %s with sequence ID %d and name '%s' (version '%s'), but the current replay execution hasn't (yet?) scheduled this task. %s", typeText(e.Type), e.ID, e.Name, e.Version, changed)
	case planned.Type != e.Type:
		message += fmt.Sprintf("A previous execution of this orchestration scheduled %s with sequence number %d named%s but the current orchestration replay instead produced a %s action with this sequence number. %s", typeText(e.Type), e.ID, spaced(e.Name), actionText(planned.Type), changed)
	default:
		message += fmt.Sprintf("A previous execution of this orchestration scheduled %s with sequence number %d named '%s', but the current orchestration replay instead scheduled %s named '%s' with this sequence number.  %s", typeText(e.Type), e.ID, e.Name, typeText(planned.Type), planned.Name, changed)
	}
	return &Outcome{Status: durable.Failed, Number: number, Value: text(message), Details: text("Unhandled exception while executing orchestration: " + message)}
}

func spaced(name string) string {
	if name == "" {
		return ""
	}
	return " '" + name + "'"
}

// typeText is what core calls an event that was scheduled.
func typeText(t durable.EventType) string {
	switch t {
	case durable.TimerCreated:
		return "a timer task"
	case durable.SubOrchestrationInstanceCreated:
		return "a sub-orchestration task"
	case durable.EventSent:
		return "a send event task"
	}
	return "an activity task"
}

// actionText is core's name of the action behind an event.
func actionText(t durable.EventType) string {
	switch t {
	case durable.TimerCreated:
		return "CreateTimerOrchestratorAction"
	case durable.SubOrchestrationInstanceCreated:
		return "CreateSubOrchestrationAction"
	case durable.EventSent:
		return "SendEventOrchestratorAction"
	}
	return "ScheduleTaskOrchestratorAction"
}

// due is what is open, by number.
func (m *Machine) due() []*scheduled {
	var list []*scheduled
	for _, s := range m.scheduled {
		if m.open[s.event.ID] == s {
			list = append(list, s)
		}
	}
	return list
}

// waiting are the waiters, in the order in which they began.
func (m *Machine) waiting() []*waiter {
	var list []*waiter
	for _, stack := range m.waiters {
		list = append(list, stack...)
	}
	slices.SortFunc(list, func(a, b *waiter) int { return cmp.Compare(a.order, b.order) })
	return list
}

// openNow is what the execution waits for.
func (m *Machine) openNow() []durable.Open {
	var list []durable.Open
	for _, s := range m.due() {
		o := durable.Open{Number: s.event.ID, What: "activity", Name: s.event.Name}
		switch s.event.Type {
		case durable.TimerCreated:
			o.What, o.Due = "timer", s.event.FireAt
		case durable.SubOrchestrationInstanceCreated:
			o.What, o.Name = "child", s.event.InstanceID
		}
		list = append(list, o)
	}
	for _, w := range m.waiting() {
		if w.call != nil {
			list = append(list, durable.Open{Number: w.call.event.ID, What: "call", Name: w.call.event.InstanceID})
		} else {
			list = append(list, durable.Open{Number: -1, What: "event", Name: w.name})
		}
	}
	return list
}
