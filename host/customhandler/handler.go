package customhandler

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

const (
	// startTimeout is the platform's initializationTimeout of custom handlers.
	startTimeout = 30 * time.Second
	// healthLimit bounds, in real time, a request that needs no function.
	healthLimit = 2 * time.Second
	// exitDelay is how long a broken connection may be ahead of the news that the
	// process has ended, in real time (some milliseconds, as a rule). A handler that
	// closes a connection without an answer and lives on makes the host wait for it.
	exitDelay = 500 * time.Millisecond
	// maxAnswer is the default of Spec.MaxAnswer.
	maxAnswer = 256 << 20
)

// Forwarding says which HTTP requests are handed through instead of being wrapped in
// JSON: those of functions with exactly one input, the HTTP trigger, and one output, its
// answer (spec workers 13.5).
type Forwarding int

// The ways.
const (
	// Never: all requests are wrapped.
	Never Forwarding = iota
	// ByPath: with their own path (enableForwardingHttpRequest).
	ByPath
	// ByName: with the function's name as the path, as for the older section
	// httpWorker (host: DefaultHttpWorkerService.cs).
	ByName
	// Proxied: with their own path, request and answer as they come
	// (enableProxyingHttpRequest).
	Proxied
)

// idleLimit is how long a proxied exchange may stand still, as with language workers.
const idleLimit = 240 * time.Second

// Spec says what to start, and how it is spoken to.
type Spec struct {
	// Spec is the program. In its arguments, %FUNCTIONS_CUSTOMHANDLER_PORT% and
	// %FUNCTIONS_HTTPWORKER_PORT% become the port. StartTimeout is 30 s when it is
	// zero. A line of standard error counts as an error.
	process.Spec
	// Port is the port that the handler listens on; zero is a free one, another for
	// each process.
	Port int
	// App is the app's folder, absolute.
	App string
	// Forward says which HTTP requests are handed through.
	Forward Forwarding
	// Binary reports whether a binding of a function has the dataType binary. Nil:
	// none has.
	Binary func(function, binding string) bool
	// HostVersion is told to the handler with each request.
	HostVersion string
	// MaxAnswer is the size in bytes up to which the body of an answer is read; a
	// larger one fails the attempt. Zero is 256 MiB.
	MaxAnswer int64
}

// Handler is a custom handler, kept running. It implements host.Invoker.
//
// Except where a method says otherwise, call it with the clock's baton, from as
// many goroutines as you like.
type Handler struct {
	*process.Keeper[*conn]
	clk  clock.Clock
	spec Spec

	backlog *backlog
	oddType atomic.Bool // it has been told that the platform does not read its answers
}

