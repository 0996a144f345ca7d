package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/web"
)

func TestRequestReachesFunction(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("Echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Id", r.PathValue("id"))
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Host, r.Header.Get("X-Mine"), body)
	}, functions.Route("echo/{id}"))
	d := open(t, app(plainHostJSON), handlers, nil)

	got := d.want(http.StatusTeapot, "POST", "/api/Echo/7?q=a%20b", "hello", withHeader("X-Mine", "yes"))
	want := "POST " + d.web.URL() + "/api/Echo/7?q=a%20b " + strings.TrimPrefix(d.web.URL(), "http://") + " yes hello"
	if got.Body != want {
		t.Errorf("handler saw %q, want %q", got.Body, want)
	}
	if got.Header.Get("X-Id") != "7" {
		t.Errorf("route parameter = %q, want 7", got.Header.Get("X-Id"))
	}
	if diff := cmp.Diff([]string{"a=1", "b=2"}, got.Header.Values("Set-Cookie")); diff != "" {
		t.Errorf("cookies (-want +got):\n%s", diff)
	}
	// Escapes are resolved once, and an escaped slash never (9.1).
	for escaped, want := range map[string]string{"a%20b": "a b", "50%25": "50%", "%2541": "%41", "a%2Fb": "a%2Fb", "%C3%A9": "\u00e9"} {
		if id := d.want(http.StatusTeapot, "GET", "/api/echo/"+escaped, "").Header.Get("X-Id"); id != want {
			t.Errorf("route parameter of %s = %q, want %q", escaped, id, want)
		}
	}
	if head := d.want(http.StatusTeapot, "HEAD", "/api/echo/7", ""); head.Body != "" {
		t.Errorf("HEAD answered with body %q", head.Body)
	}
}

func TestResponse(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("Nothing", func(http.ResponseWriter, *http.Request) {})
	handlers.HTTP("Fails", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "never seen")
		functions.Fail(r.Context(), errors.New("boom"))
	})
	handlers.HTTP("Panics", func(http.ResponseWriter, *http.Request) { panic("boom") })
	handlers.HTTP("Status500", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "mine", 500) }, functions.FixedDelay(3, time.Second))
	handlers.HTTP("Off", func(http.ResponseWriter, *http.Request) {}, functions.Disabled())
	handlers.HTTP("OnlyPost", func(http.ResponseWriter, *http.Request) {}, functions.Methods("POST"))
	d := open(t, app(plainHostJSON), handlers, nil)

	for _, tt := range []struct {
		name, method, path string
		status             int
		body               string
	}{
		{"nothing set", "GET", "/api/Nothing", 200, ""},
		{"failure", "GET", "/api/Fails", 500, ""},
		{"panic", "GET", "/api/Panics", 500, ""},
		{"status 500 of the handler", "GET", "/api/Status500", 500, "mine\n"},
		{"unknown route", "GET", "/api/nobody", 404, ""},
		{"outside the prefix", "GET", "/Nothing", 404, ""},
		{"root of the prefix", "GET", "/api/", 404, ""},
		{"disabled", "GET", "/api/Off", 404, ""},
		{"other method", "GET", "/api/OnlyPost", 404, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := d.request(tt.method, tt.path, "")
			if got.Status != tt.status || got.Body != tt.body {
				t.Errorf("%s %s = %d %q, want %d %q", tt.method, tt.path, got.Status, got.Body, tt.status, tt.body)
			}
		})
	}
	n := 0
	for _, r := range d.host.Journal().Records() {
		if r.Kind == journal.AttemptStarted && r.Function == "Status500" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("status 500 of a handler made %d attempts, want 1: it is an answer, not a failure", n)
	}
}

// The caller's connection is held for the whole loop, the body is the same for
// every attempt, and only the last answer is sent.
func TestRetryHoldsConnection(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	handlers := functions.New()
	handlers.HTTP("Flaky", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := attempts.Add(1)
		fmt.Fprintf(w, "attempt %d: %s", n, body)
		if n < 4 {
			functions.Fail(r.Context(), errors.New("not yet"))
		}
	}, functions.FixedDelay(4, time.Minute))
	d := open(t, app(plainHostJSON), handlers, nil)
	if got := d.want(200, "POST", "/api/Flaky", "payload"); got.Body != "attempt 4: payload" {
		t.Errorf("answer = %q, want the answer of attempt 4", got.Body)
	}
}

