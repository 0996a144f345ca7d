package listen_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/listen"
)

// request is one as a listener on an address of this machine receives it.
func request(local, target string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "http://"+target+"/", nil)
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		panic(err)
	}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// Requests that a page in a browser could make somebody's machine send.
func TestGuard(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
	g := &listen.Guard{Names: []string{"Lab.test"}, Origins: []string{"https://shop.example/", "*"}}
	for _, row := range []struct {
		name, host string
		headers    []string
		refused    string // part of the reason; empty: taken
	}{
		{name: "localhost", host: "localhost:7071"},
		{name: "with a dot at the end", host: "LOCALHOST.:7071"},
		{name: "an account's name", host: "devstoreaccount1.blob.localhost"},
		{name: "loopback", host: "127.1.2.3:10000"},
		{name: "loopback of IPv6", host: "[::1]:10000"},
		{name: "the address of the connection", host: "192.0.2.7:7071"},
		{name: "the machine's own name", host: strings.ToUpper(own) + ":7071"},
		{name: "a container's name for it", host: "host.docker.internal:5672"},
		{name: "another container's", host: "host.containers.internal"},
		{name: "a name that was given", host: "lab.test"},
		{name: "another address", host: "192.0.2.8:7071", refused: `Host header "192.0.2.8:7071" does not name`},
		{name: "a rebound name", host: "evil.example:7071", refused: `Host header "evil.example:7071" does not name`},
		{name: "a name that looks local", host: "localhost.evil.example", refused: "does not name"},
		{name: "a name that looks like a container's", host: "evil.docker.internal", refused: "does not name"},

		{name: "a browser at localhost", host: "localhost", headers: []string{browser}},
		{name: "a silent browser", host: "host.docker.internal", headers: []string{browser}, refused: "does not name the page"},
		{name: "one that says", host: "host.docker.internal", headers: []string{browser, "Sec-Fetch-Site: none"}},
		{name: "PowerShell", host: "host.docker.internal", headers: []string{"User-Agent: Mozilla/5.0 (Windows NT 10.0) WindowsPowerShell/5.1"}},

		{name: "own origin", host: "localhost:7071", headers: []string{"Origin: http://localhost:7071"}},
		{name: "own origin over TLS", host: "localhost:7071", headers: []string{"Origin: https://localhost:7071"}},
		{name: "an origin by name", host: "localhost:7071", headers: []string{"Origin: https://shop.example", "Sec-Fetch-Site: cross-site"}},
		{name: "another scheme of it", host: "localhost:7071", headers: []string{"Origin: http://shop.example"}, refused: `origin "http://shop.example"`},
		{name: "another port", host: "localhost:7071", headers: []string{"Origin: http://localhost:3000"}, refused: `origin "http://localhost:3000"`},
		{name: "opaque", host: "localhost:7071", headers: []string{"Origin: null"}, refused: `origin "null"`},
		{name: "a star", host: "localhost:7071", headers: []string{"Origin: *"}, refused: `origin "*"`},
		{name: "cross-site", host: "localhost:7071", headers: []string{"Sec-Fetch-Site: cross-site"}, refused: "page of another origin"},
		{name: "same-site", host: "localhost:7071", headers: []string{"Sec-Fetch-Site: same-site"}, refused: "page of another origin"},
		{name: "its referrer proves nothing", host: "localhost:7071", headers: []string{"Sec-Fetch-Site: cross-site", "Referer: https://shop.example/"}, refused: "page of another origin"},
		{name: "a page by its referrer alone", host: "localhost:7071", headers: []string{"Referer: http://evil.example/a?b"}, refused: "page of another origin"},
		{name: "another port by its referrer", host: "localhost:7071", headers: []string{"Referer: http://localhost:3000/"}, refused: "page of another origin"},
		{name: "behind a proxy that renames the host", host: "localhost:7071", headers: []string{"Sec-Fetch-Site: same-origin", "Referer: http://localhost:5173/orders"}},
		{name: "a referrer without a host", host: "localhost:7071", headers: []string{"Referer: about:blank"}},
		{name: "a relative referrer", host: "localhost:7071", headers: []string{"Referer: /docs/index.html?next=http://evil.example"}},
		{name: "a relative referrer of another host", host: "localhost:7071", headers: []string{"Referer: //evil.example/"}, refused: "page of another origin"},
		{name: "an own path that is not well formed", host: "localhost:7071", headers: []string{"Referer: http://localhost:7071/100%"}},
		{name: "another's path that is not well formed", host: "localhost:7071", headers: []string{"Referer: http://evil.example/100%"}, refused: "page of another origin"},
		{name: "a referrer without a name", host: "localhost:7071", headers: []string{"Referer: http://"}, refused: "page of another origin"},
		{name: "an allowed page by its referrer alone", host: "localhost:7071", headers: []string{"Referer: https://shop.example/"}, refused: "page of another origin"},
		{name: "its own page", host: "localhost:7071", headers: []string{"Referer: http://localhost:7071/admin/redeliver/ui/"}},
		{name: "its own page over TLS", host: "LOCALHOST:7071", headers: []string{"Referer: https://localhost:7071/"}},
		{name: "own origin decides before the referrer", host: "localhost:7071", headers: []string{"Origin: http://localhost:7071", "Referer: http://evil.example/"}},
		{name: "same-origin", host: "localhost:7071", headers: []string{"Sec-Fetch-Site: same-origin"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := g.Check(request("192.0.2.7:7071", row.host, row.headers...))
			refusal, ok := errors.AsType[*listen.Refusal](err)
			switch {
			case row.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.refused != "" && (!ok || !strings.Contains(refusal.Reason, row.refused) || refusal.Hint == ""):
				t.Errorf("Check = %v, want a refusal that says %q", err, row.refused)
			}
		})
	}
	if err := (*listen.Guard)(nil).Check(request("127.0.0.1:1", "lab.test")); err == nil {
		t.Error("no guard takes every name")
	}
	if err := (*listen.Guard)(nil).CheckOrigin(request("127.0.0.1:1", "localhost", "Origin: http://a.example"), func(o string) bool { return o == "http://a.example" }); err != nil {
		t.Errorf("an origin that the caller allows: %v", err)
	}
}

