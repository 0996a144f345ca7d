// Package durable is the contract of Durable Functions between an engine, which keeps the
// instances of orchestrators and entities in task hubs, and those who use it: the triggers,
// which run the functions, and the clients, which start instances and ask for them.
//
// Read [Hub] first: [Client] is its side for clients, [Work] that for triggers. history.go
// has the events of an instance, status.go how an instance stands.
//
// The first engine is the emulator's own. A second would be one of the platform's storage
// providers; nothing here depends on how instances are kept.
package durable

import (
	"context"
	"time"
)

// Limits (spec durable 5.1, 4.11).
const (
	MaxInstanceID   = 256             // UTF-16 units
	MaxCustomStatus = 16 << 10        // bytes of the JSON text in UTF-16
	LongTimer       = 144 * time.Hour // a timer is cut into pieces above this
	TimerPiece      = 72 * time.Hour
)

// Hub is one task hub. All methods may be called concurrently. Waits are on the clock and
// end with their context.
type Hub interface {
	Client
	Entities
	Work

	// Name is the hub's name.
	Name() string
}

// Client is what a client of orchestrations asks of a hub. A refusal is an *Error: callers
// decide by its Code. Other errors are of the store or the context's.
type Client interface {
	Starter
	Reader
	Controller
}

// Starter starts orchestrations.
type Starter interface {
	// Start makes an instance and returns its id. CodeInUse for an id that an instance
	// has which is not finished; a finished one is replaced. The name is not checked: an
	// instance of an unknown orchestrator fails in its first turn.
	Start(ctx context.Context, s Start) (string, error)

	// Restart starts the orchestration of an instance anew with its input, under the
	// same id when newID is "", and returns the id. CodeNotFound, CodeInUse.
	Restart(ctx context.Context, id, newID, by string) (string, error)
}

// Reader tells how instances stand.
type Reader interface {
	// Instance returns how an instance stands; CodeNotFound.
	Instance(ctx context.Context, id string, read Read) (*Instance, error)

	// Instances returns a page of the instances that q asks for, ordered by id, and the
	// token of the next page, "" after the last one.
	Instances(ctx context.Context, q Query) (page []*Instance, token string, err error)

	// AwaitEnd waits until the instance is finished, or until the time: then it returns how
	// it stands. CodeNotFound at once for an unknown one.
	AwaitEnd(ctx context.Context, id string, until time.Time) (*Instance, error)

	// Await waits until an instance is there and its first turn is made, or with end until it
	// is finished: without a limit but that of ctx, and without a reason for a virtual clock to
	// go on. It is for a function that runs: one such function does not hold the clock while it
	// waits (spec durable 11.4).
	Await(ctx context.Context, id string, end bool) (*Instance, error)

	// AllowPoll lets the clock go on by at most d before it returns, so that somebody who
	// holds the clock and asks again and again for an unfinished instance sees it end (spec
	// durable 11.4, DF-9). It returns at once where the clock is real.
	AllowPoll(ctx context.Context, id string, d time.Duration) error
}

// Controller changes what instances do. by names who asks, for the journal: http, rpc, cli.
type Controller interface {
	// RaiseEvent gives an instance an external event. data is JSON.
	// CodeNotFound, CodeFinished.
	RaiseEvent(ctx context.Context, id, name, data, by string) error

	// Control carries a command out on an instance. CodeNotFound, CodeFinished,
	// CodeWrongState with the text of the platform.
	Control(ctx context.Context, id string, c Control) error

	// Purge removes a finished instance and returns how many were removed: 0 or 1.
	// CodeWrongState for one that is not finished, unless the id is an entity's.
	Purge(ctx context.Context, id, by string) (int, error)

	// PurgeAll removes every instance that q names, also those that run, and returns how
	// many these were.
	PurgeAll(ctx context.Context, q Query, by string) (int, error)
}

// Entities is what a client asks of a hub's entities.
type Entities interface {
	// Signal sends an entity an operation that nobody waits for, not before due; zero:
	// now. input is JSON, "" for none.
	Signal(ctx context.Context, e EntityID, operation, input string, due time.Time, by string) error

	// Entity returns an entity; CodeNotFound when it does not exist.
	Entity(ctx context.Context, e EntityID) (*Entity, error)

	// Entities returns a page of the entities that q asks for, ordered by id.
	Entities(ctx context.Context, q EntityQuery) (page []*Entity, token string, err error)

	// Clean removes entities that do not exist and wait for nothing, with empty, and ends
	// the locks whose owners have ended or are unknown, with orphaned. It returns how many of
	// each.
	Clean(ctx context.Context, empty, orphaned bool) (removed, released int, err error)
}

