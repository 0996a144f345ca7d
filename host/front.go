package host

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
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

// AuthLevel is "anonymous", "function" (also when the binding names none), "user",
// "system" or "admin" (spec host-and-retry 9.2).
func (r *Route) AuthLevel() string {
	if level := strings.ToLower(r.f.def.Trigger.String("authLevel")); level != "" {
		return level
	}
	return "function"
}

// Streams reports whether the function takes its request with a bindings.HTTPStream: when
// its worker does, no policy repeats it, and no other binding needs the body.
func (r *Route) Streams() bool {
	s, ok := bare(r.f.gen.invoker).(interface{ Streams(answers bool) bool })
	return ok && s.Streams(r.f.httpOutput != "" && len(r.f.outputs) == 1) && r.f.def.Policy == nil && len(r.f.def.Bindings) <= 2 && len(r.f.inputs) == 0
}

// Match finds the HTTP-triggered function for a request, waiting up to 30 s for
// a host that is not ready: ErrNotRunning then, and at once in state Error or
// Offline. ErrUnknownFunction means that no route matches; a disabled function
// has none, nor has an app whose code its worker cannot read. The path is the escaped one of the request (net/url:
// URL.EscapedPath).
func (h *Host) Match(ctx context.Context, method, path string) (*Route, error) {
	route := &Route{host: h, method: method, path: path}
	gen, err := h.current.Load(), error(nil)
	if gen == nil || h.State() != Running { // otherwise no turn is needed
		h.clk.Inside("request", func() {
			token, release := h.token(ctx)
			defer release()
			gen, err = h.ready(token)
		})
		if h.starter.unread.Load() && h.State() == Error { // PYW: test_blueprint_functions.py; observed, 4.1037
			err = ErrUnknownFunction
		}
	}
	if err == nil {
		err = route.find(gen)
	}
	if err != nil {
		return nil, err
	}
	return route, nil
}

// find looks for the function in a generation.
func (r *Route) find(gen *generation) error {
	name, params, ok := gen.router.Match(r.method, r.path)
	if !ok {
		return ErrUnknownFunction
	}
	r.f, r.params = gen.function(name), params
	if r.f.def.Disabled {
		return ErrUnknownFunction // and no other function answers in its place
	}
	return nil
}

// Serve runs an HTTP-triggered function for one request: all attempts, then the
// response of the last (spec host-and-retry 9.3, 9.4). When ctx ends, the caller has
// gone and the retry loop ends. A request that meets a reload is served by the
// next generation.
func (h *Host) Serve(ctx context.Context, route *Route, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	var resp *bindings.HTTPResponse
	clock.Enter(ctx, h.clk, "request", func() {
		token, release := h.token(ctx)
		defer release()
		resp = route.serve(token, req)
	})
	return resp
}

func (r *Route) serve(ctx context.Context, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	return r.host.bring(ctx, func(gen *generation) (*bindings.HTTPResponse, error) {
		if r.f.gen != gen { // a reload came after the match
			if r.find(gen) != nil {
				return &bindings.HTTPResponse{StatusCode: http.StatusNotFound}, nil
			}
		}
		if req.Stream != nil && !r.Streams() {
			return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}, nil // no longer
		}
		withParams := *req
		withParams.Params, withParams.Route = r.params, r.f.route
		withParams.Absent = absent(withParams.Route, r.params)
		return r.f.view.Served.(*httptrigger.Listener).Serve(ctx, &withParams)
	})
}

// bring brings a request to a listener of the running generation, which to finds in it.
// A request that meets a reload is brought to the next generation; 503 is the answer of
// a host that is not ready, stops or drains.
func (h *Host) bring(ctx context.Context, to func(gen *generation) (*bindings.HTTPResponse, error)) *bindings.HTTPResponse {
	for {
		gen, err := h.ready(ctx)
		if err == nil {
			var resp *bindings.HTTPResponse
			if resp, err = to(gen); err == nil {
				return resp
			}
			err = h.awaitNext(ctx, gen)
		}
		if err != nil {
			return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}
		}
	}
}

// awaitNext waits until another generation has taken the place of one whose listeners
// were stopped.
func (h *Host) awaitNext(ctx context.Context, gen *generation) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.current.Load() == gen {
		if h.state != Running || gen.draining.Load() {
			return ErrNotRunning
		}
		if err := h.changed.Wait(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// token returns a context of the host's clock that ends with ctx, which is one
// of the real world, a request's or a signal's, or one of the clock. release must be
// called.
func (h *Host) token(ctx context.Context) (token context.Context, release func()) {
	c := &caller{token: ctx, clk: h.clk}
	c.below = belowCaller{h.root, c}
	token, c.cancel = h.clk.WithCancel(&c.below)
	if ctx.Err() != nil {
		c.end()
		return token, c.cancel
	}
	if v, ok := h.clk.(*clock.Virtual); ok && v.Sees(ctx) {
		present, leave := v.WithCancel(ctx)
		h.group.Go("caller", func() {
			var mu sync.Mutex
			mu.Lock()
			defer mu.Unlock()
			_ = clock.NewCond(v, &mu).Wait(present) // never signalled
			if ctx.Err() != nil {
				c.end()
			}
		})
		return token, func() {
			leave()
			c.cancel()
		}
	}
	c.stop = context.AfterFunc(ctx, c.hasGone) //clock:outside ctx is of the real world
	return token, c.release
}

// A caller is whom a token stands for; callerKey finds it.
type (
	caller struct {
		token    context.Context
		clk      clock.Clock
		below    belowCaller
		cancel   context.CancelFunc
		stop     func() bool     // of the wait for the caller's end
		handlers triggers.Recall // that run for the caller
	}
	callerKey struct{}
)

// belowCaller is the host's context with a caller, as context.WithValue makes it; it is a
// part of the caller.
type belowCaller struct {
	context.Context
	of *caller
}

// Value implements context.Context.
func (b *belowCaller) Value(key any) any {
	if key == (callerKey{}) {
		return b.of
	}
	return b.Context.Value(key)
}

// end ends what is done for the caller.
func (c *caller) end() {
	c.cancel()
	c.handlers.End()
}

func (c *caller) hasGone() { c.clk.Inside("caller gone", c.end) }

// release is for a caller who has been served.
func (c *caller) release() {
	c.stop()
	c.cancel()
}

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

// absent are the parameters of a route that have no value in a request.
func absent(route string, params map[string]string) (names []string) {
	if strings.Count(route, "{") <= len(params) {
		return nil
	}
	t, err := httptrigger.ParseTemplate(route)
	if err != nil {
		return nil // the router has taken it: it is none
	}
	for _, name := range t.Parameters() {
		if _, there := params[name]; !there {
			names = append(names, name)
		}
	}
	return names
}
