package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
)

// Operations of the embedded storage can be made to fail, before or after their
// effect: the three cases that storage.md E-5 names, with what 4 and 4.2 say of
// them.
func TestStorageFaults(t *testing.T) {
	t.Parallel()
	once := func(op, queue string, after bool) func(services.StorageFault) error {
		done := false
		return func(p services.StorageFault) error {
			if done || p.Op != op || p.Queue != queue || p.After != after {
				return nil
			}
			done = true
			return bindings.ErrUnavailable
		}
	}
	for _, row := range []struct {
		name   string
		fault  func(services.StorageFault) error
		copies int // in the poison queue
	}{
		{"none", nil, 1},
		{"poison send fails", once("Put", "orders-poison", false), 1},
		{"poison send is done and reported as failed", once("Put", "orders-poison", true), 2},
		{"delete fails after poison copy", once("Delete", "orders", false), 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{Handlers: alwaysFails(), StorageFault: row.fault})
			h.Send("orders", "x")
			h.Advance(30 * time.Minute) // what comes back is moved without a run
			h.WantAttempts("Orders", 5)
			h.WantQueue("orders")
			if got := len(h.Bodies("orders-poison")); got != row.copies {
				t.Errorf("%d messages in the poison queue, want %d", got, row.copies)
			}
		})
	}
	t.Run("renewal lost", func(t *testing.T) {
		t.Parallel()
		var h *hosttest.Host
		var renewals []time.Duration
		app := functions.New()
		app.Queue("Orders", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
			return h.Clock().Sleep(ctx, 24*time.Minute)
		})
		h = hosttest.New(t, &hosttest.Options{Handlers: app, StorageFault: func(p services.StorageFault) error {
			if p.Op != "Update" || p.After {
				return nil
			}
			renewals = append(renewals, h.Clock().Now().Sub(hosttest.Start))
			if len(renewals) == 2 {
				return bindings.ErrUnavailable
			}
			return nil
		}})
		h.Send("orders", "x")
		h.AwaitSettled("Orders", triggers.Deleted)
		h.WantAttempts("Orders", 1)
		want := []time.Duration{5 * time.Minute, 10 * time.Minute, 750 * time.Second, 1050 * time.Second, 1350 * time.Second}
		if diff := cmp.Diff(want, renewals); diff != "" {
			t.Errorf("renewals (-want +got):\n%s", diff)
		}
	})
}
