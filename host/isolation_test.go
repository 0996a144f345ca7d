package host_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A function whose listener cannot start affects no other, and is in error with
// the words of the service (spec host-and-retry 5.4, spec storage 13).
func TestConnectionOfOneFunction(t *testing.T) {
	t.Parallel()
	app := ordersApp()
	app.Queue("Away", "away", func(context.Context, functions.QueueMessage) error { return nil }, functions.Connection("Missing"))
	app.Queue("Cloud", "cloud", func(context.Context, functions.QueueMessage) error { return nil }, functions.Connection("Cloud"))
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app, Env: []string{"AzureWebJobsCloud=AccountName=prod;AccountKey=secret"}, InError: []string{"Away"},
	})
	h.Send("orders", "x")
	h.AwaitSettled("Orders", triggers.Poisoned)
	var faults []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError }) {
		faults = append(faults, r.Function+": "+r.Error)
	}
	text := strings.Join(faults, "\n")
	for _, want := range []string{"Away: ", "AzureWebJobsMissing", "Cloud: ", "AzureWebJobsCloud"} {
		if !strings.Contains(text, want) {
			t.Errorf("faults do not name %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("a fault shows a key:\n%s", text)
	}
}

// When the caller of an HTTP function goes away its retry loop ends, with the
// last failure (2.6, 9.4).
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("pay", func(_ http.ResponseWriter, r *http.Request) { functions.Fail(r.Context(), errBroken) },
		functions.FixedDelay(5, time.Hour))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	ctx, cancel := context.WithCancel(context.Background())
	group := clock.NewGroup(h.Clock(), 0)
	h.Clock().Do("test", func() {
		group.Go("caller", func() {
			route, err := h.Match(ctx, "GET", "/api/pay")
			if err != nil {
				t.Errorf("Match: %v", err)
				return
			}
			h.Serve(ctx, route, &bindings.HTTPRequest{Method: "GET", URL: "http://localhost/api/pay"})
		})
	})
	h.Advance(90 * time.Minute)
	cancel() // of the real world: it comes in by itself
	if _, err := h.Journal().Wait(t.Context(), func(r *journal.Record) bool { return r.Kind == journal.Settled }); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetryCancelled })); n != 1 {
		t.Errorf("%d retry_cancelled, want one", n)
	}
	h.WantAttempts("pay", 2)
	h.WantSettled("pay", triggers.Responded)
}

// An input that a reload meets goes to the old generation or to the new one and
// is answered in either case; nothing is refused (7.2).
func TestRequestsDuringReload(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("slow", func(w http.ResponseWriter, r *http.Request) {
		if err := functions.Sleep(r.Context(), 2*time.Second); err != nil {
			functions.Fail(r.Context(), err)
			return
		}
		fmt.Fprint(w, "done")
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"host.json": `{"version":"2.0"}`}})
	group := clock.NewGroup(h.Clock(), 0)
	h.Clock().Do("test", func() {
		group.Go("reload", func() {
			_ = h.Clock().Sleep(context.Background(), time.Second)
			if err := h.Restart(context.Background()); err != nil {
				t.Errorf("Restart: %v", err)
			}
		})
	})
	if resp := h.Request("GET", "/api/slow", ""); resp.StatusCode != 200 || string(resp.Body) != "done" {
		t.Errorf("a request across a reload: status %d, body %q", resp.StatusCode, resp.Body)
	}
	if resp := h.Request("GET", "/api/slow", ""); resp.StatusCode != 200 {
		t.Errorf("a request after a reload: status %d", resp.StatusCode)
	}
	got := h.Attempts("slow")
	if len(got) != 2 || got[0].Generation != 1 || got[1].Generation != 2 {
		t.Errorf("attempts %v, want one on each generation", got)
	}
}

// A disabled function answers no request and no message, and runs by hand (5.6).
func TestDisabledFunction(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("off", hello)
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Env: []string{"AzureWebJobs.off.Disabled=true", "AzureWebJobs_Orders_Disabled=1"}})
	if _, err := h.Match(context.Background(), "GET", "/api/off"); !errors.Is(err, host.ErrUnknownFunction) {
		t.Errorf("Match of a disabled function = %v, want ErrUnknownFunction", err)
	}
	h.Send("orders", "x")
	h.Advance(time.Minute)
	h.WantAttempts("Orders", 0)
	h.WantQueue("orders", "x")
	if res := h.Call("Orders", "by hand"); res.Err != nil || res.Attempts != 1 {
		t.Errorf("Call of a disabled function = %+v", res)
	}
}

// After a failed attempt no output is written (spec workers 6.3).
func TestNoOutputsOfAFailure(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		if err := functions.SetOutput(ctx, "out", fmt.Sprintf("attempt %d", functions.Retry(ctx).RetryCount+1)); err != nil {
			return err
		}
		if functions.Retry(ctx).RetryCount == 0 {
			return errBroken
		}
		return nil
	}, functions.QueueOutput("out", "done"), functions.FixedDelay(1, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	h.AwaitSettled("Orders", triggers.Deleted)
	h.WantQueue("done", "attempt 2")
}

// A caller that goes away inside the clock, where nobody waits for the real world,
// ends the loop all the same: no attempt begins without it.
func TestCallerGoesAwayInVirtualTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave    func(h *hosttest.Host, cancel func()) // before the request
		inside   bool                                  // the caller goes during attempt 2
		attempts int
	}{
		"before the request": {leave: func(_ *hosttest.Host, cancel func()) { cancel() }, attempts: 1},
		"during attempt 2":   {inside: true, attempts: 2},
		"in the wait after it": {leave: func(h *hosttest.Host, cancel func()) {
			h.Clock().Do("test", func() { h.Clock().AfterFunc(90*time.Minute, "leave", cancel) })
		}, attempts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			app, attempts := functions.New(), 0
			app.HTTP("pay", func(_ http.ResponseWriter, r *http.Request) {
				if attempts++; attempts == 2 && c.inside {
					cancel()
				}
				functions.Fail(r.Context(), errBroken)
			}, functions.FixedDelay(5, time.Hour))
			h := hosttest.New(t, &hosttest.Options{Handlers: app})
			if c.leave != nil {
				c.leave(h, cancel)
			}
			h.RequestContext(ctx, "GET", "/api/pay", "")
			h.WantAttempts("pay", c.attempts)
			if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetryCancelled })); n != 1 {
				t.Errorf("%d retry_cancelled, want one", n)
			}
			h.WantSettled("pay", triggers.Responded)
		})
	}
}
