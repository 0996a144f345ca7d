//clock:outside watches real files

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

var errBroken = errors.New("broken")

// ordersApp has one function that always fails.
func ordersApp() *functions.App {
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken })
	return app
}

// orders is a function.json with a policy of that many retries, an hour apart.
func orders(retries int) string {
	return fmt.Sprintf(`{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"}],
		"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"01:00:00"}}`, retries)
}

// A watched host is followed by Watch until its test ends.
type watched struct {
	*hosttest.Host
	t *testing.T
}

func watch(t *testing.T, opts *hosttest.Options) *watched {
	t.Helper()
	return follow(t, hosttest.New(t, opts))
}

func follow(t *testing.T, h *hosttest.Host) *watched {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch: %v", err)
		}
	})
	return &watched{h, t}
}

func (w *watched) path(name string) string { return filepath.Join(w.Dir(), filepath.FromSlash(name)) }

func (w *watched) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// wait waits for a record that match accepts, in real time.
func (w *watched) wait(what string, match func(*journal.Record) bool) journal.Record {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := w.Journal().Wait(ctx, match)
	if err != nil {
		w.t.Fatalf("no %s: %v", what, err)
	}
	return r
}

func (w *watched) waitGeneration(n int) journal.Record {
	w.t.Helper()
	return w.wait(fmt.Sprintf("generation %d", n), func(r *journal.Record) bool {
		return r.Kind == journal.GenerationLoaded && r.Generation == n
	})
}

func (w *watched) count(kind journal.Kind) int {
	return len(w.Select(func(r *journal.Record) bool { return r.Kind == kind }))
}

