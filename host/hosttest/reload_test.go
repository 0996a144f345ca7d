package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// queueFunction is a function.json for a queue trigger, with more properties
// after its bindings.
func queueFunction(queue, rest string) string {
	return fmt.Sprintf(`{"bindings":[{"type":"queueTrigger","name":"m","queueName":%q}]%s}`, queue, rest)
}

func retryOf(count int) string {
	return fmt.Sprintf(`,"retry":{"strategy":"fixedDelay","maxRetryCount":%d,"delayInterval":"01:00:00"}`, count)
}

// A reload ends a retry wait at once with the last failure; the message comes
// again on the new generation with count 0 (D-14).
func TestReloadEndsRetryWait(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Handlers: alwaysFails(),
		Files:    map[string]string{"Orders/function.json": queueFunction("orders", retryOf(4))},
	})
	h.Send("orders", "x")
	h.Advance(90 * time.Minute) // in the wait before attempt 3
	h.WantAttempts("Orders", 2)
	if err := h.Edit("Orders/function.json", queueFunction("orders", retryOf(2))); err != nil {
		t.Fatalf("Edit: %v", err)
	}
	cancelled := h.AwaitKind(journal.RetryCancelled)
	if cancelled.Generation != 1 {
		t.Errorf("the wait that ended was of generation %d, want 1", cancelled.Generation)
	}
	h.AwaitSettled("Orders", triggers.Released)
	next := h.Await(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted })
	if next.Generation != 2 || next.DeliveryCount != 2 || next.RetryCount() != 0 || next.MaxRetryCount != 2 {
		t.Errorf("after the reload: %v, want delivery 2, retry 0 of 2, on generation 2", next)
	}
}

// The next generation waits for messages that a generation leaves in a queue. Run
// does not end before they are done, whether they come back at once or later, and
// whether they were released by the reload or before.
func TestRunAfterReloadInRetryWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ visibility, policy string }{
		"released by the reload": {"00:00:00", retryOf(4)},
		"comes back later":       {"00:20:00", retryOf(4)},
		"released before":        {"00:20:00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{
				Handlers: alwaysFails(),
				Files: map[string]string{
					"host.json":            `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":2,"visibilityTimeout":"` + c.visibility + `"}}}`,
					"Orders/function.json": queueFunction("orders", c.policy),
				},
			})
			h.Send("orders", "x")
			h.Advance(time.Second)
			if err := h.Edit("Orders/function.json", queueFunction("orders", `,"disabled":false`)); err != nil {
				t.Fatal(err)
			}
			h.Run(time.Hour)
			h.WantSettled("Orders", triggers.Released, triggers.Poisoned)
			h.WantQueue("orders-poison", "x")
		})
	}
}

// Files that the host itself never reads restart it where host.json says so, and so
// does another set of folders (7.1).
func TestReloadOfWatchedFiles(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Handlers: alwaysFails(),
		Files: map[string]string{
			"host.json":            `{"version":"2.0","watchDirectories":["shared"],"watchFiles":["rules.xml"]}`,
			"Orders/function.json": queueFunction("orders", ""),
			"shared/a.txt":         "1",
			"Orders/rules.xml":     "1",
		},
	})
	want := 1
	for _, step := range []struct {
		file, text string
		restarts   bool
	}{
		{"shared/a.txt", "2", true},
		{"shared/deep/b.txt", "new", true},
		{"Orders/rules.xml", "2", true},
		{"Orders/Deep/RULES.xml", "new", true},
		{"Other/notes.txt", "a new folder", true},
		{"Other/shared/a.txt", "not at the top", false},
		{"Other/notes.txt", "2", false},
		{"README.md", "2", false},
		{"shared/a.txt", "2", false}, // as it was
		{".git/shared", "2", false},
	} {
		if err := h.Edit(step.file, step.text); err != nil {
			t.Fatalf("%s: %v", step.file, err)
		}
		if step.restarts {
			want++
		}
		if got := h.Generation(); got != want {
			t.Fatalf("%s = %q: generation %d, want %d", step.file, step.text, got, want)
		}
	}
}

