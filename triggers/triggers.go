package triggers

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// Event is one delivery: a dequeue, a batch, a tick, a request. The listener
// fills it and passes it to its Sink; it stays the listener's and is passed
// again, unchanged, to Settled.
type Event struct {
	// Delivery identifies the delivery in the journal. The Sink sets it in the
	// first call that sees the event; a listener leaves it empty.
	Delivery string

	// Source names where the delivery came from: a queue's name, a timer's
	// schedule, a request's method and path.
	Source string

	// DeliveryCount is the source's own count, from 1; 0 where it has none.
	DeliveryCount int64

	// Messages holds one message, or several when Batch is set.
	Messages []Message
	Batch    bool

	// Details are the fields of the trigger in the platform's log beside message ID
	// and delivery count, in its order and under its names.
	Details []Detail

	// CallerWaits marks HTTP and admin calls: every attempt has an invocation
	// ID of its own (sdk: JobHost.cs CreateFunctionInstance), and the handler's
	// context ends with the caller's.
	CallerWaits bool

	// Recall ends the handler's context when the listener has lost what it delivered
	// to another host; nil: it cannot.
	Recall *Recall

	// Actions are what the handler may do to the messages while it runs; nil: nothing.
	Actions bindings.Actions
}

// Detail is one entry of the platform's "Trigger Details", such as "EnqueuedTime".
type Detail struct{ Name, Value string }

// Message is one message of a delivery.
type Message struct {
	// ID is the source's identifier; it may be empty (timer, HTTP).
	ID string

	// Number is the message's number at its entity, from 1, where the source has one:
	// it tells messages of one ID apart.
	Number int64

	// Count is the number of this delivery for a message of a batch, from 1; 0 where the
	// source does not count. A single message has that of its event.
	Count int64

	// Decision is what a listener decided on a message of a batch, when it says Settled;
	// empty: the decision on the batch.
	Decision Decision

	// Value is the value of the function's trigger parameter.
	Value bindings.Value

	// Read, when set, takes the place of Value: it is called once in each attempt,
	// and its failure is the attempt's. It is for contents that are too large, or
	// change too easily, to be held from the receipt of a delivery to its last
	// attempt. Batches have none.
	Read func(ctx context.Context) (bindings.Value, error)

	// Metadata is the binding data under Azure's own names: data of the
	// trigger ("DequeueCount", "Id"), merged with the top-level properties
	// of a JSON object body, which win. Values are strings, integers,
	// booleans, floats, time.Time, json.RawMessage or []string. Binding expressions
	// look here, ignoring case.
	Metadata map[string]any

	// Err is a conversion failure: the body does not fit the parameter. Every
	// attempt then fails with it and the handler never runs (sdk:
	// FunctionExecutor.cs, catch around binding and execution).
	Err error
}

// Result is the result of a delivery: the outcome of its last attempt.
type Result struct {
	// Err is nil for success, else the failure of the last attempt.
	Err error

	// Response is the answer of an HTTP-triggered function; nil otherwise and
	// after a failure.
	Response *bindings.HTTPResponse

	// Returned is what the function returned; nil: nothing, or it failed.
	Returned *bindings.Value

	// Asked is the settlement that the handler asked for; zero means the
	// trigger's own rule. A listener ignores what its kind does not know.
	Asked Request

	// Attempts is the number of attempts made.
	Attempts int

	// Cancelled is set when the retry loop ended because its token was
	// cancelled, or the host could not wait for it any longer, with Err the last
	// failure.
	Cancelled bool
}

// Request is a settlement asked for by a handler.
type Request struct {
	// Decision is "", or one of the decisions of the trigger's kind.
	Decision Decision
	// Reason and Description accompany a dead-lettering.
	Reason, Description string
}

// Decision is the end of a delivery, in the spelling of the journal.
type Decision string

// The decisions, by kind (spec host-and-retry 0.3).
const (
	Deleted         Decision = "deleted"          // queue, blob: done, message gone
	Released        Decision = "released"         // queue, blob: visible again
	Poisoned        Decision = "poisoned"         // queue, blob: moved to the poison queue
	Dropped         Decision = "dropped"          // queue, blob: left alone until its lock ends, or given up
	Undecodable     Decision = "undecodable"      // queue: body is not what messageEncoding says
	Completed       Decision = "completed"        // Service Bus
	Abandoned       Decision = "abandoned"        // Service Bus
	Deferred        Decision = "deferred"         // Service Bus
	DeadLettered    Decision = "dead_lettered"    // Service Bus
	LockLost        Decision = "lock_lost"        // Service Bus
	Checkpointed    Decision = "checkpointed"     // Event Hubs, Cosmos
	NotCheckpointed Decision = "not_checkpointed" // Event Hubs, Cosmos
	Responded       Decision = "responded"        // HTTP, Event Grid
	Recorded        Decision = "recorded"         // timer
	Reported        Decision = "reported"         // activity: its end went to the orchestration
)

