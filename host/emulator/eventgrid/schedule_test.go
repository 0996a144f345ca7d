package eventgrid_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
)

// The table of 2019, as the founding documents give it: the 30th try falls at 23 h
// 46 min 40 s.
func TestSchedule2019(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.subscribe(eventgrid.Subscription{Name: "all", Function: "OnOrder", DeadLetterContainer: "dead"})
	b.answer = status(500)
	b.publish("e1")
	b.clk.Run(day)
	want := []string{"0s", "10s", "40s", "1m40s", "6m40s", "16m40s", "46m40s"}
	for h := range 23 {
		want = append(want, (time.Duration(h+1)*time.Hour + 46*time.Minute + 40*time.Second).String())
	}
	if diff := cmp.Diff(want, b.times()); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	for i, c := range b.calls {
		if got := c.r.Header().Get("aeg-delivery-count"); got != strconv.Itoa(i) {
			t.Errorf("attempt %d: aeg-delivery-count %s", i, got)
		}
	}
	const blob = "ALL/2030/1/1/23/"
	blobs := b.blobs("dead")
	if len(blobs) != 1 {
		t.Fatalf("dead letters %v, want one", blobs)
	}
	for name, text := range blobs {
		if len(name) != len(blob)+len("00000000-0000-4000-8000-000000000000.json") || name[:len(blob)] != blob {
			t.Errorf("blob %q, want %s{guid}.json", name, blob)
		}
		want := `[{"id":"e1","topic":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.EventGrid/topics/orders",` +
			`"subject":"/orders/7","eventType":"Shop.Ordered","eventTime":"2029-12-31T23:59:59Z","data":{"amount":7},"dataVersion":"1.0","metadataVersion":"1",` +
			`"deadLetterReason":"MaxDeliveryAttemptsExceeded","deliveryAttempts":30,"lastDeliveryOutcome":"Busy","lastHttpStatusCode":500,` +
			`"publishTime":"2030-01-01T00:00:00.0000000Z","lastDeliveryAttemptTime":"2030-01-01T23:46:40.0000000Z"}]`
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("dead letter (-want +got):\n%s", diff)
		}
	}
	if now := b.clk.Now().Sub(start); now != 23*time.Hour+51*time.Minute+40*time.Second {
		t.Errorf("written at %s, want five minutes after the last attempt", now)
	}
	if left := b.grid.Deliveries("", ""); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

