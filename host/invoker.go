package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
)

// Invoker runs function bodies: a handler process behind go-plugin
// (host/plugin), or handlers registered in this process ([InProcess]).
// Language workers and custom handlers implement it in their turn. Retry,
// timeout, outputs and the journal live above it and are written once.
//
// Methods may be called concurrently, by goroutines of the host's clock.
type Invoker interface {
	// Functions returns what the handlers declare, in a stable order.
	Functions(ctx context.Context) ([]call.Declaration, error)

	// Invoke makes one attempt: it waits for a process that takes the call, and calls
	// req.Taken then. An error means infrastructure: the process died, or no result
	// came. The handler's outcome stands in the response. When ctx ends, or the context
	// of req.Taken, the handler's context ends too; Invoke returns when the handler
	// does, or when its process has been disposed of after a grace of 2 s of real time
	// (spec host-and-retry 8). log receives the handler's lines in order and is not
	// called after Invoke returned. A recall by req.OnRecall ends the handler's
	// context too, without a grace.
	Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error)

	// Health reports whether attempts can be made now.
	Health(ctx context.Context) error

	// Close ends the handlers. Attempts still running fail. It waits.
	Close(ctx context.Context) error
}

// InProcess returns an Invoker for handlers registered in this process. A
// handler holds the clock's baton while it runs, so a call takes no time unless
// it sleeps through functions.Sleep; one with real I/O of its own wraps that in
// clock.Clock.Outside.
func InProcess(clk clock.Clock, app *functions.App) Invoker {
	return &inProcess{clk: clk, app: app}
}

type inProcess struct {
	clk clock.Clock
	app *functions.App
}

func (p *inProcess) Functions(context.Context) ([]call.Declaration, error) {
	return p.app.Declarations(), nil
}

func (p *inProcess) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	ctx = req.Taken(ctx)
	if req.OnRecall != nil {
		held, end := p.clk.WithCancel(ctx)
		defer end()
		defer req.OnRecall(end)()
		ctx = held
	}
	return p.app.Call(ctx, req, inProcessLink{p.clk, log}), nil
}

func (p *inProcess) Health(context.Context) error { return nil }
func (p *inProcess) Close(context.Context) error  { return nil }

// inProcessLink is a handler's way back to the host when both share a process.
type inProcessLink struct {
	clk clock.Clock
	log func(call.Log)
}

func (l inProcessLink) Log(line call.Log) { l.log(line) }
func (l inProcessLink) Sleep(ctx context.Context, d time.Duration) (err error) {
	// A goroutine that the handler has started comes in from outside.
	l.clk.Inside("functions.Sleep", func() { err = l.clk.Sleep(ctx, d) })
	return err
}

// noHandlers serve an app that has none: its functions fail and say so.
var noHandlers = functions.New() // read only
