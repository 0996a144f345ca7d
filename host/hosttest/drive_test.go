package hosttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// Who may leave and who stays move time alike, and the journal tells of both alike; of whom has
// left before it tells nothing.
func TestDriverTellsWhatItMoves(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(context.Background())
	leave()
	told := func(advance func(h *hosttest.Host)) (lines []string) {
		app := functions.New()
		app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		advance(h)
		for _, r := range h.Journal().Records() {
			if r.Kind == journal.ClockMoved {
				lines = append(lines, string(r.AppendLine(nil)))
			}
		}
		return lines
	}
	want := told(func(h *hosttest.Host) { h.Advance(time.Minute) })
	got := told(func(h *hosttest.Host) {
		if err := h.For(gone).Advance(time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left has moved time: %v", err)
		}
		if err := h.For(context.Background()).Advance(time.Minute); err != nil {
			t.Error(err)
		}
	})
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 1 {
		t.Errorf("Advance tells %d moves, a driver (-want +got):\n%s", len(want), diff)
	}
}
