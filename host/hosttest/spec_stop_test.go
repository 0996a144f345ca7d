package hosttest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
)

// A call by hand that meets a reload keeps its loop for 10 s and then ends with
// the last failure (D-14). No attempt of it runs on the new generation, nor on
// the old one afterwards.
func TestCallByHandMeetsReload(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.FixedDelay(-1, 4*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.InvokeAsync(context.Background(), "Orders", "x"); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:01:00"}`); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Hour)
	cancelled := h.AwaitKind(journal.RetryCancelled)
	if got := cancelled.Time.Sub(hosttest.Start); got != 11*time.Second || cancelled.Generation != 1 {
		t.Errorf("the loop ended after %v in generation %d, want 11s and 1", got, cancelled.Generation)
	}
	h.WantAttempts("Orders", 3) // after 0, 4 and 8 s
	h.WantSettled("Orders", triggers.Responded)
}

// A call by hand whose caller goes away, or whose host stops, ends as one of HTTP.
func TestCallByHandMeetsStop(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.FixedDelay(-1, 4*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.InvokeAsync(context.Background(), "Orders", "x"); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.WantSettled("Orders", triggers.Responded)
	if stopped := h.AwaitKind(journal.HostStopped); stopped.Time.Sub(hosttest.Start) != 11*time.Second {
		t.Errorf("the host stopped at %v, want the end of the grace", stopped.Time)
	}
}

// A stop waits 10 s for a running attempt, and then ends it (7.3).
func TestStopEndsAttempts(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Long", "long", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, time.Hour)
	})
	app.Queue("Short", "short", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, 9*time.Second)
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("long", "x")
	h.Send("short", "x")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.WantSettled("Long", triggers.Released)
	h.WantSettled("Short", triggers.Deleted)
}

// A drain lets retry loops go on that never end; a stop or a resume after it gives them
// the 10 s that every stop has (7.3). None counts as a success: each source hands its
// delivery out again.
func TestStopAfterDrain(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *hosttest.Host) error{
		"stop":   (*hosttest.Host).Close,
		"resume": func(h *hosttest.Host) error { return h.Resume(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := functions.FixedDelay(-1, time.Hour)
			app := functions.New()
			app.Queue("Queue", "orders", func(context.Context, functions.QueueMessage) error { return errBroken }, policy)
			app.ServiceBusQueue("Bus", "bus", func(context.Context, functions.ServiceBusMessage) error { return errBroken }, policy)
			app.CosmosDB("Feed", "shop", "feed", func(context.Context, []functions.CosmosDocument) error { return errBroken }, policy, functions.CreateLeases())
			app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errBroken }, policy)
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp("")})
			h.CreateCosmos("shop", "feed")
			h.Advance(10 * time.Second) // the listener has found it
			h.Send("orders", "x")
			h.SendServiceBus("bus", &servicebus.Message{Body: []byte("x")})
			h.WriteCosmos("shop", "feed", `{"id":"x"}`)
			h.PublishEvents("shop", shopEvent("x"))
			if err := h.Drain(context.Background()); err != nil {
				t.Fatal(err)
			}
			h.Advance(time.Minute)
			if s, err := h.DrainStatus(); err != nil || s.OutstandingRetries != 4 {
				t.Fatalf("drain %+v, %v: want four loops", s, err)
			}
			asked := h.Clock().Now()
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			if name == "resume" {
				h.Advance(10 * time.Second)
			}
			for function, want := range map[string]triggers.Decision{
				"Queue": triggers.Released, "Bus": triggers.Abandoned, "Feed": triggers.NotCheckpointed, "OnOrder": triggers.Responded,
			} {
				s := h.Settlements(function)
				if len(s) != 1 || s[0].Decision != string(want) || s[0].Time.Sub(asked) > 10*time.Second {
					t.Errorf("%s: settlements %v, want %s within 10 s", function, s, want)
				}
			}
		})
	}
}

// A request that a drain has left alone has the same 10 s as others once the host is
// resumed, also while its handler runs (7.3).
func TestResumeEndsRequests(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("slow", func(_ http.ResponseWriter, r *http.Request) {
		if err := functions.Sleep(r.Context(), 25*time.Minute); err != nil {
			functions.Fail(r.Context(), err)
		}
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	group := clock.NewGroup(h.Clock(), 0)
	h.Clock().Do("test", func() {
		group.Go("caller", func() {
			route, err := h.Match(context.Background(), "GET", "/api/slow")
			if err != nil {
				t.Errorf("Match: %v", err)
				return
			}
			h.Serve(context.Background(), route, &bindings.HTTPRequest{Method: "GET", URL: "http://localhost/api/slow"})
		})
	})
	h.Advance(time.Second)
	if err := h.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Minute)
	asked := h.Clock().Now()
	if err := h.Resume(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.Advance(30 * time.Minute)
	if s := h.Settlements("slow"); len(s) != 1 || s[0].Time.Sub(asked) != 10*time.Second {
		t.Errorf("settlements %v, want one 10 s after the resume at %v", s, asked)
	}
}

// A listener that failed again and again and then ran well begins its back-off anew.
func TestListenerBackoffBeginsAnew(t *testing.T) {
	t.Parallel()
	broken := true
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app,
		StorageFault: func(p services.StorageFault) error {
			if broken && p.Queue == "orders" && !p.After {
				return errBroken
			}
			return nil
		},
	})
	delays := func() (out []time.Duration) {
		for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError && r.HasDelay }) {
			out = append(out, r.Delay)
		}
		return out
	}
	h.Advance(10 * time.Minute)
	before := delays()
	if last := before[len(before)-1]; last < time.Minute {
		t.Fatalf("after 10 min of failures the wait is %v, want over a minute: %v", last, before)
	}
	broken = false
	h.Advance(10 * time.Minute)
	broken = true
	h.Advance(5 * time.Second)
	if after := delays(); len(after) <= len(before) || after[len(before)] > 5*time.Second {
		t.Errorf("after a good run the waits are %v, want one from the beginning of the series; before %v", after[len(before):], before)
	}
}
