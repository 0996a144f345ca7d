package host

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// ServeHook answers a request to the web hook of a function: POST or OPTIONS
// /runtime/webhooks/HOOK?functionName=NAME, whose key was checked. The
// answer is 404 for a disabled function and one that is unknown or has no
// such hook, and 503 while the host is not ready.
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

// Hook implements kinds.Front.
func (f front) Hook(function string) (hook string, known bool) {
	of := f.current.Load().function(function)
	if of == nil {
		return "", false
	}
	return of.hook(), true
}

// BringHook implements kinds.Front.
func (f front) BringHook(ctx context.Context, hook, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	return f.serveHook(ctx, hook, function, req)
}

// front is a host for services that bring something to its functions from inside the
// clock.
type front struct{ *Host }
