package host_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// matching calls Match in the clock's time and returns its error and how long it
// took.
func matching(t *testing.T, v *clock.Virtual, h *host.Host) (time.Duration, error) {
	t.Helper()
	err := errors.New("still waiting")
	begin, end := v.Now(), v.Now()
	group := clock.NewGroup(v, 0)
	v.Do("test", func() {
		group.Go("request", func() {
			_, err = h.Match(context.Background(), "GET", "/api/hello")
			end = v.Now()
		})
	})
	v.Run(time.Hour)
	return end.Sub(begin), err
}

// A request waits up to 30 s for a host that is not ready, and not at all in
// state Error or after the end (7.2; host: HostAvailabilityCheckMiddleware.cs).
func TestRequestWaitsForTheHost(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("hello", hello)

	t.Run("never ready", func(t *testing.T) {
		t.Parallel()
		v := clock.NewVirtual(hosttest.Start, nil)
		h, err := host.New(t.TempDir(), &host.Options{Clock: v, Handlers: app, Env: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		if waited, err := matching(t, v, h); waited != 30*time.Second || !errors.Is(err, host.ErrNotRunning) {
			t.Errorf("Match = %v after %v, want ErrNotRunning after 30 s", err, waited)
		}
	})
	t.Run("ready in time", func(t *testing.T) {
		t.Parallel()
		v := clock.NewVirtual(hosttest.Start, nil)
		h, err := host.New(t.TempDir(), &host.Options{Clock: v, Handlers: app, Env: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		group := clock.NewGroup(v, 0)
		v.Do("test", func() {
			group.Go("start", func() {
				_ = v.Sleep(context.Background(), 29*time.Second)
				if err := h.Start(context.Background()); err != nil {
					t.Errorf("Start: %v", err)
				}
			})
		})
		if waited, err := matching(t, v, h); waited != 29*time.Second || err != nil {
			t.Errorf("Match = %v after %v, want a route after 29 s", err, waited)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if waited, err := matching(t, v, h); waited != 0 || !errors.Is(err, host.ErrNotRunning) {
			t.Errorf("after Close Match = %v after %v, want ErrNotRunning at once", err, waited)
		}
	})
	t.Run("state Error", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: app, MayFail: true, Files: map[string]string{"host.json": `{"version":"1.0"}`}})
		if waited, err := matching(t, h.Clock(), h.Host); waited != 0 || !errors.Is(err, host.ErrNotRunning) {
			t.Errorf("Match = %v after %v, want ErrNotRunning at once", err, waited)
		}
	})
}

// Without a running app there is nothing to drain, to resume or to reload.
func TestNotRunning(t *testing.T) {
	t.Parallel()
	h, err := host.New(t.TempDir(), &host.Options{Handlers: functions.New(), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"Drain":   func() error { return h.Drain(ctx) },
		"Resume":  func() error { return h.Resume(ctx) },
		"Restart": func() error { return h.Restart(ctx) },
		"Reload":  func() error { return h.Reload(ctx) },
		"DrainStatus": func() error {
			_, err := h.DrainStatus()
			return err
		},
	} {
		if err := call(); !errors.Is(err, host.ErrNotRunning) {
			t.Errorf("%s before Start = %v, want ErrNotRunning", name, err)
		}
	}
	if h.App() != nil || h.Generation() != 0 {
		t.Errorf("before Start: app %v, generation %d", h.App(), h.Generation())
	}
	if err := h.Close(); err != nil {
		t.Errorf("Close before Start: %v", err)
	}
}

// sleeper is an app whose function runs for an hour, unless it is ended.
func sleeper() *functions.App {
	app := functions.New()
	app.Queue("Slow", "slow", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, time.Hour)
	})
	return app
}

// Close waits 10 s for running attempts; Abort ends them at once (7.3).
func TestCloseWithinLimits(t *testing.T) {
	t.Parallel()
	ended := func(t *testing.T, h *hosttest.Host, want time.Duration) {
		t.Helper()
		r := h.Attempts("Slow")
		if len(r) != 1 || r[0].Status != "failed" {
			t.Fatalf("attempts: %v, want one that failed", r)
		}
		if got := r[0].Time.Sub(hosttest.Start); got != want {
			t.Errorf("the attempt was ended after %v, want %v", got, want)
		}
		h.WantSettled("Slow", triggers.Released)
		last := h.Journal().Records()
		if r := last[len(last)-1]; r.Kind != journal.HostStopped || h.State() != host.Stopped {
			t.Errorf("the last record is %v in state %s, want host_stopped", r, h.State())
		}
	}
	t.Run("grace", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: sleeper()})
		h.Send("slow", "x")
		closeHost(t, h)
		ended(t, h, 10*time.Second)
	})
	t.Run("abort", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: sleeper()})
		h.Send("slow", "x")
		group := clock.NewGroup(h.Clock(), 0)
		h.Clock().Do("test", func() {
			group.Go("impatient", func() {
				_ = h.Clock().Sleep(context.Background(), 3*time.Second)
				h.Abort()
			})
		})
		closeHost(t, h)
		ended(t, h, 3*time.Second)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: sleeper()})
		closeHost(t, h)
		if now := h.Clock().Now(); !now.Equal(hosttest.Start) {
			t.Errorf("closing an idle host took %v", now.Sub(hosttest.Start))
		}
		if err := h.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func closeHost(t *testing.T, h *hosttest.Host) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}
