package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/host/clock"
)

const (
	// plannedExit is the exit status with which a process asks for a new one
	// (spec workers 9).
	plannedExit = 200
	// describeLimit and healthLimit bound, in real time, calls that need no
	// handler code.
	describeLimit = 30 * time.Second
	healthLimit   = 2 * time.Second
)

// Handlers is a program of functions, kept running: at each moment one process,
// or none while a new one is started. It implements host.Invoker.
//
// Except where a method says otherwise, call it with the clock's baton, from as
// many goroutines as you like.
type Handlers struct {
	clk   clock.Clock
	spec  Spec
	group *clock.Group    // goroutines that start processes
	ctx   context.Context // ends with Close
	end   context.CancelFunc

	watchers sync.WaitGroup //clock:outside the part of the watchers that waits for a process
	closing  atomic.Bool    // for the watchers

	mu       sync.Mutex // guards:
	changed  *clock.Cond
	current  *process // nil while none is ready
	starts   int
	resumeAt time.Time // of the next start, while a pause is on
	budget   budget
	stopped  error // no more processes: why
}

// Start starts the program and returns when it is ready to be called. It waits
// outside the clock. The error is a *[StartError].
func Start(clk clock.Clock, spec Spec) (*Handlers, error) {
	h := &Handlers{clk: clk, spec: spec, group: clock.NewGroup(clk, 0)}
	h.ctx, h.end = clk.WithCancel(context.Background())
	h.changed = clock.NewCond(clk, &h.mu)
	if err := h.launch(); err != nil {
		h.end()
		return nil, err
	}
	return h, nil
}

// launch starts one process and makes it the current one.
func (h *Handlers) launch() error {
	h.mu.Lock()
	h.starts++
	number := h.starts
	h.mu.Unlock()
	var p *process
	var err error
	h.clk.Outside(h.ctx, "start handler process", func() {
		if number == 1 {
			removeSockets()
		}
		p, err = startProcess(h.spec, number)
	})
	if err != nil {
		return err
	}
	if h.closing.Load() {
		h.clk.Outside(h.ctx, "stop handler process", func() { p.stop(context.Background()) })
		return ErrClosed
	}
	if h.spec.OnStart != nil {
		h.spec.OnStart(Process{Number: p.number, PID: p.runner.cmd.Process.Pid})
	}
	h.watchers.Add(1)
	go h.watch(p) //clock:outside waits for the process; Close waits for it
	h.mu.Lock()
	h.current = p
	h.resumeAt = time.Time{}
	h.changed.Broadcast()
	h.mu.Unlock()
	return nil
}

// watch deals with a process that ends while nobody calls it, or all who do sleep in
// the clock's time. Other calls see the end themselves, and the first of them to come
// back deals with it: at a moment that the clock has decided.
func (h *Handlers) watch(p *process) {
	<-p.runner.done //clock:outside the end of a process
	p.hangUp()
	p.calling.wait()
	h.watchers.Done()
	if h.closing.Load() {
		return
	}
	h.clk.Inside("handler process exited", func() {
		h.mu.Lock()
		idle := p.idle()
		h.mu.Unlock()
		if idle {
			h.reap(p)
		}
	})
}

// reap deals with the end of p, once: it ends the sleeps of its calls, tells the
// host, counts a crash and has a new process started.
func (h *Handlers) reap(p *process) {
	h.mu.Lock()
	if p.reaped {
		h.mu.Unlock()
		return
	}
	p.reaped = true
	if h.current == p {
		h.current = nil
	}
	e := p.exit()
	if e.Code == plannedExit && !e.Planned {
		e.Planned, e.Reason = true, "asked for a new process"
	}
	asleep := p.asleep
	p.asleep = nil
	h.mu.Unlock()
	for _, nap := range slices.Sorted(maps.Keys(asleep)) {
		asleep[nap]()
	}
	h.group.Go("release handler process", func() {
		h.clk.Outside(h.ctx, "release handler process", p.release)
	})
	h.ended(e)
}

// ended tells of the end of a process, or of a failed start, and prepares the
// next start.
func (h *Handlers) ended(e Exit) {
	h.mu.Lock()
	e.Restart = -1
	var stop error
	if !h.closing.Load() {
		e.Restart = 0
		if !e.Planned {
			var usedUp bool
			e.Restart, usedUp = h.budget.crash(h.clk.Now())
			if usedUp && h.spec.StopHost != nil {
				e.Restart = -1
				stop = fmt.Errorf("the handler process crashed %d times within %v", h.budget.crashes, crashWindow)
				h.stopped = stop
			}
		}
		if e.Restart > 0 {
			h.resumeAt = h.clk.Now().Add(e.Restart)
		}
	}
	h.changed.Broadcast()
	h.mu.Unlock()
	if h.spec.OnExit != nil {
		h.spec.OnExit(e)
	}
	if stop != nil {
		h.spec.StopHost(stop)
	}
	if e.Restart >= 0 {
		h.group.Go("restart handler process", func() { h.restart(e.Restart) })
	}
}

