package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/host/process"
)

// exitDelay is how long a broken connection may be ahead of the news that the
// process has ended, in real time (some milliseconds, as a rule).
const exitDelay = 2 * time.Second

// Invoke makes one attempt: it calls the function, passes on what the handler logs,
// in order, and sleeps for it in the clock's time. If no process runs it waits for
// the next one. The handler's outcome stands in the response. An error means that
// there is none: a *[process.ExitError] when the process ended, one that wraps
// [process.ErrNoResult] when the handler broke the protocol, ctx's error when ctx
// ended first.
//
// When ctx ends, so does the handler's context, and a result is still awaited for
// the grace of [Spec]; it is returned although ctx has ended. After the grace
// the process is disposed of, with all its other calls, and replaced; that does
// not count as a crash. log is not called after Invoke returned.
func (h *Handlers) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := h.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	ctx = req.Taken(ctx)
	c := &conversation{h: h, p: p, name: "invoke " + req.Function}
	resp, err := c.hold(ctx, req, log)
	if c.overdue.Load() {
		h.Dispose(p, fmt.Sprintf("function %q did not return within %v after its context ended", req.Function, h.spec.Grace))
	} else if c.lost {
		h.Dispose(p, "its connection broke")
	}
	exit := h.Leave(p)
	switch {
	case err == nil:
		return resp, nil
	case c.overdue.Load():
		return nil, fmt.Errorf("function %q did not return: %w", req.Function, ctx.Err())
	case exit != nil:
		return nil, exit
	}
	return nil, err
}

// conversation is one call: the host's goroutine alternates between waiting for
// the handler, outside the clock, and doing what it asked for, inside.
type conversation struct {
	h       *Handlers
	p       *run
	id      uint64
	name    string
	in      process.Inbox[delivered] // as large as the handler may go ahead of the host: call.Window, and its result
	overdue atomic.Bool              // the grace is used up
	lost    bool                     // the connection broke and the process lives
	taken   int                      // bytes of the handler's that it does not know to be dealt with
	sleeps  sleeps

	mu    sync.Mutex // guards:
	over  bool
	grace *time.Timer
}

func (c *conversation) hold(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	var m *functionpb.HandlerMessage
	var err error
	unwatch, untold := func() bool { return true }, func() bool { return true }
	told := ctx // ends when the handler's context does
	if req.OnRecall != nil {
		var end context.CancelFunc
		told, end = c.h.clk.WithCancel(ctx)
		defer end()
		defer req.OnRecall(end)()
	}
	c.h.clk.Away(ctx, c.name, func() {
		c.p.Conn.calling.begin(c)
		if err = c.tell(&functionpb.HostMessage{Content: &functionpb.HostMessage_Request{Request: call.RequestToProto(req)}}); err != nil {
			return
		}
		// From here on the end of ctx is noticed.
		unwatch = context.AfterFunc(ctx, c.cancel) //clock:outside tells the handler of the end of its context
		if req.OnRecall != nil {
			untold = context.AfterFunc(told, c.tellCancel) //clock:outside the same, without a grace
		}
		m, err = c.next()
	})
	defer c.close()
	defer func() { unwatch(); untold() }()
	for {
		if err != nil {
			return nil, fmt.Errorf("handler gave %w: %w", process.ErrNoResult, err)
		}
		var answer *functionpb.HostMessage
		switch content := m.GetContent().(type) {
		case *functionpb.HandlerMessage_Log:
			c.taken += proto.Size(m)
			log(call.LogFromProto(content.Log))
		case *functionpb.HandlerMessage_Sleep:
			c.taken += proto.Size(m)
			answer = c.slept(ctx, told, max(content.Sleep.GetDuration().AsDuration(), 0))
		case *functionpb.HandlerMessage_Result:
			resp, err := call.ResponseFromProto(content.Result)
			if err != nil {
				return nil, fmt.Errorf("handler gave %w: %w", process.ErrNoResult, err)
			}
			return resp, nil
		case *functionpb.HandlerMessage_Refusal:
			return nil, fmt.Errorf("handler gave %w: %s", process.ErrNoResult, content.Refusal.GetReason())
		default:
			c.tellCancel()
			return nil, fmt.Errorf("handler gave %w: empty message", process.ErrNoResult)
		}
		c.h.clk.Away(ctx, c.name, func() {
			if answer != nil {
				_ = c.tell(answer)
			}
			m, err = c.next()
		})
	}
}

// slept sleeps for the handler, and is what it is told then.
func (c *conversation) slept(ctx, told context.Context, d time.Duration) *functionpb.HostMessage {
	woken := &functionpb.Woken{}
	if err := c.sleep(told, d); err != nil {
		woken.Error = err.Error()
		if errors.Is(err, errWithdrawn) { // the handler's context goes on
		} else if ctx.Err() != nil { // ahead of the answer, so that the handler sees why
			c.cancel()
		} else {
			c.tellCancel()
		}
	}
	return &functionpb.HostMessage{Content: &functionpb.HostMessage_Woken{Woken: woken}}
}

// next waits for the next message of the handler. Before that it says how much has
// been dealt with, when it is much.
func (c *conversation) next() (*functionpb.HandlerMessage, error) {
	if c.taken >= call.Window/2 {
		_ = c.tell(&functionpb.HostMessage{Content: &functionpb.HostMessage_Taken{Taken: &functionpb.Taken{Bytes: int64(c.taken)}}})
		c.taken = 0
	}
	d, err := c.in.Next()
	if err != nil {
		c.diagnose(err)
		return nil, err
	}
	return d.message()
}

// cancel tells the handler that its context ended, and gives it up after the grace.
// It runs in a goroutine of its own when ctx ends during the call, and before the
// answer to a sleep that ctx has ended: the handler hears of it ahead of that
// answer in both orders.
func (c *conversation) cancel() {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	if c.grace == nil {
		c.grace = time.AfterFunc(c.h.spec.Grace, func() { //clock:outside the grace of a handler is real time
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.over {
				c.overdue.Store(true)
				c.in.End(context.Canceled)
			}
		})
	}
	c.mu.Unlock()
	c.tellCancel()
}

// tellCancel tells the handler that its context ended. More than once is no harm.
func (c *conversation) tellCancel() {
	_ = c.tell(&functionpb.HostMessage{Content: &functionpb.HostMessage_Cancel{Cancel: &functionpb.Cancel{}}})
}

// tell sends a message to the handler. It does not wait. The error says that m
// cannot be encoded.
func (c *conversation) tell(m *functionpb.HostMessage) error {
	m.Call = c.id
	return c.p.Conn.calling.out.Put(m)
}

// close ends the call for the host, and keeps a late cancel from doing anything.
func (c *conversation) close() {
	c.p.Conn.calling.end(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.grace != nil {
		c.grace.Stop()
	}
}

// diagnose finds out, still outside the clock, whether a broken stream means
// that the process is gone.
func (c *conversation) diagnose(err error) {
	if c.overdue.Load() {
		return
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled: // by the end of the process, as a rule
		c.lost = !c.p.Conn.child.EndsWithin(exitDelay)
	default:
		c.lost = !c.p.Ended()
	}
}
