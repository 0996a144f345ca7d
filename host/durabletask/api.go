// Package durabletask is the HTTP management API of Durable Functions: what clients of
// orchestrations and entities ask of a host, at its web hook and at the RPC server that the
// packages of languages use (spec durable 8.1 to 8.5).
//
// Read [API] first, then routes.go, which says who answers what. start.go, instances.go,
// control.go and entities.go have the routes, status.go and history.go the JSON of an instance,
// links.go and client.go the addresses that are handed out.
//
// The package knows no engine: it asks a [durable.Hub]. Keys are checked by who serves the web
// hook.
package durabletask

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/sidecar"
	"github.com/redeliver/redeliver/host/listen"
)

// The paths below which the API is served. Paths compare without case.
const (
	HookPath = "/runtime/webhooks/durabletask"
	RPCPath  = "/durabletask"
)

// pollStep is how far the clock may go on for each status request by RPC for an unfinished
// instance (spec durable 11.4, DF-9).
const pollStep = time.Second

// Options of an API. Clock and Hub are needed.
type Options struct {
	Clock clock.Clock

	// Hub returns a task hub by its name; "" is the app's own. Nil: the app has none, and
	// every request is answered with 404.
	Hub func(name string) durable.Hub

	// Hubs lists the task hubs that there are. Nil: any name is one.
	Hubs func() []string

	// Functions are those of the running app. Nil: nothing is known of them, and all are
	// taken for known.
	Functions func() durable.Functions

	// Token makes a context of the clock that ends with ctx or with the host. Nil: one that
	// ends when the request is answered.
	Token func(ctx context.Context) (token context.Context, release func())

	// Forwarded reports whether links take X-Forwarded-Host and X-Forwarded-Proto
	// (httpSettings.useForwardedHost). Nil: they do not.
	Forwarded func() bool

	// Logger receives what goes wrong below HTTP.
	Logger zerolog.Logger
}

// An API answers the requests of one host. Its methods may be called concurrently.
type API struct {
	opts Options

	mu     sync.Mutex
	origin string        // of the web hook: http://localhost:7071
	code   func() string // the key in links
	rpc    *listen.Server
	rpcURL string
	grpc   *sidecar.Server
	closed bool
}

// New returns an API that is served nowhere yet.
func New(opts *Options) *API {
	a := &API{opts: *opts}
	if a.opts.Token == nil {
		a.opts.Token = func(context.Context) (context.Context, func()) {
			ctx, cancel := a.opts.Clock.WithCancel(context.Background())
			return ctx, cancel
		}
	}
	return a
}

// ServedAt tells where the web hook is served, e.g. http://localhost:7071, and the key that
// opens it, which is asked for when a link is made. Before it links have the platform's usual
// address and a key that nobody checks.
func (a *API) ServedAt(origin string, code func() string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.origin, a.code = origin, code
}

// Website is WEBSITE_HOSTNAME for workers, "localhost:7071", where packages of languages look
// for the host; "" before ServedAt. It is localhost in any case: links to another name would
// be https (spec durable 2.1).
func (a *API) Website() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, err := url.Parse(a.origin)
	if err != nil || u.Port() == "" {
		return ""
	}
	return "localhost:" + u.Port()
}

// base is the origin of the web hook, and its key.
func (a *API) base() (origin, code string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	code = "unchecked"
	if a.code != nil {
		code = a.code()
	}
	return cmp.Or(a.origin, "http://localhost:7071"), code
}

// RPC is the URL of the RPC server with a slash at its end, e.g.
// http://127.0.0.1:40123/durabletask/. The first call opens it, on a free port of the loopback
// address; it needs no key. The error is a *listen.PortError, or says that the API is closed.
func (a *API) RPC() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return "", errors.New("the RPC server of Durable Functions is closed")
	}
	if a.rpcURL != "" {
		return a.rpcURL, nil
	}
	guard := &listen.Guard{}
	server := &listen.Server{
		Handler: guard.Protect(listen.Bodies(a.Handler(RPC))), Context: clock.ForVisitor, Component: "durabletask", Logger: a.opts.Logger,
	}
	addr, err := server.Listen(listen.Port{Service: "RPC of Durable Functions", Address: "127.0.0.1"})
	if err != nil {
		return "", err
	}
	a.rpc, a.rpcURL = server, "http://"+addr.String()+RPCPath+"/"
	return a.rpcURL, nil
}

// GRPC is the URL of the service for clients of the protobuf protocol, e.g.
// http://127.0.0.1:40124 (spec durable 10.5). The first call opens it, on a free port of the
// loopback address; it needs no key. The error is a *listen.PortError, or says that the API is
// closed.
func (a *API) GRPC() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return "", errors.New("the gRPC server of Durable Functions is closed")
	}
	if a.grpc == nil {
		server, err := sidecar.Open(&sidecar.Options{Clock: a.opts.Clock, Hub: a.opts.Hub, Token: a.opts.Token})
		if err != nil {
			return "", err
		}
		a.grpc = server
	}
	return "http://127.0.0.1:" + strconv.Itoa(a.grpc.Port()), nil
}

// Close closes the servers for workers, if they were opened, and waits for their requests.
// Close the host first: that ends what they wait for.
func (a *API) Close() error {
	a.mu.Lock()
	server, service := a.rpc, a.grpc
	a.closed, a.rpc, a.grpc = true, nil, nil
	a.mu.Unlock()
	if service != nil {
		service.Close()
	}
	if server == nil {
		return nil
	}
	return server.Close()
}

// skips reports whether time is not the caller's: it jumps, or is moved by hand.
func (a *API) skips() bool {
	v, ok := a.opts.Clock.(*clock.Virtual)
	return ok && v.Pace() != clock.Real && v.Pace() != clock.Debug
}

// A Door is one of the two servers of the API.
type Door int

// The doors.
const (
	WebHook Door = iota
	RPC
)

// Handler serves the API at a door: below HookPath, and at the RPC server below RPCPath too.
func (a *API) Handler(door Door) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts, below := split(r.URL.Path, door)
		if !below {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := readBody(w, r)
		if err != nil {
			writeReadError(w, err)
			return
		}
		var out *answer
		clock.Enter(r.Context(), a.opts.Clock, "durable task", func() {
			ctx, release := a.opts.Token(r.Context())
			defer release()
			q := &request{API: a, door: door, r: r, body: body, query: fold(r.URL.Query()), parts: parts}
			if q.hub = a.opts.Hub(q.query.Get("taskhub")); q.hub == nil {
				out = status(http.StatusNotFound)
				return
			}
			out = q.serve(ctx)
		})
		out.write(w)
	})
}
