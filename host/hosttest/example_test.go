package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// T stands for the *testing.T of a test, so that the examples can run.
type T struct {
	cleanups []func()
	dirs     []string
}

func (t *T) Helper()                         {}
func (t *T) Logf(format string, args ...any) {}
func (t *T) Cleanup(f func())                { t.cleanups = append(t.cleanups, f) }
func (t *T) Errorf(f string, args ...any)    { fmt.Printf(f+"\n", args...) }
func (t *T) Fatalf(f string, args ...any)    { panic(fmt.Sprintf(f, args...)) }
func (t *T) TempDir() string {
	dir, err := os.MkdirTemp("", "hosttest")
	if err != nil {
		panic(err)
	}
	t.dirs = append(t.dirs, dir)
	return dir
}

// end does what package testing does after a test.
func (t *T) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	for _, dir := range t.dirs {
		_ = os.RemoveAll(dir)
	}
}

// A message that always fails, with a policy of 4 retries, 15 minutes apart: 5
// deliveries of 5 attempts, then the poison queue. Five hours pass in no time.
func Example() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 15*time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantAttempts("ProcessOrder", 25)
	h.WantQueue("orders-poison", `{"id":"7"}`)

	fmt.Println(h.Clock().Now().Sub(hosttest.Start).Truncate(time.Minute))
	// Output:
	// 5h0m0s
}

// Advance moves time through every deadline on the way.
func ExampleHost_Advance() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 15*time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	for range 3 {
		fmt.Println(len(h.Attempts("ProcessOrder")), "attempts")
		h.Advance(15 * time.Minute)
	}
	// Output:
	// 1 attempts
	// 2 attempts
	// 3 attempts
}

// The journal is the account of what happened; each record prints as one stable
// line, and Await finds them in order.
func ExampleHost_Await() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		if functions.Retry(ctx).RetryCount == 0 {
			return errors.New("payment service unavailable")
		}
		return nil
	}, functions.FixedDelay(1, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	retry := h.AwaitKind(journal.RetryScheduled)
	fmt.Println("retry", retry.RetryCount(), "of", retry.MaxRetryCount, "in", retry.Delay)
	ended := h.Await(func(r *journal.Record) bool { return r.Kind == journal.AttemptEnded })
	fmt.Println("attempt", ended.Attempt, ended.Status, "at", ended.Time.Format("15:04:05"))

	for _, r := range h.Journal().Records() {
		if r.Function == "ProcessOrder" {
			fmt.Println(strings.TrimSpace(string(r.Kind) + " " + r.Decision))
		}
	}
	// Output:
	// retry 1 of 1 in 1m0s
	// attempt 2 succeeded at 00:01:00
	// received
	// attempt_started
	// attempt_ended
	// retry_scheduled
	// attempt_started
	// attempt_ended
	// settled deleted
}

// Edit saves a file of the app and reloads it; an edit that is wrong is refused
// and the running generation stays.
func ExampleHost_Edit() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	function := func(retry string) string {
		return `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"}],"retry":` + retry + `}`
	}

	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"ProcessOrder/function.json": function(`null`),
	}})
	fmt.Println("generation", h.Generation())

	fmt.Println(h.Edit("ProcessOrder/function.json", function(`{}`)) != nil, "generation", h.Generation())

	err := h.Edit("ProcessOrder/function.json", function(`{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"00:00:10"}`))
	fmt.Println(err, "generation", h.Generation())
	// Output:
	// generation 1
	// true generation 1
	// <nil> generation 2
}

// Call runs a function by hand, as the admin API does: the policy applies, and no
// queue counts anything.
func ExampleHost_Call() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(_ context.Context, m functions.QueueMessage) error {
		return fmt.Errorf("no stock for %s", m.Text())
	}, functions.FixedDelay(2, time.Hour))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	res := h.Call("ProcessOrder", "7")
	fmt.Println(res.Attempts, "attempts:", res.Err)
	// Output:
	// 3 attempts: function "ProcessOrder": *errors.errorString: no stock for 7
}

// Kill ends the host as kill -9 does, StartAgain starts it on the same data. The message in
// work stays hidden until the clock ends that, and comes as another delivery.
func ExampleHost_Kill() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		fmt.Println("delivery", m.DequeueCount, "retry", functions.Retry(ctx).RetryCount)
		if m.DequeueCount == 1 {
			return errors.New("payment service unavailable")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	h.Advance(time.Minute)
	h.Kill()
	h.WantHidden("orders", "x")
	h.StartAgain()
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	h.WantDeliveries("ProcessOrder", 2, 1) // of both runs
	// Output:
	// delivery 1 retry 0
	// delivery 1 retry 1
	// delivery 2 retry 0
}

// ScaleOut runs a second instance on the same services. When the first one is killed in
// the middle of a message, the second has it once the lock has ended.
func ExampleHost_ScaleOut() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.ServiceBusQueue("Ship", "parcels", func(ctx context.Context, m functions.ServiceBusMessage) error {
		fmt.Println("delivery", m.DeliveryCount)
		return functions.Sleep(ctx, 10*time.Second)
	})

	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true})
	first.SendServiceBus("parcels", &servicebus.Message{Body: []byte("7")})
	first.Advance(5 * time.Second)
	second := first.ScaleOut()
	first.Kill()
	second.AwaitSettled("Ship", triggers.Completed)
	fmt.Println("after", second.Elapsed())
	// Output:
	// delivery 1
	// delivery 2
	// after 1m10s
}

// WantDeliveries, WantWaits and WantElapsed say how often, when, and for how long.
func ExampleHost_WantWaits() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.EventHub("Meter", "readings", func(context.Context, functions.EventHubEvent) error {
		return errors.New("no reading")
	}, functions.ExponentialBackoff(3, 10*time.Second, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app, Seed: 1}) // the seed decides the jitter
	h.SendEvents("readings", "meter-1", "bad")
	h.AwaitSettled("Meter", triggers.Checkpointed)
	h.WantDeliveries("Meter", 4)
	waits := h.Waits("Meter")
	h.WantWaits("Meter", 10*time.Second, waits[1], waits[2])
	h.WantElapsed(waits[0] + waits[1] + waits[2])
	fmt.Println(waits[1] >= 16*time.Second && waits[1] <= 24*time.Second)
	// Output:
	// true
}

// RequestFor is a request of a caller who does not wait for ever.
func ExampleHost_RequestFor() {
	t := new(T) // in a test: its *testing.T
	defer t.end()

	app := functions.New()
	app.HTTP("Quote", func(_ http.ResponseWriter, r *http.Request) {
		functions.Fail(r.Context(), errors.New("no quote"))
	}, functions.FixedDelay(4, 10*time.Second))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	fmt.Println(h.RequestFor(15*time.Second, "GET", "/api/Quote", ""))
	h.WantAttempts("Quote", 2)
	h.WantElapsed(15 * time.Second)
	// Output:
	// <nil>
}
