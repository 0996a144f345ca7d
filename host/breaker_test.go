package host_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// breaking is a function.json of a queue function with a circuit breaker.
func breaking(conf string) string {
	return fmt.Sprintf(`{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"}],"redeliver":{"circuitBreaker":%s}}`, conf)
}

// oneAtATime makes a queue function work on one message after the other, so
// that "consecutive" means something, without a poison queue in the way.
const oneAtATime = `{"version":"2.0","extensions":{"queues":{"batchSize":1,"newBatchThreshold":0,"maxDequeueCount":1000}}}`

// changes are the breaker's changes of state, with the time since the start.
func changes(h *hosttest.Host) []string {
	var out []string
	for _, r := range h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.CircuitOpened || r.Kind == journal.CircuitHalfOpened || r.Kind == journal.CircuitClosed
	}) {
		out = append(out, fmt.Sprintf("%s %v", r.Kind, r.Time.Sub(hosttest.Start)))
	}
	return out
}

// The table of spec host-and-retry 14.2 for a queue.
func TestCircuitBreaker(t *testing.T) {
	t.Parallel()
	// start runs a function that fails for the bodies that are in failing.
	start := func(t *testing.T, conf string, failing map[string]bool) *hosttest.Host {
		t.Helper()
		app := functions.New()
		app.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
			if failing[m.Text()] {
				return errBroken
			}
			return nil
		})
		return hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
			"host.json": oneAtATime, "Orders/function.json": breaking(conf),
		}})
	}
	t.Run("success resets the count", func(t *testing.T) {
		t.Parallel()
		attempts := 0
		app := functions.New()
		app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
			if attempts++; attempts == 3 || attempts == 6 {
				return nil
			}
			return errBroken
		})
		h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
			"host.json": oneAtATime, "Orders/function.json": breaking(`{"failures":3,"pause":"00:10:00"}`),
		}})
		for range 3 {
			h.Send("orders", "x")
		}
		h.AwaitKind(journal.CircuitOpened)
		h.WantAttempts("Orders", 9)
	})
	t.Run("open takes nothing and no count moves", func(t *testing.T) {
		t.Parallel()
		failing := map[string]bool{"bad": true}
		h := start(t, `{"failures":2,"pause":"00:10:00"}`, failing)
		h.Send("orders", "bad")
		opened := h.AwaitKind(journal.CircuitOpened)
		if opened.Delay != 10*time.Minute || opened.Function != "Orders" {
			t.Errorf("circuit_opened = %v", opened)
		}
		h.Send("orders", "good")
		h.Advance(10*time.Minute - time.Second - h.Clock().Now().Sub(opened.Time))
		h.WantAttempts("Orders", 2)
		for _, m := range h.Messages("orders") {
			if body := m.Text; m.DequeueCount > 2 {
				t.Errorf("message %q was dequeued %d times", body, m.DequeueCount)
			}
		}
		if n := len(h.Messages("orders")); n != 2 {
			t.Errorf("%d messages are visible while the circuit is open, want both", n)
		}
	})
	t.Run("half-open closes after its probes", func(t *testing.T) {
		t.Parallel()
		failing := map[string]bool{"bad": true}
		h := start(t, `{"failures":1,"pause":"00:10:00","probes":2}`, failing)
		h.Send("orders", "bad")
		h.AwaitKind(journal.CircuitOpened)
		for range 4 {
			h.Send("orders", "good")
		}
		delete(failing, "bad")
		closed := h.AwaitKind(journal.CircuitClosed)
		before := 0
		for _, r := range h.Attempts("Orders") {
			if r.Seq < closed.Seq {
				before++
			}
		}
		if before != 3 {
			t.Errorf("%d attempts until it closed, want the failure and 2 probes", before)
		}
		h.Advance(time.Second)
		h.WantAttempts("Orders", 6)
	})
	t.Run("half-open lets no batch through", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{
			"host.json":            `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":1000}}}`,
			"Orders/function.json": breaking(`{"failures":3,"pause":"00:10:00","probes":2}`),
		}})
		h.Send("orders", "x")
		h.AwaitKind(journal.CircuitOpened)
		for range 40 {
			h.Send("orders", "x")
		}
		half := h.AwaitKind(journal.CircuitHalfOpened)
		h.Advance(time.Minute)
		probes := 0
		for _, r := range h.Attempts("Orders") {
			if r.Seq > half.Seq {
				probes++
			}
		}
		if probes < 1 || probes > 2 {
			t.Errorf("%d deliveries were let through, want at most 2 probes", probes)
		}
	})
	t.Run("half-open opens again", func(t *testing.T) {
		t.Parallel()
		failing := map[string]bool{"bad": true}
		h := start(t, `{"failures":3,"pause":"00:10:00"}`, failing)
		h.Send("orders", "bad")
		h.Advance(25 * time.Minute)
		want := []string{"circuit_opened", "circuit_half_opened", "circuit_opened", "circuit_half_opened", "circuit_opened"}
		var got []string
		for _, c := range changes(h) {
			var kind, at string
			fmt.Sscan(c, &kind, &at)
			got = append(got, kind)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("changes of state (-got +want):\n%s", diff)
		}
		h.WantAttempts("Orders", 5) // three, and one for each half-open state
	})
	t.Run("retries count as one delivery", func(t *testing.T) {
		t.Parallel()
		app := ordersApp()
		h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
			"host.json":            oneAtATime,
			"Orders/function.json": `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"}],"retry":{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"00:00:01"},"redeliver":{"circuitBreaker":{"failures":2,"pause":"00:10:00"}}}`,
		}})
		h.Send("orders", "x")
		h.AwaitKind(journal.CircuitOpened)
		h.WantAttempts("Orders", 10)
	})
}

