package hosttest_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
)

// A host that is killed in the middle of a handler: the message stays hidden until
// its visibility timeout ends by the clock, and is then a second delivery. Further
// calls of the handler have no effect.
func TestKillInTheMiddleOfAHandler(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		_ = functions.Sleep(ctx, time.Minute)
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.QueueOutput("out", "done"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "7")
	h.Advance(30 * time.Second)
	h.WantHidden("orders", "7")
	h.Kill()
	h.WantElapsed(30 * time.Second)
	h.WantAttempts("Orders", 0)
	h.WantSettled("Orders")
	h.WantQueue("done")
	h.WantHidden("orders", "7")
	hidden := h.Hidden("orders")[0]
	if hidden.DequeueCount != 1 || !hidden.NextVisible.Equal(hosttest.Start.Add(10*time.Minute)) {
		t.Errorf("hidden until %v after delivery %d", hidden.NextVisible, hidden.DequeueCount)
	}
	h.Send("orders", "8") // while it is down
	h.Advance(time.Minute)
	h.WantAttempts("Orders", 0)

	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Deleted)
	h.WantQueue("done", "8")
	r := h.AwaitSettled("Orders", triggers.Deleted)
	if r.DeliveryCount != 2 || r.Time.Sub(hosttest.Start) < 11*time.Minute {
		t.Errorf("delivery %d of the first message ended at %v", r.DeliveryCount, r.Time)
	}
	h.WantQueue("done", "8", "7")
	h.WantHidden("orders")
	h.WantAttempts("Orders", 2)
}

// A host that is killed in a retry wait begins the delivery anew, with count 0; the
// assertions count the attempts of both runs. A restart lets deliveries in work end
// first.
func TestKillInARetryWait(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functionsThatFail(4, 10*time.Second)})
	h.Send("orders", "7")
	h.Advance(15 * time.Second)
	h.WantDeliveries("Orders", 2)
	h.Kill()
	h.WantDeliveries("Orders", 2)
	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Released)
	h.WantDeliveries("Orders", 2, 5)
	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.WantDeliveries("Orders", 2, 5, 5, 5, 5)
	h.WantQueue("orders-poison", "7")
}

// The time that a policy and a queue let pass between the attempts of one
// message.
func TestWaitsAndDeliveries(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functionsThatFail(1, 10*time.Second), Files: map[string]string{
		"host.json": `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":3,"visibilityTimeout":"00:00:30"}}}`,
	}})
	h.Send("orders", "7")
	h.AwaitSettled("Orders", triggers.Released)
	h.WantHidden("orders", "7")
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.WantDeliveries("Orders", 2, 2, 2)
	waits := h.Waits("Orders")
	h.WantWaits("Orders", 10*time.Second, waits[1], 10*time.Second, waits[3], 10*time.Second)
	for _, i := range []int{1, 3} { // the queue is polled once it is visible
		if waits[i] < 30*time.Second || waits[i] > 91*time.Second {
			t.Errorf("wait %d is %v", i, waits[i])
		}
	}
	var total time.Duration
	for _, w := range waits {
		total += w
	}
	h.WantElapsed(total)
}

// The platform's SDK sends whole seconds of the visibility timeout: less than one is none
// (Azure.Storage.Queues, Update Message).
func TestVisibilityTimeoutIsCut(t *testing.T) {
	t.Parallel()
	waits := func(span string) []time.Duration {
		h := hosttest.New(t, &hosttest.Options{Handlers: functionsThatFail(0, time.Second), Files: map[string]string{
			"host.json": `{"version":"2.0","extensions":{"queues":{"visibilityTimeout":"` + span + `"}}}`,
		}})
		h.Send("orders", "7")
		h.AwaitSettled("Orders", triggers.Poisoned)
		return h.Waits("Orders")
	}
	for cut, span := range map[string]string{"00:00:00": "00:00:00.9", "00:00:01": "00:00:01.9", "00:01:00": "00:01:00.001"} {
		if got, want := waits(span), waits(cut); !slices.Equal(got, want) {
			t.Errorf("%s waits %v, %s waits %v", span, got, cut, want)
		}
	}
}

