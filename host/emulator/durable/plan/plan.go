package plan

import (
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Instance is what a plan depends on beside history and reply.
type Instance struct {
	ID, Execution, Name string
	Parent              string // instance id of the parent; "" for none
	Runtime             string // of the app: some findings are of one language

	// Functions are those of the app. Nil: every function is known.
	Functions *Functions

	MaxActions   int           // 0: 100,000
	PollInterval time.Duration // of callHttp; 0: 30 s
}

// Result is what comes of a turn.
type Result struct {
	// Events are the scheduling events to append, by number. Their times are those of the
	// turn. Scheduled says more of each.
	Events    []durable.Event
	Scheduled []Scheduled

	// Numbers says the same of everything that has a number, and Next is the next one.
	Numbers []Scheduled
	Next    int

	// Outcome is how the execution ends; nil: it goes on.
	Outcome *Outcome

	// Open is what is waited for: by number, then events in the order of waiting. Due are
	// the numbers that keep the execution from its end.
	Open []durable.Open

	// Cancelled are timers of the history that have lost by cancellation, by number.
	Cancelled []int

	// Carried are the events that came behind continue-as-new, Buffered those that nobody
	// has read.
	Carried, Buffered []durable.Event

	// Raised says what became of the events of the last turn, in their order.
	Raised []Raised

	// Ignored are the numbers of ends of the last turn that nobody has waited for.
	Ignored []int

	Suspended bool
	Findings  []durable.Finding

	// Mismatch tells more of an execution that is not deterministic; nil: it is.
	Mismatch *Mismatch
}

// Scheduled says what a scheduling event is for.
type Scheduled struct {
	What     string // activity, child, timer, retry, extra, piece, call, signal, http
	Attempt  int    // of WithRetry, from 1; 0: none
	Attempts int    // that there may be
}

// Raised is what became of an EventRaised: delivered, buffered, held or carried.
type Raised struct{ Name, Status string }

// Mismatch is a scheduling event of the history that the plan does not have.
type Mismatch struct {
	Event   durable.Event
	Planned *durable.Event // under the same number; nil: nothing
}

// Outcome is how an execution ends.
type Outcome struct {
	Status durable.Status // Completed, Failed, Terminated or ContinuedAsNew
	Number int            // EventId of the end

	// Value is the output, the input of the next execution, or the reason; of a failure
	// its text.
	Value   *string
	Details *string // of a failure

	// Output is what the instance shows of its end; nil: Value.
	Output  *string
	Failure *durable.Failure
}

// Plan computes what the history of an execution and the reply to it come to. history has
// the events of this turn, OrchestratorStarted first.
func Plan(in *Instance, history []durable.Event, st *State) *Result {
	m := New(in, st)
	for i := range history {
		m.Feed(&history[i])
	}
	return m.Result()
}
