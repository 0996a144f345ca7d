package eventgrid_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
)

// The effect of a late answer, by its moment. The first three attempts fail at once,
// so that the retry after the fourth waits for five minutes: long enough for answers
// at the limit of three minutes.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	const fourth = 100 * time.Second
	for name, test := range map[string]struct {
		after  time.Duration
		status int
		calls  []string
		last   string
	}{
		"just in time":      {30*time.Second - 1, 200, []string{"0s", "10s", "40s", "1m40s"}, "2m9.999999999s event_attempted e 4 Delivered"},
		"at 30 s":           {30 * time.Second, 200, []string{"0s", "10s", "40s", "1m40s"}, "2m10s event_attempted e 4 Delivered answered late"},
		"at 31 s":           {31 * time.Second, 204, []string{"0s", "10s", "40s", "1m40s"}, "2m11s event_attempted e 4 Delivered answered late"},
		"at 3 min":          {3 * time.Minute, 200, []string{"0s", "10s", "40s", "1m40s"}, "4m40s event_attempted e 4 Delivered answered late"},
		"at 3 min 1 s":      {3*time.Minute + time.Second, 200, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
		"failure at 31 s":   {31 * time.Second, 500, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
		"400 at 31 s":       {31 * time.Second, 400, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
		"after the retry":   {6 * time.Minute, 200, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
		"no answer at all":  {1000 * time.Hour, 200, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
		"205 is no success": {31 * time.Second, 205, []string{"0s", "10s", "40s", "1m40s", "7m10s"}, "7m10s event_attempted e 5 Delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = func(ctx context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
				switch r.DeliveryCount {
				case 0, 1, 2:
					return &eventgrid.Response{Status: 500}, nil
				case 3:
					if err := b.clk.Sleep(ctx, test.after); err != nil {
						return nil, err
					}
					return &eventgrid.Response{Status: test.status}, nil
				}
				return &eventgrid.Response{Status: 200}, nil
			}
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
			b.publish("e")
			b.clk.Advance(fourth + time.Hour)
			if diff := cmp.Diff(test.calls, b.times()); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			trace := b.trace(journal.EventAttempted, journal.EventDropped, journal.DeadLettered)
			if got := trace[len(trace)-1]; got != test.last {
				t.Errorf("end %q, want %q", got, test.last)
			}
			if left := b.grid.Deliveries("", ""); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// A late success says nothing any more when its subscription is gone, or when the
// event was given up at the limit of attempts: no retry waits that it could cancel.
func TestLateAnswerWithoutARetry(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = slow(b, 40*time.Second)
	b.subscribe(eventgrid.Subscription{Name: "gone", Function: "F"})
	b.subscribe(eventgrid.Subscription{Name: "once", Function: "G", MaxDeliveryAttempts: 1, DeadLetterContainer: "dead"})
	b.publish("e")
	b.clk.Advance(35 * time.Second)
	b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "orders", "gone") })
	b.clk.Run(day)
	want := []string{"30s event_attempted e 1 TimedOut", "30s event_attempted e 1 TimedOut", "35s event_dropped e 1 SubscriptionDeleted", "5m0s dead_lettered e 1 MaxDeliveryAttemptsExceeded"}
	if diff := cmp.Diff(want, b.trace(journal.EventAttempted, journal.EventDropped, journal.DeadLettered)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Requests do not wait for one another, however many there are and however long an
// endpoint takes.
func TestRequestsSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = slow(b, 20*time.Second)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	for range 3 {
		b.publish(strings.Split(strings.Repeat("e ", 99)+"e", " ")...)
	}
	if len(b.calls) != 300 {
		t.Errorf("%d requests are out, want 300", len(b.calls))
	}
	if moved := b.clk.Run(day); moved != 20*time.Second || len(b.grid.Deliveries("", "")) != 0 {
		t.Errorf("all answered after %s, %d left", moved, len(b.grid.Deliveries("", "")))
	}
}
