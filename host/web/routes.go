//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
)

// maxAdminBody limits the bodies of the admin API.
const maxAdminBody = 1 << 20

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
	s.durable = durableHook(s)
	s.streaming, s.endStreams = context.WithCancel(context.Background())
	s.server = &listen.Server{Handler: s.routes(), Wrap: listen.Spelling(""), Context: clock.ForVisitor, Idle: 2 * time.Minute, Component: "web", Logger: s.opts.Logger}
	return s
}

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
	s.host.Durable().ServedAt(s.URL(), sync.OnceValue(func() string { return durableCode(s) }))
	if !covers(s.opts.Address, s.opts.AdminAddress) {
		if _, err := s.server.Listen(listen.Port{Address: s.opts.AdminAddress, Number: addr.(*net.TCPAddr).Port}); err != nil {
			s.Close()
			return err
		}
	}
	return nil
}

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
		case isDurableHook(r.URL.Path):
			s.durable.ServeHTTP(w, r)
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
