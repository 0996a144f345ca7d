package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

var errBroken = errors.New("broken")

// alwaysFails is an app whose only function always fails.
func alwaysFails() *functions.App {
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken })
	return app
}

// hostJSON is a host.json with that content after its version.
func hostJSON(rest string) map[string]string {
	if rest != "" {
		rest = "," + rest
	}
	return map[string]string{"host.json": `{"version":"2.0"` + rest + `}`}
}

const fixed4 = `"retry":{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"00:15:00"}`

// attempts are the delivery and retry counts of a run of attempts.
type attempt struct{ Delivery, Retry int }

func attemptsOf(h *hosttest.Host, function string) []attempt {
	var out []attempt
	for _, r := range h.Attempts(function) {
		out = append(out, attempt{int(r.DeliveryCount), r.RetryCount()})
	}
	return out
}

// A message that always fails: 5 deliveries of 5 attempts, then the poison
// queue, body untouched (spec storage 20, rows 2 and 3).
func TestPoisonAfter25Attempts(t *testing.T) {
	t.Parallel()
	const body = `{"id":"7", "fail":true}`
	for name, opts := range map[string]*hosttest.Options{
		"in process": {Handlers: alwaysFails(), Files: hostJSON(fixed4)},
		"process":    process(t, "always-fails", hostJSON(fixed4)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, opts)
			h.Send("orders", body)
			h.AwaitSettled("Orders", triggers.Poisoned)
			var want []attempt
			for d := 1; d <= 5; d++ {
				for r := 0; r <= 4; r++ {
					want = append(want, attempt{d, r})
				}
			}
			if diff := cmp.Diff(attemptsOf(h, "Orders"), want); diff != "" {
				t.Errorf("attempts (-got +want):\n%s", diff)
			}
			h.WantSettled("Orders", triggers.Released, triggers.Released, triggers.Released, triggers.Released, triggers.Poisoned)
			h.WantQueue("orders-poison", body)
			h.WantQueue("orders")
			if got := h.Clock().Now().Sub(hosttest.Start); got < 20*15*time.Minute {
				t.Errorf("20 waits of 15 min took %v of virtual time", got)
			}
		})
	}
}

func TestMaxRetryCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ count, attempts int }{{0, 1}, {1, 2}, {4, 5}} {
		t.Run(fmt.Sprint(tt.count), func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{
				Handlers: alwaysFails(),
				Files:    hostJSON(fmt.Sprintf(`"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"00:00:10"}`, tt.count)),
			})
			h.Send("orders", "x")
			h.AwaitSettled("Orders", "")
			h.WantAttempts("Orders", tt.attempts)
			r := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetriesExhausted })
			if len(r) != 1 || r[0].RetryCount() != tt.count || r[0].Cause != "maxRetryCount" {
				t.Errorf("retries_exhausted = %v, want one after %d retries", r, tt.count)
			}
		})
	}
	t.Run("-1", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{
			Handlers: alwaysFails(),
			Files:    hostJSON(`"retry":{"strategy":"fixedDelay","maxRetryCount":-1,"delayInterval":"00:00:10"}`),
		})
		h.Send("orders", "x")
		h.Advance(time.Hour)
		h.WantAttempts("Orders", 361)
		h.WantSettled("Orders")
		if got := attemptsOf(h, "Orders"); got[360] != (attempt{1, 360}) {
			t.Errorf("attempt 361 = %+v, want the first delivery still", got[360])
		}
	})
}

// Deliveries x attempts (spec host-and-retry 4.1, D-1): 10 deliveries give 50 attempts
// with N=4, 60 with N=5, and 50 with N=5 when counted as the documentation does.
func TestTotalAttempts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		retries  int
		switches string
		want     int
	}{
		{"N=4", 4, "", 50},
		{"N=5", 5, "", 60},
		{"N=5 documented", 5, `,"redeliver":{"retryCounting":"documented"}`, 50},
		{"ga leaves a queue without retries", 4, `,"redeliver":{"retryTriggers":"ga"}`, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{
				Handlers: alwaysFails(),
				Files: hostJSON(fmt.Sprintf(`"extensions":{"queues":{"maxDequeueCount":10}},
					"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"00:00:10"}%s`, tt.retries, tt.switches)),
			})
			h.Send("orders", "x")
			h.AwaitSettled("Orders", triggers.Poisoned)
			h.WantAttempts("Orders", tt.want)
			for _, r := range h.Attempts("Orders") {
				if r.HasPolicy && r.MaxRetryCount == r.RetryCount() != (r.Attempt == tt.want/10) {
					t.Fatalf("attempt %d of %d: max_retry_count %d, so the check for the last attempt is wrong", r.Attempt, tt.want/10, r.MaxRetryCount)
				}
			}
		})
	}
}

// A function's policy takes the place of the app's as a whole, in function.json
// and in code.
func TestFunctionPolicyOverAppPolicy(t *testing.T) {
	t.Parallel()
	files := hostJSON(fixed4)
	files["InFile/function.json"] = `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"in-file"}],
		"retry":{"strategy":"exponentialBackoff","maxRetryCount":2,"minimumInterval":"00:00:10","maximumInterval":"00:15:00"}}`
	files["NoRetry/function.json"] = `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"no-retry"}],
		"retry":{"strategy":"fixedDelay","maxRetryCount":0,"delayInterval":"00:00:00"}}`
	app := functions.New()
	fail := func(context.Context, functions.QueueMessage) error { return errBroken }
	app.Queue("InCode", "in-code", fail, functions.FixedDelay(1, time.Second))
	app.Queue("InFile", "elsewhere", fail, functions.FixedDelay(7, time.Second)) // function.json wins
	app.Queue("Inherits", "inherits", fail)
	app.Queue("NoRetry", "no-retry", fail)
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: files})
	for function, want := range map[string]int{"InCode": 2, "InFile": 3, "Inherits": 5, "NoRetry": 1} {
		queue := map[string]string{"InCode": "in-code", "InFile": "in-file", "Inherits": "inherits", "NoRetry": "no-retry"}[function]
		h.Send(queue, "x")
		first := h.AwaitSettled(function, "")
		n := 0
		for _, r := range h.Attempts(function) {
			if r.Delivery == first.Delivery {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: first delivery made %d attempts, want %d", function, n, want)
		}
		h.Advance(10 * time.Minute)
	}
}

