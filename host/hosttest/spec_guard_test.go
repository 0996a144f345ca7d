package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A message that was handed out more often than maxDequeueCount, because its
// handlers died, goes to poison without a run (spec storage 4.1, S-2).
func TestQueueGuard(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: hostJSON(`"extensions":{"queues":{"maxDequeueCount":2}}`)})
	ctx := context.Background()
	if err := h.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "x")
	for range 2 {
		h.Clock().Do("another host, which dies", func() {
			if m, err := h.Services().Storage().Queue("orders").Receive(ctx, 1, time.Minute); err != nil || len(m) != 1 {
				t.Errorf("Receive = %v, %v", m, err)
			}
		})
		h.Advance(time.Minute)
	}
	if err := h.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	r := h.AwaitSettled("Orders", triggers.Poisoned)
	if r.DeliveryCount != 3 || r.Target != "orders-poison" {
		t.Errorf("settled = %v, want delivery count 3 and target orders-poison", r)
	}
	h.WantAttempts("Orders", 0)
	h.WantQueue("orders-poison", "x")
}