func TestCallerGoneEndsLoop(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("Never", func(w http.ResponseWriter, r *http.Request) {
		functions.Fail(r.Context(), errors.New("no"))
	}, functions.FixedDelay(-1, 20*24*time.Hour)) // beyond what the clock runs ahead: a real wait
	d := open(t, app(plainHostJSON), handlers, nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", d.web.URL()+"/api/Never", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	failed := make(chan error, 1)
	go func() {
		_, err := client.Do(r)
		failed <- err
	}()
	d.wait(journal.RetryScheduled, "Never")
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("request = %v, want context.Canceled", err)
	}
	d.wait(journal.RetryCancelled, "Never")
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("Size", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	})
	d := open(t, app(plainHostJSON), handlers, &web.Options{MaxBody: 10})
	if got := d.want(200, "POST", "/api/Size", "0123456789"); got.Body != "10" {
		t.Errorf("handler read %s bytes, want 10", got.Body)
	}
	d.want(http.StatusRequestEntityTooLarge, "POST", "/api/Size", "0123456789x")
}

func TestAuthorisation(t *testing.T) {
	t.Parallel()
	ok := func(http.ResponseWriter, *http.Request) {}
	handlers := functions.New()
	handlers.HTTP("Anon", ok, functions.AuthLevel(functions.AuthAnonymous))
	handlers.HTTP("Plain", ok)
	handlers.HTTP("Func", ok, functions.AuthLevel(functions.AuthFunction))
	handlers.HTTP("Other", ok)
	handlers.HTTP("Secret", ok, functions.AuthLevel(functions.AuthAdmin))

	t.Run("off by default", func(t *testing.T) {
		t.Parallel()
		d := open(t, app(plainHostJSON), handlers, nil)
		for _, name := range []string{"Anon", "Plain", "Func", "Secret"} {
			d.want(200, "GET", "/api/"+name, "")
		}
		d.want(200, "GET", "/admin/host/status", "")
	})

	d := open(t, app(plainHostJSON), handlers, &web.Options{EnableAuth: true})
	if err := d.web.EnsureKeys(); err != nil {
		t.Fatal(err)
	}
	keys, err := web.OpenKeys(web.KeysFile(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]string{}
	for _, k := range keys.All() {
		value[strings.Trim(k.Kind+" "+k.Function, " ")] = k.Value
	}
	for _, tt := range []struct {
		level, sent, path, key string
		want                   int
	}{
		{"anonymous", "no key", "/api/Anon", "", 200},
		{"anonymous", "wrong key", "/api/Anon", "wrong", 200},
		{"function", "no key", "/api/Func", "", 401},
		{"function", "wrong key", "/api/Func", "wrong", 401},
		{"function", "function key", "/api/Func", value["function Func"], 200},
		{"function", "another function's key", "/api/Func", value["function Other"], 401},
		{"function", "host key", "/api/Func", value["host"], 200},
		{"function", "master key", "/api/Func", value["master"], 200},
		{"function", "system key", "/api/Func", value["system"], 401},
		{"default", "no key", "/api/Plain", "", 401},
		{"default", "function key", "/api/Plain", value["function Plain"], 200},
		{"admin", "no key", "/api/Secret", "", 401},
		{"admin", "function key", "/api/Secret", value["function Secret"], 401},
		{"admin", "host key", "/api/Secret", value["host"], 401},
		{"admin", "master key", "/api/Secret", value["master"], 200},
		{"admin API", "no key", "/admin/host/status", "", 401},
		{"admin API", "host key", "/admin/host/status", value["host"], 401},
		{"admin API", "ping needs none", "/Admin/host/ping", "", 200},
		{"admin API", "master key", "/admin/host/status", value["master"], 200},
		{"control API", "no key", "/admin/redeliver/status", "", 401},
		{"control API", "master key", "/admin/redeliver/status", value["master"], 200},
		{"unknown route", "no key", "/api/nobody", "", 404},
	} {
		t.Run(tt.level+"/"+tt.sent, func(t *testing.T) {
			got := d.request("GET", tt.path, "", withHeader("X-Functions-Key", tt.key))
			if got.Status != tt.want {
				t.Errorf("header: %s = %d, want %d", tt.path, got.Status, tt.want)
			}
			wantChallenge := ""
			if tt.want == http.StatusUnauthorized && strings.HasPrefix(tt.path, "/admin") {
				wantChallenge = "Bearer"
			}
			if challenge := got.Header.Get("WWW-Authenticate"); challenge != wantChallenge {
				t.Errorf("%s has the challenge %q, want %q", tt.path, challenge, wantChallenge)
			}
			if got := d.request("GET", tt.path+"?code="+tt.key, ""); got.Status != tt.want {
				t.Errorf("query: %s = %d, want %d", tt.path, got.Status, tt.want)
			}
		})
	}
	t.Run("header before query", func(t *testing.T) {
		got := d.request("GET", "/api/Func?code="+value["master"], "", withHeader("X-Functions-Key", "wrong"))
		if got.Status != 401 {
			t.Errorf("wrong header with right query = %d, want 401", got.Status)
		}
	})
}

func TestHostNotReady(t *testing.T) {
	t.Parallel()
	t.Run("waits 30 s and answers 503", func(t *testing.T) {
		t.Parallel()
		d := prepare(t, app(plainHostJSON), nil, nil)
		d.listen()
		begin := d.host.Clock().Now()
		got := d.want(http.StatusServiceUnavailable, "GET", "/api/x", "")
		if waited := d.host.Clock().Now().Sub(begin); waited < 30*time.Second || waited > 31*time.Second {
			t.Errorf("waited %v of the clock's time, want 30 s", waited)
		}
		if got.Body != "Function host is not running." {
			t.Errorf("body = %q", got.Body)
		}
		begin = d.host.Clock().Now()
		d.want(http.StatusServiceUnavailable, "GET", "/admin/functions", "")
		if waited := d.host.Clock().Now().Sub(begin); waited < 30*time.Second {
			t.Errorf("the admin API waited %v of the clock's time, want 30 s", waited)
		}
	})
	t.Run("state Error fails at once", func(t *testing.T) {
		t.Parallel()
		d := prepare(t, app(`{"version":"1.0"}`), nil, nil)
		d.listen()
		if err := d.host.Start(t.Context()); err == nil {
			t.Fatal("start of a broken app succeeded")
		}
		begin := d.host.Clock().Now()
		d.want(http.StatusServiceUnavailable, "GET", "/api/x", "")
		if waited := d.host.Clock().Now().Sub(begin); waited > 5*time.Second {
			t.Errorf("waited %v of the clock's time, want none", waited)
		}
		d.want(http.StatusServiceUnavailable, "GET", "/admin/functions", "")
		if waited := d.host.Clock().Now().Sub(begin); waited > 10*time.Second {
			t.Errorf("the admin API waited %v of the clock's time, want none", waited)
		}
		status := get[map[string]any](d, 200, "GET", "/admin/host/status", "")
		if id, _ := status["id"].(string); id == "" {
			t.Errorf("status = %v, want the host's ID", status)
		}
		if errs, _ := status["errors"].([]any); status["state"] != "Error" || len(errs) == 0 || !strings.Contains(errs[0].(string), "host.json") {
			t.Errorf("status = %v, want state Error with the fault of host.json", status)
		}
	})
}

func TestOffline(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("F", func(http.ResponseWriter, *http.Request) {})
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(200, "GET", "/api/F", "")
	d.write("app_offline.htm", "<h1>back soon</h1>")
	if err := d.host.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/F", "/api/nobody", "/", "/admin/functions"} {
		got := d.want(http.StatusServiceUnavailable, "GET", path, "")
		if got.Body != "<h1>back soon</h1>" || got.Header.Get("Content-Type") != "text/html" {
			t.Errorf("%s = %q (%s), want the page as text/html", path, got.Body, got.Header.Get("Content-Type"))
		}
	}
	if s := get[map[string]any](d, 200, "GET", "/admin/host/status", ""); s["state"] != string(host.Offline) {
		t.Errorf("state = %v, want Offline", s["state"])
	}
}

