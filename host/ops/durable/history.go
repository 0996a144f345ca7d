package durable

import (
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/durabletask"
)

// ScheduledStep is something that an orchestrator has scheduled.
type ScheduledStep struct {
	Number     int        `json:"number"`
	What       string     `json:"what"`           // activity, child, timer, call
	Name       string     `json:"name,omitempty"` // of the function; the child's id
	Scheduled  time.Time  `json:"scheduled"`
	Due        *time.Time `json:"due,omitempty"`   // of timers
	Ended      *time.Time `json:"ended,omitempty"` // none: it is open
	Failed     bool       `json:"failed,omitempty"`
	Error      string     `json:"error,omitempty"`
	Result     string     `json:"result,omitempty"` // JSON
	Generation int        `json:"generation,omitempty"`
}

// steps are what a history has of numbers, in their order.
func steps(history []durable.Event) (list []ScheduledStep) {
	at := map[int]int{}
	for i := range history {
		e := &history[i]
		s := ScheduledStep{Number: e.ID, Name: e.Name, Scheduled: e.Time, Generation: e.Generation}
		switch e.Type {
		case durable.TaskScheduled:
			s.What = "activity"
		case durable.SubOrchestrationInstanceCreated:
			s.What, s.Name = "child", e.InstanceID
		case durable.TimerCreated:
			fireAt := e.FireAt
			s.What, s.Due = "timer", &fireAt
		case durable.EventSent:
			s.What, s.Name = "call", e.InstanceID
		default:
			if n, known := at[e.Task]; known && ends(e.Type) {
				list[n].end(e)
			}
			continue
		}
		at[e.ID] = len(list)
		list = append(list, s)
	}
	return list
}

func ends(t durable.EventType) bool {
	switch t {
	case durable.TaskCompleted, durable.TaskFailed, durable.SubOrchestrationInstanceCompleted, durable.SubOrchestrationInstanceFailed, durable.TimerFired:
		return true
	}
	return false
}

func (s *ScheduledStep) end(e *durable.Event) {
	ended := e.Time
	s.Ended, s.Failed = &ended, e.Type == durable.TaskFailed || e.Type == durable.SubOrchestrationInstanceFailed
	if e.Reason != nil {
		s.Error = *e.Reason
	}
	if e.Result != nil {
		s.Result = *e.Result
	}
}

// HistoryEvent is an event of a history as workers are sent it; members that it does not have
// are left out.
type HistoryEvent struct {
	EventType  string     `json:"EventType"`
	EventID    int        `json:"EventId"`
	Timestamp  time.Time  `json:"Timestamp"`
	Name       string     `json:"Name,omitempty"`
	InstanceID string     `json:"InstanceId,omitempty"`
	Task       *int       `json:"TaskScheduledId,omitempty"` // of timers TimerId
	Input      *string    `json:"Input,omitempty"`
	Result     *string    `json:"Result,omitempty"`
	Reason     *string    `json:"Reason,omitempty"`
	Details    *string    `json:"Details,omitempty"`
	FireAt     *time.Time `json:"FireAt,omitempty"`
	Status     string     `json:"OrchestrationStatus,omitempty"`
	Generation int        `json:"generation,omitempty"` // of the app that wrote it
}

func eventOf(e *durable.Event) HistoryEvent {
	out := HistoryEvent{
		EventType: durabletask.EventName(e.Type), EventID: e.ID, Timestamp: e.Time, Name: e.Name, InstanceID: e.InstanceID,
		Input: e.Input, Result: e.Result, Reason: e.Reason, Details: e.Details, Generation: e.Generation,
	}
	if ends(e.Type) {
		out.Task = &e.Task
	}
	if !e.FireAt.IsZero() {
		out.FireAt = &e.FireAt
	}
	if e.Type == durable.ExecutionCompleted || e.Type == durable.ContinueAsNew {
		out.Status = e.Status.String()
	}
	return out
}
