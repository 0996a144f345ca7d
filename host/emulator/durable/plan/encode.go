package plan

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Header is what a request has beside the history (spec durable 3.1).
type Header struct {
	Input            *string // JSON text
	InstanceID       string
	Replaying        bool
	Parent           string
	Schema           int // upperSchemaVersionNew
	HTTPPollInterval time.Duration
}

// AppendRequest writes what an orchestrator is asked. history are encoded events, with
// commas between them.
func AppendRequest(b []byte, h *Header, history ...[]byte) []byte {
	b = append(b, `{"history":[`...)
	first := true
	for _, part := range history {
		if len(part) == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, part...)
	}
	b = append(b, `],"input":`...)
	b = appendValue(b, h.Input)
	b = appendMember(b, "instanceId", h.InstanceID)
	b = append(b, `,"isReplaying":`...)
	b = strconv.AppendBool(b, h.Replaying)
	b = append(b, `,"parentInstanceId":`...)
	if h.Parent == "" {
		b = append(b, "null"...)
	} else {
		b = appendQuoted(b, h.Parent)
	}
	b = append(b, `,"sourceInstanceId":null,"upperSchemaVersion":1,"upperSchemaVersionNew":`...)
	b = strconv.AppendInt(b, int64(h.Schema), 10)
	b = append(b, `,"longRunningTimerIntervalDuration":"3.00:00:00","maximumShortTimerDuration":"6.00:00:00","defaultHttpAsyncRequestSleepTimeMillseconds":`...)
	poll := h.HTTPPollInterval
	if poll == 0 {
		poll = 30 * time.Second
	}
	b = strconv.AppendInt(b, poll.Milliseconds(), 10)
	return append(b, '}')
}

// AppendEvent writes an event of a history as the platform names it. played says that it
// is of an earlier turn.
func AppendEvent(b []byte, e *durable.Event, played bool) []byte {
	b = append(b, `{"EventType":`...)
	b = strconv.AppendInt(b, int64(e.Type), 10)
	b = append(b, `,"EventId":`...)
	b = strconv.AppendInt(b, int64(e.ID), 10)
	b = append(b, `,"IsPlayed":`...)
	b = strconv.AppendBool(b, played && e.Type != durable.OrchestratorStarted)
	b = appendTime(b, "Timestamp", e.Time)
	switch e.Type {
	case durable.ExecutionStarted:
		b = appendMember(b, "Name", e.Name)
		b = appendText(b, "Input", e.Input)
		b = appendMember(b, "Version", e.Version)
		b = appendInstance(append(b, `,"OrchestrationInstance":`...), e.InstanceID, e.ExecutionID)
		b = appendParent(b, e.Parent)
		b = append(b, `,"Tags":null`...)
	case durable.TaskScheduled:
		b = appendMember(b, "Name", e.Name)
		b = appendMember(b, "Version", e.Version)
		b = appendText(b, "Input", e.Input)
	case durable.TaskCompleted, durable.SubOrchestrationInstanceCompleted:
		b = appendNumber(b, "TaskScheduledId", e.Task)
		b = appendText(b, "Result", e.Result)
	case durable.TaskFailed, durable.SubOrchestrationInstanceFailed:
		b = appendNumber(b, "TaskScheduledId", e.Task)
		b = appendText(b, "Reason", e.Reason)
		b = appendText(b, "Details", e.Details)
		b = appendFailure(b, e.Failure)
	case durable.SubOrchestrationInstanceCreated:
		b = appendMember(b, "Name", e.Name)
		b = appendMember(b, "Version", e.Version)
		b = appendMember(b, "InstanceId", e.InstanceID)
		b = appendText(b, "Input", e.Input)
	case durable.TimerCreated:
		b = appendTime(b, "FireAt", e.FireAt)
	case durable.TimerFired:
		b = appendNumber(b, "TimerId", e.Task)
		b = appendTime(b, "FireAt", e.FireAt)
	default:
		b = appendRest(b, e)
	}
	return append(b, '}')
}