// Start starts the program and returns when it answers HTTP requests, whatever the
// answer is. It waits outside the clock. The error is a *[process.StartError].
func Start(clk clock.Clock, spec Spec) (*Handler, error) {
	if spec.StartTimeout == 0 {
		spec.StartTimeout = startTimeout
	}
	if spec.Name == "" {
		spec.Name = "custom handler"
	}
	if spec.MaxAnswer == 0 {
		spec.MaxAnswer = maxAnswer
	}
	spec.Spec = spec.WithDefaults()
	if output := spec.Output; output != nil {
		spec.Output = func(l process.Line) {
			if l.Stderr {
				l.Level = call.ErrorLevel
			}
			output(l)
		}
	}
	b := &backlog{}
	keeper, err := process.Keep(clk, spec.Spec, func(ctx context.Context, number int) (*conn, error) {
		b.ready.Store(false)
		c, err := connect(ctx, &spec, b, number)
		b.ready.Store(err == nil)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return &Handler{Keeper: keeper, clk: clk, spec: spec, backlog: b}, nil
}

// Functions returns none: a custom handler declares nothing.
func (h *Handler) Functions(context.Context) ([]call.Declaration, error) { return nil, nil }

// Health reports whether there is a process that answers now, whatever it says. It does
// not wait for a new one.
func (h *Handler) Health(ctx context.Context) error {
	r, err := h.Ready()
	if err != nil {
		return err
	}
	h.clk.Outside(ctx, "custom handler health", func() {
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthLimit) //clock:outside a request without user code
		defer cancel()
		if err = r.Conn.ping(rctx); err != nil {
			r.Conn.child.EndsWithin(exitDelay)
		}
	})
	if exit := h.Leave(r); exit != nil {
		return exit
	}
	return err
}

// Invoke makes one attempt: one request, and its answer. If no process runs it waits for
// the next one. An answer with a status outside 2xx is a failure of the function, except
// where the request was handed through ([Forwarding]): there every answer is a success.
// An error means that there is no answer that makes sense: a *[process.ExitError] when
// the process ended, one that wraps [process.ErrNoResult] when the connection broke or
// the answer is not of the form of spec workers 13.4, ctx's error when ctx ended first.
//
// A handler cannot be told that ctx has ended. Its answer is still awaited for the grace
// of [Spec]; then the process is disposed of, with all its other calls, and replaced.
// That does not count as a crash. The lines of an answer are logged when it is a
// success, after a warning where the platform would not read it, once; log is not called after Invoke returned.
func (h *Handler) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := h.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	ctx = req.Taken(ctx)
	a := attempt{h: h, conn: r.Conn, req: req}
	resp, lines, err := a.run(ctx)
	if a.overdue {
		h.Dispose(r, fmt.Sprintf("function %q did not return within %v after its time was over", req.Function, h.spec.Grace))
	}
	exit := h.Leave(r)
	if exit == nil {
		h.backlog.say(log)
	}
	switch {
	case err == nil:
		if a.oddType != "" && !h.oddType.Swap(true) {
			log(call.Log{Level: call.Warning, Message: fmt.Sprintf(
				"the answers of the custom handler have the Content-Type %s: the platform reads application/json only, and fails such an attempt", a.oddType)})
		}
		for _, line := range lines {
			log(call.Log{Level: call.Information, Message: line})
		}
		return resp, nil
	case a.overdue:
		return nil, fmt.Errorf("function %q did not return: %w", req.Function, ctx.Err())
	case exit != nil:
		return nil, exit
	}
	return nil, fmt.Errorf("custom handler gave %w: %w", process.ErrNoResult, err)
}

// attempt is one call.
type attempt struct {
	h       *Handler
	conn    *conn
	req     *call.Request
	overdue bool   // the grace is used up; for who comes back from run
	oddType string // see answer; for who comes back from run
}

// run sends the request and reads the answer, outside the clock.
func (a *attempt) run(ctx context.Context) (resp *call.Response, lines []string, err error) {
	forwarded := a.h.spec.forwards(a.req)
	if forwarded && a.h.spec.Forward == Proxied {
		resp, err = a.proxy(ctx)
		return resp, nil, err
	}
	a.h.clk.Away(ctx, "invoke "+a.req.Function, func() {
		rctx, cancel := context.WithCancel(context.Background()) //clock:outside the request of an attempt
		defer cancel()
		g := &grace{length: a.h.spec.Grace, over: cancel}
		defer context.AfterFunc(ctx, g.begin)() //clock:outside gives up a function that does not return
		var ans *answer
		if forwarded {
			ans, err = a.conn.forward(rctx, a.req)
		} else {
			ans, err = a.conn.post(rctx, a.req)
		}
		a.overdue = g.end()
		if err != nil && !a.overdue {
			a.conn.child.EndsWithin(exitDelay)
		}
		if err != nil {
			return
		}
		if forwarded {
			resp = ans.handedThrough(a.req)
			return
		}
		if resp, lines, err = a.h.spec.read(a.req, ans); err == nil && resp.Status == call.Succeeded {
			a.oddType = ans.oddType()
		}
	})
	return resp, lines, err
}

// grace is the real time that a function has left when its context has ended.
type grace struct {
	length time.Duration
	over   context.CancelFunc

	mu    sync.Mutex // guards:
	timer *time.Timer
	ended bool // before the grace was used up
	used  bool
}

// begin is called when the context ends.
func (g *grace) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended || g.timer != nil {
		return
	}
	g.timer = time.AfterFunc(g.length, func() { //clock:outside the grace of a function is real time
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.ended {
			g.used = true
			g.over()
		}
	})
}

// end is called when the call has come back. It reports whether the grace was used up.
func (g *grace) end() (used bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	if g.timer != nil {
		g.timer.Stop()
	}
	return g.used
}
