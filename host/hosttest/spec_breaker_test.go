package hosttest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// breakerApp has one queue function under a circuit breaker that opens at the
// first failure.
func breakerApp(t *testing.T, fail *bool, maxDequeueCount, probes int) *hosttest.Host {
	t.Helper()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
		if *fail {
			return errBroken
		}
		return nil
	})
	return hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json": fmt.Sprintf(`{"version":"2.0","extensions":{"queues":{"maxDequeueCount":%d}}}`, maxDequeueCount),
		"Orders/function.json": queueFunction("orders",
			fmt.Sprintf(`,"redeliver":{"circuitBreaker":{"failures":1,"pause":"00:10:00","probes":%d}}`, probes)),
	}})
}

// A half-open breaker keeps its probes while nothing comes (14.2): an empty poll
// is no delivery.
func TestHalfOpenWaitsForDeliveries(t *testing.T) {
	t.Parallel()
	fail := true
	h := breakerApp(t, &fail, 1, 1)
	h.Send("orders", "poison at once")
	h.AwaitKind(journal.CircuitOpened)
	h.Advance(time.Hour)
	fail = false
	h.Send("orders", "y")
	h.AwaitKind(journal.CircuitClosed)
	h.AwaitSettled("Orders", triggers.Deleted)
}

// A body that cannot be decoded never runs, so it takes no probe.
func TestUndecodableTakesNoProbe(t *testing.T) {
	t.Parallel()
	fail := true
	h := breakerApp(t, &fail, 1, 1)
	h.Send("orders", "poison at once")
	h.AwaitKind(journal.CircuitOpened)
	h.Advance(time.Hour)
	fail = false
	h.SendRaw("orders", "not base64!")
	h.AwaitSettled("Orders", triggers.Undecodable)
	h.Send("orders", "y")
	h.AwaitKind(journal.CircuitClosed)
}

// A half-open breaker lets as many deliveries through as it has probes, though a
// whole batch waits (14.2).
func TestProbesLimitTheBatch(t *testing.T) {
	t.Parallel()
	for _, probes := range []int{1, 3} {
		t.Run(fmt.Sprint(probes), func(t *testing.T) {
			t.Parallel()
			fail := true
			h := breakerApp(t, &fail, 100, probes)
			for i := range 8 {
				h.Send("orders", fmt.Sprint(i))
			}
			half := h.AwaitKind(journal.CircuitHalfOpened)
			h.Advance(5 * time.Minute)
			if got := attemptsSince(h, half.Seq); got != probes {
				t.Errorf("%d deliveries went through half-open, want %d", got, probes)
			}
			fail = false
			half = h.AwaitKind(journal.CircuitHalfOpened)
			closed := h.AwaitKind(journal.CircuitClosed)
			if got := attemptsSince(h, half.Seq) - attemptsSince(h, closed.Seq); got != probes {
				t.Errorf("the breaker closed after %d deliveries, want %d", got, probes)
			}
			h.Advance(time.Minute)
			deleted := h.Select(func(r *journal.Record) bool { return r.Decision == string(triggers.Deleted) })
			if len(deleted) != 8 {
				t.Errorf("%d messages were deleted after the breaker closed, want all 8", len(deleted))
			}
		})
	}
}

