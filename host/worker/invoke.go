package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/proxy"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// exitDelay is how long a broken connection may be ahead of the news that the
// process has ended, in real time (some milliseconds, as a rule).
const exitDelay = 2 * time.Second

// Invoke makes one attempt. If no process runs it waits for the next one. The
// function's outcome stands in the response; a function that could not be loaded
// has failed with the reason. An error means that there is no response: a
// *[process.ExitError] when the process ended, one that wraps [process.ErrNoResult]
// when its answer makes no sense, ctx's error when ctx ended first.
//
// When ctx ends, a worker that can cancel is told so. The answer is still awaited for
// the grace of [Spec]; then the process is disposed of, with all its other calls, and
// replaced: most workers cannot cancel (spec workers 7). That does not count as a crash.
// log is not called after Invoke returned.
func (w *Worker) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := w.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	ctx = req.Taken(ctx)
	c := &conversation{w: w, c: r.Conn, req: req}
	resp, err := c.hold(ctx, log)
	if c.overdue.Load() {
		w.Dispose(r, fmt.Sprintf("function %q did not return within %v after its time was over", req.Function, c.patience()))
	} else if c.lost {
		w.Dispose(r, "its connection broke")
	}
	exit := w.Leave(r)
	switch {
	case err == nil:
		return resp, nil
	case c.overdue.Load():
		return nil, fmt.Errorf("function %q did not return: %w", req.Function, c.reason(ctx))
	case exit != nil:
		return nil, exit
	}
	return nil, err
}

// conversation is one call: the host's goroutine alternates between waiting for the
// worker, outside the clock, and passing on what the function logs, inside.
type conversation struct {
	w       *Worker
	c       *conn
	req     *call.Request
	box     process.Inbox[*message]
	half    *proxy.Exchange // nil: the request is not forwarded
	overdue atomic.Bool     // the grace is used up
	lost    bool            // the connection broke and the process lives

	told context.Context // ends when the function should
	out  time.Time       // when the call went out, in real time; guarded by the mutex of the sleepers

	mu    sync.Mutex // guards:
	over  bool
	grace *time.Timer
	wait  *Sleep              // that has begun last
	waits map[*message]*Sleep // by the message in the box that stands for it
}

func (c *conversation) hold(ctx context.Context, log func(call.Log)) (*call.Response, error) {
	told := ctx
	if c.req.OnRecall != nil {
		var end context.CancelFunc
		told, end = c.w.clk.WithCancel(ctx)
		defer end()
		defer c.req.OnRecall(end)()
	}
	c.told = told
	now := c.w.clk.Now()
	var m *message
	var err error
	var refused *call.Response
	unwatch, untold := func() bool { return true }, func() bool { return true }
	name := "invoke " + c.req.Function
	c.w.clk.Away(ctx, name, func() {
		if err = c.c.load(c.w.toLoad()); err != nil {
			c.lost = !c.c.awaitExit(err)
			return
		}
		l, failure := c.loaded()
		if failure != nil {
			refused = &call.Response{Error: failure}
			return
		}
		if err = c.c.begin(c); err != nil {
			c.lost = !c.c.awaitExit(err)
			return
		}
		if r := c.c.can.forwarded(c.req); r != nil {
			c.forward(r)
		}
		request := c.c.can.request(c.req, l)
		request.TraceContext.Attributes = c.w.spec.Sleepers.attributes(now)
		c.w.spec.Sleepers.enter(c)
		c.c.tell(&message{Content: &workerpb.StreamingMessage_InvocationRequest{InvocationRequest: request}})
		// From here on the end of ctx is noticed.
		unwatch = context.AfterFunc(ctx, c.limit)  //clock:outside gives up a function that does not return
		untold = context.AfterFunc(told, c.cancel) //clock:outside tells a worker that can cancel
		m, err = c.next()
	})
	defer c.close()
	defer func() { unwatch(); untold() }()
	if refused != nil {
		return refused, nil
	}
	resp, err := c.listen(ctx, name, m, err, log)
	if c.half != nil {
		return c.meet(ctx, name, resp, err, log)
	}
	return resp, err
}