// appendRest writes the members of the other events.
func appendRest(b []byte, e *durable.Event) []byte {
	switch e.Type {
	case durable.EventSent:
		b = appendMember(b, "InstanceId", e.InstanceID)
		b = appendMember(b, "Name", e.Name)
		b = appendText(b, "Input", e.Input)
	case durable.EventRaised:
		b = appendMember(b, "Name", e.Name)
		b = appendText(b, "Input", e.Input)
	case durable.ExecutionSuspended, durable.ExecutionResumed:
		b = appendText(b, "Reason", e.Reason)
	case durable.ExecutionTerminated:
		b = appendText(b, "Input", e.Input)
	case durable.ContinueAsNew, durable.ExecutionCompleted:
		b = appendText(b, "Result", e.Result)
		b = appendNumber(b, "OrchestrationStatus", int(e.Status))
		b = appendFailure(b, e.Failure)
	case durable.GenericEvent:
		b = appendText(b, "Data", e.Data)
	}
	return b
}

func appendInstance(b []byte, instance, execution string) []byte {
	b = appendQuoted(append(b, `{"InstanceId":`...), instance)
	return append(appendMember(b, "ExecutionId", execution), '}')
}

func appendParent(b []byte, p *durable.Parent) []byte {
	b = append(b, `,"ParentInstance":`...)
	if p == nil {
		return append(b, "null"...)
	}
	b = appendQuoted(append(b, `{"Name":`...), p.Name)
	b = appendInstance(append(b, `,"OrchestrationInstance":`...), p.InstanceID, p.ExecutionID)
	b = appendNumber(b, "TaskScheduleId", p.Number)
	return append(b, `,"Version":""}`...)
}

func appendFailure(b []byte, f *durable.Failure) []byte {
	if f == nil {
		return b
	}
	return appendFailureValue(append(b, `,"FailureDetails":`...), f)
}

func appendFailureValue(b []byte, f *durable.Failure) []byte {
	if f == nil {
		return append(b, "null"...)
	}
	b = appendQuoted(append(b, `{"ErrorType":`...), f.Type)
	b = appendMember(b, "ErrorMessage", f.Message)
	b = appendMember(b, "StackTrace", f.Stack)
	b = appendFailureValue(append(b, `,"InnerFailure":`...), f.Inner)
	b = strconv.AppendBool(append(b, `,"IsNonRetriable":`...), f.NonRetriable)
	b = append(b, `,"Properties":`...)
	properties, err := json.Marshal(f.Properties)
	if err != nil {
		properties = []byte("null")
	}
	return append(append(b, properties...), '}')
}

func appendMember(b []byte, name, value string) []byte {
	return appendQuoted(appendName(b, name), value)
}

func appendName(b []byte, name string) []byte {
	return append(append(append(b, ',', '"'), name...), '"', ':')
}

func appendNumber(b []byte, name string, n int) []byte {
	return strconv.AppendInt(appendName(b, name), int64(n), 10)
}

// appendText writes a text that may be null.
func appendText(b []byte, name string, s *string) []byte {
	b = appendName(b, name)
	if s == nil {
		return append(b, "null"...)
	}
	return appendQuoted(b, *s)
}

// timeLayout has up to seven decimals.
const timeLayout = "2006-01-02T15:04:05.9999999Z"

func appendTime(b []byte, name string, t time.Time) []byte {
	b = append(appendName(b, name), '"')
	return append(t.UTC().AppendFormat(b, timeLayout), '"')
}

// appendValue writes a JSON text as the value that it is; what is no JSON as a text.
func appendValue(b []byte, s *string) []byte {
	switch {
	case s == nil || *s == "":
		return append(b, "null"...)
	case json.Valid([]byte(*s)):
		return append(b, *s...)
	}
	return appendQuoted(b, *s)
}

// appendQuoted writes a JSON string; plain ASCII takes the short way.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return append(b, quoted(s)...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
