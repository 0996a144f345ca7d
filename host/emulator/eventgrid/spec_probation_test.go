package eventgrid_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// The probation of an endpoint after its tenth failure, by cause.
func TestProbationByCause(t *testing.T) {
	t.Parallel()
	fails := func(err error) answerFunc {
		return func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) { return nil, err }
	}
	for name, test := range map[string]struct {
		answer answerFunc
		want   time.Duration
	}{
		"500":              {status(500), 10 * time.Second},
		"503":              {status(503), 10 * time.Second},
		"429":              {status(429), 10 * time.Second},
		"408":              {status(408), 10 * time.Second},
		"time-out":         {fails(context.DeadlineExceeded), 10 * time.Second},
		"no connection":    {fails(errRefused), 30 * time.Second},
		"404":              {status(404), 5 * time.Minute},
		"401":              {status(401), 5 * time.Minute},
		"403":              {status(403), 5 * time.Minute},
		"no such name":     {fails(&net.DNSError{}), 5 * time.Minute},
		"no Event Grid":    {fails(eventgrid.ErrInvalidFunction), 10 * time.Minute},
		"400: none":        {status(400), 0},
		"413: none":        {status(413), 0},
		"a redirect: none": {status(302), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{Probation: true})
			b.answer = test.answer
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
			for i := range 10 {
				b.publish(fmt.Sprint(i))
			}
			var spared time.Duration
			if until := b.grid.Topics()[0].Subscriptions[0].SparedUntil; !until.IsZero() {
				spared = until.Sub(start)
			}
			b.publish("new")
			if sent := len(b.calls) == 11; spared != test.want || sent != (test.want == 0) {
				t.Errorf("spared for %s, want %s; %d requests", spared, test.want, len(b.calls))
			}
			want := []string(nil)
			if test.want > 0 {
				want = []string{"0s event_delayed new 0 Probation"}
			}
			if diff := cmp.Diff(want, b.trace(journal.EventDelayed)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			for _, r := range b.records {
				if r.Kind == journal.EventDelayed && (!r.HasDelay || r.Delay != test.want || r.Source != "orders/s") {
					t.Errorf("record %v, want the delay %s", r, test.want)
				}
			}
		})
	}
}

// The retries of a spared endpoint wait too, and are shown with the time at which
// they will be made.
func TestProbationHoldsRetries(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	b.answer = status(500)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	for i := range 9 {
		b.publish(fmt.Sprint(i))
	}
	b.clk.Advance(5 * time.Second)
	b.publish("tenth")
	want := start.Add(15 * time.Second) // the first would be tried again after 10 s
	if info := b.grid.Topics()[0].Subscriptions[0]; !info.Next.Equal(want) || !info.SparedUntil.Equal(want) {
		t.Errorf("the subscription: next %s, spared until %s, want %s", info.Next, info.SparedUntil, want)
	}
	for _, d := range b.grid.Deliveries("orders", "s") {
		if !d.Next.Equal(want) {
			t.Errorf("event %s: next %s, want %s", d.EventID, d.Next, want)
		}
	}
	b.clk.Advance(9 * time.Second)
	if len(b.calls) != 10 {
		t.Errorf("%d requests before the probation ends, want 10", len(b.calls))
	}
}

// Nine failures and a success are no probation, nor are ten at several endpoints.
func TestProbationCountsInARow(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	n := 0
	b.answer = func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) {
		if n++; n%10 == 0 {
			return &eventgrid.Response{Status: 200}, nil
		}
		return &eventgrid.Response{Status: 404}, nil
	}
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 1})
	for i := range 40 {
		b.publish(fmt.Sprint(i))
	}
	if len(b.calls) != 40 {
		t.Errorf("%d requests, want 40: a success ends the row", len(b.calls))
	}

	b.answer, b.calls = status(404), nil
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "G", MaxDeliveryAttempts: 1})
	for i := range 9 {
		b.subscribe(eventgrid.Subscription{Name: fmt.Sprint("h", i), Function: fmt.Sprint("H", i), MaxDeliveryAttempts: 1})
	}
	b.publish("e")
	b.publish("f")
	if len(b.calls) != 20 {
		t.Errorf("%d requests, want 20: each endpoint has a health of its own", len(b.calls))
	}
}

// Without the switch nothing is spared, however long an endpoint fails.
func TestProbationOff(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(404)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 1})
	for i := range 30 {
		b.publish(fmt.Sprint(i))
	}
	if len(b.calls) != 30 || len(b.trace(journal.EventDelayed)) != 0 {
		t.Errorf("%d requests, %v", len(b.calls), b.trace(journal.EventDelayed))
	}
}

// A subscription that gets another endpoint does not wait for the old one's health.
func TestProbationOfAnOldEndpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	b.answer = status(404)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	for i := range 10 {
		b.publish(fmt.Sprint(i))
	}
	b.publish("new")
	b.answer, b.calls = status(200), nil
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "G"})
	b.clk.Advance(0)
	if len(b.calls) != 1 || b.calls[0].To != "G" || b.calls[0].At != 0 {
		t.Errorf("requests %v, want the new event at once", b.times())
	}
}

// An endpoint on probation stays on it when the process ends: its failures go on
// counting, and one success ends it for good.
func TestProbationOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBench(t, eventgrid.Rules{})
	on := eventgrid.Rules{Probation: true}
	again := func() {
		b.restart(db, 0)
		b.clk.Do("configure", func() { b.grid.Configure(on) })
	}
	again()
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.answer = status(404)
	for i := range 6 {
		b.publish(fmt.Sprint("a", i))
	}
	again()
	for i := range 4 {
		b.publish(fmt.Sprint("b", i))
	}
	before := b.grid.Topics()[0].Subscriptions[0]
	if before.Failures != 10 || !before.SparedUntil.Equal(start.Add(5*time.Minute)) {
		t.Fatalf("before: %+v", before)
	}
	again()
	if diff := cmp.Diff(before, b.grid.Topics()[0].Subscriptions[0]); diff != "" {
		t.Errorf("after a restart (-before +after):\n%s", diff)
	}
	calls := len(b.calls)
	b.publish("new")
	if len(b.calls) != calls {
		t.Error("an endpoint on probation was called after a restart")
	}
	b.answer = status(200)
	b.clk.Run(day)
	again()
	if info := b.grid.Topics()[0].Subscriptions[0]; info.Failures != 0 || !info.SparedUntil.IsZero() || info.Pending != 0 {
		t.Errorf("after a success: %+v", info)
	}

	// The health of an endpoint goes with the last subscription that names it.
	b.answer = status(404)
	for i := range 10 {
		b.publish(fmt.Sprint("c", i))
	}
	b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "orders", "s") })
	again()
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	if info := b.grid.Topics()[0].Subscriptions[0]; info.Failures != 0 {
		t.Errorf("an endpoint that had no subscription left keeps its failures: %+v", info)
	}
}