// The delays between the attempts of a delivery are the policy's, the last
// included, and the first retry has no jitter (spec host-and-retry 2.4).
func TestDelays(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Handlers: alwaysFails(),
		Files:    hostJSON(`"retry":{"strategy":"exponentialBackoff","maxRetryCount":9,"minimumInterval":"00:00:10","maximumInterval":"00:15:00"}`),
	})
	h.Send("orders", "x")
	h.AwaitSettled("Orders", "")
	p := &retrycontext.Policy{Strategy: retrycontext.ExponentialBackoff, MaxRetryCount: 9, MinimumInterval: 10 * time.Second, MaximumInterval: 15 * time.Minute}
	scheduled := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetryScheduled })
	started := h.Select(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted })
	if len(scheduled) != 9 {
		t.Fatalf("%d retries were scheduled, want 9", len(scheduled))
	}
	for i, r := range scheduled {
		lo, hi := p.Bounds(i + 1)
		if r.Delay < lo || r.Delay > hi {
			t.Errorf("retry %d: delay %v, want %v to %v", i+1, r.Delay, lo, hi)
		}
		if gap := started[i+1].Time.Sub(r.Time); gap != r.Delay {
			t.Errorf("retry %d came after %v, want its delay %v", i+1, gap, r.Delay)
		}
	}
}

// The handler gets the retry context from the first attempt on, with the
// previous failure only (spec host-and-retry 3.1, 3.2).
func TestRetryContext(t *testing.T) {
	t.Parallel()
	type seen struct {
		Nil        bool
		Count, Max int
		Exception  bool
		Invocation string
	}
	var got []seen
	record := func(ctx context.Context) {
		rc := functions.Retry(ctx)
		s := seen{Nil: rc == nil, Invocation: functions.FromContext(ctx).ID}
		if rc != nil {
			s.Count, s.Max, s.Exception = rc.RetryCount, rc.MaxRetryCount, rc.Exception != nil
		}
		got = append(got, s)
	}
	app := functions.New()
	app.Queue("Plain", "plain", func(ctx context.Context, m functions.QueueMessage) error {
		record(ctx)
		return nil
	})
	app.Queue("Retried", "retried", func(ctx context.Context, m functions.QueueMessage) error {
		record(ctx)
		return fmt.Errorf("attempt %d", functions.Retry(ctx).RetryCount+1)
	}, functions.FixedDelay(2, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("plain", "x")
	h.Send("retried", "x")
	h.AwaitSettled("Retried", "")
	if len(got) != 4 {
		t.Fatalf("%d attempts, want 4", len(got))
	}
	id := got[1].Invocation
	want := []seen{
		{Nil: true, Invocation: got[0].Invocation},
		{Count: 0, Max: 2, Invocation: id},
		{Count: 1, Max: 2, Exception: true, Invocation: id},
		{Count: 2, Max: 2, Exception: true, Invocation: id},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("retry contexts (-got +want):\n%s", diff)
	}
	if got[0].Invocation == id {
		t.Error("two deliveries share an invocation ID")
	}
}

// Declared outcomes change their own delivery only (spec host-and-retry 14.1).
func TestDeclaredOutcomes(t *testing.T) {
	t.Parallel()
	app := functions.New()
	add := func(name string, fail func(ctx context.Context) error) {
		app.Queue(name, name, func(ctx context.Context, m functions.QueueMessage) error { return fail(ctx) },
			functions.FixedDelay(3, time.Hour))
	}
	add("permanent", func(context.Context) error { return functions.Permanent(errBroken) })
	add("poison", func(context.Context) error { return functions.Poison(functions.Permanent(errBroken)) })
	add("now", func(context.Context) error { return functions.RetryNow(errBroken) })
	add("after", func(context.Context) error { return functions.RetryAfter(errBroken, 7*time.Second) })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	delays := func(function string) (out []time.Duration) {
		for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetryScheduled && r.Function == function }) {
			out = append(out, r.Delay)
		}
		return out
	}

	h.Send("permanent", "x")
	h.AwaitSettled("permanent", triggers.Released)
	h.WantAttempts("permanent", 1)
	if r := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetriesExhausted }); len(r) != 1 || r[0].Cause != "permanent" {
		t.Errorf("retries_exhausted = %v, want one with cause permanent", r)
	}

	h.Send("poison", "x")
	h.AwaitSettled("poison", triggers.Poisoned)
	h.WantAttempts("poison", 1)
	h.WantQueue("poison-poison", "x")

	h.Send("now", "x")
	h.AwaitSettled("now", triggers.Released)
	if got := delays("now")[:3]; !slices.Equal(got, []time.Duration{0, 0, 0}) {
		t.Errorf("retry now waited %v", got)
	}
	h.Send("after", "x")
	h.AwaitSettled("after", triggers.Released)
	if got := delays("after")[:3]; !slices.Equal(got, []time.Duration{7e9, 7e9, 7e9}) {
		t.Errorf("retry after 7 s waited %v", got)
	}
}