func TestThrottle(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 1)
	release := make(chan struct{})
	handlers := functions.New()
	var d *fixture
	handlers.HTTP("Slow", func(w http.ResponseWriter, r *http.Request) {
		d.host.Clock().Outside(context.Background(), "slow", func() {
			entered <- struct{}{}
			<-release
		})
	})
	d = open(t, app(`{"version":"2.0","extensions":{"http":{"maxConcurrentRequests":1,"maxOutstandingRequests":1}}}`), handlers, nil)
	first := make(chan int, 1)
	go func() { first <- d.request("GET", "/api/Slow", "").Status }()
	<-entered
	if got := d.request("GET", "/api/Slow", ""); got.Status != http.StatusTooManyRequests || got.Body != "" {
		t.Errorf("second request = %d %q, want 429", got.Status, got.Body)
	}
	close(release)
	if got := <-first; got != 200 {
		t.Errorf("first request = %d, want 200", got)
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("F", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Method) })
	preflight := []func(*http.Request){withHeader("Access-Control-Request-Method", "PUT"), withHeader("Access-Control-Request-Headers", "x-mine")}
	for _, tt := range []struct {
		name        string
		opts        web.Options
		origin      string
		allow       string
		credentials string
	}{
		{"listed", web.Options{CORS: []string{"https://a.example", "https://b.example"}}, "https://b.example", "https://b.example", ""},
		{"not listed", web.Options{CORS: []string{"https://a.example"}}, "https://evil.example", "", ""},
		{"everybody", web.Options{CORS: []string{"*"}}, "https://x.example", "*", ""},
		{"credentials", web.Options{CORS: []string{"https://a.example"}, CORSCredentials: true}, "https://a.example", "https://a.example", "true"},
		{"credentials never for everybody", web.Options{CORS: []string{"*"}, CORSCredentials: true}, "https://x.example", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := open(t, app(plainHostJSON), handlers, &tt.opts)
			origin := withHeader("Origin", tt.origin)
			pre := d.want(http.StatusNoContent, "OPTIONS", "/api/F", "", append(preflight, origin)...)
			real := d.want(200, "PUT", "/api/F", "", origin)
			for what, h := range map[string]http.Header{"preflight": pre.Header, "request": real.Header} {
				if got := h.Get("Access-Control-Allow-Origin"); got != tt.allow {
					t.Errorf("%s: Access-Control-Allow-Origin = %q, want %q", what, got, tt.allow)
				}
				if got := h.Get("Access-Control-Allow-Credentials"); got != tt.credentials {
					t.Errorf("%s: Access-Control-Allow-Credentials = %q, want %q", what, got, tt.credentials)
				}
			}
			if allowed := tt.allow != ""; (pre.Header.Get("Access-Control-Allow-Methods") == "PUT") != allowed ||
				(pre.Header.Get("Access-Control-Allow-Headers") == "x-mine") != allowed {
				t.Errorf("preflight headers = %v", pre.Header)
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		d := open(t, app(plainHostJSON), handlers, nil)
		got := d.want(200, "OPTIONS", "/api/F", "", append(preflight, withHeader("Origin", "https://a.example"))...)
		if got.Body != "OPTIONS" || got.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("without CORS a preflight is a request like another: got %q, %v", got.Body, got.Header)
		}
	})
}

func TestPortBusy(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	d := prepare(t, app(plainHostJSON), nil, &web.Options{Port: port})
	err = d.web.Start()
	var portError *listen.PortError
	if !errors.As(err, &portError) || !portError.Busy() || portError.Number != port {
		t.Fatalf("Start on a busy port = %v, want a *PortError that says so", err)
	}
	if want := "port " + strconv.Itoa(port) + " is in use"; err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}
