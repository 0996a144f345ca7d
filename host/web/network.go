package web

import (
	"cmp"
	"net/http"
	"net/netip"

	"github.com/redeliver/redeliver/host/listen"
)

// Other machines may call functions where the server listens to them, as
// they may call functions of the platform's tool. Control of the host is
// another matter: a machine of the same network could stop it, or empty its
// queues.

// ForOthers reports what of the server other machines reach: the functions, and the
// admin and control APIs.
func (s *Server) ForOthers() (functions, admin bool) {
	at := cmp.Or(s.opts.AdminAddress, s.opts.Address)
	return !listen.Loopback(s.opts.Address), !listen.Loopback(at)
}

// keysAsked reports whether some callers need a key.
func (s *Server) keysAsked() bool {
	hooks, admin := s.ForOthers() // the web hooks are where the functions are
	return s.opts.EnableAuth || s.opts.Container || hooks || admin
}

// openKeys reads the keys, and makes what is missing.
func (s *Server) openKeys() error {
	s.made = s.opts.MasterKey == "" && MasterKey(s.opts.KeysFile) == ""
	keys, err := OpenKeys(s.opts.KeysFile)
	if err != nil {
		return err
	}
	s.keys = keys
	return keys.setMaster(s.opts.MasterKey)
}

// NewKey is the master key if this start has made it, for display; else empty.
func (s *Server) NewKey() string {
	if !s.made {
		return ""
	}
	return s.keys.All()[0].Value
}

// trusted reports whether a request needs no key for the admin and control APIs and the web
// hooks: it comes from this machine, and keys are not asked of all.
func (s *Server) trusted(r *http.Request) bool {
	return !s.opts.EnableAuth && !s.opts.Container && listen.OnThisMachine(r)
}

// adminLevel is the level of a request below /admin: the highest if it is trusted, else its
// key's level.
func (s *Server) adminLevel(r *http.Request) Level {
	if s.trusted(r) {
		return AdminLevel
	}
	return s.keyLevel(r, "")
}

// adminHere reports whether a request for the admin and control APIs came in where these
// are served.
func (s *Server) adminHere(r *http.Request) bool {
	admin, err := netip.ParseAddr(s.opts.AdminAddress)
	return err != nil || admin.IsUnspecified() || listen.CameTo(r, admin)
}

// covers reports whether a listener at address is one at another address too; an empty
// one is anywhere.
func covers(address, other string) bool {
	of, err := netip.ParseAddr(address)
	if err != nil || other == "" {
		return true
	}
	o, err := netip.ParseAddr(other)
	// The system counts all addresses of IPv4 among all addresses of IPv6.
	return err != nil || o == of || of.IsUnspecified() && (of.Is6() || o.Is4())
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
	level, _ := s.keys.sent(r, function)
	return level
}