// A running attempt ends on the generation on which it began.
func TestReloadLetsAttemptsEnd(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Slow", "slow", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.Sleep(ctx, 5*time.Second)
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"Slow/function.json": queueFunction("slow", "")}})
	h.Send("slow", "x")
	h.Advance(time.Second)
	if err := h.Edit("Slow/function.json", queueFunction("slow", retryOf(1))); err != nil {
		t.Fatal(err)
	}
	h.Send("slow", "y") // the new generation takes it at once
	first := h.AwaitSettled("Slow", triggers.Deleted)
	second := h.AwaitSettled("Slow", triggers.Deleted)
	if first.Generation != 1 || second.Generation != 2 {
		t.Errorf("settled on generations %d and %d, want 1 and 2", first.Generation, second.Generation)
	}
	h.WantAttempts("Slow", 2)
}

// An attempt that outlives the grace of 10 s is ended with its generation.
func TestReloadGrace(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Slow", "slow", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.Sleep(ctx, time.Hour)
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"Slow/function.json": queueFunction("slow", "")}})
	h.Send("slow", "x")
	h.Advance(time.Second)
	if err := h.Edit("Slow/function.json", queueFunction("slow", retryOf(1))); err != nil {
		t.Fatal(err)
	}
	r := h.AwaitSettled("Slow", triggers.Released)
	if got := r.Time.Sub(hosttest.Start); got != 11*time.Second {
		t.Errorf("the attempt was ended %v after the start, want 11s (10 s after the reload)", got)
	}
}

// An invalid edit is refused and changes nothing; an unchanged app is left
// alone. A broken new function does not block a reload, a function that ran and
// is broken does (D-15).
func TestReloadRefused(t *testing.T) {
	t.Parallel()
	good := queueFunction("orders", retryOf(4))
	h := hosttest.New(t, &hosttest.Options{Handlers: alwaysFails(), Files: map[string]string{"Orders/function.json": good}})
	for name, edit := range map[string][2]string{
		"syntax":         {"Orders/function.json", `{"bindings": [`},
		"bad policy":     {"Orders/function.json", queueFunction("orders", `,"retry":{}`)},
		"two triggers":   {"Orders/function.json", `{"bindings":[{"type":"queueTrigger","name":"a","queueName":"abc"},{"type":"queueTrigger","name":"b","queueName":"abc"}]}`},
		"host.json":      {"host.json", `{"version":"3.0"}`},
		"app policy":     {"host.json", `{"version":"2.0","retry":{"strategy":"fixedDelay"}}`},
		"broken setting": {"Orders/function.json", queueFunction("%NOPE%", "")},
	} {
		err := h.Edit(edit[0], edit[1])
		var load *host.LoadError
		if !errors.As(err, &load) || len(load.Faults) == 0 {
			t.Errorf("%s: Edit = %v, want a *host.LoadError with faults", name, err)
		}
		if h.Generation() != 1 || h.State() != host.Running {
			t.Fatalf("%s: generation %d in state %s, want the first one running", name, h.Generation(), h.State())
		}
		restore := good
		if edit[0] == "host.json" {
			restore = `{"version":"2.0"}`
		}
		if err := h.Edit(edit[0], restore); err != nil {
			t.Fatalf("%s: restoring: %v", name, err)
		}
	}
	if h.Generation() != 1 {
		t.Errorf("restoring the file made generation %d, want none", h.Generation())
	}
	if err := h.Edit("Broken/function.json", `{"bindings":[]}`); err == nil || !strings.Contains(err.Error(), `function "Broken" is in error`) {
		t.Errorf("Edit does not tell of a new broken function: %v", err)
	}
	if h.Generation() != 2 {
		t.Errorf("a new broken function blocked the reload: generation %d, want 2", h.Generation())
	}
	if r := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError }); len(r) != 1 || r[0].Function != "Broken" {
		t.Errorf("function_error = %v, want one for Broken", r)
	}
	if err := h.Edit("Orders/function.json", queueFunction("orders", retryOf(1))); err != nil {
		t.Errorf("a function that was broken before blocked the reload: %v", err)
	}
}

