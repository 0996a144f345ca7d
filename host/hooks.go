package host

import (
	"context"
	"net/http"
	"net/url"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// ServeHook answers a request to the web hook of a function: POST or OPTIONS
// /runtime/webhooks/HOOK?functionName=NAME, whose key was checked. The answer of a function
// that does not exist, has no such hook or is disabled is 404, of a host that is not ready
// 503.
func (h *Host) ServeHook(ctx context.Context, hook, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	var resp *bindings.HTTPResponse
	h.clk.Inside("web hook "+hook, func() {
		token, release := h.token(ctx)
		defer release()
		resp = h.serveHook(token, hook, function, req)
	})
	return resp
}

// serveHook is ServeHook inside the clock.
func (h *Host) serveHook(ctx context.Context, hook, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	return h.bring(ctx, func(gen *generation) (*bindings.HTTPResponse, error) {
		f := gen.function(function)
		if f == nil || f.hook() != hook || f.def.Disabled {
			return &bindings.HTTPResponse{StatusCode: http.StatusNotFound, Body: []byte("cannot find function: '" + function + "'")}, nil
		}
		return f.kind.ServeHook(ctx, &f.view, req)
	})
}

// hook is the name of the function's web hook; empty: it has none.
func (f *function) hook() string {
	if f.kind.Hook == nil {
		return ""
	}
	return f.kind.Hook(&f.view)
}

// hookEndpoint delivers events to the web hook of a function of this host without a
// socket.
type hookEndpoint struct {
	host *Host
	name string
}

// Deliver implements eventgrid.Endpoint.
func (e hookEndpoint) Deliver(ctx context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	hook := "eventgrid"
	if f := e.host.current.Load().function(e.name); f != nil {
		if hook = f.hook(); hook == "" {
			return nil, eventgrid.ErrInvalidFunction
		}
	}
	resp := e.host.serveHook(ctx, hook, e.name, &bindings.HTTPRequest{
		Method: r.Method(), Header: r.Header(), Body: r.Body,
		URL: "http://localhost/runtime/webhooks/" + hook + "?functionName=" + url.QueryEscape(e.name),
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &eventgrid.Response{Status: resp.StatusCode, Header: resp.Header, Body: resp.Body}, nil
}