// With every service, nothing is received while the circuit is open, not even by a
// listener that waits for more. The probe goes to a listener that has something for
// it (14.2).
func TestBreakerOfEveryService(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, binding string
		send          func(h *hosttest.Host, body string)
		counts        bool // the service counts deliveries
	}{
		{"queue", `"type":"queueTrigger","queueName":"orders"`, func(h *hosttest.Host, body string) { h.Send("orders", body) }, true},
		{"Service Bus", `"type":"serviceBusTrigger","queueName":"orders"`, sendBus, true},
		{"Service Bus batch", `"type":"serviceBusTrigger","queueName":"orders","cardinality":"many"`, sendBus, true},
		{"Event Hubs", `"type":"eventHubTrigger","eventHubName":"orders","cardinality":"one"`, sendHub, false},
		{"Event Hubs batch", `"type":"eventHubTrigger","eventHubName":"orders","cardinality":"many"`, sendHub, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fail, runs := true, 0
			app := functions.New()
			app.Handle("Orders", func(context.Context, *functions.Trigger) error {
				if runs++; fail {
					return errBroken
				}
				return nil
			})
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
				"Orders/function.json": `{"bindings":[{"name":"m",` + tt.binding + `}],"redeliver":{"circuitBreaker":{"failures":2,"pause":"00:10:00"}}}`,
			}})
			h.Advance(time.Minute)
			tt.send(h, "a")
			if !tt.counts { // what fails does not come again
				tt.send(h, "b")
			}
			opened := h.AwaitKind(journal.CircuitOpened)
			h.Advance(time.Minute)
			for _, body := range []string{"c", "d", "e"} {
				tt.send(h, body)
			}
			h.Advance(time.Minute)
			if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:06:00"}`); err != nil {
				t.Fatal(err)
			}
			h.Advance(7 * time.Minute)
			if n := attemptsSince(h, opened.Seq); n != 0 || runs != 2 {
				t.Errorf("%d attempts, %d of them while the circuit was open; want 2 and none", runs, n)
			}
			fail = false
			h.AwaitKind(journal.CircuitClosed)
			h.Advance(time.Minute)
			if got := h.Clock().Now().Sub(opened.Time); got > 12*time.Minute {
				t.Errorf("closed %v after it had opened", got)
			}
			if n := attemptsSince(h, opened.Seq); n == 0 {
				t.Error("no attempts after the circuit had closed")
			}
		})
	}
}

// A function in code has its circuit breaker from its registration, whatever triggers it,
// and function.json would win (14.2).
func TestBreakerInCode(t *testing.T) {
	t.Parallel()
	breaker := functions.CircuitBreaker(1, 10*time.Minute, 1)
	app := functions.New()
	app.Queue("Queue", "orders", func(context.Context, functions.QueueMessage) error { return errBroken }, breaker)
	app.Blob("Blob", "uploads/{name}", func(context.Context, functions.Blob) error { return errBroken }, breaker)
	app.ServiceBusQueue("Bus", "bus", func(context.Context, functions.ServiceBusMessage) error { return errBroken }, breaker)
	app.EventHub("Hub", "hub", func(context.Context, functions.EventHubEvent) error { return errBroken }, breaker)
	app.CosmosDB("Feed", "shop", "feed", func(context.Context, []functions.CosmosDocument) error { return errBroken }, breaker, functions.CreateLeases())
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errBroken }, breaker)
	app.Timer("Timer", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return errBroken }, breaker)
	app.HTTP("Web", func(_ http.ResponseWriter, r *http.Request) { functions.Fail(r.Context(), errBroken) }, breaker)
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp("")})
	h.CreateCosmos("shop", "feed")
	h.Advance(10 * time.Second) // the listener has found it
	h.Send("orders", "x")
	h.Upload("uploads/x", "x")
	h.SendServiceBus("bus", &servicebus.Message{Body: []byte("x")})
	h.SendEvents("hub", "k", "x")
	h.WriteCosmos("shop", "feed", `{"id":"x"}`)
	h.PublishEvents("shop", shopEvent("x"))
	h.Request("GET", "/api/Web", "")
	h.Advance(6 * time.Minute)
	opened := map[string]int{}
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.CircuitOpened }) {
		opened[r.Function]++
	}
	for _, function := range []string{"Queue", "Blob", "Bus", "Hub", "Feed", "OnOrder", "Timer", "Web"} {
		if opened[function] != 1 {
			t.Errorf("%s: the circuit opened %d times, want once", function, opened[function])
		}
		h.WantAttempts(function, 1)
	}
}

func sendBus(h *hosttest.Host, body string) {
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte(body)})
}

func sendHub(h *hosttest.Host, body string) { h.SendEvents("orders", "same partition", body) }

// attemptsSince counts the attempts that began after a record.
func attemptsSince(h *hosttest.Host, seq uint64) int {
	return len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted && r.Seq > seq }))
}