// Work is what the triggers ask of a hub: each function of the running app has one loop
// that takes what is ready for it. The hub gives out ready work in the order in which it
// became ready, at most Functions' limits at a time.
type Work interface {
	// Serve says which functions an app has now. It takes the place of what the same
	// owner said before. Instances whose function no owner has fail in their next turn, as
	// the platform says (spec durable 5.8), once an owner has functions.
	Serve(owner string, f Functions)

	// NextTurn waits for a turn of an orchestrator of that name, or for a batch of an
	// entity. Names are compared without case. The caller ends it with Finish.
	NextTurn(ctx context.Context, f Function) (*Turn, error)

	// Finish ends a turn with the function's reply: the hub plans, commits in one batch
	// of the store, writes the journal and makes ready what follows. With an aborted reply
	// nothing is written, and the turn comes again after a pause (spec durable 5.9). An
	// error is the store's: the turn comes again then too.
	Finish(ctx context.Context, t *Turn, r Reply) error

	// NextActivity waits for an activity of that name. The caller ends it with Report.
	NextActivity(ctx context.Context, name string) (*Activity, error)

	// Report gives the end of an activity to its instance. An aborted reply gives it back
	// instead: it comes again, its delivery counted one up.
	Report(ctx context.Context, a *Activity, r Reply) error
}

// Kind tells the functions of Durable Functions apart.
type Kind int

// The kinds.
const (
	Orchestrator Kind = iota
	Activities
	EntityFunction
)

// Function is one function by its kind and durable name.
type Function struct {
	Kind Kind
	Name string
}

// Protocol is how an app and the host speak of turns (spec durable 2.2).
type Protocol int

// The protocols.
const (
	JSON     Protocol = iota // A: the plan comes whole, as JSON, from node, python and powershell
	Protobuf                 // B: the worker numbers its actions; .NET isolated and Java
)

// Functions are what an app has, and how the hub is to treat it.
type Functions struct {
	// Known are the functions that run; names as they were written. Disabled are those
	// that do not.
	Known, Disabled []Function

	// Runtime is the app's worker runtime ("node", "python", ...): some findings are of one
	// language. Protocol is what its orchestrators speak.
	Runtime  string
	Protocol Protocol

	// Generation numbers the loaded app.
	Generation int

	// Most turns, batches of entities and activities at a time, and operations of a batch;
	// 0: 10 each, and 5,000.
	MaxTurns, MaxBatches, MaxActivities, MaxBatch int

	// MaxActions are the actions of a plan; 0: 100,000.
	MaxActions int

	// HTTPPollInterval is the wait between polls of callHttp without a Retry-After;
	// 0: 30 s.
	HTTPPollInterval time.Duration

	// Schema is upperSchemaVersionNew of requests; 0: 2 (V3).
	Schema int

	// FailStuck ends an instance that can never go on, KeepEvents keeps unread events over
	// continue-as-new, AnyState lets a start replace an instance that is not finished.
	FailStuck, KeepEvents, AnyState bool
}

// Turn is one turn of an orchestrator, or one batch of an entity.
type Turn struct {
	Hub, Instance, Execution string
	Function                 Function
	Number                   int    // of the execution, from 1
	Request                  string // what the function is asked, as it goes over the wire
	Parent                   string // instance id of the parent; "" for none

	// Held is the engine's own.
	Held any
}

// Activity is one delivery of an activity.
type Activity struct {
	Hub, Instance string
	Number        int    // of its TaskScheduled
	Name          string // as the orchestrator wrote it
	Input         string // JSON: element 0 of the scheduled array
	Delivery      int64  // from 1

	// Held is the engine's own.
	Held any
}

// Reply is what came of a function that was asked. The zero value is success without a
// value.
type Reply struct {
	// Value is the JSON of what the function returned; "" for nothing.
	Value string

	// Failed: the invocation failed. Message is the worker's text, labels included;
	// Stack its stack.
	Failed         bool
	Message, Stack string

	// Aborted is why there is no reply: the host stops, the function timed out, its process
	// ended. Nothing came of the call then.
	Aborted error
}
