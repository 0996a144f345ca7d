package hosttest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A latency that a test gives the handler stands for a slow handler: the function timeout
// counts it, before the call and after it.
func TestLatencyCountsForTheTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		latency time.Duration
		after   bool
		takes   time.Duration
		status  string
	}{
		{"shorter", 29 * time.Second, false, 0, "succeeded"},
		{"longer", 31 * time.Second, false, 0, "timed_out"},
		{"longer, after it", 31 * time.Second, true, 0, "timed_out"},
		{"with the handler's own", 20 * time.Second, false, 11 * time.Second, "timed_out"},
		{"with the handler's own, shorter", 20 * time.Second, false, 9 * time.Second, "succeeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Queue("Take", "in-queue", func(ctx context.Context, _ functions.QueueMessage) error { return functions.Sleep(ctx, tt.takes) })
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"host.json": `{"version":"2.0","functionTimeout":"00:00:30"}`}})
			if err := h.Inject(faults.Fault{Service: "handler", Latency: tt.latency, After: tt.after, Times: 1}); err != nil {
				t.Fatal(err)
			}
			h.Send("in-queue", "x")
			h.AwaitSettled("Take", "")
			if got := h.Attempts("Take")[0].Status; got != tt.status {
				t.Errorf("attempt 1 %s, want %s", got, tt.status)
			}
		})
	}
}

// A queue that is not there is empty whatever happens: a name that is nearly one of the
// app's is a slip.
func TestMisspeltQueues(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Ship", "parcels", func(context.Context, functions.QueueMessage) error { return nil })
	for name, want := range map[string]string{
		"parcels": "", "parcels-poison": "", "webjobs-blobtrigger-poison": "", "parcel": "", "elsewhere": `there is no queue "elsewhere", and a look at it would hold`,
		"parcels-posion": `did you mean "parcels-poison"?`, "parcells": `did you mean "parcels"?`,
	} {
		for _, look := range []func(h *hosttest.Host){func(h *hosttest.Host) { h.WantQueue(name) }, func(h *hosttest.Host) { h.WantHidden(name) }} {
			if want == "" {
				h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
				h.CreateQueue("parcel")
				look(h)
			} else if said := failsIn(t, time.Minute, &hosttest.Options{Handlers: handlers}, look); !strings.Contains(said, want) {
				t.Errorf("%s: %q, want %q", name, said, want)
			}
		}
	}
}
