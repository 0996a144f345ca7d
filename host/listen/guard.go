package listen

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// Guard says which requests a listener takes. The zero Guard, and nil,
// takes requests that name this machine, and from browsers the requests of
// its own pages. A Guard may be used concurrently, and is not changed once
// it is used.
type Guard struct {
	// Names are names in the Host header, without a port, that are accepted besides
	// the names of this machine.
	Names []string

	// Undotted takes every name without a dot, by which containers of one network call each
	// other. No page has such a name: none is registered in the DNS.
	Undotted bool

	// Origins are the origins whose pages may use the listener, as in
	// "https://shop.example". The origin "*" names no page.
	Origins []string
}

// Refusal is the error of a request that a Guard does not take.
type Refusal struct {
	Reason string
	Hint   string // what to do about it
}

func (e *Refusal) Error() string { return e.Reason + "; " + e.Hint }

// Check returns a *Refusal for a request that is not to be served. It is for listeners
// that have no CORS rules of their own; those use CheckHost and CheckOrigin.
func (g *Guard) Check(r *http.Request) error {
	if err := g.CheckHost(r); err != nil {
		return err
	}
	return g.CheckOrigin(r, nil)
}

// Protect has next serve the requests that Check takes, and answers the others with 403.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// CheckHost returns a *Refusal for a request whose Host header does not name this
// machine: the owner of that name has made it lead here, and pages of that name
// would count as the listener's own (DNS rebinding). Names that are taken:
// localhost and all below it, loopback addresses, the address that the connection
// came in on, the machine's own name, those by which containers call the machine
// they run on (host.docker.internal, host.containers.internal), Guard.Names and, with
// Guard.Undotted, names without a dot.
func (g *Guard) CheckHost(r *http.Request) error {
	name := hostName(r.Host)
	switch {
	case Loopback(name), isLocalAddress(r, name):
		return nil
	case !isOwnName(name) && !g.takes(name):
		return &Refusal{fmt.Sprintf("the Host header %q does not name this machine", r.Host), "use localhost, or start the host with --allow-host " + shown(name)}
	case silentBrowser(r):
		return &Refusal{"a browser does not name the page that sends this request to " + shown(name), "use localhost"}
	}
	return nil
}

// takes reports whether the guard was told of a name.
func (g *Guard) takes(name string) bool {
	if g == nil {
		return false
	}
	return g.Undotted && name != "" && !strings.ContainsAny(name, ".:") || slices.ContainsFunc(g.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// CheckOrigin returns a *Refusal for a request of a page of another origin, unless
// the origin is among Guard.Origins or allowed, which may be nil, takes it. A
// request that names no origin comes from another page if Sec-Fetch-Site says so, or
// without that Referer; that page is not known for certain, and is refused: see
// [Referrer].
func (g *Guard) CheckOrigin(r *http.Request, allowed func(origin string) bool) error {
	origin := r.Header.Get("Origin")
	switch {
	case !Foreign(r), origin != "" && (g.allows(origin) || allowed != nil && allowed(origin)):
		return nil
	case origin == "":
		return &Refusal{"a page of another origin sent this request", "--cors ORIGIN lets the pages of an origin in; to storage, a CORS rule of the service too"}
	}
	return &Refusal{fmt.Sprintf("requests from pages of origin %q are not accepted", origin), "--cors " + shown(origin) + " lets them in; to storage, a CORS rule of the service too"}
}

// Foreign reports whether a request was sent by a page of another origin than the
// request's own host.
func Foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		return elsewhere(origin, r)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "":
		return refersElsewhere(r)
	case "none", "same-origin": // no page can forge it; a proxy that renames the host leaves Referer as it was
		return false
	}
	return true // same-site too: another port of this machine is another origin
}

// refersElsewhere reports whether the Referer of a request is a page of another host. One
// without a host is none of a browser's: RFC 9110 10.1.3 has about:blank for no page, and
// relative references.
func refersElsewhere(r *http.Request) bool {
	address := r.Referer()
	scheme, rest, ok := strings.Cut(address, "//")
	if !ok || scheme != "" && !strings.HasSuffix(scheme, ":") || strings.ContainsAny(scheme, "/?#") {
		return false
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end] // the path of a page need not be well formed
	}
	return elsewhere(scheme+"//"+rest, r)
}

// elsewhere reports whether an origin is of another host than a request is for: "null"
// and other opaque origins have none.
func elsewhere(address string, r *http.Request) bool {
	u, err := url.Parse(address)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host)
}

// Referrer is the origin of the page that a request without Origin says it is for,
// empty if it says nothing. A page cannot forge it, but the redirect of another
// page may have led here: it is enough for requests that change nothing.
func Referrer(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// AllowsReferrer reports whether the pages of a Referrer may use the listener.
func (g *Guard) AllowsReferrer(origin string) bool { return origin != "" && g.allows(origin) }

func (g *Guard) allows(origin string) bool {
	return g != nil && slices.ContainsFunc(g.Origins, func(o string) bool { return SameOrigin(o, origin) })
}

// SameOrigin compares a configured origin with an origin of a browser, which never
// ends in a slash.
func SameOrigin(configured, origin string) bool {
	return configured != "*" && strings.EqualFold(strings.TrimSuffix(configured, "/"), origin)
}

// OnThisMachine reports whether the caller is on this machine: loopback, or the very
// address that it connected to.
func OnThisMachine(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr := peer.Addr().Unmap()
	return addr.IsLoopback() || isLocalAddress(r, addr.String())
}

// hostName is a Host header without port and brackets.
func hostName(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Loopback reports whether a host, without a port and brackets, can only mean this
// machine: a loopback address, or localhost and all below it, which are never looked up
// in the DNS (RFC 6761 6.3).
func Loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// isOwnName reports whether a name can only be this machine's.
func isOwnName(host string) bool {
	return host == "host.docker.internal" || host == "host.containers.internal" || host != "" && host == machineName()
}

var machineName = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return strings.ToLower(name)
})

// isLocalAddress reports whether host is the address that the request's connection
// came in on.
func isLocalAddress(r *http.Request, host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && CameTo(r, addr)
}

// CameTo reports whether a request's connection came in on an address.
func CameTo(r *http.Request, addr netip.Addr) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	return err == nil && here.Addr().Unmap() == addr.Unmap()
}

// silentBrowser reports whether a request without Origin and Sec-Fetch-Site is a
// browser's. Browsers send the latter only to localhost, to loopback addresses and
// over TLS (W3C, Fetch Metadata), so that requests to other names show nothing
// else. No page can change the header without a preflight.
func silentBrowser(r *http.Request) bool {
	agent := r.UserAgent()
	return r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" &&
		strings.HasPrefix(agent, "Mozilla/") && !strings.Contains(agent, "PowerShell/")
}

// shown is a name that stands in a command line.
func shown(name string) string {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("'\"`$\\", c) }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
