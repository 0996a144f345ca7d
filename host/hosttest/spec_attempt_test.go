package hosttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// The settlement that a handler asks for holds for the attempt that asked: the
// last attempt decides the result of a delivery (0, 14.1).
func TestAskedSettlementOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
		if functions.Retry(ctx).RetryCount == 0 {
			return &functions.Settlement{Decision: functions.Poisoned, Err: errors.New("asks for poison, and for a retry")}
		}
		return functions.Sleep(ctx, time.Hour)
	}, functions.FixedDelay(1, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: hostJSON(`"functionTimeout":"00:01:00"`)})
	h.Send("orders", "x")
	h.AwaitSettled("Orders", "")
	h.WantAttempts("Orders", 2)
	h.WantSettled("Orders", triggers.Released)
}

// A listener that cannot start is tried again after 2 s, ... 2 min; it concerns
// its function only, and nobody waits for it: time does not run away (5.4).
func TestListenerRestarts(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("Bad", func(context.Context, *functions.Trigger) error { return nil })
	app.Queue("Good", "good", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app,
		Env:      []string{"Elsewhere=DefaultEndpointsProtocol=https;AccountName=elsewhere;AccountKey=a2V5"},
		Files: map[string]string{
			"Bad/function.json": `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders","connection":"Elsewhere"}]}`,
		},
	})
	h.Send("good", "x")
	h.AwaitSettled("Good", triggers.Deleted)
	if moved := h.Run(time.Hour); moved != 0 {
		t.Errorf("Run moved time by %v, want nothing to wait for", moved)
	}
	h.Advance(time.Hour)
	failed := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError && r.Function == "Bad" })
	if len(failed) < 30 {
		t.Fatalf("the listener failed %d times in an hour, want one failure every 2 minutes at least", len(failed))
	}
	if first, last := failed[0].Delay, failed[len(failed)-1].Delay; first != 2*time.Second || last != 2*time.Minute {
		t.Errorf("waits from %v to %v, want 2s to 2m", first, last)
	}
}