// The time between attempts, and the end of an event, by edition, status and
// limits.
func TestSchedules(t *testing.T) {
	t.Parallel()
	current := eventgrid.Rules{Schedule: eventgrid.ScheduleCurrent}
	hook := eventgrid.Subscription{Name: "s", Endpoint: "http://127.0.0.1:1/hook", EventDeliverySchema: eventgrid.EventGridSchema}
	function := eventgrid.Subscription{Name: "s", Function: "F"}
	with := func(s eventgrid.Subscription, change func(*eventgrid.Subscription)) eventgrid.Subscription {
		change(&s)
		return s
	}
	dead := func(s *eventgrid.Subscription) { s.DeadLetterContainer = "dead" }
	few := func(s *eventgrid.Subscription) { s.MaxDeliveryAttempts = 3 }
	for name, test := range map[string]struct {
		rules  eventgrid.Rules
		sub    eventgrid.Subscription
		answer int // 0: connection refused
		want   []string
		end    string // last record
	}{
		"current has eleven tries": {current, function, 500,
			[]string{"0s", "10s", "40s", "1m40s", "6m40s", "16m40s", "46m40s", "1h46m40s", "4h46m40s", "10h46m40s", "22h46m40s"}, "24h0m0s event_dropped e 11 TimeToLiveExceeded"},
		"ttl 30 min, current": {current, with(function, func(s *eventgrid.Subscription) { s.EventTimeToLiveInMinutes, s.MaxDeliveryAttempts = 30, 10; dead(s) }), 500,
			[]string{"0s", "10s", "40s", "1m40s", "6m40s", "16m40s"}, "30m0s dead_lettered e 6 TimeToLiveExceeded"},
		"ttl cuts no attempt short": {eventgrid.Rules{}, with(function, func(s *eventgrid.Subscription) { s.EventTimeToLiveInMinutes = 1; dead(s) }), 500,
			[]string{"0s", "10s", "40s"}, "5m40s dead_lettered e 3 TimeToLiveExceeded"},
		"one attempt":                   {eventgrid.Rules{}, with(function, func(s *eventgrid.Subscription) { s.MaxDeliveryAttempts = 1; dead(s) }), 500, []string{"0s"}, "5m0s dead_lettered e 1 MaxDeliveryAttemptsExceeded"},
		"400 goes to dead letters":      {eventgrid.Rules{}, with(hook, dead), 400, []string{"0s"}, "5m0s dead_lettered e 1 UndeliverableDueToClientError"},
		"413 goes to dead letters":      {eventgrid.Rules{}, with(hook, dead), 413, []string{"0s"}, "5m0s dead_lettered e 1 UndeliverableDueToClientError"},
		"400 without a container":       {eventgrid.Rules{}, with(hook, few), 400, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"413 without a container":       {eventgrid.Rules{}, with(hook, few), 413, []string{"0s", "10s", "40s"}, "40s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"401":                           {eventgrid.Rules{}, with(hook, few), 401, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"403":                           {eventgrid.Rules{}, with(hook, few), 403, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"404":                           {eventgrid.Rules{}, with(hook, few), 404, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"408":                           {eventgrid.Rules{}, with(hook, few), 408, []string{"0s", "2m0s", "4m0s"}, "4m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"503":                           {eventgrid.Rules{}, with(hook, few), 503, []string{"0s", "30s", "1m0s"}, "1m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"a redirect":                    {eventgrid.Rules{}, with(hook, few), 302, []string{"0s", "10s", "40s"}, "40s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"205 is no success":             {eventgrid.Rules{}, with(hook, few), 205, []string{"0s", "10s", "40s"}, "40s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"connection refused":            {eventgrid.Rules{}, with(hook, few), 0, []string{"0s", "10s", "40s"}, "40s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"current, 400 is dropped":       {current, hook, 400, []string{"0s"}, "0s event_dropped e 1 UndeliverableDueToClientError"},
		"current, 413 is dead-lettered": {current, with(hook, dead), 413, []string{"0s"}, "5m0s dead_lettered e 1 UndeliverableDueToClientError"},
		"current, 401 of a web hook":    {current, hook, 401, []string{"0s"}, "0s event_dropped e 1 UndeliverableDueToClientError"},
		"current, 401 of a function":    {current, with(function, few), 401, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"current, 403":                  {current, function, 403, []string{"0s"}, "0s event_dropped e 1 UndeliverableDueToClientError"},
		"current, 404 of a function":    {current, with(function, few), 404, []string{"0s", "5m0s", "10m0s"}, "10m0s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"current, 404 of a web hook":    {current, with(hook, few), 404, []string{"0s", "10s", "40s"}, "40s event_dropped e 3 MaxDeliveryAttemptsExceeded"},
		"200":                           {eventgrid.Rules{}, hook, 200, []string{"0s"}, "0s event_attempted e 1 Delivered"},
		"204":                           {eventgrid.Rules{}, hook, 204, []string{"0s"}, "0s event_attempted e 1 Delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.rules)
			b.answer = func(_ context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
				return handshake(r), nil
			}
			b.subscribe(test.sub)
			b.calls = nil
			if b.answer = status(test.answer); test.answer == 0 {
				b.answer = func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) { return nil, errRefused }
			}
			b.publish("e")
			b.clk.Run(day)
			if diff := cmp.Diff(test.want, b.times()); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			trace := b.trace(journal.EventAttempted, journal.EventDropped, journal.DeadLettered)
			if got := trace[len(trace)-1]; got != test.end {
				t.Errorf("end: %s, want %s", got, test.end)
			}
		})
	}
}

// Jitter makes waits longer, by at most its percentage, the same for the same
// seed; no wait is shorter than its step.
func TestJitter(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []time.Duration {
		b := newBench(t, eventgrid.Rules{})
		grid := eventgrid.New(b.clk, &eventgrid.Options{Seed: seed, Rules: eventgrid.Rules{JitterPercent: 50}, Function: func(string) eventgrid.Endpoint { return scripted{b, ""} }})
		defer grid.Close()
		b.grid = grid
		b.do(func(ctx context.Context) error { return grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
		b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 8})
		b.answer = status(500)
		b.publish("e")
		b.clk.Run(day)
		var waits []time.Duration
		for i := 1; i < len(b.calls); i++ {
			waits = append(waits, b.calls[i].At-b.calls[i-1].At)
		}
		return waits
	}
	one, again, two := run(1), run(1), run(2)
	if diff := cmp.Diff(one, again); diff != "" {
		t.Errorf("the same seed, other waits:\n%s", diff)
	}
	if cmp.Equal(one, two) {
		t.Error("another seed, the same waits")
	}
	steps := []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour}
	for i, wait := range append(one, two...) {
		if step := steps[i%7]; wait < step || wait > step*3/2 {
			t.Errorf("wait %d is %s, want %s to %s", i, wait, step, step*3/2)
		}
	}
}
