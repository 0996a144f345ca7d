package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

const deadLetters = "orders/$DeadLetterQueue"

func serviceBusApp(h functions.ServiceBusHandler, opts ...functions.ServiceBusOption) *functions.App {
	app := functions.New()
	app.ServiceBusQueue("ProcessOrder", "orders", h, opts...)
	return app
}

// The founding example: ten deliveries of five attempts each, then the dead-letter
// queue (spec messaging 0.1, rules 4 and 5).
func TestServiceBusFiftyAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		retries int
		set     []string
	}{
		{"4 retries", 4, nil},
		{"5 as documented", 5, []string{"retryCounting=documented"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			h := hosttest.New(t, &hosttest.Options{Set: test.set, Handlers: serviceBusApp(func(ctx context.Context, m functions.ServiceBusMessage) error {
				got = append(got, fmt.Sprintf("%d/%d", m.DeliveryCount, functions.Retry(ctx).RetryCount))
				return errors.New("out of stock")
			}, functions.FixedDelay(test.retries, 30*time.Second))})
			h.SendServiceBus("orders", &servicebus.Message{Body: []byte(`{"id":"7"}`), MessageID: "m7"})
			for range 10 {
				h.AwaitSettled("ProcessOrder", triggers.Abandoned)
			}
			var want []string
			for delivery := 1; delivery <= 10; delivery++ {
				for retry := range 5 {
					want = append(want, fmt.Sprintf("%d/%d", delivery, retry))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("deliveries/retries (-want +got):\n%s", diff)
			}
			dead := h.ServiceBusMessages(deadLetters)
			if len(dead) != 1 || string(dead[0].Body) != `{"id":"7"}` || dead[0].MessageID != "m7" {
				t.Fatalf("dead letters %+v, want the message", dead)
			}
			if got := dead[0].ApplicationProperties[servicebus.DeadLetterReason]; got != "MaxDeliveryCountExceeded" {
				t.Errorf("reason %q", got)
			}
			if left := h.ServiceBusMessages("orders"); len(left) != 0 {
				t.Errorf("left in the queue: %+v", left)
			}
		})
	}
}

// Locks are renewed while the policy waits, so that the count does not move in a
// delivery; beyond the budget it does (spec messaging 2.4).
func TestServiceBusRetriesOutlastRenewal(t *testing.T) {
	t.Parallel()
	calls := 0
	h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(context.Context, functions.ServiceBusMessage) error {
		if calls++; calls <= 2 {
			return errors.New("busy")
		}
		return nil
	}, functions.FixedDelay(1, 20*time.Minute))})
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
	h.Advance(2 * time.Hour)
	// The first delivery still waits for its retry when its lock ends and the second
	// one begins; both loops retry, and what settles late has lost its lock.
	lost, expired := 0, 0
	for _, r := range h.Settlements("ProcessOrder") {
		if r.Decision == string(triggers.LockLost) {
			lost++
		}
	}
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.LockExpired }) {
		_ = r
		expired++
	}
	if lost == 0 || expired == 0 {
		t.Errorf("%d locks expired, %d deliveries settled too late; want some of both", expired, lost)
	}
}

// A handler that asks for the dead-letter queue gets it at once (spec host-and-retry
// 14.1).
func TestServiceBusHandlerAsks(t *testing.T) {
	t.Parallel()
	t.Run("dead-letter", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(context.Context, functions.ServiceBusMessage) error {
			return functions.DeadLetter("no such customer", "customer 7", errors.New("unknown customer"))
		}, functions.FixedDelay(4, time.Second))})
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
		h.WantAttempts("ProcessOrder", 1)
		h.WantSettled("ProcessOrder", triggers.DeadLettered)
		dead := h.ServiceBusMessages(deadLetters)
		if len(dead) != 1 || dead[0].ApplicationProperties[servicebus.DeadLetterReason] != "no such customer" {
			t.Errorf("dead letters %+v", dead)
		}
	})
	t.Run("defer", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(ctx context.Context, _ functions.ServiceBusMessage) error {
			return functions.Settle(ctx, functions.Settlement{Decision: functions.Deferred})
		})})
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
		h.WantSettled("ProcessOrder", triggers.Deferred)
		if left := h.ServiceBusMessages("orders"); len(left) != 1 || left[0].State != servicebus.StateDeferred {
			t.Errorf("left in the queue: %+v", left)
		}
	})
	t.Run("complete without auto-complete", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(ctx context.Context, m functions.ServiceBusMessage) error {
			if m.DeliveryCount == 1 {
				return nil
			}
			return functions.Settle(ctx, functions.Settlement{Decision: functions.Completed})
		}, functions.AutoComplete(false))})
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
		h.Advance(2 * time.Minute)
		h.WantSettled("ProcessOrder", triggers.Dropped, triggers.Completed)
	})
}