// A reload of the same function keeps the state; a breaker with other numbers
// is another one (14.2).
func TestCircuitBreakerReload(t *testing.T) {
	t.Parallel()
	const conf = `{"failures":2,"pause":"00:10:00"}`
	h := hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{
		"host.json": oneAtATime, "Orders/function.json": breaking(conf),
	}})
	h.Send("orders", "x")
	opened := h.AwaitKind(journal.CircuitOpened)
	h.Advance(time.Minute)
	if err := h.Edit("Orders/function.json", breaking(conf)+"\n\n"); err != nil {
		t.Fatal(err)
	}
	if err := h.Edit("Orders/function.json", `{"disabled":false,`+breaking(conf)[1:]); err != nil {
		t.Fatal(err)
	}
	if h.Generation() < 2 {
		t.Fatal("the edits made no generation")
	}
	h.Advance(8 * time.Minute)
	h.WantAttempts("Orders", 2)
	half := h.AwaitKind(journal.CircuitHalfOpened)
	if got := half.Time.Sub(opened.Time); got != 10*time.Minute {
		t.Errorf("half-open after %v, want the 10 min of the pause", got)
	}
	if half.Generation != h.Generation() {
		t.Errorf("half-open on generation %d, want %d", half.Generation, h.Generation())
	}
	h.AwaitKind(journal.CircuitOpened)
	n := len(h.Attempts("Orders"))
	if err := h.Edit("Orders/function.json", breaking(`{"failures":5,"pause":"00:10:00"}`)); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	h.WantAttempts("Orders", n+5)
}

// A reload that ends retry loops opens no circuit, and does not use up a probe (14.2,
// D-14).
func TestCircuitBreakerOfACancelledLoop(t *testing.T) {
	t.Parallel()
	function := func(delay string) string {
		return `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"}],
			"retry":{"strategy":"fixedDelay","maxRetryCount":3,"delayInterval":"` + delay + `"},
			"redeliver":{"circuitBreaker":{"failures":1,"pause":"00:10:00"}}}`
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: ordersApp(), Files: map[string]string{
		"host.json": oneAtATime, "Orders/function.json": function("01:00:00"),
	}})
	h.Send("orders", "x")
	h.AwaitKind(journal.RetryScheduled)
	if err := h.Edit("Orders/function.json", function("02:00:00")); err != nil {
		t.Fatal(err)
	}
	h.AwaitKind(journal.RetryCancelled)
	h.Advance(time.Second)
	if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.CircuitOpened })); n != 0 {
		t.Error("the reload has opened the circuit")
	}
	h.AwaitKind(journal.CircuitOpened) // four attempts on the new generation
	h.AwaitKind(journal.CircuitHalfOpened)
	h.AwaitKind(journal.RetryScheduled) // of the probe
	if err := h.Edit("Orders/function.json", function("03:00:00")); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	probes := h.Select(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted && r.Generation == 3 })
	if len(probes) != 1 {
		t.Errorf("%d attempts on the third generation, want another probe", len(probes))
	}
}

