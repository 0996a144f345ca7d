package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// hubFunction is a function.json for the hub "orders", with more properties after its
// bindings.
func hubFunction(cardinality, rest string) string {
	return fmt.Sprintf(`{"bindings":[{"type":"eventHubTrigger","name":"events","eventHubName":"orders","cardinality":%q}]%s}`, cardinality, rest)
}

// A reload while a partition waits for a retry: the wait ends at once with the last
// failure, no checkpoint is written, and the batch comes again on the new generation,
// with count 0 and the new policy. Earlier events stay read, and events that came
// meanwhile are not lost (D-14, spec host-and-retry 7.3).
func TestEventHubReloadInPause(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cardinality   string
		before, after []string // attempts: bodies, retry count
		settled       []string // generation and decision
	}{
		{
			"many", []string{"good/0", "bad,b/0", "bad,b/1"}, []string{"bad,b,late/0", "bad,b,late/1", "bad,b,late/2"},
			[]string{"1 checkpointed", "1 not_checkpointed", "2 checkpointed"},
		},
		{
			"one", []string{"good/0", "bad/0", "bad/1"}, []string{"bad/0", "bad/1", "bad/2", "b/0", "late/0"},
			[]string{"1 checkpointed", "1 not_checkpointed", "2 checkpointed", "2 checkpointed", "2 checkpointed"},
		},
	} {
		t.Run(test.cardinality, func(t *testing.T) {
			t.Parallel()
			var got []string
			attempt := func(ctx context.Context, bodies string) error {
				got = append(got, fmt.Sprintf("%s/%d", bodies, functions.Retry(ctx).RetryCount))
				if strings.HasPrefix(bodies, "bad") {
					return errors.New("cannot read it")
				}
				return nil
			}
			handlers := functions.New()
			if test.cardinality == "many" {
				handlers.EventHubBatch("Read", "orders", func(ctx context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
					return attempt(ctx, bodiesOf(events))
				})
			} else {
				handlers.EventHub("Read", "orders", func(ctx context.Context, e functions.EventHubEvent) error { return attempt(ctx, e.Text()) })
			}
			files := oneHub("")
			files["Read/function.json"] = hubFunction(test.cardinality, retryOf(4))
			h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: files})
			want := func(what string, lines []string) {
				t.Helper()
				if diff := cmp.Diff(lines, got); diff != "" {
					t.Errorf("attempts %s (-want +got):\n%s", what, diff)
				}
				got = nil
			}
			h.SendEvents("orders", "", "good")
			h.SendEvents("orders", "", "bad", "b")
			h.Advance(90 * time.Minute) // in the wait before attempt 3
			h.SendEvents("orders", "", "late")
			want("before the reload", test.before)
			at := h.Clock().Now()
			if err := h.Edit("Read/function.json", hubFunction(test.cardinality, retryOf(2))); err != nil {
				t.Fatal(err)
			}
			if n := h.Checkpoint("orders", "$Default", "0"); n != 0 {
				t.Errorf("checkpoint %d after the reload, want 0", n)
			}
			cancelled := h.AwaitKind(journal.RetryCancelled)
			if cancelled.Generation != 1 || !cancelled.Time.Equal(at) {
				t.Errorf("the wait that ended was of generation %d, at %v, want 1, %v", cancelled.Generation, cancelled.Time, at)
			}
			h.Advance(2 * time.Hour)
			want("after the reload", test.after)
			var settled []string
			for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.Settled }) {
				settled = append(settled, fmt.Sprint(r.Generation, " ", r.Decision))
			}
			if diff := cmp.Diff(test.settled, settled); diff != "" {
				t.Errorf("settlements (-want +got):\n%s", diff)
			}
			if n := h.Checkpoint("orders", "$Default", "0"); n != 3 {
				t.Errorf("checkpoint %d at the end, want 3", n)
			}
		})
	}
}

// A reload while an attempt runs: it ends on its generation, the new one begins the
// partition after that, and no batch runs on both at once.
func TestEventHubReloadInAttempt(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	running, most := 0, 0
	handlers.EventHubBatch("Read", "orders", func(ctx context.Context, _ functions.EventHubPartition, _ []functions.EventHubEvent) error {
		running++
		most = max(most, running)
		defer func() { running-- }()
		return functions.Sleep(ctx, 5*time.Second)
	})
	files := oneHub("")
	files["Read/function.json"] = hubFunction("many", "")
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: files})
	h.SendEvents("orders", "", "a")
	h.Advance(time.Second)
	if err := h.Edit("Read/function.json", hubFunction("many", retryOf(1))); err != nil {
		t.Fatal(err)
	}
	h.SendEvents("orders", "", "b")
	first := h.AwaitSettled("Read", triggers.NotCheckpointed)
	second := h.AwaitSettled("Read", triggers.Checkpointed)
	if first.Generation != 1 || second.Generation != 2 || most != 1 {
		t.Errorf("settled on generations %d and %d, %d attempts at once; want 1, 2, 1", first.Generation, second.Generation, most)
	}
	if n := h.Checkpoint("orders", "$Default", "0"); n != 1 {
		t.Errorf("checkpoint %d, want 1", n)
	}
}
