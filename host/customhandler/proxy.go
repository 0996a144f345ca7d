package customhandler

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/proxy"
)

// Streams reports whether a function has its request while that comes in: see
// bindings.HTTPStream. answers says that its one output is the answer.
func (h *Handler) Streams(answers bool) bool { return answers && h.spec.Forward == Proxied }

// proxy has the request of an attempt proxied (spec workers 13.5), and is over with the end
// of the answer. When the caller has gone, so has the request; a function whose time is
// over has the grace of all others.
func (a *attempt) proxy(ctx context.Context) (resp *call.Response, err error) {
	told := ctx // ends when the caller has gone
	if a.req.OnRecall != nil {
		var end context.CancelFunc
		told, end = a.h.clk.WithCancel(ctx)
		defer end()
		defer a.req.OnRecall(end)()
	}
	more := http.Header{}
	a.conn.name(more, a.req)
	more.Set(proxy.InvocationHeader, a.req.InvocationID)
	x := a.conn.server.Exchange()
	a.h.clk.Away(ctx, "invoke "+a.req.Function, func() {
		g := &grace{length: a.h.spec.Grace, over: func() { x.Cancel(proxy.ErrGone) }}
		defer context.AfterFunc(ctx, g.begin)()                      //clock:outside gives up a function that does not return
		defer context.AfterFunc(told, func() { a.hangUp(ctx, x) })() //clock:outside the caller has gone
		x.Begin(a.req.Inputs[0].Value.HTTP, more, nil)
		err = x.Wait()
		if a.overdue = g.end(); err != nil && !a.overdue && told.Err() == nil {
			a.conn.child.EndsWithin(exitDelay)
		}
	})
	if err != nil {
		return nil, err
	}
	resp = &call.Response{Status: call.Succeeded, Outputs: map[string]bindings.Value{}}
	if held := x.Held(); held != nil {
		resp.Outputs[a.req.HTTPOutput] = bindings.Value{Kind: bindings.Response, HTTPResponse: held}
	}
	return resp, nil
}

// hangUp ends the exchange of a caller who has gone.
func (a *attempt) hangUp(ctx context.Context, x *proxy.Exchange) {
	if ctx.Err() == nil {
		x.Cancel(proxy.ErrGone)
	}
}