// Edits on a real disk become reloads (spec host-and-retry 7.1).
func TestWatch(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) *watched {
		return watch(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{"Orders/function.json": orders(4)}})
	}
	link := func(t *testing.T, target, path string) {
		t.Helper()
		next := path + ".next"
		if err := os.Symlink(filepath.FromSlash(target), next); err != nil {
			t.Skipf("no links here: %v", err)
		}
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("edit behind a link", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		outside := filepath.Join(t.TempDir(), "policy.json")
		write := func(text string) {
			if err := os.WriteFile(outside, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(orders(3))
		link(t, outside, w.path("Orders/function.json"))
		w.waitGeneration(2)
		write(orders(1))
		w.waitGeneration(3)
	})
	t.Run("link that is changed at once", func(t *testing.T) { // as mounted configuration is, in Kubernetes
		t.Parallel()
		w := start(t)
		w.write("..1/function.json", orders(3))
		w.write("..2/function.json", orders(1))
		link(t, "..1", w.path("..data"))
		link(t, "../..data/function.json", w.path("Orders/function.json"))
		w.wait("reload with 3 retries", func(r *journal.Record) bool {
			return r.Kind == journal.GenerationLoaded && w.App().Function("Orders").Policy.MaxRetryCount == 3
		})
		n := w.count(journal.GenerationLoaded)
		link(t, "..2", w.path("..data"))
		w.waitGeneration(n + 1)
		if p := w.App().Function("Orders").Policy; p == nil || p.MaxRetryCount != 1 {
			t.Errorf("policy after the change: %+v", p)
		}
	})
	t.Run("app folder that is a link", func(t *testing.T) {
		t.Parallel()
		top := t.TempDir()
		for version, retries := range map[string]int{"v1": 4, "v2": 2} {
			for name, text := range map[string]string{"host.json": `{"version":"2.0"}`, "local.settings.json": `{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true"}}`, "Orders/function.json": orders(retries)} {
				path := filepath.Join(top, version, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
		}
		link(t, "v1", filepath.Join(top, "app"))
		w := watch(t, &hosttest.Options{Handlers: ordersApp(), Dir: filepath.Join(top, "app")})
		w.waitGeneration(1)
		if err := os.WriteFile(filepath.Join(top, "v1", "Orders", "function.json"), []byte(orders(3)), 0o644); err != nil {
			t.Fatal(err)
		}
		w.waitGeneration(2)
		link(t, "v2", filepath.Join(top, "app"))
		w.waitGeneration(3)
		if p := w.App().Function("Orders").Policy; p == nil || p.MaxRetryCount != 2 {
			t.Errorf("policy of the other version: %+v", p)
		}
	})
	t.Run("edit", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write("Orders/function.json", orders(1))
		w.waitGeneration(2)
		if p := w.App().Function("Orders").Policy; p == nil || p.MaxRetryCount != 1 {
			t.Errorf("policy after the edit: %+v", p)
		}
	})
	t.Run("rename and replace", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		for n := 2; n <= 3; n++ { // the watch outlives the first replacement
			w.write("Orders/function.json~", orders(n))
			if err := os.Rename(w.path("Orders/function.json~"), w.path("Orders/function.json")); err != nil {
				t.Fatal(err)
			}
			w.waitGeneration(n)
			if got := w.App().Function("Orders").Policy.MaxRetryCount; got != n {
				t.Errorf("generation %d has %d retries", n, got)
			}
		}
	})
	t.Run("new folder", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write("New/function.json", `{"bindings":[]}`)
		w.wait("fault of the new function", func(r *journal.Record) bool { return r.Kind == journal.FunctionError && r.Function == "New" })
		w.write("New/function.json", `{"bindings":[],"retry":{}}`) // the new folder is watched too
		w.waitGeneration(3)
		if err := os.RemoveAll(w.path("New")); err != nil {
			t.Fatal(err)
		}
		w.waitGeneration(4)
		if w.App().Function("New") != nil {
			t.Error("the removed function is still there")
		}
	})
	t.Run("folder removed and made again", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		old, err := os.Stat(w.path("Orders"))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 { // as a switch of branches does it; the new folder often has the old one's number
			if err := os.RemoveAll(w.path("Orders")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(w.path("Orders"), 0o755); err != nil {
				t.Fatal(err)
			}
			if now, err := os.Stat(w.path("Orders")); err != nil || os.SameFile(now, old) {
				break
			}
		}
		w.write("Orders/function.json", orders(2))
		w.waitGeneration(2)
		w.write("Orders/function.json", orders(3)) // the new folder is watched
		w.waitGeneration(3)
	})
	t.Run("burst", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		for n := range 50 {
			w.write("Orders/function.json", orders(5+n))
			w.write("host.json", `{"version":"2.0"}`)
		}
		w.waitGeneration(2)
		w.write("Orders/function.json", orders(1))
		w.waitGeneration(3)
		if n := w.count(journal.GenerationLoaded); n != 3 {
			t.Errorf("%d generations were loaded, want 3: the first, one for 50 edits, one for the last", n)
		}
	})
	t.Run("invalid edit", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		w.write("Orders/function.json", `{"bindings":[`)
		refused := w.wait("refusal", func(r *journal.Record) bool { return r.Kind == journal.GenerationRefused })
		if refused.Name != "Orders/function.json" || w.Generation() != 1 || w.State() != host.Running {
			t.Errorf("refused %q; generation %d is %s, want the first one running", refused.Name, w.Generation(), w.State())
		}
		w.write("Orders/function.json", orders(2))
		w.waitGeneration(2)
	})
}

// app_offline.htm takes the app down at once; without it the app runs again
// (7.1, 7.4).
func TestWatchOffline(t *testing.T) {
	t.Parallel()
	app := ordersApp()
	app.HTTP("hello", hello)
	w := watch(t, &hosttest.Options{Handlers: app, Files: map[string]string{"Orders/function.json": orders(4)}})
	w.Send("orders", "x") // fails, and waits an hour for its retry
	if got := w.Request("GET", "/api/hello", ""); got.StatusCode != 200 {
		t.Fatalf("status %d", got.StatusCode)
	}

	w.write("app_offline.htm", "<p>back soon</p>")
	w.wait("end of the retry wait", func(r *journal.Record) bool { return r.Kind == journal.RetryCancelled })
	if w.State() != host.Offline {
		t.Errorf("state %s, want Offline", w.State())
	}
	if _, err := w.Match(context.Background(), "GET", "/api/hello"); !errors.Is(err, host.ErrNotRunning) {
		t.Errorf("Match while offline = %v, want ErrNotRunning at once", err)
	}
	if err := w.InvokeAsync(context.Background(), "Orders", ""); !errors.Is(err, host.ErrNotRunning) {
		t.Errorf("Invoke while offline = %v, want ErrNotRunning", err)
	}
	if got := string(w.OfflinePage()); got != "<p>back soon</p>" {
		t.Errorf("offline page %q", got)
	}
	if w.App() != nil || w.Generation() != 0 {
		t.Error("functions are loaded while offline")
	}

	if err := os.Remove(w.path("app_offline.htm")); err != nil {
		t.Fatal(err)
	}
	w.waitGeneration(2)
	if w.State() != host.Running || w.OfflinePage() != nil {
		t.Errorf("state %s, page %q after the file was deleted", w.State(), w.OfflinePage())
	}
	if got := w.Request("GET", "/api/hello", ""); got.StatusCode != 200 {
		t.Errorf("status %d after the file was deleted", got.StatusCode)
	}
}

