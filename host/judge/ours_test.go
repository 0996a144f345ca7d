//clock:outside the sockets of the tests are of the real world

package judge_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/triggers"
)

// A subject is a host that runs an app.
type subject struct {
	url    string
	key    string // its master key
	state  string // Running, Error, or Ended where its process has
	queues queue.Account
	blobs  blob.Account
	inside func(func()) // calls of the services are made in it
	// patience is how long an answer may take.
	patience time.Duration
	// settled waits until the function has done with one message for good. Nil: nothing
	// tells.
	settled func(t *testing.T, function string)
	// finished waits until the function has done with so many messages, ticks and calls
	// for good. Nil: nothing tells.
	finished func(t *testing.T, function string, n int)
	// stop ends the host, and says with which status its process does.
	stop func() string
	// settle lets the host do what it can do now. lapse lets time pass until something may
	// have changed, pass so much of it, and passing as much as a call takes.
	settle, lapse func()
	pass          func(time.Duration)
	passing       func(func())
}

// servesStorage is in the environment of a host of Redeliver whose storage others reach,
// so that it has locks in it.
const servesStorage = "JUDGE_SERVES_STORAGE=1"

// standsStill is in the environment of a host of Redeliver whose time moves only when the
// test says so.
const standsStill = "JUDGE_STANDS_STILL=1"

// callsItself is in the environment of a host of Redeliver that waits for its own answers: what
// was asked last then comes back first.
const callsItself = "JUDGE_CALLS_ITSELF=1"

// openOurs runs the app of a folder until the test ends.
func openOurs(t *testing.T, dir, runtime string, env []string) *subject {
	t.Helper()
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Arrival: slices.Contains(env, callsItself)})
	if !slices.Contains(env, standsStill) {
		clk.Auto()
	}
	env = append([]string{"AzureWebJobsStorage=" + development, "FUNCTIONS_WORKER_RUNTIME=" + runtime, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	h, err := host.New(dir, &host.Options{Clock: clk, Env: env, Version: "test", KeepRecords: -1})
	if err != nil {
		t.Fatal(err)
	}
	endStorage := func() error { return nil }
	if runtime == "dotnet-isolated" || slices.Contains(env, servesStorage) { // whose worker reads blobs by itself
		endStorage = serveStorage(t, clk, h)
	}
	server := web.New(h, &web.Options{EnableAuth: true})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("close host: %v", err)
		}
		if err := server.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
		if err := endStorage(); err != nil {
			t.Errorf("close storage: %v", err)
		}
		clk.Close()
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	s := &subject{url: server.URL(), key: web.MasterKey(web.KeysFile(dir)), state: "Running", patience: time.Minute, queues: h.Services().Storage(), blobs: h.Services().Storage()}
	s.inside = func(f func()) { clk.Inside("test", f) }
	s.settle, s.lapse = func() { clk.Do("settle", nil) }, func() { clk.Next() }
	s.pass = clk.Advance
	s.passing = func(f func()) {
		clk.Auto()
		defer clk.Close()
		f()
	}
	if err := h.Start(context.Background()); err != nil {
		t.Logf("start: %v", err)
		s.state = "Error"
	}
	s.stop = func() string {
		if err := h.Close(); err != nil {
			return err.Error()
		}
		return "0"
	}
	s.settled = func(t *testing.T, function string) {
		t.Helper()
		if _, err := h.Journal().Wait(t.Context(), func(r *journal.Record) bool {
			return r.Kind == journal.Settled && r.Function == function && (r.Decision == string(triggers.Deleted) || r.Decision == string(triggers.Poisoned))
		}); err != nil {
			t.Fatalf("wait for the end of a message of %q: %v", function, err)
		}
	}
	s.finished = func(t *testing.T, function string, n int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		seen := 0
		if _, err := h.Journal().Wait(ctx, func(r *journal.Record) bool {
			if r.Kind == journal.Settled && r.Function == function && r.Decision != string(triggers.Released) {
				seen++
			}
			return seen == n
		}); err != nil {
			t.Errorf("wait for the end of message %d of %q: %v", n, function, err)
		}
	}
	return s
}

// serveStorage serves the storage of a host to clients elsewhere.
func serveStorage(t *testing.T, clk clock.Clock, h *host.Host) (end func() error) {
	t.Helper()
	storage := h.Services().Storage()
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage, Blobs: storage}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Connections().StorageAt(server.BlobURL(), server.QueueURL())
	h.Connections().TablesAt(server.TableURL())
	h.Connections().DevelopmentStorage(server.ConnectionString(account))
	return server.Close
}
