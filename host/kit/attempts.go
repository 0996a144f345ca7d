package kit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// GetAttempts lists the attempts, of all runs of the host, in the order of their starts.
type GetAttempts struct {
	ops.Op[[]*Attempt] `route:"GET /hosts/{id}/attempts"`

	ID       string  `path:"id"`
	Function *string `query:"function"` // only of this function
}

// Attempt is one run of a handler.
type Attempt struct {
	Function      string     `json:"function"`
	MessageID     string     `json:"messageId,omitempty"`
	InvocationID  string     `json:"invocationId"`
	DeliveryID    string     `json:"deliveryId"`              // of the journal; after a restart the names begin anew
	Delivery      int        `json:"delivery"`                // of the message to the function, from 1; of another delivery the number of it
	DeliveryCount int64      `json:"deliveryCount,omitempty"` // that the service has told
	Attempt       int        `json:"attempt"`                 // from 1
	RetryCount    int        `json:"retryCount"`
	MaxRetryCount *int       `json:"maxRetryCount"` // null without a policy, -1 for ever
	Started       time.Time  `json:"started"`       // virtual
	Ended         *time.Time `json:"ended,omitempty"`
	TookMS        float64    `json:"tookMs"` // in real time; of one that runs so far, in what holds time still
	Status        string     `json:"status"` // running, succeeded, failed, timed_out, lost
	Error         *Error     `json:"error,omitempty"`
	Decision      string     `json:"decision,omitempty"` // of the policy: retry, exhausted, permanent, cancelled
	NextDelay     *Span      `json:"nextDelay,omitempty"`
	Settled       string     `json:"settled,omitempty"`    // how the delivery was settled, of its last attempt
	WaitsUntil    *time.Time `json:"waitsUntil,omitempty"` // the virtual time for which its handler waits, of one that does: it does not hold time still
	Logs          []LogLine  `json:"logs,omitempty"`
}

// Error is why an attempt has failed.
type Error struct {
	Type    string `json:"type,omitempty"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

// How an attempt stands that has not ended.
const (
	running = "running"
	lost    = "lost" // its instance has ended under it
)

// Do implements the operation.
func (in GetAttempts) Do(ctx context.Context, h *Host) ([]*Attempt, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	name := ""
	if in.Function != nil {
		var err error
		if name, err = h.session.Known(*in.Function); err != nil {
			return nil, refuse(404, NotFound, "%v", err)
		}
	}
	out := []*Attempt{}
	for _, a := range attempts(h.session.Records()) {
		if a.Status == running && !h.session.Lives(a.DeliveryID) {
			a.Status = lost
		}
		if name == "" || strings.EqualFold(a.Function, name) {
			out = append(out, a)
		}
	}
	return out, nil
}

// attempts are those that a journal tells of, of one run after the other.
func attempts(records []journal.Record) (list []*Attempt) {
	type of struct{ function, message string }
	current := map[string]*Attempt{}        // by delivery; the last attempt of each
	received := map[string]journal.Record{} // by delivery
	deliveries := map[of]int{}
	numbers := map[string]int{} // of deliveries
	last := uint64(0)
	for _, r := range records {
		if r.Seq <= last { // another run: what ran is lost, and names begin anew
			for _, a := range current {
				if a.Status == running {
					a.Status = lost
				}
			}
			clear(current)
			clear(received)
			clear(numbers)
		}
		last = r.Seq
		switch r.Kind {
		case journal.Received:
			received[r.Delivery] = r
			key := of{r.Function, r.MessageID}
			deliveries[key]++
			numbers[r.Delivery] = deliveries[key]
		case journal.AttemptStarted:
			a := &Attempt{
				Function: r.Function, MessageID: received[r.Delivery].MessageID, InvocationID: r.Invocation, DeliveryID: r.Delivery, Delivery: numbers[r.Delivery],
				DeliveryCount: received[r.Delivery].DeliveryCount, Attempt: r.Attempt, RetryCount: r.RetryCount(), Started: tick(r.Time), Status: running,
			}
			if r.HasPolicy {
				a.MaxRetryCount = &r.MaxRetryCount
			}
			current[r.Delivery] = a
			list = append(list, a)
		default:
			if a := current[r.Delivery]; a != nil && r.Delivery != "" {
				a.look(&r)
			}
		}
	}
	return list
}

// look takes what a record says of the attempt.
func (a *Attempt) look(r *journal.Record) {
	switch r.Kind {
	case journal.HandlerLog:
		a.Logs = append(a.Logs, LogLine{Level: r.Level, Text: r.Message})
	case journal.AttemptEnded:
		ended := tick(r.Time)
		a.Ended, a.Status, a.TookMS = &ended, r.Status, milliseconds(r.Beside.Elapsed)
		if r.Error != "" {
			a.Error = errorOf(r)
		}
	case journal.RetryScheduled:
		delay := Span(r.Delay)
		a.Decision, a.NextDelay = "retry", &delay
	case journal.RetriesExhausted:
		a.Decision = "exhausted"
		if r.Cause == "permanent" {
			a.Decision = "permanent"
		}
	case journal.RetryCancelled:
		a.Decision, a.NextDelay = "cancelled", nil
	case journal.Settled:
		a.Settled = r.Decision
	}
}

// errorOf splits a failure's text, `function "Pack": TypeError: no box`. The type of an error
// without one of its own in Go says nothing.
func errorOf(r *journal.Record) *Error {
	out := &Error{Message: strings.TrimPrefix(r.Error, fmt.Sprintf("function %q: ", r.OwnFunction())), Stack: r.Beside.Stack}
	if name, rest, ok := strings.Cut(out.Message, ": "); ok && !strings.ContainsAny(name, " \n\"") {
		out.Type, out.Message = name, rest
	}
	if out.Type == "*errors.errorString" {
		out.Type = ""
	}
	return out
}

// GetHolds lists what holds time still: the attempts that run.
type GetHolds struct {
	ops.Op[[]*Attempt] `route:"GET /hosts/{id}/holds"`

	ID string `path:"id"`
}

// Do implements the operation.
func (in GetHolds) Do(ctx context.Context, h *Host) ([]*Attempt, error) {
	out := []*Attempt{}
	all, err := GetAttempts{}.Do(ctx, h)
	for _, a := range all {
		if a.Status == running {
			if runs, ok := h.sleepers.Runs(a.InvocationID); ok {
				a.TookMS = milliseconds(runs)
			}
			if at, waits := h.sleepers.Until(a.InvocationID); waits {
				at = tick(at)
				a.WaitsUntil = &at
			}
			out = append(out, a)
		}
	}
	return out, err
}
