package hosttest_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
)

// While app_offline.htm exists every request gets 503 and no timer ticks (7.4).
// The ticks that were missed come as one run, past due, which takes the place of
// runOnStartup (10.4, 10.5).
func TestOffline(t *testing.T) {
	t.Parallel()
	type run struct {
		At      time.Duration
		PastDue bool
	}
	var runs []run
	app := functions.New()
	app.HTTP("Hello", func(http.ResponseWriter, *http.Request) {})
	app.Timer("Tick", "0 0 * * * *", func(ctx context.Context, info functions.TimerInfo) error {
		runs = append(runs, run{functions.FromContext(ctx).Now.Sub(hosttest.Start), info.IsPastDue})
		return nil
	}, functions.RunOnStartup())
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Advance(30 * time.Minute)
	if err := h.Edit("app_offline.htm", "<p>closed</p>"); err != nil {
		t.Fatal(err)
	}
	if resp := h.Request("GET", "/api/Hello", ""); resp.StatusCode != 503 || h.State() != host.Offline {
		t.Errorf("offline: %d in state %s, want 503 and Offline", resp.StatusCode, h.State())
	}
	h.Advance(3 * time.Hour)
	if err := os.Remove(filepath.Join(h.Dir(), "app_offline.htm")); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if resp := h.Request("GET", "/api/Hello", ""); resp.StatusCode != 200 {
		t.Errorf("online again: %d, want 200", resp.StatusCode)
	}
	h.Advance(time.Hour)
	want := []run{{0, false}, {3*time.Hour + 30*time.Minute, true}, {4 * time.Hour, false}}
	if len(runs) != len(want) {
		t.Fatalf("runs = %v, want %v", runs, want)
	}
	for i := range want {
		if runs[i] != want[i] {
			t.Errorf("run %d = %v, want %v", i, runs[i], want[i])
		}
	}
}
