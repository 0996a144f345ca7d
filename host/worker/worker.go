package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// healthLimit bounds, in real time, a call that needs no user code.
const healthLimit = 2 * time.Second

// Worker is a language worker, kept running. It implements host.Invoker.
//
// Except where a method says otherwise, call it with the clock's baton, from as
// many goroutines as you like.
type Worker struct {
	*process.Keeper[*conn]
	clk  clock.Clock
	spec *Spec

	mu            sync.Mutex // guards:
	functions     []Function // to load; nil before Load
	inCode        bool       // the worker has declared them
	indexingError string     // see IndexingError
	serves        bool       // the last process serves HTTP

	declared map[string]*workerpb.RpcFunctionMetadata // by the first process, for all: see conn.declared
}

// Start starts a worker and returns when it has said what it can do. It waits outside
// the clock. The error is a *[process.StartError].
func Start(clk clock.Clock, spec Spec) (*Worker, error) {
	if spec.StartTimeout == 0 {
		spec.StartTimeout = 60 * time.Second
	}
	if spec.InitTimeout == 0 {
		spec.InitTimeout = 2 * time.Minute
	}
	if spec.CancelGrace == 0 {
		spec.CancelGrace = 5 * time.Second
	}
	if Debugs(spec.Args) || Waits(spec.Env) {
		spec.StartTimeout, spec.InitTimeout = debugLimit, debugLimit
	}
	if spec.IdleLimit == 0 {
		spec.IdleLimit = 240 * time.Second
	}
	if spec.MeetLimit == 0 {
		spec.MeetLimit = 20 * time.Second
	}
	if spec.Name == "" {
		spec.Name = "worker"
	}
	spec.Spec = spec.WithDefaults()
	if spec.Seat != nil {
		spec.Once, spec.Count, spec.Indexing = true, 1, true
	}
	w := &Worker{clk: clk, spec: &spec}
	keeper, err := process.Keep(clk, spec.Spec, w.connect)
	if err != nil {
		return nil, err
	}
	w.Keeper = keeper
	return w, nil
}

// connect starts one process. Those after the first are told what the first one was
// told.
func (w *Worker) connect(ctx context.Context, number int) (*conn, error) {
	c, err := w.process(ctx, number)
	if err == nil {
		w.mu.Lock()
		w.serves = c.server != nil
		w.mu.Unlock()
	}
	if err != nil || number == 1 {
		return c, err
	}
	if functions := w.toLoad(); functions != nil {
		_ = w.load(c, functions) // a failure here fails the attempts, as on the platform
	}
	return c, nil
}

// load has a process load functions. One that was not asked for them is asked before,
// since it knows its own by that.
func (w *Worker) load(c *conn, functions []Function) error {
	c.mu.Lock()
	asked := c.indexed != nil
	c.mu.Unlock()
	if !asked {
		if _, _, err := c.index(); errors.Is(err, errConnection) {
			return err
		}
		w.oneIdentity(c)
	}
	return c.load(functions)
}

// oneIdentity has all processes know the functions by the identifiers of the first: some
// workers invent others for each process (spec workers-dotnet-java 1.7).
func (w *Worker) oneIdentity(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.declared == nil {
		w.declared = c.declared
	}
	c.declared = w.declared
}

func (w *Worker) toLoad() []Function {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.functions
}

// A ReadError says that a worker runs, and cannot read the functions in the app's code.
type ReadError struct {
	Language string
	Err      error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("the %s worker cannot read the app: %v", e.Language, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// Functions asks the worker for the functions that the app declares in code. There are
// none when it leaves that to the files: see [Worker.InCode].
func (w *Worker) Functions(ctx context.Context) ([]call.Declaration, error) {
	r, err := w.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	var list []call.Declaration
	var inCode bool
	w.clk.Outside(ctx, "ask worker for functions", func() {
		list, inCode, err = r.Conn.index()
		r.Conn.awaitExit(err)
	})
	if exit := w.Leave(r); exit != nil && err != nil {
		return nil, fmt.Errorf("ask the %s worker for the app's functions: %w", w.spec.Language, exit)
	}
	if err != nil {
		return nil, &ReadError{Language: w.spec.Language, Err: err}
	}
	w.oneIdentity(r.Conn)
	r.Conn.mu.Lock()
	failed := r.Conn.indexingError
	r.Conn.mu.Unlock()
	w.mu.Lock()
	w.inCode, w.indexingError = inCode, failed
	w.mu.Unlock()
	return list, nil
}

// IndexingError is the last error that the worker had told of itself when it was asked for
// functions, "" for none. The official worker for Node.js tells in this way of an entry
// point that fails, and leaves the functions to the files.
func (w *Worker) IndexingError() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.indexingError
}

// Streams reports whether the worker serves HTTP itself, so that a function can have its
// request while that comes in: see bindings.HTTPStream.
func (w *Worker) Streams(bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.serves
}

// InCode reports whether the worker has declared the app's functions, so that no
// function.json counts.
func (w *Worker) InCode() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inCode
}

// Load has the worker load the app's functions, now and after each start of a process, and
// starts its other processes, without waiting for them. It returns why functions could not be loaded, by name: their attempts fail with that.
func (w *Worker) Load(ctx context.Context, functions []Function) (map[string]*call.Error, error) {
	w.mu.Lock()
	w.functions = append([]Function{}, functions...)
	w.mu.Unlock()
	r, err := w.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	w.clk.Outside(ctx, "load functions", func() {
		err = w.load(r.Conn, functions)
		r.Conn.awaitExit(err)
	})
	if exit := w.Leave(r); exit != nil {
		err = exit
	}
	if err != nil {
		return nil, fmt.Errorf("load the app's functions: %w", err)
	}
	failures := map[string]*call.Error{}
	for _, f := range functions {
		if l, _ := r.Conn.function(f.Name); l != nil && l.err != nil {
			failures[f.Name] = l.err
		}
	}
	w.Fill()
	return failures, nil
}

// Health reports whether there is a process that answers now. It does not wait
// for a new one.
func (w *Worker) Health(ctx context.Context) error {
	r, err := w.Ready()
	if err != nil {
		return err
	}
	w.clk.Outside(ctx, "worker health", func() {
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthLimit) //clock:outside a call without user code
		defer cancel()
		err = r.Conn.health(rctx)
	})
	if exit := w.Leave(r); exit != nil {
		return exit
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the %s worker has not answered within %v", w.spec.Language, healthLimit)
	}
	return err
}
