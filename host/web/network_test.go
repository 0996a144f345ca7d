package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/web"
)

// network is a host that listens on all addresses of its machine.
func network(t *testing.T, opts *web.Options) *fixture {
	t.Helper()
	handlers := functions.New()
	handlers.HTTP("F", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ran") })
	opts.Address = "0.0.0.0"
	return open(t, app(plainHostJSON), handlers, opts)
}

// from is the answer to a request of the machine peer that came in on an address.
func (d *fixture) from(peer, local, path, key string) answer {
	r := httptest.NewRequest("GET", "http://"+local+":7071"+path, nil)
	r.RemoteAddr = net.JoinHostPort(peer, "40000")
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(local), Port: 7071})))
	if key != "" {
		r.Header.Set("X-Functions-Key", key)
	}
	w := httptest.NewRecorder()
	d.web.Handler().ServeHTTP(w, r)
	return answer{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

// Other machines of the network call functions; the admin and control APIs want the
// master key of them, and of nobody on this machine.
func TestOtherMachines(t *testing.T) {
	t.Parallel()
	d := network(t, &web.Options{})
	key := web.MasterKey(web.KeysFile(d.dir))
	const here, there = "192.0.2.7", "198.51.100.3"
	for _, row := range []struct {
		name, peer, local, path, key string
		status                       int
	}{
		{"a function", there, here, "/api/F", "", 200},
		{"whether it lives", there, here, "/admin/host/ping", "", 200},
		{"admin", there, here, "/admin/host/status", "", 401},
		{"functions by admin", there, here, "/admin/functions", "wrong", 401},
		{"control", there, here, prefix + "/status", "", 401},
		{"control with a wrong key", there, here, prefix + "/status", "wrong", 401},
		{"admin with the key", there, here, "/admin/host/status", key, 200},
		{"control with the key", there, here, prefix + "/status", key, 200},
		{"this machine", "127.0.0.1", "127.0.0.1", "/admin/host/status", "", 200},
		{"this machine by its address", here, here, prefix + "/status", "", 200},
	} {
		if a := d.from(row.peer, row.local, row.path, row.key); a.Status != row.status {
			t.Errorf("%s: %d %s, want %d", row.name, a.Status, a.Body, row.status)
		}
	}
	d.want(200, "GET", "/admin/host/status", "")
}

// In a container a caller's address says nothing about who it is: the port of a container is
// published by a program of the machine.
func TestContainer(t *testing.T) {
	t.Parallel()
	d := network(t, &web.Options{Container: true, MasterKey: "open-sesame"})
	const here, there = "192.0.2.7", "198.51.100.3"
	for _, row := range []struct {
		name, peer, local, path, key string
		status                       int
	}{
		{"a function", there, here, "/api/F", "", 200},
		{"a function by another container", there, "redeliver", "/api/F", "", 200},
		{"whether it lives", there, "redeliver", "/admin/host/ping", "", 200},
		{"admin", there, here, "/admin/host/status", "", 401},
		{"control", there, "redeliver", prefix + "/status", "", 401},
		{"control of this machine", "127.0.0.1", "127.0.0.1", prefix + "/status", "", 401},
		{"admin of this machine", here, here, "/admin/host/status", "", 401},
		{"a web hook of this machine", "127.0.0.1", "127.0.0.1", "/runtime/webhooks/eventgrid?functionName=F", "", 401},
		{"control with a wrong key", "127.0.0.1", "127.0.0.1", prefix + "/status", "open", 401},
		{"control with the key", there, "redeliver", prefix + "/status", "open-sesame", 200},
		{"control with the key, by a rebound name", there, "evil.example", prefix + "/status", "open-sesame", 403},
	} {
		if a := d.from(row.peer, row.local, row.path, row.key); a.Status != row.status {
			t.Errorf("%s: %d %s, want %d", row.name, a.Status, a.Body, row.status)
		}
	}
	if got := web.MasterKey(web.KeysFile(d.dir)); got != "open-sesame" || d.web.NewKey() != "" {
		t.Errorf("the file has the key %q, new %q", got, d.web.NewKey())
	}
}

// A key that the start has made is shown, and one of an earlier start is not.
func TestNewKey(t *testing.T) {
	t.Parallel()
	d := network(t, &web.Options{Container: true})
	if got, want := d.web.NewKey(), web.MasterKey(web.KeysFile(d.dir)); got != want || got == "" {
		t.Errorf("NewKey = %q, want %q", got, want)
	}
	again := network(t, &web.Options{Container: true, KeysFile: web.KeysFile(d.dir)})
	if got := again.web.NewKey(); got != "" {
		t.Errorf("NewKey of the second start = %q", got)
	}
}

// The admin and control APIs can have an address of their own, here one that the server
// listens on anyway.
func TestAdminAddress(t *testing.T) {
	t.Parallel()
	d := network(t, &web.Options{AdminAddress: "127.0.0.1"})
	const key = "none of this host's"
	const here, there = "192.0.2.7", "198.51.100.3"
	for _, path := range []string{"/admin/host/status", prefix + "/status", "/admin/host/ping"} {
		for _, row := range []struct {
			peer, local, key string
			status           int
		}{
			{there, here, "", 403}, {there, here, key, 403}, {here, here, "", 403}, {"127.0.0.1", "127.0.0.1", "", 200},
		} {
			if a := d.from(row.peer, row.local, path, row.key); a.Status != row.status {
				t.Errorf("%s of %s at %s: %d %s, want %d", path, row.peer, row.local, a.Status, a.Body, row.status)
			}
		}
	}
	if a := d.from(there, here, "/api/F", ""); a.Status != 200 {
		t.Errorf("a function answered %d", a.Status)
	}
	if got, want := d.web.AdminURL(), strings.Replace(d.web.URL(), "127.0.0.1", "localhost", 1); got != want {
		t.Errorf("AdminURL = %q, want %q", got, want)
	}
}

// And one where nothing else listens: it has the same port.
func TestAdminAddressOfItsOwn(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skipf("the machine has no IPv6: %v", err)
	} else {
		l.Close()
	}
	d := open(t, app(plainHostJSON), nil, &web.Options{AdminAddress: "::1"})
	for base, want := range map[string]int{d.web.AdminURL(): 200, d.web.URL(): 403} {
		resp, err := http.Get(base + "/admin/host/status")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s answered %d, want %d", base, resp.StatusCode, want)
		}
	}
	if !strings.HasPrefix(d.web.AdminURL(), "http://[::1]:") {
		t.Errorf("AdminURL = %q", d.web.AdminURL())
	}
}