// A function goes with its folder, whether or not the program still has its handler,
// and comes back with it; a renamed one is removed and another added. None of it stands
// in the way of a later edit (5.1, D-15).
func TestReloadOfARemovedFolder(t *testing.T) {
	t.Parallel()
	handlers := alwaysFails()
	handlers.Handle("Plain", func(context.Context, *functions.Trigger) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: map[string]string{
		"Orders/function.json": queueFunction("orders", ""),
		"Plain/function.json":  queueFunction("plain", ""),
	}})
	names := func() string {
		var out []string
		for _, f := range h.App().Functions {
			name := f.Name
			if f.InError() {
				name += " (in error)"
			}
			out = append(out, name)
		}
		return strings.Join(out, ", ")
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(h.Dir(), from), filepath.Join(h.Dir(), to)); err != nil {
			t.Fatal(err)
		}
		if err := h.Reload(context.Background()); err != nil {
			t.Fatalf("Reload after %s became %s: %v", from, to, err)
		}
	}
	rename("Plain", "Other")
	if got, want := names(), "Orders, Other (in error)"; got != want {
		t.Errorf("after Plain was renamed: %s, want %s", got, want)
	}
	rename("Orders", "data")
	if got, want := names(), "data (in error), Other (in error)"; got != want {
		t.Errorf("after Orders was moved away: %s, want %s", got, want)
	}
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:01:00"}`); err != nil {
		t.Errorf("an edit after the removal: %v", err)
	}
	if got, want := names(), "data (in error), Other (in error)"; got != want {
		t.Errorf("after a further edit: %s, want %s", got, want)
	}
	h.Send("orders", "x")
	h.Advance(time.Minute)
	h.WantAttempts("Orders", 0)
	rename("data", "Orders")
	rename("Other", "Plain")
	if got, want := names(), "Orders, Plain"; got != want {
		t.Errorf("with the folders back: %s, want %s", got, want)
	}
	h.AwaitSettled("Orders", triggers.Poisoned)
}

// At the start a bad function is isolated and a bad host.json is state Error,
// which ends with a good file (1.4, D-15).
func TestBadFilesAtStart(t *testing.T) {
	t.Parallel()
	t.Run("function", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{Handlers: alwaysFails(), Files: map[string]string{
			"Bad/function.json":    queueFunction("bad", `,"retry":{"strategy":"fixedDelay","maxRetryCount":-4,"delayInterval":"0:1"}`),
			"Orders/function.json": queueFunction("orders", ""),
		}, InError: []string{"Bad"}})
		h.Send("orders", "x")
		h.AwaitSettled("Orders", triggers.Poisoned)
		if f := h.App().Function("Bad"); f == nil || !f.InError() {
			t.Errorf("Bad = %+v, want it in error", f)
		}
	})
	t.Run("host.json", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{
			Handlers: alwaysFails(), MayFail: true,
			Files: map[string]string{"host.json": `{"version":"2.0","retry":{"strategy":"fixedDelay","maxRetryCount":1}}`},
		})
		if h.StartError == nil || h.State() != host.Error || len(h.Errors()) == 0 {
			t.Fatalf("start = %v, state %s, errors %q; want state Error", h.StartError, h.State(), h.Errors())
		}
		h.Advance(10 * time.Second)
		at := refusals(h)
		if got, want := fmt.Sprint(at), "[0s 1s 3s 7s]"; got != want {
			t.Errorf("starts were tried at %s, want %s (back-off of 1, 2, 4 s)", got, want)
		}
		if err := h.Edit("host.json", `{"version":"2.0"}`); err != nil {
			t.Fatal(err)
		}
		if h.State() != host.Running {
			t.Errorf("state %s after the repair, want Running", h.State())
		}
	})
	t.Run("configuration", func(t *testing.T) { // only a change of a file starts it again (6.1)
		t.Parallel()
		h := hosttest.New(t, &hosttest.Options{
			Handlers: alwaysFails(), MayFail: true, Files: map[string]string{"host.json": `{"version":"3.0","retry":{"delayInterval":"00:00:01"}}`},
		})
		h.Advance(10 * time.Minute)
		if err := h.Edit("host.json", `{"version":"2.0","retry":{"strategy":"fixedDelay","maxRetryCount":1}}`); err == nil || h.State() != host.Error {
			t.Fatalf("edit = %v, state %s; want state Error", err, h.State())
		}
		h.Advance(5 * time.Minute)
		at := refusals(h)
		if len(at) < 5 || at[0] != 0 || at[2] != 0 || at[3] != 10*time.Minute || at[4] <= at[3] {
			t.Errorf("starts were refused at %v, want the three faults of the first once, and the other one again and again", at)
		}
		if err := h.Edit("host.json", `{"version":"2.0"}`); err != nil || h.State() != host.Running {
			t.Errorf("edit = %v, state %s after the repair, want Running", err, h.State())
		}
	})
}

