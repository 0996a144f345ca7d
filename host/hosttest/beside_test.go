package hosttest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// twoApps are an app that takes orders and one that bills them; both have a function Tick.
func twoApps(tb hosttest.TB) (orders, billing *hosttest.Host) {
	place := functions.New()
	place.HTTP("Place", func(_ http.ResponseWriter, r *http.Request) {
		if err := functions.SetOutput(r.Context(), "out", "7"); err != nil {
			functions.Fail(r.Context(), err)
		}
	}, functions.QueueOutput("out", "bills"))
	bill := functions.New()
	bill.Queue("Bill", "bills", func(context.Context, functions.QueueMessage) error { return errors.New("ledger is closed") },
		functions.FixedDelay(1, time.Minute))
	for _, app := range []*functions.App{place, bill} {
		app.Timer("Tick", "0 0 0 * * *", func(context.Context, functions.TimerInfo) error { return nil })
	}
	orders = hosttest.New(tb, &hosttest.Options{App: "orders", Handlers: place})
	billing = orders.Beside(&hosttest.Options{App: "billing", Handlers: bill, Files: map[string]string{
		"host.json": `{"version": "2.0", "extensions": {"queues": {"maxDequeueCount": 2, "messageEncoding": "none"}}}`,
	}})
	return orders, billing
}

// Two apps run on one clock, with the same services and one journal; each is asked by its own
// name or by that of its app.
func TestAppBesideAnother(t *testing.T) {
	t.Parallel()
	orders, billing := twoApps(t)
	if got := orders.Request("POST", "/api/Place", "").StatusCode; got != 200 {
		t.Errorf("status %d, want 200", got)
	}
	orders.WantAttempts("Bill", 1)
	orders.Advance(time.Minute)
	billing.AwaitSettled("Bill", triggers.Poisoned)
	for _, h := range []*hosttest.Host{orders, billing} {
		for _, name := range []string{"Bill", "billing/Bill", "BILLING/bill"} {
			h.WantAttempts(name, 4)
			h.WantSettled(name, triggers.Released, triggers.Poisoned)
			if got := h.Waits(name); len(got) != 3 || got[0] != time.Minute {
				t.Errorf("%s waited %v", name, got)
			}
			h.WantDeliveries(name, 2, 2)
		}
		h.WantAttempts("orders/Place", 1)
		h.WantQueue("bills")
		if got := h.FullName("Place"); got != "orders/Place" {
			t.Errorf("Place is %q", got)
		}
	}
	if got := orders.Elapsed(); got != billing.Elapsed() {
		t.Errorf("%v have passed for one app, %v for the other", got, billing.Elapsed())
	}
	// A name that both have is one's own.
	orders.Advance(24 * time.Hour)
	orders.WantAttempts("Tick", 1)
	orders.WantAttempts("billing/Tick", 1)
	billing.WantAttempts("Tick", 1)
	if r := billing.Attempts("Tick")[0]; r.Function != "billing/Tick" || r.App != "billing" {
		t.Errorf("the tick is of %q of %q", r.Function, r.App)
	}
	if got := orders.Call("Bill", "8"); got.Err == nil {
		t.Error("the call of another app's function went well")
	}
}

// Faults and points are for the functions of each app, and a dead app leaves the other one
// alive.
func TestDeathBesideAnother(t *testing.T) {
	t.Parallel()
	orders, billing := twoApps(t)
	if err := orders.Inject(faults.Fault{Service: faults.Handler, Entity: "Bill"}); err != nil {
		t.Fatal(err)
	}
	orders.KillAt("Bill", hosttest.BetweenAttempts, 1)
	orders.Request("POST", "/api/Place", "")
	orders.AwaitKilled()
	if got := billing.Attempts("Bill"); len(got) != 1 || !strings.Contains(got[0].Error, "the process of the handler has ended") {
		t.Errorf("attempts %v", got)
	}
	orders.WantHidden("bills", "7")
	if got := orders.Request("POST", "/api/Place", "").StatusCode; got != 200 {
		t.Errorf("the app beside a dead one answers %d", got)
	}
	orders.WantAttempts("billing/Bill", 1)
	billing.StartAgain()
	billing.AwaitSettled("Bill", triggers.Poisoned)
	billing.AwaitSettled("Bill", triggers.Poisoned)
	billing.WantDeliveries("Bill", 1, 2, 2, 2)
	orders.Kill()
	orders.Advance(time.Hour)
	billing.WantAttempts("orders/Place", 2)
	orders.StartAgain()
	orders.Request("POST", "/api/Place", "")
	billing.AwaitSettled("Bill", triggers.Released)
	if err := orders.Close(); err != nil {
		t.Error(err)
	}
	billing.AwaitSettled("Bill", triggers.Poisoned)
}

