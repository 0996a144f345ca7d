package durable

import "time"

// EventType is the kind of an event of a history, by the platform's numbers (core:
// History/EventType.cs).
type EventType int

// The events.
const (
	ExecutionStarted EventType = iota
	ExecutionCompleted
	ExecutionFailed // unused
	ExecutionTerminated
	TaskScheduled
	TaskCompleted
	TaskFailed
	SubOrchestrationInstanceCreated
	SubOrchestrationInstanceCompleted
	SubOrchestrationInstanceFailed
	TimerCreated
	TimerFired
	OrchestratorStarted
	OrchestratorCompleted
	EventSent
	EventRaised
	ContinueAsNew
	GenericEvent
	HistoryState
	ExecutionSuspended
	ExecutionResumed
	ExecutionRewound
)

// Event is one event of a history. Which members count depends on Type (spec durable
// 3.2); texts that are null on the platform are nil.
type Event struct {
	Type   EventType
	ID     int // EventId: its number for what an orchestrator schedules, else -1
	Time   time.Time
	Played bool // of an earlier turn

	Name, Version   string
	InstanceID      string // of a child, of the receiver of a sent event, of the instance that has started
	ExecutionID     string
	Parent          *Parent
	Input           *string // JSON text; the reason of a command
	Task            int     // TaskScheduledId or TimerId of an end
	Result          *string // JSON text; the end of an execution has its output
	Reason, Details *string
	Failure         *Failure
	FireAt          time.Time
	Status          Status // of the end of an execution
	Data            *string
	Tags            map[string]string // of a start, and of what was scheduled
	Generation      int               // of the app that wrote it; not sent to workers
	Starts          int               // of ExecutionStarted: how often clients have started the id, this time included; 0: a parent or continue-as-new did. Not sent to workers
}

// Parent is the orchestration that has made another.
type Parent struct {
	Name, InstanceID, ExecutionID string
	Number                        int // of the child in it
}

// Failure is FailureDetails.
type Failure struct {
	Type, Message, Stack string
	Inner                *Failure
	NonRetriable         bool
	Properties           map[string]any
}
