package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// SendWith delays the first delivery and ends a message's life.
func TestSendWith(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("F", "work", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.SendWith("work", "late", &queue.PutOptions{Visibility: time.Hour})
	h.SendWith("other", "short", &queue.PutOptions{TTL: time.Minute})
	h.WantQueue("other", "short")
	h.Advance(59 * time.Minute)
	h.WantAttempts("F", 0)
	h.WantQueue("other")
	h.Advance(2 * time.Minute)
	h.WantSettled("F", triggers.Deleted)
}

// The messages of SendAll are all there before one is received.
func TestSendAllArrivesTogether(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("F", "work", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if ids := h.SendAll("work", "a", "b", "c"); len(ids) != 3 {
		t.Fatalf("SendAll gave %d IDs, want 3", len(ids))
	}
	h.AwaitSettled("F", "")
	var enqueued int
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.Enqueued {
			enqueued++
		}
		if r.Kind == journal.Received && enqueued != 3 {
			t.Fatalf("a message was received after %d arrived, want 3", enqueued)
		}
	}
}
