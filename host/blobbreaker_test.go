package host_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// A blob that waits for its function's circuit to close has not been tried: however often
// the app is reloaded meanwhile, it is no poison (14.2: no count moves).
func TestReloadsWhileACircuitIsOpen(t *testing.T) {
	t.Parallel()
	fail := true
	app := functions.New()
	app.Blob("A", "docs/{name}", func(context.Context, functions.Blob) error {
		if fail {
			return errBroken
		}
		return nil
	})
	app.Blob("B", "pics/{name}", func(context.Context, functions.Blob) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"A/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","path":"docs/{name}"}],"redeliver":{"circuitBreaker":{"failures":1,"pause":"01:00:00"}}}`,
	}})
	h.Upload("docs/first", "x")
	opened := h.AwaitKind(journal.CircuitOpened)
	h.Upload("docs/second", "x")
	h.Advance(time.Minute)
	for n := range 6 { // the developer at work on the fault
		if err := h.Edit("host.json", fmt.Sprintf(`{"version":"2.0","extensions":{"queues":{"batchSize":%d}}}`, n+1)); err != nil {
			t.Fatal(err)
		}
		h.Advance(time.Minute)
	}
	if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.Settled && r.Decision == "poisoned" })); n != 0 {
		t.Errorf("%d blobs became poison without a run", n)
	}
	h.WantAttempts("A", 1)
	fail = false
	h.Advance(time.Hour - h.Clock().Now().Sub(opened.Time) + time.Minute)
	h.WantAttempts("A", 3)
}
