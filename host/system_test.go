package host_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// The main scenarios again on clock.System: turn-taking hides data races, real
// goroutines under the race detector show them. Delays are milliseconds.
func TestOnTheSystemClock(t *testing.T) {
	t.Parallel()
	const soon = `"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"00:00:00.002"}`
	hostJSON := func(rest string) string { return `{"version":"2.0"` + rest + `}` }
	policy := func(n int) string { return "," + fmt.Sprintf(soon, n) }

	t.Run("poison", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: ordersApp(), Files: map[string]string{"host.json": hostJSON(policy(4))}})
		const messages = 20
		for i := range messages {
			h.Send("orders", fmt.Sprint(i))
		}
		for range messages {
			h.AwaitSettled("Orders", triggers.Poisoned)
		}
		h.WantAttempts("Orders", messages*25)
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.HTTP("flaky", func(w http.ResponseWriter, r *http.Request) {
			if rc := functions.Retry(r.Context()); rc.RetryCount < 2 {
				functions.Fail(r.Context(), errBroken)
				return
			}
			fmt.Fprint(w, "third time lucky")
		})
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: app, Files: map[string]string{"host.json": hostJSON(policy(2))}})
		done := make(chan int) //clock:outside callers of the real world
		const callers = 8
		for range callers {
			go func() { done <- h.Request("GET", "/api/flaky", "").StatusCode }() //clock:outside callers of the real world
		}
		for range callers {
			if status := <-done; status != 200 {
				t.Errorf("status %d", status)
			}
		}
		h.WantAttempts("flaky", 3*callers)
	})
	t.Run("timer", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.Timer("Tick", "00:00:00.020", func(context.Context, functions.TimerInfo) error { return errBroken })
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: app, Files: map[string]string{"host.json": hostJSON(policy(1))}})
		for range 3 {
			h.AwaitSettled("Tick", triggers.Recorded)
		}
		if n := len(h.Attempts("Tick")); n < 6 {
			t.Errorf("%d attempts for three ticks with a retry each", n)
		}
	})
	t.Run("circuit breaker", func(t *testing.T) {
		t.Parallel()
		var healthy atomic.Bool
		app := functions.New()
		app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
			if healthy.Load() {
				return nil
			}
			return errBroken
		})
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: app, Files: map[string]string{
			"host.json": oneAtATime, "Orders/function.json": breaking(`{"failures":2,"pause":"00:00:00.030","probes":2}`),
		}})
		h.Send("orders", "a")
		h.Send("orders", "b")
		h.AwaitKind(journal.CircuitOpened)
		h.AwaitKind(journal.CircuitHalfOpened)
		healthy.Store(true)
		h.AwaitKind(journal.CircuitClosed)
	})
	t.Run("reload under load", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.Queue("Work", "work", func(ctx context.Context, m functions.QueueMessage) error {
			if m.DequeueCount == 1 {
				return errBroken
			}
			return functions.Sleep(ctx, time.Millisecond)
		})
		function := func(n int) string {
			return fmt.Sprintf(`{"bindings":[{"type":"queueTrigger","name":"m","queueName":"work"}],"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"01:00:00"}}`, n)
		}
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: app, Files: map[string]string{"Work/function.json": function(1)}})
		const rounds, messages = 10, 16 // no more in work than a listener takes for sure: the threshold
		done := map[string]int{}
		for round := range rounds {
			for i := range messages {
				h.Send("work", fmt.Sprint(i))
			}
			for range messages {
				h.AwaitKind(journal.RetryScheduled) // waits an hour, unless a reload ends it
			}
			// From here nothing is on its way from the queue: a batch that arrives
			// after the stop would stay hidden until its lock ends.
			if err := h.Edit("Work/function.json", function(round+2)); err != nil {
				t.Fatal(err)
			}
			for range messages {
				done[h.AwaitSettled("Work", triggers.Deleted).MessageID]++
			}
		}
		if len(done) != rounds*messages {
			t.Errorf("%d messages were done, want %d", len(done), rounds*messages)
		}
		generation := map[string]int{}
		for _, r := range h.Journal().Records() {
			if r.Delivery == "" {
				continue
			}
			if g, ok := generation[r.Delivery]; ok && g != r.Generation {
				t.Errorf("delivery %s ran on generations %d and %d", r.Delivery, g, r.Generation)
			}
			generation[r.Delivery] = r.Generation
		}
		for id, n := range done {
			if n != 1 {
				t.Errorf("message %s was settled as deleted %d times", id, n)
			}
		}
	})
	t.Run("close in the middle", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{System: true, Handlers: ordersApp(), Files: map[string]string{
			"host.json": hostJSON(`,"retry":{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"01:00:00"}`),
		}})
		for i := range 8 {
			h.Send("orders", fmt.Sprint(i))
		}
		for range 8 {
			h.AwaitKind(journal.RetryScheduled)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		h.WantAttempts("Orders", 8)
		if n := len(h.Settlements("Orders")); n != 8 {
			t.Errorf("%d deliveries were settled, want 8", n)
		}
	})
}