// HTTP answers 503 with the time that is left while the circuit is open (14.2).
func TestCircuitBreakerHTTP(t *testing.T) {
	t.Parallel()
	fail := true
	app := functions.New()
	app.HTTP("pay", func(w http.ResponseWriter, r *http.Request) {
		if fail {
			functions.Fail(r.Context(), errBroken)
			return
		}
		fmt.Fprint(w, "paid")
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"pay/function.json": `{"bindings":[{"type":"httpTrigger","name":"req"},{"type":"http","direction":"out","name":"$return"}],"redeliver":{"circuitBreaker":{"failures":2,"pause":"00:01:30"}}}`,
	}})
	want := func(status int, retryAfter string) {
		t.Helper()
		resp := h.Request("GET", "/api/pay", "")
		if resp.StatusCode != status || resp.Header.Get("Retry-After") != retryAfter {
			t.Errorf("status %d, Retry-After %q; want %d and %q", resp.StatusCode, resp.Header.Get("Retry-After"), status, retryAfter)
		}
	}
	want(500, "")
	want(500, "")
	want(503, "90")
	h.Advance(30*time.Second + 500*time.Millisecond)
	want(503, "60") // 59.5 s, rounded up
	h.WantAttempts("pay", 2)
	h.Advance(time.Minute)
	want(500, "") // the probe
	want(503, "90")
	h.Advance(90 * time.Second)
	fail = false
	want(200, "")
	want(200, "")
	if diff := cmp.Diff(changes(h), []string{
		"circuit_opened 0s", "circuit_half_opened 1m30.5s", "circuit_opened 1m30.5s", "circuit_half_opened 3m0.5s", "circuit_closed 3m0.5s",
	}); diff != "" {
		t.Errorf("changes of state (-got +want):\n%s", diff)
	}
}

// Ticks that fall into the open state are skipped and recorded (14.2).
func TestCircuitBreakerTimer(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Timer("Tick", "0 * * * * *", func(context.Context, functions.TimerInfo) error { return errBroken })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"Tick/function.json": `{"bindings":[{"type":"timerTrigger","name":"t","schedule":"0 * * * * *"}],"redeliver":{"circuitBreaker":{"failures":2,"pause":"00:02:30"}}}`,
	}})
	h.Advance(6*time.Minute + time.Second)
	var ran []string
	for _, r := range h.Attempts("Tick") {
		ran = append(ran, r.Time.Sub(hosttest.Start).String())
	}
	if diff := cmp.Diff(ran, []string{"1m0s", "2m0s", "5m0s"}); diff != "" {
		t.Errorf("ticks that ran (-got +want):\n%s", diff)
	}
	var settled []string
	for _, r := range h.Settlements("Tick") {
		settled = append(settled, r.Decision)
		if skipped := r.Message != ""; skipped != (r.Time.Sub(hosttest.Start) == 3*time.Minute || r.Time.Sub(hosttest.Start) == 4*time.Minute || r.Time.Sub(hosttest.Start) == 6*time.Minute) {
			t.Errorf("settled at %v with note %q", r.Time.Sub(hosttest.Start), r.Message)
		}
	}
	if len(settled) != 6 {
		t.Errorf("%d ticks are recorded, want 6", len(settled))
	}
}

