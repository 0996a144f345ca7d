package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fixture is a host with its server, both running, on a clock that skips waiting.
type fixture struct {
	t    testing.TB
	dir  string
	host *host.Host
	web  *web.Server
	key  string // sent with every request
}

const plainHostJSON = `{"version":"2.0"}`

// app returns the files of an app that has host.json and, on top, more.
func app(hostJSON string, more ...string) map[string]string {
	files := map[string]string{
		"host.json":           hostJSON,
		"local.settings.json": `{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true"}}`,
	}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// prepare makes a host and its server and starts neither.
func prepare(t testing.TB, files map[string]string, handlers *functions.App, opts *web.Options) *fixture {
	t.Helper()
	return prepareStored(t, files, handlers, nil, opts)
}

// prepareStored is prepare for a host that keeps its data in db.
func prepareStored(t testing.TB, files map[string]string, handlers *functions.App, db *store.Store, opts *web.Options) *fixture {
	t.Helper()
	d := &fixture{t: t, dir: t.TempDir()}
	for name, text := range files {
		d.write(name, text)
	}
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	clk.Auto()
	if handlers == nil {
		handlers = functions.New()
	}
	h, err := host.New(d.dir, &host.Options{Clock: clk, Env: []string{}, Handlers: handlers, Version: "v1.2.3", Store: db})
	if err != nil {
		t.Fatal(err)
	}
	d.host, d.web = h, web.New(h, opts)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("close host: %v", err)
		}
		if err := d.web.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
		clk.Close()
	})
	return d
}

// open is prepare with both started.
func open(t testing.TB, files map[string]string, handlers *functions.App, opts *web.Options) *fixture {
	t.Helper()
	d := prepare(t, files, handlers, opts)
	d.listen()
	if err := d.host.Start(t.Context()); err != nil {
		t.Fatalf("start: %v", err)
	}
	return d
}

func (d *fixture) listen() {
	d.t.Helper()
	if err := d.web.Start(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) write(name, text string) {
	d.t.Helper()
	write(d.t, d.dir, map[string]string{name: text})
}

// write writes files of an app.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answer is a response with its body read.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// request makes a request; edit changes it before it is sent.
func (d *fixture) request(method, path, body string, edit ...func(*http.Request)) answer {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.web.URL()+path, bytes.NewBufferString(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if d.key != "" {
		r.Header.Set("X-Functions-Key", d.key)
	}
	for _, e := range edit {
		e(r)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{Status: resp.StatusCode, Header: resp.Header, Body: string(text)}
}

// want makes a request and checks its status.
func (d *fixture) want(status int, method, path, body string, edit ...func(*http.Request)) answer {
	d.t.Helper()
	a := d.request(method, path, body, edit...)
	if a.Status != status {
		d.t.Fatalf("%s %s: got status %d (%s), want %d", method, path, a.Status, a.Body, status)
	}
	return a
}

// get decodes the JSON answer of a request.
func get[T any](d *fixture, status int, method, path, body string) T {
	d.t.Helper()
	var v T
	a := d.want(status, method, path, body)
	if err := json.Unmarshal([]byte(a.Body), &v); err != nil {
		d.t.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
	}
	return v
}

// wait returns the first record of that kind and function.
func (d *fixture) wait(kind journal.Kind, function string) journal.Record {
	d.t.Helper()
	rec, err := d.host.Journal().Wait(d.t.Context(), func(r *journal.Record) bool { return r.Kind == kind && r.Function == function })
	if err != nil {
		d.t.Fatalf("wait for %s of %q: %v", kind, function, err)
	}
	return rec
}

// withHeader sets a header; "Host" is the request's host.
func withHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
			return
		}
		r.Header.Set(name, value)
	}
}

func nothing(context.Context, functions.QueueMessage) error { return nil }
