package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A manual function runs by a call by hand only, with its retry policy; it receives what
// the caller gives it.
func TestManualTrigger(t *testing.T) {
	t.Parallel()
	var got []string
	app := functions.New()
	app.Handle("Rebuild", func(ctx context.Context, tr *functions.Trigger) error {
		got = append(got, tr.Input.Text()+" "+tr.Metadata.Get("from"))
		if len(got) == 1 {
			return errBroken
		}
		return nil
	}, functions.Binding(`{"type":"manualTrigger","name":"input"}`), functions.FixedDelay(2, time.Minute))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Advance(time.Hour)
	h.WantAttempts("Rebuild", 0)
	res := h.Call("Rebuild", `{"from":"orders"}`)
	if res.Err != nil || res.Attempts != 2 {
		t.Errorf("call: %+v, want success after 2 attempts", res)
	}
	want := []string{`{"from":"orders"} orders`, `{"from":"orders"} orders`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	h.WantSettled("Rebuild", triggers.Responded)
	if err := h.ListenerError("Rebuild"); err != nil {
		t.Errorf("listener: %v", err)
	}
}

// A function with a warm-up trigger does not run by itself: at the start, at a reload and
// when time passes. A call by hand gives it an empty context, with its retry policy.
func TestWarmupTrigger(t *testing.T) {
	t.Parallel()
	const binding = `{"type":"warmupTrigger","name":"context"}`
	var runs []string
	app := functions.New()
	app.Handle("WarmUp", func(_ context.Context, tr *functions.Trigger) error {
		runs = append(runs, tr.Input.Text())
		if len(runs) == 1 {
			return errBroken
		}
		return nil
	}, functions.Binding(binding), functions.FixedDelay(2, time.Minute))
	app.Handle("Heat", func(context.Context, *functions.Trigger) error { return nil }, functions.Binding(binding))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:04:00"}`); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Hour)
	h.WantAttempts("WarmUp", 0)
	if res := h.Call("WarmUp", ""); res.Err != nil {
		t.Errorf("call by hand: %v", res.Err)
	}
	h.WantAttempts("WarmUp", 2)
	if diff := cmp.Diff([]string{"{}", "{}"}, runs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if w := h.App().Function("Heat").Warnings; len(w) != 1 || w[0].Reason != `the platform calls only the function named "warmup", so this one never runs by itself` {
		t.Errorf("warnings: %v", w)
	}
	if res := h.Call("Heat", ""); res.Err != nil {
		t.Errorf("call by hand: %v", res.Err)
	}
}
