// Package call holds what crosses between the host and a handler process, as
// Go values: what a process offers ([Declaration]), one attempt ([Request]),
// its outcome ([Response]) and what the handler says meanwhile ([Log]). The
// protobuf form is functions/functionpb; conversion in both directions lives
// here, so that the author's side (package functions) and the host's side
// (host/plugin) cannot disagree. So does the [Outbox], from which either side sends.
//
// Handler authors import functions and never need this package.
package call

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/retrycontext"
)

// Declaration is a function as its handler process declares it. A function.json
// of the same name (ignoring case) wins over everything here.
type Declaration struct {
	// Name is the function's name, as in function.json's folder name.
	Name string
	// Bindings are function.json bindings, one JSON object each, the trigger
	// first. Empty for a handler that only serves a function.json.
	Bindings []json.RawMessage
	// Retry is the function's own policy, nil without one. The rules of
	// function.json check it.
	Retry *retrycontext.PolicyConfig
	// Disabled is function.json's disabled.
	Disabled bool
	// CircuitBreaker is function.json's redeliver.circuitBreaker, nil without one. The
	// rules of function.json check it.
	CircuitBreaker *CircuitBreaker
	// Fault says why the function cannot be loaded, if that is known already: it is in error,
	// and does not run. Empty otherwise.
	Fault string
}

// CircuitBreaker is when a function takes no deliveries for a while.
type CircuitBreaker struct {
	Failures int           // deliveries in a row that must fail
	Pause    time.Duration // how long nothing is taken then
	Probes   int           // deliveries that must succeed after that
}

// Input is one input of an attempt.
type Input struct {
	Name  string
	Value bindings.Value
}

// Request is one attempt, as the handler process receives it.
type Request struct {
	// InvocationID is the same for all attempts of a triggered delivery and new
	// for each attempt of an HTTP or admin call.
	InvocationID string
	Function     string
	// Inputs holds the trigger's value first, then the input bindings.
	Inputs []Input
	// Metadata is the trigger metadata under the platform's names, as text or
	// JSON.
	Metadata map[string]bindings.Value
	// Outputs names the declared output bindings, so that the author's side can
	// tell a typo from an output.
	Outputs []string
	// HTTPOutput is the output that takes the answer of an HTTP-triggered
	// function ("$return", "res"). Empty: none is declared, and the answer
	// goes to $return.
	HTTPOutput string
	// Retry is nil when no policy applies.
	Retry *retrycontext.Context
	// DeliveryCount is the source's count, 0 where it has none.
	DeliveryCount int64
	// MessageID is the source's identifier of the message; empty where it has none,
	// and for a batch. In Metadata a property "id" of the body takes its place.
	MessageID string
	// Deadline is when the function timeout ends this attempt, in the host's
	// time; zero for none. It is data: the attempt's context ends by itself.
	Deadline time.Time
	// Now is the host's time at which the handler is called.
	Now time.Time
	// TraceParent and TraceState are W3C trace context, often empty.
	TraceParent, TraceState string

	// Decoded keeps, on the author's side, the decoded metadata for further
	// attempts of the delivery in the same process; it does not cross. Nil: nothing
	// is kept.
	Decoded *any

	// OnRecall belongs to the caller; it does not cross to the author's side. It
	// takes a function that ends the handler's context when the source takes the
	// delivery back, and returns a function to call when the handler has ended. A
	// recall is news, not a demand: a handler may go on. It may be nil.
	OnRecall func(end func()) (ended func())

	// OnTaken belongs to the caller too: see Taken. It may be nil.
	OnTaken func(ctx context.Context) (handler context.Context)

	// Actions are what the handler may do to the messages of its delivery; nil: nothing.
	// They do not cross either: language workers ask for them beside the call.
	Actions bindings.Actions
}

// Taken says that a process has taken the call: from now on the time is the handler's, and
// the wait for a process was not. It takes the context of the call and returns the one of
// the handler, which the function timeout ends too. The caller sets Deadline and Now
// meanwhile.
func (r *Request) Taken(ctx context.Context) (handler context.Context) {
	if r.OnTaken == nil {
		return ctx
	}
	return r.OnTaken(ctx)
}

// Status is the outcome of an attempt. The zero value is a failure, as on the
// platform's own wire.
type Status int

// The outcomes.
const (
	Failed Status = iota
	Succeeded
	Cancelled
)

// Response is the outcome of one attempt.
type Response struct {
	Status Status
	// Error says what failed; nil when Succeeded.
	Error *Error
	// Outputs are the output bindings that were set, by binding name.
	Outputs map[string]bindings.Value
	// Return is the value of the binding named $return; nil when none.
	Return *bindings.Value
	// Asked is the settlement that the handler asks for, if any.
	Asked Settlement
	// Span are attributes that a language worker adds to the span of the attempt.
	Span map[string]string
}

// Settlement is a settlement asked for by a handler: Decision is "" or a
// decision of the trigger's kind in the journal's spelling ("poisoned",
// "dead_lettered", "completed", "abandoned", "deferred").
type Settlement struct {
	Decision            string
	Reason, Description string
}

// Error is a handler's failure as it travels: the type and message of the Go
// error (the message holds the whole chain), the stack of a panic, and the
// outcome that the handler declared (spec host-and-retry 14.1).
type Error struct {
	Type     string
	Message  string
	Stack    string
	Text     string                // for people, with the type and its causes; empty: Message says it
	Declared retrycontext.Declared // zero: plain failure
	Panic    bool
}

// Log is one line from a handler.
type Log struct {
	Level   Level
	Message string
	Fields  []Field
}

// Field is one attribute of a log line, rendered as text.
type Field struct{ Key, Value string }

// Level is the level of a log line.
type Level int

// The levels, in the order of the platform's RpcLog.
const (
	Trace Level = iota
	Debug
	Information
	Warning
	ErrorLevel
	Critical
)

var levelNames = [...]string{"trace", "debug", "information", "warning", "error", "critical"} // read only

// String is the level in the platform's word; information for one that is none.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		l = Information
	}
	return levelNames[l]
}
