package hosttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
)

// Retries during an outage of the storage are idle waits: an outage does
// not send virtual time through the days. When it is over, all goes on.
func TestOutageIsNoReasonToJump(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails func(p services.StorageFault) bool
		want  triggers.Decision // in the end, of a delivery that failed before
	}{
		"everything":   {func(p services.StorageFault) bool { return true }, triggers.Deleted},
		"receive":      {func(p services.StorageFault) bool { return p.Op == "Receive" }, triggers.Deleted},
		"delete":       {func(p services.StorageFault) bool { return p.Op == "Delete" }, triggers.Deleted},
		"poison queue": {func(p services.StorageFault) bool { return p.Queue == "orders-poison" }, triggers.Poisoned},
		"blobs":        {func(p services.StorageFault) bool { return p.Container != "" }, triggers.Deleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := false
			app := functions.New()
			app.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
				if test.want == triggers.Poisoned || m.DequeueCount == 1 {
					out = true
					return errBroken
				}
				return nil
			})
			app.Blob("Docs", "docs/{name}", func(context.Context, functions.Blob) error { return nil })
			h := hosttest.New(t, &hosttest.Options{
				Handlers: app, Files: map[string]string{"host.json": `{"version":"2.0","extensions":{"queues":{"visibilityTimeout":"00:01:00","maxDequeueCount":3}}}`},
				StorageFault: func(p services.StorageFault) error {
					if out && test.fails(p) {
						return bindings.ErrUnavailable
					}
					return nil
				},
			})
			h.Upload("docs/before", "x")
			h.Run(time.Hour)
			h.Send("orders", "x")
			h.Clock().Do("upload", func() {
				_, _ = h.Services().Storage().Container("docs").Blob("a").Put(context.Background(), strings.NewReader("x"), nil) // in an outage of blobs it fails
			})
			if moved := h.Run(3 * 24 * time.Hour); moved > 30*time.Minute {
				t.Errorf("an outage moved time by %v", moved)
			}
			out = false
			test.fails = func(services.StorageFault) bool { return false }
			h.Upload("docs/after", "x")
			h.Advance(time.Hour)
			if got := h.Settlements("Orders"); len(got) == 0 || got[len(got)-1].Decision != string(test.want) {
				t.Errorf("after the outage: %v, want %s in the end", got, test.want)
			}
			if got := h.Settlements("Docs"); len(got) < 2 {
				t.Errorf("blobs after the outage: %v", got)
			}
		})
	}
}

// A blob function whose circuit is open keeps the others of the account from nothing,
// however many of its blobs wait.
func TestOpenCircuitStarvesNoOtherBlobFunction(t *testing.T) {
	t.Parallel()
	const function = `{"bindings":[{"type":"blobTrigger","direction":"in","name":"b","path":"%s/{name}"}]%s}`
	app := functions.New()
	fail := true
	app.Blob("Broken", "broken/{name}", func(context.Context, functions.Blob) error {
		if fail {
			return errBroken
		}
		return nil
	})
	app.Blob("Sound", "sound/{name}", func(context.Context, functions.Blob) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"Broken/function.json": fmt.Sprintf(function, "broken", `,"redeliver":{"circuitBreaker":{"failures":1,"pause":"08:00:00","probes":1}}`),
		"Sound/function.json":  fmt.Sprintf(function, "sound", ""),
	}})
	h.Upload("broken/first", "x")
	h.AwaitKind(journal.CircuitOpened)
	for i := range 40 {
		h.Upload(fmt.Sprint("broken/", i), "x")
	}
	h.Advance(10 * time.Second)
	h.Upload("sound/a", "x")
	h.Advance(10 * time.Second)
	h.WantSettled("Sound", triggers.Deleted)
	fail = false
	h.Advance(10 * time.Hour)
	done := 0
	for _, r := range h.Settlements("Broken") {
		if r.Decision == string(triggers.Deleted) {
			done++
		}
	}
	if done != 41 {
		t.Errorf("%d blobs of the broken function done in the end, want 41", done)
	}
}