// The web hooks run functions with any event: other machines need their key, or the
// master key, also where the admin API is not served to them.
func TestWebHooksOfOtherMachines(t *testing.T) {
	t.Parallel()
	const here, there = "192.0.2.7", "198.51.100.3"
	for _, admin := range []string{"", "127.0.0.1"} {
		d := network(t, &web.Options{AdminAddress: admin})
		keys, err := web.OpenKeys(web.KeysFile(d.dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, hook := range []string{"eventgrid", "blobs"} {
			path := "/runtime/webhooks/" + hook + "?functionName=F"
			system := ""
			for _, k := range keys.All() {
				if k.Name == hook+"_extension" {
					system = k.Value
				}
			}
			if system == "" {
				t.Fatalf("admin at %q: no system key for %s", admin, hook)
			}
			for _, row := range []struct {
				name, peer, key string
				status          int // of a GET: 404 is after the key
			}{
				{"no key", there, "", 401}, {"a wrong key", there, "wrong", 401}, {"the system key", there, system, 404},
				{"the master key", there, web.MasterKey(web.KeysFile(d.dir)), 404}, {"this machine", "127.0.0.1", "", 404},
			} {
				if a := d.from(row.peer, here, path, row.key); a.Status != row.status {
					t.Errorf("admin at %q, %s with %s: %d, want %d", admin, hook, row.name, a.Status, row.status)
				}
			}
		}
	}
}
