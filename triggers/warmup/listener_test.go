package warmup_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/triggertest"
	"github.com/redeliver/redeliver/triggers/warmup"
)

// A listener whose function is due runs it once, and stays until its context ends; one
// whose function is not due only stays. (The suite of the other kinds makes deliveries
// due again and again, which this kind has none of.)
func TestListener(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		due, stopped bool
		want         int
	}{
		"due":                         {due: true, want: 1},
		"not due":                     {},
		"stopped before it is let in": {due: true, stopped: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewVirtual(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), &clock.VirtualOptions{Strict: true})
			sink := triggertest.NewSink(clk, func(ctx context.Context, _ *triggers.Event) triggers.Result {
				return triggers.Result{Err: clk.Sleep(ctx, time.Minute), Attempts: 1}
			})
			ended := false
			var cancel context.CancelFunc
			group := clock.NewGroup(clk, 0)
			clk.Do("start", func() {
				if row.stopped {
					sink.Limit(0)
				}
				var ctx context.Context
				ctx, cancel = clk.WithCancel(context.Background())
				group.Go("listener", func() {
					if err := warmup.New(clk, row.due).Run(ctx, sink); err != nil {
						t.Errorf("Run: %v", err)
					}
					ended = true
				})
			})
			clk.Advance(time.Hour)
			if ended {
				t.Error("Run returned before its context ended")
			}
			clk.Do("stop", cancel)
			clk.Do("wait", group.Wait)
			settled := sink.Settlements()
			if !ended || len(sink.Handled()) != row.want || len(settled) != row.want {
				t.Errorf("ended %v, handled %v, settled %v, want %d of each", ended, sink.Handled(), settled, row.want)
			}
			for _, s := range settled {
				if s.Settlement.Decision != triggers.Recorded || string(s.Event.Messages[0].Value.Text) != "{}" {
					t.Errorf("settled %+v", s)
				}
			}
		})
	}
}
