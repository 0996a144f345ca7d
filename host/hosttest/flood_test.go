package hosttest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// A handler's flood of log lines is cut in each attempt, with one line that says so.
func TestFloodOfLogLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lines, length, want int }{
		"lines": {15_000, 1, 10_001},
		"bytes": {15_000, 8 << 10, 4<<20/(8<<10) + 1},
		"few":   {100, 8 << 10, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Queue("Talk", "orders", func(ctx context.Context, m functions.QueueMessage) error {
				for range test.lines {
					functions.Logger(ctx).Info(strings.Repeat("x", test.length))
				}
				return errBroken
			}, functions.FixedDelay(1, 1))
			h := hosttest.New(t, &hosttest.Options{Handlers: app})
			h.Send("orders", "x")
			h.AwaitSettled("Talk", triggers.Released)
			for attempt := 1; attempt <= 2; attempt++ {
				lines := h.Select(func(r *journal.Record) bool {
					return r.Kind == journal.HandlerLog && r.Delivery == "d1" && r.Attempt == attempt
				})
				if len(lines) != test.want {
					t.Errorf("attempt %d has %d lines, want %d", attempt, len(lines), test.want)
				}
				cut := strings.HasSuffix(lines[len(lines)-1].Message, "in one attempt: the rest of its log is left out")
				if cut != (test.want < test.lines) {
					t.Errorf("the last line is %.80q", lines[len(lines)-1].Message)
				}
			}
		})
	}
}
