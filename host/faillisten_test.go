package host_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
)

// A listener that cannot go on is told and started again although a delivery of it waits
// for its retry, which may take for ever: the next messages do not wait for that (5.4).
func TestListenerFailsBesideARetryWait(t *testing.T) {
	t.Parallel()
	failing := functions.FixedDelay(retrycontext.Forever, 2*time.Minute) // less than a lock is renewed
	first := func(body string) error {
		if body == "first" {
			return errBroken
		}
		return nil
	}
	check := func(t *testing.T, h *hosttest.Host, send func(body string), fail func()) {
		t.Helper()
		send("first")
		h.AwaitKind(journal.RetryScheduled)
		fail()
		send("second")
		h.Advance(30 * time.Second)
		if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError })); n != 1 {
			t.Errorf("%d records of a listener that failed, want one", n)
		}
		if h.ListenerError("Take") != nil {
			t.Error("the listener is said to wait for its next start")
		}
		h.WantAttempts("Take", 2)
		h.Advance(2 * time.Minute)
		h.WantAttempts("Take", 3) // the first again, in the loop that it began
		if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.Received })); n != 2 {
			t.Errorf("%d deliveries, want 2", n)
		}
		if err := h.Restart(context.Background()); err != nil { // ends both listeners
			t.Fatal(err)
		}
		h.AwaitKind(journal.RetryCancelled)
	}
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		app, faults := functions.New(), 0
		app.Queue("Take", "orders", func(_ context.Context, m functions.QueueMessage) error { return first(m.Text()) }, failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app, StorageFault: func(p host.StorageFault) error {
			if p.Op == "Receive" && !p.After && faults > 0 {
				faults--
				return errors.New("not authorized")
			}
			return nil
		}})
		check(t, h, func(body string) { h.Send("orders", body) }, func() { faults = 1 })
	})
	t.Run("Service Bus", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.ServiceBusQueue("Take", "bus", func(_ context.Context, m functions.ServiceBusMessage) error { return first(m.Text()) }, failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		check(t, h, func(body string) {
			h.SendServiceBus("bus", &bindings.ServiceBusMessage{Body: []byte(body)})
		}, func() {
			for _, status := range []bindings.ServiceBusStatus{bindings.ServiceBusStatusReceiveDisabled, bindings.ServiceBusStatusActive} {
				h.Clock().Do("disable", func() {
					if _, err := h.ServiceBus().UpdateQueue(context.Background(), bindings.ServiceBusQueue{Name: "bus", Status: status}); err != nil {
						t.Error(err)
					}
				})
				h.Advance(0)
			}
		})
	})
}
