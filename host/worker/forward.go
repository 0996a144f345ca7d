package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/proxy"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A worker with this capability serves HTTP itself: a request goes to its server, and the
// call, without the request, to its stream. The worker brings the two together by the
// invocation ID, and the answer of its server is the function's (spec
// workers-dotnet-java 1.10).
const forwarding = "HttpUri"

// serverOf is the server that a worker announces; nil: none.
func serverOf(can capabilities, idle time.Duration) (*proxy.Server, error) {
	if !can.has(forwarding) {
		return nil, nil
	}
	at, err := url.Parse(can[forwarding])
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return nil, fmt.Errorf("it says that it serves HTTP at %q, which is not an http address", can[forwarding])
	}
	return proxy.New(at, "the worker's HTTP server", idle), nil
}

// forwarded is the request of a call that goes to the worker's server; nil: none does.
func (c capabilities) forwarded(r *call.Request) *bindings.HTTPRequest {
	if !c.has(forwarding) || len(r.Inputs) == 0 || r.Inputs[0].Value.Kind != bindings.Request {
		return nil
	}
	return r.Inputs[0].Value.HTTP
}

// bare is the request of a forwarded call as the stream carries it.
func (c capabilities) bare(r *bindings.HTTPRequest) *workerpb.RpcHttp {
	out := &workerpb.RpcHttp{}
	if !c.has("RequiresRouteParameters") {
		return out
	}
	params := map[string]string{}
	for name, value := range r.Params {
		params[utf8(name)] = utf8(value)
	}
	if c.has("UseNullableValueDictionaryForHttp") {
		out.NullableParams = nullable(params)
	} else {
		out.Params = params
	}
	return out
}

// forward sends the request of a call to the worker's server.
func (c *conversation) forward(r *bindings.HTTPRequest) {
	c.half = c.c.server.Exchange()
	c.half.Begin(r, http.Header{proxy.InvocationHeader: {c.req.InvocationID}}, c.unmet)
}

// unmet is the end of the call for a worker whose server the request did not reach: the
// worker can go on waiting for it.
func (c *conversation) unmet() {
	c.cancel()
	c.giveUp(c.w.spec.MeetLimit)
}

// reason says why a function was given up.
func (c *conversation) reason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.half.Err()
}

// meet joins the halves of a call: it has succeeded when both have. The worker's outcome
// was awaited first (spec workers-dotnet-java 1.10).
func (c *conversation) meet(ctx context.Context, name string, resp *call.Response, err error, log func(call.Log)) (*call.Response, error) {
	x := c.half
	if err != nil {
		x.Cancel(proxy.ErrFailed)
	}
	if err != nil || resp.Status != call.Succeeded {
		c.w.clk.Away(ctx, name, x.End)
		switch {
		case x.Err() != nil && !errors.Is(x.Err(), proxy.ErrFailed):
			log(call.Log{Level: call.Warning, Message: x.Err().Error()})
		case x.Status() != 0 && c.req.Inputs[0].Value.HTTP.Stream != nil:
			log(call.Log{Level: call.Warning, Message: fmt.Sprintf("the function has failed after the caller got its answer, with status %d", x.Status())})
		}
		return resp, err
	}
	c.w.clk.Away(ctx, name, func() { _ = x.Wait() })
	if x.Err() != nil {
		return &call.Response{Error: &call.Error{Message: x.Err().Error()}}, nil
	}
	if resp.Return != nil && resp.Return.Kind == bindings.Response {
		resp.Return = nil
	}
	delete(resp.Outputs, c.req.HTTPOutput)
	if held := x.Held(); held != nil {
		answer := bindings.Value{Kind: bindings.Response, HTTPResponse: held}
		if c.req.HTTPOutput == "" || c.req.HTTPOutput == "$return" {
			resp.Return = &answer
			return resp, nil
		}
		if resp.Outputs == nil {
			resp.Outputs = map[string]bindings.Value{}
		}
		resp.Outputs[c.req.HTTPOutput] = answer
	}
	return resp, nil
}