// Topic, subscription and output are made for the functions that name them; the
// dead-letter queue of a subscription has its own function.
func TestServiceBusTopicsAndOutputs(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	app.ServiceBusQueue("Fan", "orders", func(ctx context.Context, m functions.ServiceBusMessage) error {
		return functions.SetOutput(ctx, "out", m.Text()+"!")
	}, functions.ServiceBusTopicOutput("out", "events"))
	app.ServiceBusSubscription("All", "events", "all", func(_ context.Context, m functions.ServiceBusMessage) error {
		seen = append(seen, "all "+m.Text()+" "+m.ContentType)
		return functions.DeadLetter("tired", "", errors.New("no"))
	})
	app.ServiceBusSubscription("Dead", "events", "all/$DeadLetterQueue", func(_ context.Context, m functions.ServiceBusMessage) error {
		seen = append(seen, fmt.Sprint("dead ", m.Text(), " ", m.ApplicationProperties["DeadLetterReason"]))
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
	if diff := cmp.Diff([]string{"all a! text/plain", "dead a! tired"}, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	h.WantSettled("Dead", triggers.Completed)
}

// Messages of a session come one after the other.
func TestServiceBusSessions(t *testing.T) {
	t.Parallel()
	var seen []string
	h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(_ context.Context, m functions.ServiceBusMessage) error {
		seen = append(seen, m.SessionID+m.Text())
		return nil
	}, functions.Sessions())})
	session := "s"
	for _, body := range []string{"1", "2", "3"} {
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte(body), SessionID: &session})
	}
	if diff := cmp.Diff([]string{"s1", "s2", "s3"}, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

// An entity that a function receives from by session requires sessions, even if it
// was made for another function that came first: one that receives its dead
// letters, or sends.
func TestServiceBusSessionsOfAnotherFunction(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	note := func(_ context.Context, m functions.ServiceBusMessage) error {
		seen = append(seen, m.SessionID+m.Text())
		return nil
	}
	app.ServiceBusQueue("ADead", "orders/$DeadLetterQueue", note)
	app.ServiceBusQueue("BSends", "plain", note, functions.ServiceBusQueueOutput("out", "Bills"))
	app.ServiceBusSubscription("CDead", "events", "all/$DeadLetterQueue", note)
	app.ServiceBusQueue("Orders", "orders", note, functions.Sessions())
	app.ServiceBusQueue("PBills", "bills", note, functions.Sessions())
	app.ServiceBusSubscription("QAll", "events", "all", note, functions.Sessions())
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	for _, when := range []string{"at first", "after a reset"} {
		session := "s"
		for _, entity := range []string{"orders", "bills", "events", "plain"} {
			h.SendServiceBus(entity, &servicebus.Message{Body: []byte(entity), SessionID: &session})
		}
		if diff := cmp.Diff([]string{"sorders", "sbills", "sevents", "splain"}, seen); diff != "" {
			t.Errorf("seen %s (-want +got):\n%s", when, diff)
		}
		h.Reset()
		seen = nil
	}
}

// A batch waits for its minimum for maxBatchWaitTime; without one it does not wait
// (spec messaging 2.1).
func TestServiceBusBatchWait(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]time.Duration{"": 30 * time.Second, `,"maxBatchWaitTime":"00:00:45"`: 45 * time.Second, `,"maxBatchWaitTime":"00:00:00"`: 0} {
		app := functions.New()
		var runs int
		app.Handle("Orders", func(context.Context, *functions.Trigger) error {
			runs++
			return nil
		})
		h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
			"host.json":            `{"version":"2.0","extensions":{"serviceBus":{"minMessageBatchSize":2` + wait + `}}}`,
			"Orders/function.json": `{"bindings":[{"name":"m","type":"serviceBusTrigger","queueName":"orders","cardinality":"many"}]}`,
		}})
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
		if want > 0 {
			h.Advance(want - time.Second)
			if runs != 0 {
				t.Errorf("%q: ran too early", wait)
			}
			h.Advance(time.Second)
		}
		if runs != 1 {
			t.Errorf("%q: %d runs, want 1 after %v", wait, runs, want)
		}
	}
}