// refusals returns when generations were refused, after the start.
func refusals(h *hosttest.Host) []time.Duration {
	var at []time.Duration
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.GenerationRefused }) {
		at = append(at, r.Time.Sub(hosttest.Start))
	}
	return at
}

// 1,000 messages flow while the app is edited again and again, a syntax error
// among the edits: none is lost, none runs on two generations in one delivery,
// every message is settled exactly once as done.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	const messages = 1000
	app := functions.New()
	app.Queue("Work", "work", func(ctx context.Context, m functions.QueueMessage) error {
		if err := functions.Sleep(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		if m.DequeueCount == 1 && len(m.Text())%3 == 0 && functions.Retry(ctx).RetryCount == 0 {
			return errBroken
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"Work/function.json": queueFunction("work", retryOf(4)),
	}})
	for i := range messages {
		h.Send("work", fmt.Sprintf("message %d", i))
		switch i % 100 {
		case 50:
			h.Advance(700 * time.Millisecond)
			rest := fmt.Sprintf(`,"retry":{"strategy":"fixedDelay","maxRetryCount":4,"delayInterval":"00:00:%02d"}`, i/100+1)
			if err := h.Edit("Work/function.json", queueFunction("work", rest)); err != nil {
				t.Fatal(err)
			}
		case 75:
			if err := h.Edit("Work/function.json", `{`); err == nil {
				t.Fatal("a syntax error was accepted")
			}
			h.Advance(200 * time.Millisecond)
		}
	}
	done := map[string]int{}
	for len(done) < messages {
		done[h.AwaitSettled("Work", triggers.Deleted).MessageID]++
	}
	h.Advance(time.Minute)
	for id, n := range done {
		if n != 1 {
			t.Errorf("message %s was settled as deleted %d times", id, n)
		}
	}
	checkDeliveries(t, h)
	if h.Generation() < 10 {
		t.Errorf("only %d generations ran", h.Generation())
	}
}

// checkDeliveries proves from the journal that every delivery was settled
// exactly once and ran on one generation.
func checkDeliveries(t *testing.T, h *hosttest.Host) {
	t.Helper()
	generation, settled, received := map[string]int{}, map[string]int{}, 0
	for _, r := range h.Journal().Records() {
		if r.Delivery == "" {
			continue
		}
		if g, ok := generation[r.Delivery]; ok && g != r.Generation {
			t.Errorf("delivery %s ran on generations %d and %d", r.Delivery, g, r.Generation)
		}
		generation[r.Delivery] = r.Generation
		switch r.Kind {
		case journal.Received:
			received++
		case journal.Settled:
			settled[r.Delivery]++
		}
	}
	for d, n := range settled {
		if n != 1 {
			t.Errorf("delivery %s was settled %d times", d, n)
		}
	}
	if len(settled) != received {
		t.Errorf("%d deliveries received, %d settled", received, len(settled))
	}
}

// A host that could not start can be closed, also while it is trying again.
func TestCloseInStateError(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{MayFail: true, InError: []string{"F"}, Files: map[string]string{"host.json": `{}`, "local.settings.json": `{`, "F/function.json": `{`}})
	_ = h.Close()
	bad := hosttest.New(t, &hosttest.Options{MayFail: true, Files: map[string]string{"host.json": `{"version":"1"}`}})
	if bad.StartError == nil {
		t.Fatal("a host.json of version 1 was accepted")
	}
	bad.Advance(2500 * time.Millisecond)
	if err := bad.Close(); err != nil {
		t.Fatal(err)
	}
	if bad.State() != host.Stopped {
		t.Errorf("state %s, want Stopped", bad.State())
	}
	n := bad.Journal().Len()
	bad.Clock().Advance(time.Hour)
	if bad.Journal().Len() != n {
		t.Error("a closed host went on trying to start")
	}
}