func functionsThatFail(retries int, delay time.Duration) *functions.App {
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("unavailable") },
		functions.FixedDelay(retries, delay))
	return app
}

// A caller who leaves during a retry wait: the function gets no further attempt.
func TestCallerLeavesInARetryWait(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("Quote", func(_ http.ResponseWriter, r *http.Request) { functions.Fail(r.Context(), errors.New("no quote")) },
		functions.FixedDelay(4, 10*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if resp := h.RequestFor(25*time.Second, "GET", "/api/Quote", ""); resp != nil {
		t.Errorf("answer %v", resp)
	}
	h.WantElapsed(25 * time.Second)
	h.Advance(time.Minute)
	h.WantAttempts("Quote", 3)
	if resp := h.RequestFor(time.Minute, "GET", "/api/Quote", ""); resp == nil || resp.StatusCode != 500 {
		t.Errorf("answer %v, want 500", resp)
	}
	h.WantElapsed(25*time.Second + time.Minute + 40*time.Second)
}

// Locks of Service Bus run out by the clock after a kill; a timer goes on by its status.
func TestKillKeepsLocks(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.ServiceBusQueue("Ship", "parcels", func(ctx context.Context, _ functions.ServiceBusMessage) error {
		return functions.Sleep(ctx, 10*time.Second)
	})
	app.Timer("Tick", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Advance(4*time.Minute + 55*time.Second)
	h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
	h.Advance(2 * time.Second)
	h.Kill()
	if n := len(h.ServiceBusMessages("parcels")); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	h.StartAgain()
	r := h.Await(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted && r.Function == "Ship" })
	if after := r.Time.Sub(hosttest.Start); after < 5*time.Minute+50*time.Second || after > 7*time.Minute || r.DeliveryCount != 2 {
		t.Errorf("delivery %d began after %v", r.DeliveryCount, after)
	}
	if ticks := h.Attempts("Tick"); len(ticks) != 1 || ticks[0].Time.Sub(hosttest.Start) != 5*time.Minute {
		t.Errorf("ticks %v, want one after 5 minutes", ticks)
	}
}

// The handler process of a killed host goes with it, faults of the storage are not asked
// for what it still tries, and an edit while it is down is the next run's.
func TestKillWithAProcess(t *testing.T) {
	t.Parallel()
	opts := process(t, "always-fails", map[string]string{
		"Orders/function.json": queueFunction("orders", `,"retry":{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"00:00:10"}`),
	})
	down := false
	opts.StorageFault = func(p services.StorageFault) error {
		if down && p.Op != "Snapshot" && p.Op != "HiddenMessages" {
			t.Errorf("storage is asked for %s", p.Op)
		}
		return nil
	}
	h := hosttest.New(t, opts)
	h.Send("orders", "7")
	h.Advance(15 * time.Second)
	down = true
	h.Kill()
	h.WantHidden("orders", "7")
	if err := h.Edit("Orders/function.json", queueFunction("orders", "")); err != nil {
		t.Error(err)
	}
	down = false
	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.WantDeliveries("Orders", 2, 1, 1, 1, 1)
}

// A host on the system clock restarts too.
func TestRestartInRealTime(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, System: true})
	h.Send("orders", "7")
	h.AwaitSettled("Orders", triggers.Deleted)
	h.StartAgain()
	h.Kill()
	h.Send("orders", "8")
	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Deleted)
	h.WantDeliveries("Orders", 1, 1)
}

// The end of an earlier run does not fail the test when the host is closed in
// between.
func TestRestartOfAClosedHost(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functionsThatFail(0, 0)})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "7")
	h.StartAgain()
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.Reset()
	h.WantAttempts("Orders", 0)
	h.WantHidden("orders")
	said := fails(t, &hosttest.Options{}, func(h *hosttest.Host) { h.Kill(); h.Kill() })
	if said != "hosttest: Kill: the host does not run: StartAgain starts it\n" {
		t.Errorf("it says %q", said)
	}
}