// The same apps and input give the same journal.
func TestTwoAppsRepeat(t *testing.T) {
	t.Parallel()
	run := func() string {
		orders, billing := twoApps(t)
		orders.Request("POST", "/api/Place", "")
		billing.AwaitSettled("Bill", triggers.Poisoned)
		billing.Kill()
		billing.StartAgain()
		orders.Request("POST", "/api/Place", "")
		orders.Settle()
		var text strings.Builder
		if _, err := orders.Journal().WriteTo(&text); err != nil {
			t.Error(err)
		}
		return text.String()
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Errorf("two runs, two journals (-first +second):\n%s", diff)
	}
}

// What cannot be said of several apps is refused.
func TestMistakesBesideAnother(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call func(orders, billing *hosttest.Host)
		want string
	}{
		"a function of both, from a third": {func(orders, _ *hosttest.Host) {
			orders.Beside(&hosttest.Options{App: "third", Handlers: functions.New()}).WantAttempts("Tick", 0)
		}, `2 apps have a function "Tick"; say which: orders/Tick or billing/Tick`},
		"a function of the other one": {func(orders, _ *hosttest.Host) { orders.WantAttempts("orders/Bill", 0) }, `the app has no function "orders/Bill"`},
		"a slip":                      {func(orders, _ *hosttest.Host) { orders.WantAttempts("billing/Bil", 0) }, `did you mean "billing/Bill"?`},
		"a request of the other one":  {func(_, billing *hosttest.Host) { billing.Request("POST", "/api/Place", "") }, `the app has no function that requests reach`},
		"a queue":                     {func(orders, _ *hosttest.Host) { orders.WantQueue("bils") }, `did you mean "bills"?`},
		"a name twice":                {func(orders, _ *hosttest.Host) { orders.Beside(&hosttest.Options{App: "Orders"}) }, `there is an app "Orders" already`},
		"no name":                     {func(orders, _ *hosttest.Host) { orders.Beside(nil) }, `the app has no name: set Options.App`},
		"a clock of its own":          {func(orders, _ *hosttest.Host) { orders.Beside(&hosttest.Options{App: "third", Shuffle: true}) }, `Options.Shuffle is of the whole run`},
		"instances":                   {func(orders, _ *hosttest.Host) { orders.ScaleOut() }, `an app among several runs in one instance`},
		"a reset":                     {func(orders, _ *hosttest.Host) { orders.Reset() }, `Reset: the services are those of 2 apps`},
		"a point that never comes":    {func(orders, _ *hosttest.Host) { orders.KillAt("Bill", hosttest.AfterHandler, 1) }, `the delivery of billing/Bill at point afterHandler never came`},
		"a function in error": {func(orders, _ *hosttest.Host) {
			orders.Beside(&hosttest.Options{App: "third", Files: map[string]string{"F/function.json": `{"bindings": []}`}})
		}, `function "F" is in error`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := &judged{T: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				test.call(twoApps(j))
			}()
			<-done
			j.end()
			if got := j.said.String(); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, and not %q", got, test.want)
			}
		})
	}
	said := fails(t, nil, func(h *hosttest.Host) { h.Beside(&hosttest.Options{App: "second"}) })
	if !strings.Contains(said, "the first app has no name") {
		t.Errorf("it says %q", said)
	}
}