// AllDecisions are all of them.
func AllDecisions() []Decision {
	return []Decision{
		Deleted, Released, Poisoned, Dropped, Undecodable, Completed, Abandoned, Deferred, DeadLettered, LockLost,
		Checkpointed, NotCheckpointed, Responded, Recorded, Reported,
	}
}

// Settlement is a listener's act at the end of a delivery.
type Settlement struct {
	Decision Decision
	// Target names where the message went, e.g. the poison queue.
	Target string
	// Copy is the ID of the message that was put there. Failure is the cause, the
	// error of the last attempt or of the decoding; nil if it is not known.
	Copy    string
	Failure error
	// Err is a failure of the settlement itself; the delivery may come again.
	Err error
	// Note is a short fixed phrase for the journal, e.g. a hint; often empty.
	Note string
	// Status is the status of the HTTP answer, with Responded; 0 where the listener
	// does not know it.
	Status int
}

// Sink is the host's side of a listener, bound to one function of one
// generation. Its methods may be called concurrently, one Handle and one
// Settled for each event.
type Sink interface {
	// Handle runs the function for one delivery, all attempts included, and
	// returns what came of the last. It blocks for as long as that takes. ctx
	// is the delivery's token: when it ends, a retry wait ends at once with the
	// last failure, while a running attempt goes on.
	Handle(ctx context.Context, ev *Event) Result

	// Settled reports the end of a delivery, exactly once for each event, also
	// when Handle was never called for it (a message moved to poison before the
	// function ran).
	Settled(ev *Event, s Settlement)

	// Gate says how many deliveries the function takes. It is always the same one.
	Gate() Gate

	// Skip takes note of an admitted delivery that the listener settles without
	// running the function (a message that goes straight to poison), before the
	// listener acts on it. It stands for Handle and for Gate.Unused(1).
	Skip(ev *Event)

	// Draining reports whether the stop that ended Run's context is a drain, or
	// Replaced: kinds that leave deliveries their token in a drain do not cancel it.
	Draining() bool

	// BeginAgain says that the listener receives nothing more for that reason, although
	// Run's context has not ended, and has deliveries in work, which may take for ever.
	// It waits as long as a listener that has failed waits for its next start, and
	// returns nil: then the listener begins anew, beside those deliveries. With an error,
	// such as ctx's own, Run returns when they have ended.
	BeginAgain(ctx context.Context, cause error) error

	// Replaced reports whether Run's context has ended because the state of the
	// service was replaced, and another listener reads the new one. No kind cancels
	// the token of a delivery then. Further calls about its message are refused.
	Replaced() bool
}

// Gate is where a listener asks before it receives, because a receipt counts: while
// the function's circuit breaker is open it takes nothing, and of a half-open one a
// few deliveries are in work at a time. Each delivery that was admitted is handed to
// Sink.Handle or Sink.Skip, or given back with Unused. A listener that knows of no
// limit passes on what it is asked. Methods may be called concurrently.
type Gate interface {
	// Admit blocks while the function takes no deliveries and returns how many it
	// takes now, from 1 to n, or ctx's error when ctx ends first.
	Admit(ctx context.Context, n int) (admitted int, err error)

	// Try is Admit of one delivery for a caller that does not wait. When ok is
	// false the function takes none, and retryAfter, a second or more, is the rest
	// of the circuit breaker's pause.
	Try() (retryAfter time.Duration, ok bool)

	// WhileAdmitted returns a context for the wait for what Admit let in: it ends
	// with ctx, and as soon as the function takes no deliveries any more. A
	// listener waits in it when its service counts every message that it hands
	// out, so that it receives no message that should stay in its place. release
	// must be called.
	WhileAdmitted(ctx context.Context) (waiting context.Context, release func())

	// Unused gives back n admitted deliveries.
	Unused(n int)
}

// Listener watches one source for one function.
type Listener interface {
	// Run receives until ctx ends, then takes nothing more, waits for every
	// delivery in work to be settled, and returns nil. An error before that
	// means that the listener could not start or cannot go on; the host starts
	// it again with back-off, as it does with one that returns nil too early. With
	// deliveries in work the listener asks Sink.BeginAgain first. A
	// service that cannot be reached for a while (bindings.ErrUnreachable) is
	// waited for, or ends Run with that error. Run is called once.
	Run(ctx context.Context, sink Sink) error
}

// IsBinary reports whether a dataType of a binding asks for bytes.
func IsBinary(dataType string) bool {
	return strings.EqualFold(dataType, "binary") || strings.EqualFold(dataType, "stream")
}