// restart starts a process after a pause. Nobody need wait for the pause, so it
// is idle time; calls that do wait make it pass (see acquire).
func (h *Handlers) restart(pause time.Duration) {
	if pause > 0 && h.clk.Idle(h.ctx, pause) != nil {
		return
	}
	if h.closing.Load() {
		return
	}
	err := h.launch()
	if err == nil || errors.Is(err, ErrClosed) {
		return
	}
	e := Exit{Code: -1, Status: "not started", Err: err}
	if serr, ok := errors.AsType[*StartError](err); ok {
		e.Status, e.Output = serr.Reason, serr.Output
	}
	h.ended(e)
}

// acquire returns the running process, after waiting for one if need be, and
// counts a call in it.
func (h *Handlers) acquire(ctx context.Context) (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch p := h.current; {
		case h.closing.Load():
			return nil, ErrClosed
		case h.stopped != nil:
			return nil, h.stopped
		case p != nil && !p.ended():
			p.calls++
			return p, nil
		case p != nil && p.idle():
			h.mu.Unlock()
			h.reap(p)
			h.mu.Lock()
			continue
		}
		until := h.resumeAt
		if !until.After(h.clk.Now()) {
			until = time.Time{} // the start is under way
		}
		if err := h.changed.WaitUntil(ctx, until); err != nil {
			return nil, err
		}
	}
}

// leave ends a call in p. If the process is gone it is dealt with, and the
// failure of the call is an *ExitError.
func (h *Handlers) leave(p *process) *ExitError {
	h.mu.Lock()
	p.calls--
	h.mu.Unlock()
	if !p.ended() {
		return nil
	}
	h.reap(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	return &ExitError{Exit: p.exit()}
}

// dispose kills p, which the host no longer trusts. All its calls fail at once,
// unlike on the platform, where they wait for their own timeouts
// (spec host-and-retry 8).
func (h *Handlers) dispose(p *process, reason string) {
	h.mu.Lock()
	if p.reason == "" && !p.ended() {
		p.reason = reason
	}
	h.mu.Unlock()
	h.clk.Outside(h.ctx, "kill handler process", p.kill)
}

// Functions asks the process what it offers, in the order of registration.
func (h *Handlers) Functions(ctx context.Context) ([]call.Declaration, error) {
	p, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	var r *functionpb.DescribeResponse
	h.clk.Outside(ctx, "describe functions", func() {
		rctx, cancel := context.WithTimeout(p.streams, describeLimit) //clock:outside a call without handler code
		defer cancel()
		defer context.AfterFunc(ctx, cancel)() //clock:outside a call without handler code
		r, err = p.stub.Describe(rctx, &functionpb.DescribeRequest{HostVersion: h.spec.HostVersion})
		if err != nil {
			p.endsWithin(exitDelay)
		}
	})
	if exit := h.leave(p); exit != nil && err != nil {
		return nil, fmt.Errorf("ask the handler for its functions: %w", exit)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the handler for its functions: %w", err)
	}
	list := make([]call.Declaration, 0, len(r.GetFunctions()))
	for _, f := range r.GetFunctions() {
		d, err := call.DeclarationFromProto(f)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// Health reports whether there is a process that answers now. It does not wait
// for a new one.
func (h *Handlers) Health(ctx context.Context) error {
	h.mu.Lock()
	p := h.current
	switch {
	case h.closing.Load():
		h.mu.Unlock()
		return ErrClosed
	case h.stopped != nil:
		defer h.mu.Unlock()
		return h.stopped
	case p == nil || p.ended():
		h.mu.Unlock()
		return errors.New("no handler process runs")
	}
	p.calls++
	h.mu.Unlock()
	var err error
	h.clk.Outside(ctx, "handler health", func() {
		rctx, cancel := context.WithTimeout(p.streams, healthLimit) //clock:outside a call without handler code
		defer cancel()
		_, err = p.health.Check(rctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
		if err != nil {
			p.endsWithin(exitDelay)
		}
	})
	if exit := h.leave(p); exit != nil {
		return exit
	}
	return err
}

// Close ends the process and waits until it is gone. Calls in flight fail; a
// host that wants them to finish waits for them first. The process is told to
// end, and killed after the grace of [Spec] or when ctx ends. Further calls of
// Close wait for nothing and return nil.
func (h *Handlers) Close(ctx context.Context) error {
	if h.closing.Swap(true) {
		return nil
	}
	h.mu.Lock()
	p := h.current
	if p != nil && !p.ended() {
		p.reason = "the host closed it"
	}
	h.changed.Broadcast()
	h.mu.Unlock()
	h.end()
	if p != nil {
		h.clk.Outside(ctx, "stop handler process", func() { p.stop(ctx) })
		h.reap(p)
	}
	h.group.Wait()
	h.clk.Outside(context.Background(), "end of watching", h.watchers.Wait)
	return nil
}