// A request of Event Grid that brings no events, such as the handshake of a subscription,
// runs nothing: it is answered whatever the state, and uses up no probe (14.2).
func TestCircuitBreakerEventGridHandshake(t *testing.T) {
	t.Parallel()
	fail := true
	app := functions.New()
	app.EventGrid("On", func(context.Context, functions.EventGridEvent) error {
		if fail {
			return errBroken
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"On/function.json": `{"bindings":[{"type":"eventGridTrigger","name":"e"}],"redeliver":{"circuitBreaker":{"failures":1,"pause":"00:01:00"}}}`,
	}})
	const event = `[{"id":"1","topic":"t","subject":"s","eventType":"T","eventTime":"2026-01-05T08:00:00Z","dataVersion":"1","data":{"validationCode":"c"}}]`
	want := func(kind string, status int) {
		t.Helper()
		got := h.ServeHook(context.Background(), "eventgrid", "On", &bindings.HTTPRequest{
			Method: "POST", URL: "http://localhost/runtime/webhooks/eventgrid?functionName=On",
			Header: http.Header{"Aeg-Event-Type": {kind}}, Body: []byte(event),
		})
		if got.StatusCode != status {
			t.Errorf("%s: status %d, want %d", kind, got.StatusCode, status)
		}
	}
	want("Notification", 500) // opens the circuit
	want("Notification", 503)
	want("SubscriptionValidation", 200)
	h.Advance(time.Minute)
	for range 3 {
		want("SubscriptionValidation", 200)
		want("nonsense", 400)
	}
	fail = false
	want("Notification", 202)
	want("Notification", 202)
	if got := changes(h); len(got) != 3 {
		t.Errorf("changes of state: %q, want opened, half-opened, closed", got)
	}
}

// Half-open, a request of Event Grid with several events runs as many of them as there are
// probes; the others run when the circuit closes, and not when it opens again (14.2).
func TestCircuitBreakerEventGridRequest(t *testing.T) {
	t.Parallel()
	fail := true
	app := functions.New()
	app.EventGrid("On", func(context.Context, functions.EventGridEvent) error {
		if fail {
			return errBroken
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"On/function.json": `{"bindings":[{"type":"eventGridTrigger","name":"e"}],"redeliver":{"circuitBreaker":{"failures":1,"pause":"00:01:00","probes":2}}}`,
	}})
	var events []string
	for i := range 5 {
		events = append(events, fmt.Sprintf(`{"id":"%d","topic":"t","subject":"s","eventType":"T","eventTime":"2026-01-05T08:00:00Z","dataVersion":"1","data":{}}`, i))
	}
	// request returns how many events of a request ran, by the state it ends in.
	request := func(status int) int {
		t.Helper()
		count := func(k journal.Kind) int {
			return len(h.Select(func(r *journal.Record) bool { return r.Kind == k }))
		}
		ran, settled := count(journal.AttemptStarted), count(journal.Settled)
		got := h.ServeHook(context.Background(), "eventgrid", "On", &bindings.HTTPRequest{
			Method: "POST", URL: "http://localhost/runtime/webhooks/eventgrid?functionName=On",
			Header: http.Header{"Aeg-Event-Type": {"Notification"}}, Body: []byte("[" + strings.Join(events, ",") + "]"),
		})
		if got.StatusCode != status {
			t.Errorf("status %d, want %d", got.StatusCode, status)
		}
		ran, settled = count(journal.AttemptStarted)-ran, count(journal.Settled)-settled
		if settled != ran {
			t.Errorf("%d events are settled, want the %d that ran", settled, ran)
		}
		return ran
	}
	if got := request(500); got != 5 {
		t.Errorf("%d events ran while the circuit was closed, want all 5", got)
	}
	h.Advance(time.Minute)
	if got := request(500); got != 2 {
		t.Errorf("%d events ran half-open, want the 2 probes", got)
	}
	h.Advance(time.Minute)
	fail = false
	if got := request(202); got != 5 {
		t.Errorf("%d events ran when the probes passed, want all 5", got)
	}
	if got := changes(h); len(got) != 5 {
		t.Errorf("changes of state: %q, want opened, half-opened, opened, half-opened, closed", got)
	}
}
