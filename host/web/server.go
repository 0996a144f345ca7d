//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
)

// DefaultMaxBody is the largest request body that a function is given unless
// Options.MaxBody or the setting FUNCTIONS_REQUEST_BODY_SIZE_LIMIT says otherwise: the
// platform's default of 100 MB. A larger one is answered with 413, where the platform lets
// the function fail, with 500.
const DefaultMaxBody = 104_857_600

// maxAdminBody limits the bodies of the admin API.
const maxAdminBody = 1 << 20

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

	server *listen.Server
	addr   net.Addr // nil before Start

	streaming  context.Context // of journal streams
	endStreams context.CancelFunc
	readers    atomic.Int32 // of the journal
	warmed     atomic.Bool  // the warm-up function was called
}

// New returns a server for h. It listens to nothing yet.
func New(h *host.Host, opts *Options) *Server {
	s := &Server{host: h, born: time.Now(), id: instanceID()}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Address == "" {
		s.opts.Address = "127.0.0.1"
	}
	if s.opts.Table == nil {
		s.opts.Table = all.Table()
	}
	if s.opts.KeysFile == "" {
		s.opts.KeysFile = KeysFile(h.Dir())
	}
	s.env = ops.Env{
		Host: h, Services: s.opts.Table.Services(), Secret: s.opts.Secret, Pace: s.opts.Pace, End: s.opts.Stop,
		Faults: s.opts.Faults, Crash: s.opts.Crash, Endpoints: s.opts.Endpoints, Turn: s.opts.Turn,
	}
	s.guard = &listen.Guard{Names: s.opts.Names, Undotted: s.opts.Container, Origins: s.opts.CORS}
	s.throttle = &throttle{clk: h.Clock()}
	s.streaming, s.endStreams = context.WithCancel(context.Background())
	s.server = &listen.Server{Handler: s.routes(), Wrap: listen.Spelling(""), Context: clock.ForVisitor, Idle: 2 * time.Minute, Component: "web", Logger: s.opts.Logger}
	return s
}

// KeysFile is where the keys of the app in dir are kept.
func KeysFile(dir string) string { return filepath.Join(app.StateFolder(dir), "keys.json") }

// Start listens and serves in the background; requests wait for a host that is
// not ready yet. It returns a *listen.PortError when the port cannot be had.
func (s *Server) Start() error {
	if s.keysAsked() {
		if err := s.openKeys(); err != nil {
			return err
		}
	}
	addr, err := s.server.Listen(listen.Port{Address: s.opts.Address, Number: s.opts.Port})
	if err != nil {
		return err
	}
	s.addr = addr
	if !covers(s.opts.Address, s.opts.AdminAddress) {
		if _, err := s.server.Listen(listen.Port{Address: s.opts.AdminAddress, Number: addr.(*net.TCPAddr).Port}); err != nil {
			s.Close()
			return err
		}
	}
	return nil
}

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

// routes puts functions, web hooks and what is below /admin together.
func (s *Server) routes() http.Handler {
	admin := http.NewServeMux()
	s.adminRoutes(admin)
	s.controlRoutes(admin)
	guarded := s.guarded(admin)
	rules := cors{origins: s.opts.CORS, credentials: s.opts.CORSCredentials}
	return listen.Bodies(rules.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w, end := s.compressing(w, r)
		defer end()
		w, r = s.withCustomHeaders(w, r), withoutDots(r)
		switch {
		case isWebHook(r.URL.Path):
			s.serveWebHook(w, r)
			return
		case isHealth(r.URL.Path):
			s.serveHealth(w, r)
			return
		case strings.EqualFold(r.URL.Path, "/admin/warmup"):
			s.warmUp(w, r)
			return
		}
		if underAdmin(r.URL.Path) {
			guarded.ServeHTTP(w, r)
			return
		}
		s.serveFunction(w, r)
	})))
}

// underAdmin reports whether a path is below /admin, which no function can have
// (spec host-and-retry 9.1).
func underAdmin(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.EqualFold(first, "admin")
}

// VersionHeader is a header of every answer below /admin: the version of the host. By
// it a client knows that it is talking to one, and not to what else may have the port.
const VersionHeader = "X-Redeliver-Version"

// guarded lets only those through who may use the admin and control APIs.
func (s *Server) guarded(next *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(VersionHeader, s.host.Version())
		if !s.taken(w, r) {
			return
		}
		if !s.adminHere(r) {
			writeError(w, http.StatusForbidden, "the admin and control APIs are served at "+s.opts.AdminAddress+" only", "")
			return
		}
		if s.page(w, r) {
			return
		}
		folded := foldPath(w, r)
		own := strings.HasPrefix(folded.URL.Path, ops.Prefix+"/")
		if !own && !adminServes(next, folded) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if !keyless[folded.URL.Path] && s.adminLevel(r) < AdminLevel {
			unauthorized(w, r)
			return
		}
		next.ServeHTTP(w, folded)
	})
}

// keyless are the paths that need no key (host: HostController.cs, Ping;
// InstanceController.cs).
var keyless = map[string]bool{"/admin/host/ping": true, "/admin/instance/http-health": true, ops.Prefix + "/identity": true} // read only

// unauthorized answers a request without a key that it needs (observed of the platform's
// host 4.1037).
func unauthorized(w http.ResponseWriter, r *http.Request) {
	challenge := "Bearer"
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, challenge) {
		challenge += ` error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(http.StatusUnauthorized)
}

// foldPath returns the request with the fixed words of its path in lower case,
// because the platform's routes ignore case, and with a limited body. Names stay
// as they are.
func foldPath(w http.ResponseWriter, r *http.Request) *http.Request {
	words := strings.Split(r.URL.EscapedPath(), "/") // "", "admin", "functions", name, "status"
	name := 3
	own := len(words) > 2 && strings.EqualFold(words[2], "redeliver")
	if last := len(words) - 1; !own && words[last] == "" {
		words = words[:last]
	}
	if own {
		name = 4
	} else if len(words) > 2 && !strings.EqualFold(words[2], "functions") {
		name = -1
	}
	for i, word := range words {
		if i != name {
			words[i] = strings.ToLower(word)
		}
	}
	out := new(http.Request)
	*out = *r
	path := *r.URL
	path.RawPath = strings.Join(words, "/")
	path.Path, _ = url.PathUnescape(path.RawPath) // it was escaped
	out.URL = &path
	if !strings.HasPrefix(path.RawPath, ops.Prefix+"/") { // whose operations say it
		listen.Within(r, listen.BodyPatience)
		out.Body = http.MaxBytesReader(w, r.Body, maxAdminBody)
	}
	return out
}

// level is the level of the request's key at a function ("" for none). The
// header goes before the query parameter, even when its key is wrong (host:
// AuthenticationLevelHandler.cs).
func (s *Server) level(r *http.Request, function string) Level {
	if !s.opts.EnableAuth {
		return AdminLevel
	}
	return s.keyLevel(r, function)
}

// keyLevel is level for callers who need a key.
func (s *Server) keyLevel(r *http.Request, function string) Level {
	if s.keys == nil {
		return Anonymous
	}
	key := r.Header.Get("X-Functions-Key")
	if key == "" {
		key = queryFold(r, "code")
	}
	return s.keys.Level(key, function)
}