// A host that starts with the file is offline from the first moment (7.4).
func TestStartOffline(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{"App_Offline.htm": "x"}})
	if h.State() != host.Offline || h.App() != nil {
		t.Errorf("state %s with %v, want Offline without an app", h.State(), h.App())
	}
	if err := os.Remove(filepath.Join(h.Dir(), "App_Offline.htm")); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if h.State() != host.Running {
		t.Errorf("state %s, want Running", h.State())
	}
}

// A change before the watch began is seen in every state that waits for one: a deleted
// file, and a mended configuration (6.1, 7.4).
func TestChangedBeforeWatch(t *testing.T) {
	t.Parallel()
	offline := func(t *testing.T, conf string) (h *hosttest.Host, online func()) {
		t.Helper()
		h = hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{"app_offline.htm": "x", "host.json": conf}})
		return h, func() {
			t.Helper()
			if err := os.Remove(filepath.Join(h.Dir(), "app_offline.htm")); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("offline", func(t *testing.T) {
		t.Parallel()
		h, online := offline(t, `{"version":"2.0"}`)
		online()
		follow(t, h).waitGeneration(1)
	})
	t.Run("configuration error", func(t *testing.T) {
		t.Parallel()
		h, online := offline(t, `{"version":"1.0"}`)
		online()
		if err := h.Reload(context.Background()); err == nil || h.State() != host.Error {
			t.Fatalf("Reload = %v, state %s; want a fault and Error", err, h.State())
		}
		if err := os.WriteFile(filepath.Join(h.Dir(), "host.json"), []byte(`{"version":"2.0"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		follow(t, h).waitGeneration(1)
	})
}

// An app that cannot start when it comes back from offline is tried again, as one that
// could not at the first start (1.4).
func TestOnlineAgainWithAFault(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{
		"app_offline.htm": "x", "host.json": `{"version":"2.0","retry":{"strategy":"fixedDelay"}}`,
	}})
	if err := os.Remove(filepath.Join(h.Dir(), "app_offline.htm")); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(context.Background()); err == nil || h.State() != host.Error {
		t.Fatalf("Reload = %v, state %s; want a fault and Error", err, h.State())
	}
	if err := os.WriteFile(filepath.Join(h.Dir(), "host.json"), []byte(`{"version":"2.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Minute)
	if h.State() != host.Running {
		t.Errorf("state %s a minute later, want Running", h.State())
	}
}

// A restart that is called off is no refusal.
func TestRestartCalledOff(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	h := hosttest.New(t, &hosttest.Options{Files: goApp(t)})
	if err := os.RemoveAll(filepath.Join(h.Dir(), ".redeliver")); err != nil { // it has to build again
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Restart(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Restart = %v, want that it was called off", err)
	}
	if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.GenerationRefused })); n != 0 {
		t.Error("the journal says that the app was refused")
	}
}

// A folder that is not there cannot be watched.
func TestWatchWithoutFolder(t *testing.T) {
	t.Parallel()
	h, err := host.New(filepath.Join(t.TempDir(), "gone"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Watch(context.Background()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Watch = %v, want a fault that names the folder", err)
	}
}