// autoCreateEntities none: a function on an entity that is not there waits for it.
func TestServiceBusEntityMissing(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Set: []string{"autoCreateEntities=none"}, Handlers: serviceBusApp(func(context.Context, functions.ServiceBusMessage) error { return nil })})
	h.Clock().Do("create", func() {
		if _, err := h.Services().ServiceBus().GetQueue(context.Background(), "orders"); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("the queue: %v, want not found", err)
		}
		if _, err := h.Services().ServiceBus().CreateQueue(context.Background(), servicebus.Queue{Name: "orders"}); err != nil {
			t.Error(err)
		}
	})
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
	h.Advance(5 * time.Minute)
	h.WantSettled("ProcessOrder", triggers.Completed)
}

// Under 100 ms of real time for the founding example is a benchmark's matter; a
// test on the system clock shows that nothing depends on turn-taking.
func TestServiceBusOnSystemClock(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{System: true, Handlers: serviceBusApp(func(context.Context, functions.ServiceBusMessage) error {
		return errors.New("out of stock")
	}, functions.FixedDelay(4, time.Millisecond))})
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
	for range 10 {
		h.AwaitSettled("ProcessOrder", triggers.Abandoned)
	}
	h.WantAttempts("ProcessOrder", 50)
	if dead := h.ServiceBusMessages(deadLetters); len(dead) != 1 {
		t.Errorf("dead letters %+v", dead)
	}
}

// Reset leaves the entities that functions name, and their listeners; what happens
// then has the same names again.
func TestServiceBusReset(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: serviceBusApp(func(context.Context, functions.ServiceBusMessage) error { return errors.New("no") })})
	lines := func() (out []string) {
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
		for _, r := range h.Select(func(r *journal.Record) bool { return true }) {
			out = append(out, fmt.Sprint(r.Kind, r.Delivery, r.Invocation, r.MessageID, r.Decision))
		}
		return out
	}
	h.Reset()
	first := lines()
	h.Reset()
	if left := h.ServiceBusMessages(deadLetters); len(left) != 0 {
		t.Errorf("dead letters after the reset: %+v", left)
	}
	if diff := cmp.Diff(first, lines()); diff != "" {
		t.Errorf("after another reset (-first +second):\n%s", diff)
	}
}

// The switches of the app that runs are the namespace's.
func TestServiceBusSwitches(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Files: map[string]string{"host.json": `{"version":"2.0","redeliver":{"autoCreateEntities":"any"}}`}})
	h.SendServiceBus("made-by-use", &servicebus.Message{Body: []byte("a")})
	if got := h.ServiceBusMessages("made-by-use"); len(got) != 1 {
		t.Errorf("messages %+v", got)
	}
	if err := h.Edit("host.json", `{"version":"2.0","redeliver":{"autoCreateEntities":"none"}}`); err != nil {
		t.Fatal(err)
	}
	h.Clock().Do("send", func() {
		if err := h.Services().ServiceBus().Send(context.Background(), "another", &servicebus.Message{}); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("send to an entity that does not exist: %v", err)
		}
	})
}

// Beside the record of a batch stand the identities of its messages: each of them has a
// life that the batch goes on with.
func TestServiceBusBatchNames(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("Orders", func(context.Context, *functions.Trigger) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json":            `{"version":"2.0","extensions":{"serviceBus":{"minMessageBatchSize":2}}}`,
		"Orders/function.json": `{"bindings":[{"name":"m","type":"serviceBusTrigger","queueName":"orders","cardinality":"many"}]}`,
	}})
	for _, id := range []string{"first", `"second"`} {
		h.SendServiceBus("orders", &servicebus.Message{MessageID: id, Body: []byte("a")})
	}
	h.AwaitSettled("Orders", triggers.Completed)
	rec, ok := h.Journal().FindKind(1, journal.Received, func(*journal.Record) bool { return true })
	if want := `["first","\"second\""]`; !ok || rec.MessageID != "first" || rec.Beside.Batch != want || strings.Contains(rec.String(), "second") {
		t.Errorf("received %s with %s, want %s", rec, rec.Beside.Batch, want)
	}
	for _, l := range explain.Explain(h.Journal().Records(), explain.Subject{}) {
		if !l.Over {
			t.Errorf("message %s goes on: %s", l.Message, l.Next)
		}
	}
}
