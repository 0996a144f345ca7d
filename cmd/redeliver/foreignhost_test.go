package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

// Another server at the port is no host, whatever it answers.
func TestForeignServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 204, 302, 404, 405, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == 302 {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(status)
			if status != 204 {
				fmt.Fprint(w, "<html>hello")
			}
		}))
		t.Cleanup(server.Close)
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "file")
		for _, args := range [][]string{
			{"ls"}, {"clock"}, {"send", "queue", "orders", "x"}, {"invoke", "Orders"}, {"stop"}, {"delete", "servicebus", "orders"},
			{"download", "files/a", file}, {"download", "files/a", "-"}, {"upload", "files/a", "-"}, {"state", "save", file},
		} {
			var stdout, stderr strings.Builder
			code := execute(t.Context(), append(args, "--port", u.Port()), cli.Streams{In: strings.NewReader("x"), Out: &stdout, Err: &stderr})
			want := "redeliver: error: the server at http://localhost:" + u.Port() + " is not a redeliver host\n"
			if code != cli.ExitFailure || stdout.String() != "" || !strings.HasPrefix(stderr.String(), want) {
				t.Errorf("%d to %q: exit code %d, %q and %q, want %q", status, args, code, stdout.String(), stderr.String(), want)
			}
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%d: a file was written", status)
		}
	}
}

// ownedApp is the folder of an app with keys, and the ownership of its host until the test
// ends.
func ownedApp(t *testing.T) (dir string, owner *remote.Ownership) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(`{"version": "2.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	owner, err := remote.Own(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Release() })
	if _, err := web.OpenKeys(web.KeysFile(dir)); err != nil {
		t.Fatal(err)
	}
	return dir, owner
}

// An impostor at the address of a run file is sent neither a key nor a verb, with
// any answer.
func TestImpostor(t *testing.T) {
	t.Parallel()
	dir, owner := ownedApp(t)
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path+" key="+r.Header.Get("X-Functions-Key"))
		w.Header().Set(web.VersionHeader, "v1.2.3")
		json.NewEncoder(w).Encode(run.Identify{Challenge: r.URL.Query().Get("challenge")}.Answer(""))
	}))
	defer server.Close()
	if err := owner.Publish(remote.RunInfo{PID: 1, Secret: remote.NewSecret(), Address: server.URL}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"stop"}, {"state", "reset"}, {"purge", "queue", "orders"}, {"send", "queue", "orders", "x"}} {
		var stdout, stderr strings.Builder
		asked = nil
		code := execute(t.Context(), append(args, "--dir", dir), cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
		if code != cli.ExitFailure || !strings.Contains(stderr.String(), "is not the host that runs the app in") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
		if want := "GET /admin/redeliver/identity key="; len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: the impostor was asked %q, want only %q", args, asked, want)
		}
	}
}

// A host on 127.0.0.1 is not looked for at the same port of ::1, which is free for
// anybody: who listens there could have the host answer the challenge for it.
func TestRelay(t *testing.T) {
	t.Parallel()
	dir, owner := ownedApp(t)
	secret := remote.NewSecret()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(web.VersionHeader, "v1.2.3")
		if strings.HasSuffix(r.URL.Path, "/identity") {
			json.NewEncoder(w).Encode(run.Identify{Challenge: r.URL.Query().Get("challenge")}.Answer(secret))
		}
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "[::1]:"+u.Port())
	if err != nil {
		t.Skipf("no IPv6 on loopback: %v", err)
	}
	var mu sync.Mutex
	var asked []string
	pass := httputil.NewSingleHostReverseProxy(u)
	relay := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path+" key="+r.Header.Get("X-Functions-Key"))
		mu.Unlock()
		pass.ServeHTTP(w, r)
	})}
	defer relay.Close()
	go relay.Serve(l)
	if err := owner.Publish(remote.RunInfo{PID: 1, Secret: secret, Address: "http://localhost:" + u.Port()}); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := execute(t.Context(), []string{"state", "reset", "--dir", dir}, cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}); code != cli.ExitOK {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) > 0 {
		t.Errorf("the listener on ::1 was asked %q", asked)
	}
}
