//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops"
)

// DefaultMaxBody is the largest request body that a function is given unless
// Options.MaxBody or the setting FUNCTIONS_REQUEST_BODY_SIZE_LIMIT says otherwise: the
// platform's default of 100 MB. A larger one is answered with 413, where the platform lets
// the function fail, with 500.
const DefaultMaxBody = 104_857_600

// Options changes how a server listens and whom it serves. A nil *Options and
// the zero value both mean: any free port on 127.0.0.1, everybody is the
// administrator, no CORS.
type Options struct {
	// Address is the IP address to listen on; empty for 127.0.0.1. With one that other
	// machines reach, these call functions; the admin and control APIs want the master key
	// of them, and the web hooks their system key or the master key.
	Address string

	// AdminAddress is the IP address at which alone the admin and control APIs are served,
	// at the same port; empty for wherever the server listens.
	AdminAddress string

	// Port is the TCP port; 0 for any free one.
	Port int

	// EnableAuth asks for keys, as in the cloud (spec host-and-retry 9.2), callers on this
	// machine too.
	EnableAuth bool

	// KeysFile holds the keys when some are asked for; empty for
	// .redeliver/keys.json in the app's folder.
	KeysFile string

	// CORS lists the origins whose pages may read answers; "*" is every origin.
	// CORSCredentials also lets them send cookies, and needs origins by name.
	CORS            []string
	CORSCredentials bool

	// Container is for a host in a container, where a caller's address says nothing about who
	// it is: the admin and control APIs and the web hooks want their key of callers on this
	// machine too, and the Host header may have any name without a dot.
	Container bool

	// MasterKey takes the place of the master key in KeysFile, for good; empty: that stays.
	MasterKey string

	// Names are further names of this machine that the Host header may have.
	Names []string

	// MaxBody limits the bodies of function requests in bytes; 0 for the app's setting, or
	// DefaultMaxBody.
	MaxBody int64

	// Secret is the secret that the run file also holds. With it the host
	// proves by [run.Identity] who it is; without one it cannot.
	Secret string

	// Pace sets the pace of the clock for a client of the control API, or says why it
	// may not be. Nil: the server sets any.
	Pace func(clock.Pace) error

	// Stop is called when a client of the control API asks the host to end. It
	// must return at once. Nil: such requests are answered with 404.
	Stop func()

	// Table has the services and operations of the control API; nil: those of package all.
	Table ops.Table

	// Faults are those that the host asks about its operations (host.Options.Fault), for
	// clients that add some, and Crash is where it is killed (host.Options.KillAt). Nil: such
	// requests are answered with 404.
	Faults *faults.List
	Crash  *faults.Crash

	// Turn does what a request asks for, where the clock is moved by hand: see ops.Env. Nil:
	// the clock goes on by itself.
	Turn func(name string, f func())

	// Endpoints are where clients find the services, for the page; it is asked while an app
	// runs. Nil: the page shows none.
	Endpoints func() []ops.Endpoint

	// Metrics serves GET /admin/redeliver/metrics, for Prometheus. Nil: 404.
	Metrics http.Handler

	// Page serves the page of the host, at PagePath. Nil: 404.
	Page http.Handler

	// Logger receives what goes wrong below HTTP. The zero value is silent.
	Logger zerolog.Logger
}

// Server is the HTTP server of one host. Make one with [New], run it with Start
// and Close.
type Server struct {
	host *host.Host
	opts Options
	env  ops.Env // of the operations
	keys *Keys
	made bool // the master key is of this start
	born time.Time
	id   string // instanceId of the admin API

	guard    *listen.Guard
	throttle *throttle
	durable  http.Handler // the management API of Durable Functions

	server *listen.Server
	addr   net.Addr // nil before Start

	streaming  context.Context // of journal streams
	endStreams context.CancelFunc
	readers    atomic.Int32 // of the journal
	pages      atomic.Int32 // those of them that are told lives
	warmed     atomic.Bool  // the warm-up function was called
}

// KeysFile is where the keys of the app in dir are kept.
func KeysFile(dir string) string { return filepath.Join(app.StateFolder(dir), "keys.json") }

// EnsureKeys makes the keys of HTTP functions that have none yet; it does nothing
// without EnableAuth. Call it when a generation was loaded. A function that is
// called before has its keys made then.
func (s *Server) EnsureKeys() error {
	a := s.host.App()
	if !s.opts.EnableAuth || s.keys == nil || a == nil {
		return nil
	}
	return s.keys.Ensure(a.Routed()...)
}

// Addr is the address that the server listens on; nil before Start.
func (s *Server) Addr() net.Addr { return s.addr }

// URL is the address for callers on this machine, without a slash at the end,
// e.g. "http://localhost:7071". It is empty before Start.
func (s *Server) URL() string { return urlOf(s.Addr()) }

// AdminURL is the same for the admin and control APIs.
func (s *Server) AdminURL() string {
	addr, ok := s.Addr().(*net.TCPAddr)
	if !ok || s.opts.AdminAddress == "" {
		return s.URL()
	}
	return urlOf(&net.TCPAddr{IP: net.ParseIP(s.opts.AdminAddress), Port: addr.Port})
}

func urlOf(address net.Addr) string {
	addr, ok := address.(*net.TCPAddr)
	if !ok {
		return ""
	}
	name := addr.IP.String()
	if addr.IP.IsUnspecified() || addr.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		name = "localhost"
	}
	return "http://" + net.JoinHostPort(name, strconv.Itoa(addr.Port))
}

// Close stops listening, ends the journal streams and waits for requests that
// are being served, at most 5 s; then it cuts them. Close the host first: that
// ends what the requests wait for.
func (s *Server) Close() error {
	s.endStreams()
	return s.server.Close()
}

// Handler serves what the server serves, for who listens by himself instead of Start.
func (s *Server) Handler() http.Handler { return s.server.Handler }

// lastWords is how long a caller has to read the rest of its journal when the server
// closes.
const lastWords = time.Second

// cutAfterClose ends the answer of a caller that does not read when the server closes.
func (s *Server) cutAfterClose(w http.ResponseWriter) (undo func() bool) {
	return context.AfterFunc(s.streaming, func() {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(lastWords)) // over TCP there is one
	})
}

// untilClose is the request's context, ended also by Close.
func (s *Server) untilClose(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.streaming, cancel)
	return ctx, func() { stop(); cancel() }
}
