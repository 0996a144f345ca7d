package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A call by hand that meets a reload keeps its loop for 10 s and then ends with
// the last failure (D-14). No attempt of it runs on the new generation, nor on
// the old one afterwards.
func TestCallByHandMeetsReload(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.FixedDelay(-1, 4*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.InvokeAsync(context.Background(), "Orders", "x"); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:01:00"}`); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Hour)
	cancelled := h.AwaitKind(journal.RetryCancelled)
	if got := cancelled.Time.Sub(hosttest.Start); got != 11*time.Second || cancelled.Generation != 1 {
		t.Errorf("the loop ended after %v in generation %d, want 11s and 1", got, cancelled.Generation)
	}
	h.WantAttempts("Orders", 3) // after 0, 4 and 8 s
	h.WantSettled("Orders", triggers.Responded)
}

// A call by hand whose caller goes away, or whose host stops, ends as one of HTTP.
func TestCallByHandMeetsStop(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.FixedDelay(-1, 4*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.InvokeAsync(context.Background(), "Orders", "x"); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.WantSettled("Orders", triggers.Responded)
	if stopped := h.AwaitKind(journal.HostStopped); stopped.Time.Sub(hosttest.Start) != 11*time.Second {
		t.Errorf("the host stopped at %v, want the end of the grace", stopped.Time)
	}
}

// A stop waits 10 s for a running attempt, and then ends it (7.3).
func TestStopEndsAttempts(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Long", "long", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, time.Hour)
	})
	app.Queue("Short", "short", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, 9*time.Second)
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("long", "x")
	h.Send("short", "x")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.WantSettled("Long", triggers.Released)
	h.WantSettled("Short", triggers.Deleted)
}
