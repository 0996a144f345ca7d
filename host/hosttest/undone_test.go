package hosttest_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// A refused edit that is undone is said, once: nothing is left to mend. A generation that
// takes over ends a refusal too, and says so by itself.
func TestRefusedEditIsUndone(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Take", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	good, other, bad := `{"version":"2.0"}`, `{"version":"2.0","functionTimeout":"00:01:00"}`, `{"version":"1.0"}`
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"host.json": good}})
	edit := func(text string, refused bool) {
		t.Helper()
		if err := h.Edit("host.json", text); (err != nil) != refused {
			t.Errorf("edit to %s: %v, want it refused: %v", text, err, refused)
		}
	}
	for _, text := range []string{good, bad, good, good, bad, other, other, bad, other} {
		edit(text, text == bad)
	}
	var got []journal.Kind
	for _, r := range h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.GenerationLoaded || r.Kind == journal.GenerationRefused || r.Kind == journal.EditUndone
	}) {
		got = append(got, r.Kind)
		if want := 1 + len(got)/6; r.Kind == journal.EditUndone && r.Generation != want {
			t.Errorf("record %d is of generation %d, want %d", len(got), r.Generation, want)
		}
	}
	want := []journal.Kind{
		journal.GenerationLoaded, journal.GenerationRefused, journal.EditUndone,
		journal.GenerationRefused, journal.GenerationLoaded,
		journal.GenerationRefused, journal.EditUndone,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("records (-got +want):\n%s", diff)
	}
}
