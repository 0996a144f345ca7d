package kinds

import (
	"context"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is one trigger kind. Nil functions mean that there is nothing to do.
type Kind struct {
	app.Kind

	// Singleton kinds run one listener at a time, also across a reload, and among the
	// hosts that share the storage.
	Singleton bool

	// Serial kinds run one listener at a time in this host, also across a reload.
	Serial bool

	// Keeper is the service that keeps the kind's messages, by its name in the control
	// API ("queue"), so that one can be sent again. Empty: what a delivery brought is
	// gone with it.
	Keeper string

	// Scheduled kinds run at times of their own, and a delivery brings nothing else.
	Scheduled bool

	// Connect finds what the trigger connects to, for functions that could not run
	// without: such a function is in error. It does no I/O.
	Connect func(f *Function) error

	// Listen makes the listener of a function. Functions of a kind without it run when
	// they are called by hand.
	Listen func(t *Turn) (triggers.Listener, error)

	// Unsettled is how a delivery ends whose settlement comes to nothing. Empty: dropped.
	Unsettled triggers.Decision

	// Message makes what the function receives in a call by hand.
	Message func(f *Function, input string) (triggers.Message, error)

	// Result takes what a function returned, when no output did.
	Result func(a Attempt, v bindings.Value) error

	// Hook is the name of the web hook that functions of the kind have, by the hook's
	// own rule; empty: none has.
	Hook func(f *Function) string

	// ServeHook answers a request to a function's web hook, whose key was checked.
	// serving.ErrNotRunning sends it to the function of the next generation.
	ServeHook func(ctx context.Context, f *Function, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error)

	// Observe adds the knowledge of a running host's services to the report of check.
	Observe func(r *app.FunctionReport, a *app.App, f *app.Function, env *Env)

	// CountName is the platform's name of a delivery count in its log; empty for
	// "DeliveryCount".
	CountName string

	// Remedy says what ends a failure of the kind's listeners; empty: nothing is known.
	Remedy func(failure string) string

	// Replaced is told that the state of the embedded services was replaced, before
	// functions of the generation listen again.
	Replaced func(g Generation)
}

// Binding is one kind of output and input binding.
type Binding struct {
	app.BindingKind
	Output func(f *Function, b *app.Binding) (Output, error) // nil: it is no output
	Input  func(f *Function, b *app.Binding) (Input, error)  // nil: it is no input
}

// A Front is a host, as those see it who bring something to its functions.
type Front interface {
	Env() *Env

	// Hook is the web hook of a function; empty: it has none. known is false when there
	// is no such function.
	Hook(function string) (hook string, known bool)

	// BringHook is a request to the web hook of a function, without a socket and a key,
	// from inside the clock.
	BringHook(ctx context.Context, hook, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse
}

// A Resident is the part of a kind that lives as long as the host. Its methods are used
// by the load that has its turn.
type Resident interface {
	// Apply gives the services what the app of a generation describes that
	// has come to run. The journal reports failures.
	Apply(g Generation)

	// Restore is Apply after the state of the services was replaced; nil: no app runs.
	Restore(g Generation) error
}

// Output is an output binding of a function, ready to be written.
type Output interface {
	// Write writes the value that the handler set. It is not called for a binding that
	// was not set.
	Write(ctx context.Context, a Attempt, v bindings.Value) error
}

// Binder is an Output that does something in each attempt before the handler runs.
type Binder interface {
	Bind(ctx context.Context, a Attempt) error
}

// Input is an input binding of a function, read once in each attempt.
type Input interface {
	Read(ctx context.Context, a Attempt) (bindings.Value, error)
}

// Attempt is an attempt, as its bindings see it.
type Attempt interface {
	Keeper

	// Record returns a record about the attempt.
	Record() journal.Record
	// Data are the values for binding expressions.
	Data() *bindings.BindingData
	// Invocation is the attempt's invocation ID.
	Invocation() string
	// Request is the request that the function runs for; nil: it runs for none.
	Request() *bindings.HTTPRequest
	// Respond sets the answer to it.
	Respond(resp *bindings.HTTPResponse)
}

// Keeper has what bindings keep for an attempt.
type Keeper interface {
	// Keep keeps something for a binding until the end of the attempt, and Kept
	// returns it.
	Keep(b *app.Binding, v any)
	Kept(b *app.Binding) any
}
