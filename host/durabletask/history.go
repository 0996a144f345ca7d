package durabletask

import (
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// eventNames are the names of events, by their numbers.
var eventNames = [...]string{ // read only
	"ExecutionStarted", "ExecutionCompleted", "ExecutionFailed", "ExecutionTerminated", "TaskScheduled", "TaskCompleted", "TaskFailed",
	"SubOrchestrationInstanceCreated", "SubOrchestrationInstanceCompleted", "SubOrchestrationInstanceFailed", "TimerCreated", "TimerFired",
	"OrchestratorStarted", "OrchestratorCompleted", "EventSent", "EventRaised", "ContinueAsNew", "GenericEvent", "HistoryState",
	"ExecutionSuspended", "ExecutionResumed", "ExecutionRewound",
}

// EventName is the platform's name of the kind of an event.
func EventName(t durable.EventType) string {
	if t < 0 || int(t) >= len(eventNames) {
		return "Unknown"
	}
	return eventNames[t]
}

// stamp is a time as histories have it: up to seven decimals, with trailing zeros cut.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.9999999Z") }

// A member is one event of a told history; its names are written in their order.
type member map[string]any

// folded is a history as the API tells it (ext: ContextImplementations/DurableClient.cs;
// observed of extension 3.19): what was scheduled is part of its end, timers excepted, and
// the turns are left out.
func folded(history []durable.Event, show Shown) []any {
	scheduled := map[int]durable.Event{} // tasks and children that have ended
	for _, e := range history {
		if isEnd(e.Type) {
			scheduled[e.Task] = durable.Event{}
		}
	}
	out := []any{}
	for _, e := range history {
		switch e.Type {
		case durable.OrchestratorStarted, durable.OrchestratorCompleted:
			continue
		case durable.TaskScheduled, durable.SubOrchestrationInstanceCreated:
			if _, ended := scheduled[e.ID]; ended {
				scheduled[e.ID] = e
				continue
			}
		}
		out = append(out, told(&e, scheduled[e.Task], show))
	}
	return out
}

func isEnd(t durable.EventType) bool {
	switch t {
	case durable.TaskCompleted, durable.TaskFailed, durable.SubOrchestrationInstanceCompleted, durable.SubOrchestrationInstanceFailed:
		return true
	}
	return false
}

// told is one event; of is what was scheduled, for an end.
func told(e *durable.Event, of durable.Event, show Shown) member {
	m := member{"EventType": EventName(e.Type), "Timestamp": stamp(e.Time)}
	switch e.Type {
	case durable.ExecutionStarted:
		m["FunctionName"], m["Correlation"], m["ParentTraceContext"], m["ScheduledStartTime"] = e.Name, nil, nil, nil
		m["Generation"], m["GenerateNewTrace"] = nil, false // none of children and after continue-as-new
		if e.Starts > 0 {
			m["Generation"] = e.Starts - 1
		}
		if show.Input {
			m["Input"] = e.Input
		}
	case durable.ExecutionCompleted, durable.ContinueAsNew:
		m["OrchestrationStatus"], m["FailureDetails"] = e.Status.String(), failureOf(e.Failure)
		m.result(e, show)
	case durable.ExecutionTerminated:
		m["Input"] = e.Input
	case durable.GenericEvent:
		m["Data"] = e.Data
	case durable.TaskScheduled:
		m["Name"], m["Input"], m["ParentTraceContext"], m["Tags"] = e.Name, nil, nil, nil
	case durable.SubOrchestrationInstanceCreated:
		m["Name"], m["InstanceId"], m["Input"] = e.Name, e.InstanceID, nil
	case durable.TaskCompleted, durable.SubOrchestrationInstanceCompleted:
		m.scheduled(of, show)
		m.result(e, show)
	case durable.TaskFailed, durable.SubOrchestrationInstanceFailed:
		m.scheduled(of, show)
		m["Reason"], m["Details"], m["FailureDetails"] = e.Reason, e.Details, failureOf(e.Failure)
	case durable.TimerCreated, durable.TimerFired:
		m["FireAt"] = stamp(e.FireAt)
	case durable.EventSent:
		m["InstanceId"], m["Name"], m["Input"] = e.InstanceID, e.Name, e.Input
	case durable.EventRaised:
		m["Name"], m["Input"], m["ParentTraceContext"] = e.Name, e.Input, nil
	case durable.ExecutionSuspended, durable.ExecutionResumed:
		m["Reason"] = e.Reason
		if e.Reason == nil {
			m["Reason"] = e.Input
		}
	}
	return m
}

// scheduled adds what an end has of its beginning.
func (m member) scheduled(of durable.Event, show Shown) {
	if of.Name == "" {
		return
	}
	m["FunctionName"], m["ScheduledTime"] = of.Name, of.Time.UTC().Format("2006-01-02T15:04:05.9999999-07:00")
	if show.Input {
		m["Input"] = nil // the platform keeps none in histories, as storeInputsInOrchestrationHistory is false
	}
	if of.Type == durable.SubOrchestrationInstanceCreated {
		m["InstanceId"] = of.InstanceID
	}
}

// result adds the value of an end, where it is wanted.
func (m member) result(e *durable.Event, show Shown) {
	if show.Output {
		m["Result"] = valueOf(e.Result)
	}
}

// failureOf is FailureDetails, or null.
func failureOf(f *durable.Failure) any {
	if f == nil {
		return nil
	}
	var stack any
	if f.Stack != "" {
		stack = f.Stack
	}
	return map[string]any{
		"ErrorType": f.Type, "ErrorMessage": f.Message, "StackTrace": stack, "InnerFailure": failureOf(f.Inner),
		"IsNonRetriable": f.NonRetriable, "Properties": f.Properties,
	}
}
