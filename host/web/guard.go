package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard decides who may use the admin and control APIs; see the package
// comment.
type guard struct {
	cors []string // origins allowed by name
}

// check returns why a request is refused, or "".
func (g *guard) check(r *http.Request) string {
	host := hostName(r.Host)
	if !isThisMachine(host) && !isLocalAddress(r, host) {
		return "the Host header does not name this machine"
	}
	switch origin := r.Header.Get("Origin"); {
	case origin != "" && !g.ownOrigin(r, origin):
		return "requests from other origins are not accepted"
	case origin == "" && r.Header.Get("Sec-Fetch-Site") == "cross-site":
		return "requests from other sites are not accepted"
	}
	return ""
}

// ownOrigin reports whether origin is the server itself, as the request names
// it, or listed by name. "*" in the list opens functions, not these APIs.
func (g *guard) ownOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false // "null" and other opaque origins
	}
	if strings.EqualFold(u.Host, r.Host) && u.Scheme == "http" {
		return true
	}
	return origin != "*" && slices.ContainsFunc(g.cors, func(o string) bool { return sameOrigin(o, origin) })
}

// sameOrigin compares a configured origin with one of a browser, which never
// ends in a slash.
func sameOrigin(configured, origin string) bool {
	return strings.EqualFold(strings.TrimSuffix(configured, "/"), origin)
}

// onThisMachine reports whether the caller is on this machine: loopback, or the
// very address that it connected to.
func onThisMachine(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr := peer.Addr().Unmap()
	return addr.IsLoopback() || isLocalAddress(r, addr.String())
}

// hostName is a Host header without port and brackets.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

// isThisMachine reports whether a name can only mean this machine: it is never
// looked up in the DNS (RFC 6761 6.3).
func isThisMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// isLocalAddress reports whether host is the address that the request's
// connection came in on.
func isLocalAddress(r *http.Request, host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	return err == nil && here.Addr().Unmap() == addr.Unmap()
}
