package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// exitDelay is how long a broken connection may be ahead of the news that the
// process has ended, in real time (some milliseconds, as a rule).
const exitDelay = 2 * time.Second

// Invoke makes one attempt: it calls the function, passes on what the handler
// logs, in order, and sleeps for it in the clock's time. If no process runs it
// waits for the next one. What the handler did stands in the response. An error
// means that there is none: an *[ExitError] when the process ended, one that
// wraps [ErrNoResult] when the handler broke the protocol, ctx's error when ctx
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
	p, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	c := &conversation{h: h, p: p, name: "invoke " + req.Function}
	resp, err := c.hold(ctx, req, log)
	if c.overdue.Load() {
		h.dispose(p, fmt.Sprintf("function %q did not return within %v after its context ended", req.Function, h.spec.grace()))
	} else if c.lost {
		h.dispose(p, "its connection broke")
	}
	exit := h.leave(p)
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
	p       *process
	name    string
	stream  grpc.BidiStreamingClient[functionpb.HostMessage, functionpb.HandlerMessage]
	hangUp  context.CancelFunc
	overdue atomic.Bool // the grace is used up
	lost    bool        // the connection broke and the process lives

	sending sync.Mutex // one sender at a time
	sleeps  sleeps

	mu    sync.Mutex // guards:
	over  bool
	grace *time.Timer
}

func (c *conversation) hold(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	var sctx context.Context
	sctx, c.hangUp = context.WithCancel(c.p.streams) //clock:outside the stream of a call
	defer c.hangUp()
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
		if c.stream, err = c.p.stub.Invoke(sctx); err != nil {
			c.diagnose(err)
			return
		}
		first := &functionpb.HostMessage{Content: &functionpb.HostMessage_Request{Request: call.RequestToProto(req)}}
		// From here on the end of ctx is noticed, though not sent ahead of the
		// request: a handler that does not even read may block the first send.
		watch := func() {
			unwatch = context.AfterFunc(ctx, c.cancel) //clock:outside tells the handler of the end of its context
			if req.OnRecall != nil {
				untold = context.AfterFunc(told, c.tell) //clock:outside the same, without a grace
			}
		}
		if m, err = c.exchange(first, watch); err != nil {
			c.diagnose(err)
		}
	})
	defer c.close()
	defer func() { unwatch(); untold() }()
	for {
		if err != nil {
			return nil, c.explain(err)
		}
		var answer *functionpb.HostMessage
		switch content := m.GetContent().(type) {
		case *functionpb.HandlerMessage_Log:
			log(call.LogFromProto(content.Log))
		case *functionpb.HandlerMessage_Sleep:
			woken := &functionpb.Woken{}
			if err := c.sleep(told, sctx, max(content.Sleep.GetDuration().AsDuration(), 0)); err != nil {
				woken.Error = err.Error()
				if errors.Is(err, errWithdrawn) { // the handler's context goes on
				} else if ctx.Err() != nil { // ahead of the answer, so that the handler sees why
					c.cancel()
				} else {
					c.tell()
				}
			}
			answer = &functionpb.HostMessage{Content: &functionpb.HostMessage_Woken{Woken: woken}}
		case *functionpb.HandlerMessage_Withdraw: // of a sleep that is over, since nobody read ahead
		case *functionpb.HandlerMessage_Result:
			resp, err := call.ResponseFromProto(content.Result)
			if err != nil {
				return nil, fmt.Errorf("handler gave %w: %w", ErrNoResult, err)
			}
			return resp, nil
		default:
			return nil, fmt.Errorf("handler gave %w: empty message", ErrNoResult)
		}
		c.h.clk.Away(ctx, c.name, func() {
			if m, err = c.exchange(answer, nil); err != nil {
				c.diagnose(err)
			}
		})
	}
}

// exchange sends a message, if there is one, and waits for the next of the
// handler. A failed send is not the news: the stream knows why.
func (c *conversation) exchange(m *functionpb.HostMessage, before func()) (*functionpb.HandlerMessage, error) {
	if m != nil {
		c.sending.Lock()
		if before != nil {
			before()
		}
		err := c.stream.Send(m)
		c.sending.Unlock()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	if c.sleeps.ahead != nil {
		if a, ok := <-c.sleeps.ahead; ok { //clock:outside what the reader has read ahead
			return a, nil
		}
		return nil, c.sleeps.end
	}
	return c.stream.Recv()
}

// cancel tells the handler that its context ended, and hangs up after the grace.
// It runs in a goroutine of its own when ctx ends during the call, and does its
// work once.
func (c *conversation) cancel() {
	c.mu.Lock()
	if c.over || c.grace != nil {
		c.mu.Unlock()
		return
	}
	c.grace = time.AfterFunc(c.h.spec.grace(), func() { //clock:outside the grace of a handler is real time
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.over {
			c.overdue.Store(true)
			c.hangUp()
		}
	})
	c.mu.Unlock()
	c.tell()
}

// tell tells the handler that its context ended. More than once is no harm.
func (c *conversation) tell() {
	c.sending.Lock()
	defer c.sending.Unlock()
	_ = c.stream.Send(&functionpb.HostMessage{Content: &functionpb.HostMessage_Cancel{Cancel: &functionpb.Cancel{}}})
}

// close keeps a late cancel from doing anything.
func (c *conversation) close() {
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
	case codes.Unavailable:
		c.lost = !c.p.endsWithin(exitDelay)
	case codes.Canceled: // by the end of the process, which ends all streams
		c.p.endsWithin(exitDelay)
	}
}

// explain words the error of a stream whose process lives.
func (c *conversation) explain(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("handler gave %w: it ended the call", ErrNoResult)
	}
	return fmt.Errorf("handler gave %w: %w", ErrNoResult, err)
}
