package functions

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// Link is the way back to the host during one attempt. Its methods may be called
// concurrently. The gRPC stream of a handler process is one, the host's invoker
// for handlers in its own process is another; handler authors need neither.
type Link interface {
	// Log passes on one line. It does not fail: a line that cannot be delivered
	// is lost with its attempt.
	Log(call.Log)
	// Sleep waits for d in the host's time. It returns ctx's error when ctx ends
	// first.
	Sleep(ctx context.Context, d time.Duration) error
}

// Call runs one attempt in the calling goroutine and never panics: every
// fault of the handler is a failed Response, and so is an unknown function.
// It returns when the handler does; ending ctx only asks for that.
// Concurrent calls do not influence each other.
//
// The host calls it, in process or through [Main]; handler authors may do so in
// unit tests.
func (a *App) Call(ctx context.Context, req *call.Request, link Link) *call.Response {
	f := a.lookup(req.Function)
	if f == nil {
		return &call.Response{Error: &call.Error{
			Type:    "functions.NotFound",
			Message: fmt.Sprintf("function %q is not registered in this handler", req.Function),
		}}
	}
	c := newInvocation(ctx, req, link, f.http)
	err := run(&c.ctx, c, f)
	return c.end(ctx, err)
}

// run calls the handler and turns a panic into an error.
func run(ctx context.Context, c *invocation, f *function) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return f.handle(ctx, c)
}

// end closes the attempt and says what came of it. After a failure no outputs
// leave the process, as on the platform.
func (c *invocation) end(ctx context.Context, err error) *call.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if err == nil {
		err = c.failure
	}
	r := &c.answer
	if err == nil {
		r.Status = call.Succeeded
		return r
	}
	r.Error, r.Outputs, r.Return = &c.told, nil, nil
	var asked call.Settlement
	if c.told, asked = failure(err); asked != (call.Settlement{}) {
		r.Asked = asked
	}
	if ctx.Err() != nil && (is(err, ctx.Err()) || is(err, context.Cause(ctx))) {
		r.Status = call.Cancelled
	}
	return r
}

// is is errors.Is for an error of the handler's, whose methods may panic and which
// may wrap itself.
func is(err, target error) bool {
	if !reflect.TypeOf(target).Comparable() {
		return false
	}
	return retrycontext.Walk(err, func(err error) (yes bool) {
		defer func() {
			if recover() != nil {
				yes = false
			}
		}()
		if err == target {
			return true
		}
		e, ok := err.(interface{ Is(error) bool })
		return ok && e.Is(target)
	})
}