// Containers of one network call each other by names without a dot, which pages cannot have.
func TestGuardInAContainer(t *testing.T) {
	t.Parallel()
	const browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
	g := &listen.Guard{Undotted: true}
	for _, row := range []struct {
		host    string
		headers []string
		refused string // part of the reason; empty: taken
	}{
		{host: "redeliver:10000"},
		{host: "REDELIVER."},
		{host: "redeliver-1"},
		{host: "localhost:7071"},
		{host: "evil.example", refused: "does not name this machine"},
		{host: "redeliver.evil.example:7071", refused: "does not name this machine"},
		{host: "192.0.2.8", refused: "does not name this machine"},
		{host: "[2001:db8::8]", refused: "does not name this machine"},
		{host: "", refused: "does not name this machine"},
		{host: "redeliver", headers: []string{"Origin: http://evil.example"}, refused: "not accepted"},
		{host: "redeliver", headers: []string{"Origin: http://redeliver:8080"}, refused: "not accepted"},
		{host: "redeliver", headers: []string{"Sec-Fetch-Site: cross-site"}, refused: "page of another origin"},
		{host: "redeliver", headers: []string{browser}, refused: "does not name the page"},
	} {
		r := request("192.0.2.7:7071", "localhost", row.headers...)
		r.Host = row.host
		err := g.Check(r)
		if refusal, ok := errors.AsType[*listen.Refusal](err); row.refused == "" && err != nil || row.refused != "" && (!ok || !strings.Contains(refusal.Reason, row.refused)) {
			t.Errorf("%q %q: %v, want %q", row.host, row.headers, err, row.refused)
		}
		if row.host == "redeliver:10000" && (&listen.Guard{}).Check(r) == nil {
			t.Error("a guard that was not told takes a name without a dot")
		}
	}
}

// Programs on this machine are told an address that they can connect to.
func TestNear(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"0.0.0.0:5672": "127.0.0.1:5672", "[::]:5672": "127.0.0.1:5672", "127.0.0.1:1": "127.0.0.1:1", "[::1]:2": "[::1]:2", "192.0.2.7:3": "192.0.2.7:3"} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := listen.Near(addr); got != want {
			t.Errorf("Near(%s) = %s, want %s", address, got, want)
		}
	}
}

func TestOnThisMachine(t *testing.T) {
	t.Parallel()
	for peer, want := range map[string]bool{
		"127.0.0.1:40000": true, "[::1]:40000": true, "192.0.2.7:40000": true, "[::ffff:192.0.2.7]:40000": true,
		"192.0.2.8:40000": false, "198.51.100.1:1": false, "": false,
	} {
		r := request("192.0.2.7:7071", "localhost")
		r.RemoteAddr = peer
		if got := listen.OnThisMachine(r); got != want {
			t.Errorf("caller %q is on this machine: %v, want %v", peer, got, want)
		}
	}
}