// listen passes on what the function logs until the worker gives its outcome.
func (c *conversation) listen(ctx context.Context, name string, m *message, err error, log func(call.Log)) (*call.Response, error) {
	var thrown string // the failure, as the worker has logged it
	for {
		if err != nil {
			return nil, fmt.Errorf("worker gave %w: %w", process.ErrNoResult, err)
		}
		if w := c.waiting(m); w != nil {
			c.sleep(c.told, w)
			c.w.clk.Away(ctx, name, func() { m, err = c.next() })
			continue
		}
		if l := m.GetRpcLog(); l != nil {
			if tellsFailure(l) {
				thrown = l.GetException().GetMessage()
			}
			if l.GetLevel() < workerpb.RpcLog_None {
				log(folded(l))
			}
			c.w.clk.Away(ctx, name, func() { m, err = c.next() })
			continue
		}
		resp, err := responseOf(c.req, m.GetInvocationResponse())
		if err != nil {
			return nil, fmt.Errorf("worker gave %w: %w", process.ErrNoResult, err)
		}
		if resp.Error != nil && c.w.spec.Language == languages.Dotnet {
			resp.Error.Text = inWords(resp.Error, thrown)
		}
		return resp, nil
	}
}

// loaded is the function as it was loaded, or why it cannot be called.
func (c *conversation) loaded() (l *loaded, failure *call.Error) {
	l, _ = c.c.function(c.req.Function)
	switch {
	case l == nil:
		return nil, &call.Error{Message: fmt.Sprintf("the worker has not been told of function %q", c.req.Function)}
	case l.err != nil:
		return nil, l.err
	}
	return l, nil
}

// begin has what the worker says of a call brought to it. Two calls of one invocation
// cannot run at once: their answers could not be told apart.
func (c *conn) begin(call *conversation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	id := call.req.InvocationID
	if c.calls[id] != nil {
		return fmt.Errorf("invocation %s runs already", id)
	}
	c.calls[id] = call
	return nil
}

// inbox is where what the worker says of the call is put; nil without a call.
func (c *conversation) inbox() *process.Inbox[*message] {
	if c == nil {
		return nil
	}
	return &c.box
}

// awaitExit waits for the end of a process whose connection ended, if that is what err
// says. It reports false for a process that lives on.
func (c *conn) awaitExit(err error) bool {
	return !errors.Is(err, errConnection) || c.child.EndsWithin(exitDelay)
}

// next waits for what the worker says next of the call.
func (c *conversation) next() (*message, error) {
	m, err := c.box.Next()
	if err != nil && !c.overdue.Load() {
		c.lost = !c.c.child.EndsWithin(exitDelay)
	}
	return m, err
}

// limit gives the function up after the grace. It runs in a goroutine of its own when
// ctx ends during the call.
func (c *conversation) limit() { c.giveUp(c.patience()) }

func (c *conversation) giveUp(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.grace != nil {
		return
	}
	c.grace = time.AfterFunc(after, func() { //clock:outside the grace of a function is real time
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.over {
			c.overdue.Store(true)
			c.box.End(context.Canceled)
		}
	})
}

// patience is how long a function may go on after its time is over.
func (c *conversation) patience() time.Duration {
	if c.c.can.has(cancels) {
		return c.w.spec.CancelGrace
	}
	return c.w.spec.Grace
}

// cancels is the capability of workers that can cancel.
const cancels = "HandlesInvocationCancelMessage"

// cancel tells a worker that can cancel that the function should end.
func (c *conversation) cancel() {
	if c.half != nil {
		c.half.Cancel(proxy.ErrGone)
	}
	if !c.c.can.has(cancels) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.c.tell(&message{Content: &workerpb.StreamingMessage_InvocationCancel{InvocationCancel: &workerpb.InvocationCancel{
			InvocationId: c.req.InvocationID, GracePeriod: durationpb.New(c.patience()),
		}}})
	}
}

// close ends the call for the host.
func (c *conversation) close() {
	c.w.spec.Sleepers.leave(c)
	c.c.mu.Lock()
	if c.c.calls[c.req.InvocationID] == c {
		delete(c.c.calls, c.req.InvocationID)
	}
	c.c.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.grace != nil {
		c.grace.Stop()
	}
	if c.wait != nil {
		c.wait.finishLocked(Cancelled, c.w.clk.Now())
	}
}
