package host

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// Route is an HTTP-triggered function that a request was matched to.
type Route struct {
	host         *Host
	method, path string
	f            *function
	params       map[string]string
}

// Function is the function's name.
func (r *Route) Function() string { return r.f.def.Name }

// AuthLevel is "anonymous", "function" (also when the binding names none) or
// "admin" (spec host-and-retry 9.2).
func (r *Route) AuthLevel() string {
	if level := strings.ToLower(r.f.def.Trigger.String("authLevel")); level != "" {
		return level
	}
	return "function"
}

// Match finds the HTTP-triggered function for a request, waiting up to 30 s for
// a host that is not ready: ErrNotRunning then, and at once in state Error or
// Offline. ErrUnknownFunction means that no route matches; a disabled function
// has none. The path is the escaped one of the request (net/url:
// URL.EscapedPath).
func (h *Host) Match(ctx context.Context, method, path string) (*Route, error) {
	route := &Route{host: h, method: method, path: path}
	var err error
	h.clk.Inside("request", func() {
		token, release := h.token(ctx)
		defer release()
		err = route.find(token)
	})
	if err != nil {
		return nil, err
	}
	return route, nil
}

// find looks for the function in the running generation.
func (r *Route) find(ctx context.Context) error {
	gen, err := r.host.ready(ctx)
	if err != nil {
		return err
	}
	name, params, ok := gen.router.Match(r.method, r.path)
	if !ok {
		return ErrUnknownFunction
	}
	r.f, r.params = gen.function(name), params
	return nil
}

// Serve runs an HTTP-triggered function for one request: all attempts, then the
// response of the last (spec host-and-retry 9.3, 9.4). When ctx ends, the caller has
// gone and the retry loop ends. A request that meets a reload is served by the
// next generation.
func (h *Host) Serve(ctx context.Context, route *Route, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	var resp *bindings.HTTPResponse
	h.clk.Inside("request", func() {
		token, release := h.token(ctx)
		defer release()
		resp = route.serve(token, req)
	})
	return resp
}

func (r *Route) serve(ctx context.Context, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	for {
		if wait, ok := r.f.breaker.try(r.f.breakerChanged); !ok {
			return &bindings.HTTPResponse{
				StatusCode: http.StatusServiceUnavailable,
				Header:     http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}},
			}
		}
		withParams := *req
		withParams.Params = r.params
		res, err := r.f.http.Serve(ctx, &withParams)
		switch {
		case err == nil:
			return response(res)
		case ctx.Err() != nil:
			r.f.breaker.unused(1)
			return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}
		}
		// A reload was between the match and the call, or the listener has not had
		// its turn yet.
		r.f.breaker.unused(1)
		_ = r.host.clk.Sleep(ctx, 0)
		switch err := r.find(ctx); {
		case errors.Is(err, ErrUnknownFunction):
			return &bindings.HTTPResponse{StatusCode: http.StatusNotFound}
		case err != nil, r.f.gen.listening.Err() != nil: // stopped or drained
			return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}
		}
	}
}

// response is the answer to the caller: only the last attempt's counts
// (spec host-and-retry 9.3).
func response(res triggers.Result) *bindings.HTTPResponse {
	switch {
	case res.Err != nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError}
	case res.Response == nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusOK}
	default:
		return res.Response
	}
}

// route is the function's entry in the router.
func (f *function) route() httptrigger.Route {
	return httptrigger.Route{
		Function: f.def.Name,
		Methods:  methods(f.def.Trigger),
		Template: f.def.Trigger.String("route"),
		Prefix:   f.gen.app.Config.HTTP.RoutePrefix,
	}
}

// methods are the HTTP methods of a trigger; none means all.
func methods(b *app.Binding) []string {
	list, _ := b.Value("methods").([]any)
	var out []string
	for _, m := range list {
		if s, ok := m.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// token returns a context of the host's clock that ends with ctx, which is one
// of the real world, a request's or a signal's, or one of the clock. release must be
// called.
func (h *Host) token(ctx context.Context) (token context.Context, release func()) {
	c := &caller{token: ctx}
	token, cancel := h.clk.WithCancel(context.WithValue(h.root, callerKey{}, c))
	end := func() {
		cancel()
		c.handlers.End()
	}
	if ctx.Err() != nil {
		end()
		return token, cancel
	}
	if v, ok := h.clk.(*clock.Virtual); ok && v.Sees(ctx) {
		present, leave := v.WithCancel(ctx)
		h.group.Go("caller", func() {
			var mu sync.Mutex
			mu.Lock()
			defer mu.Unlock()
			_ = clock.NewCond(v, &mu).Wait(present) // nobody signals
			if ctx.Err() != nil {
				end()
			}
		})
		return token, func() {
			leave()
			cancel()
		}
	}
	stop := context.AfterFunc(ctx, func() { h.clk.Inside("caller gone", end) }) //clock:outside ctx is of the real world
	return token, func() {
		stop()
		cancel()
	}
}

// A caller is whom a token stands for; callerKey finds it.
type (
	caller struct {
		token    context.Context
		handlers triggers.Recall // that run for the caller
	}
	callerKey struct{}
)

// gone returns the error of the caller's own context, if there is a caller and it has
// gone. Its end comes into the clock in real time, and virtual time can be faster: a
// retry loop asks whenever it could go on.
func (c *caller) gone() error {
	if c == nil {
		return nil
	}
	return c.token.Err()
}

var _ triggers.Listener = (*httptrigger.Listener)(nil)
