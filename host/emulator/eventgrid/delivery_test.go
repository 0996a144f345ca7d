package eventgrid_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

// An endpoint that answers after the response limit: the attempt counts as timed
// out; a success within three minutes cancels the retry that waits, later ones are
// ignored and the event is sent again: duplicates.
func TestSlowEndpoint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after time.Duration
		calls []string
		want  []string
	}{
		"in time": {30*time.Second - 1, []string{"0s"}, []string{"29.999999999s event_attempted e 1 Delivered"}},
		"40 s": {40 * time.Second, []string{"0s"}, []string{
			"30s event_attempted e 1 TimedOut", "40s event_attempted e 1 Delivered answered late",
		}},
		"2 min 40 s, when the retry is out": {160 * time.Second, []string{"0s", "2m30s", "5m0s"}, []string{
			"30s event_attempted e 1 TimedOut", "3m0s event_attempted e 2 TimedOut", "5m30s event_attempted e 3 TimedOut",
			"5m30s event_dropped e 3 MaxDeliveryAttemptsExceeded",
		}},
		"4 min": {4 * time.Minute, []string{"0s", "2m30s", "5m0s"}, []string{
			"30s event_attempted e 1 TimedOut", "3m0s event_attempted e 2 TimedOut", "5m30s event_attempted e 3 TimedOut",
			"5m30s event_dropped e 3 MaxDeliveryAttemptsExceeded",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = slow(b, test.after)
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 3})
			b.publish("e")
			b.clk.Run(day)
			if diff := cmp.Diff(test.calls, b.times()); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, b.trace(journal.EventAttempted, journal.EventDropped)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// A late success also counts for an event whose life would end before its retry.
func TestLateSuccessBeforeTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = slow(b, 40*time.Second)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", EventTimeToLiveInMinutes: 1})
	b.publish("e")
	b.clk.Run(day)
	want := []string{"30s event_attempted e 1 TimedOut", "40s event_attempted e 1 Delivered answered late"}
	if diff := cmp.Diff(want, b.trace(journal.EventAttempted, journal.EventDropped)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Ten failures in a row put an endpoint on probation: its retries and new events
// wait, other endpoints' do not; a success ends it.
func TestProbation(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	sick := true
	b.answer = func(_ context.Context, url string, _ *eventgrid.Request) (*eventgrid.Response, error) {
		if url == "Sick" && sick {
			return &eventgrid.Response{Status: 404}, nil
		}
		return &eventgrid.Response{Status: 200}, nil
	}
	b.subscribe(eventgrid.Subscription{Name: "sick", Function: "Sick"})
	b.subscribe(eventgrid.Subscription{Name: "well", Function: "Well"})
	count := func(to string) (n int) {
		for _, c := range b.calls {
			if c.To == to {
				n++
			}
		}
		return n
	}
	for i := range 9 {
		b.publish(fmt.Sprint("e", i))
	}
	b.publish("tenth")
	if got := count("Sick"); got != 10 {
		t.Fatalf("%d requests, want 10", got)
	}
	b.publish("new")
	if sent, well := count("Sick"), count("Well"); sent != 10 || well != 11 {
		t.Errorf("after ten failures: %d requests to the endpoint and %d to another, want 10 and 11", sent, well)
	}
	infos := b.grid.Deliveries("orders", "sick")
	last := infos[len(infos)-1]
	if last.EventID != "new" || last.Outcome != eventgrid.Probation || !last.Next.Equal(start.Add(5*time.Minute)) {
		t.Errorf("the new event: %+v, want probation until five minutes past", last)
	}
	sick = false
	b.clk.Run(day)
	if got := count("Sick"); got != 21 {
		t.Errorf("%d requests in the end, want 21", got)
	}
	if info := b.grid.Topics()[0].Subscriptions[0]; info.Failures != 0 || !info.SparedUntil.IsZero() || info.Pending != 0 {
		t.Errorf("after a success: %+v", info)
	}
}

// Each further failure doubles the probation, up to four hours. An event whose life
// ends meanwhile is given up with the outcome Probation.
func TestProbationDoubles(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	b.answer = status(500)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
	b.publish("e")
	b.clk.Run(day)
	var waits []string
	for i := 10; i < len(b.calls); i++ {
		waits = append(waits, (b.calls[i].At - b.calls[i-1].At).String())
	}
	// The schedule asks for an hour; the probation begins with 10 s after the tenth
	// failure and is longer than that from the nineteenth on.
	want := []string{"1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h0m0s", "1h25m20s", "2h50m40s", "4h0m0s"}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	for _, text := range b.blobs("dead") {
		if !strings.Contains(text, `"deadLetterReason":"TimeToLiveExceeded","deliveryAttempts":22,"lastDeliveryOutcome":"Probation"`) {
			t.Errorf("dead letter %s", text)
		}
	}
}

// A faulty event says nothing of its endpoint.
func TestClientErrorsAreNoProbation(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{Probation: true})
	b.answer = status(400)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
	for i := range 12 {
		b.publish(fmt.Sprint(i))
	}
	if len(b.calls) != 12 {
		t.Errorf("%d requests, want 12", len(b.calls))
	}
}

// A batch is one request, acknowledged as a whole.
func TestBatching(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.subscribe(eventgrid.Subscription{Name: "three", Function: "F", MaxEventsPerBatch: 3, MaxDeliveryAttempts: 2})
	failed := false
	b.answer = func(_ context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
		if !failed {
			failed = true
			return &eventgrid.Response{Status: 500}, nil
		}
		return &eventgrid.Response{Status: 200}, nil
	}
	b.publish("1", "2", "3", "4", "5")
	b.clk.Run(day)
	var got []string
	for _, c := range b.calls {
		got = append(got, fmt.Sprint(c.At, " ", strings.Count(c.Body, `"id"`), " ", c.r.DeliveryCount))
	}
	if diff := cmp.Diff([]string{"0s 3 0", "0s 2 0", "10s 3 1"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}

	b.calls = nil
	b.subscribe(eventgrid.Subscription{Name: "three", Function: "F", MaxEventsPerBatch: 5000, PreferredBatchSizeInKilobytes: 1})
	b.publish("1", "2", "3", "4", "5", "6", "7")
	if len(b.calls) != 3 {
		t.Errorf("%d requests of at most 1 KiB, want 3", len(b.calls))
	}
}

// CloudEvents go out one in an object, and in batches as an array; events of the
// other schema become CloudEvents where a subscription asks for them.
func TestDeliverySchemas(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.do(func(ctx context.Context) error {
		return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "cloud", InputSchema: eventgrid.CloudEventSchema})
	})
	add := func(topic string, s eventgrid.Subscription) {
		b.do(func(ctx context.Context) error { _, err := b.grid.Subscribe(ctx, topic, s); return err })
	}
	add("cloud", eventgrid.Subscription{Name: "one", Function: "one", DeliveryHeaders: map[string]string{"X-Custom": "y"}})
	add("cloud", eventgrid.Subscription{Name: "batch", Function: "batch", MaxEventsPerBatch: 2})
	add("orders", eventgrid.Subscription{Name: "converted", Function: "converted", EventDeliverySchema: eventgrid.CloudEventSchema})
	add("orders", eventgrid.Subscription{Name: "plain", Function: "plain"})
	b.publishTo("cloud", `{"specversion":"1.0","type":"t","source":"/s","id":"c","ext":"x","data":{"b":1,"a":2}}`, eventgrid.CloudEventSchema)
	b.publish("e")
	topic := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.EventGrid/topics/orders"
	want := map[string][2]string{
		"one":   {"application/cloudevents+json; charset=utf-8", `{"specversion":"1.0","type":"t","source":"/s","id":"c","ext":"x","data":{"b":1,"a":2}}`},
		"batch": {"application/cloudevents-batch+json; charset=utf-8", `[{"specversion":"1.0","type":"t","source":"/s","id":"c","ext":"x","data":{"b":1,"a":2}}]`},
		"converted": {"application/cloudevents+json; charset=utf-8", `{"id":"e","source":"` + topic + `","specversion":"1.0","type":"Shop.Ordered","subject":"/orders/7",` +
			`"time":"2029-12-31T23:59:59Z","dataschema":"#1.0","data":{"amount":7}}`},
		"plain": {"application/json; charset=utf-8", `[{"id":"e","topic":"` + topic + `","subject":"/orders/7","eventType":"Shop.Ordered",` +
			`"eventTime":"2029-12-31T23:59:59Z","data":{"amount":7},"dataVersion":"1.0","metadataVersion":"1"}]`},
	}
	got := map[string][2]string{}
	for _, c := range b.calls {
		got[c.To] = [2]string{c.r.Header().Get("Content-Type"), c.Body}
		if h := c.r.Header(); h.Get("aeg-event-type") != "Notification" || h.Get("aeg-subscription-name") != strings.ToUpper(c.To) {
			t.Errorf("headers of %s: %v", c.To, h)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for _, c := range b.calls {
		switch h := c.r.Header(); c.To {
		case "one":
			if h.Get("X-Custom") != "y" {
				t.Errorf("headers: %v", h)
			}
		case "plain":
			if h.Get("aeg-data-version") != "1.0" || h.Get("aeg-metadata-version") != "1" {
				t.Errorf("headers: %v", h)
			}
		}
	}
}

// The dead letter of a CloudEvent has its attributes in lower case.
func TestDeadLetterOfCloudEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) { return nil, errRefused }
	b.subscribe(eventgrid.Subscription{
		Name: "s", Function: "F", EventDeliverySchema: eventgrid.CloudEventSchema, MaxDeliveryAttempts: 1,
		DeadLetterContainer: eventgrid.StorageResource("devstoreaccount1") + "/blobServices/default/containers/dead",
	})
	b.publish("e")
	b.clk.Run(day)
	for _, text := range b.blobs("dead") {
		if want := `"deadletterreason":"MaxDeliveryAttemptsExceeded","deliveryattempts":1,"lastdeliveryoutcome":"SocketError",` +
			`"publishtime":"2030-01-01T00:00:00.0000000Z","lastdeliveryattempttime":"2030-01-01T00:00:00.0000000Z"}]`; !strings.HasSuffix(text, want) {
			t.Errorf("dead letter %s, want the end %s", text, want)
		}
		return
	}
	t.Error("no dead letter")
}

// A container that cannot be written to is tried for four hours.
func TestDeadLetterUnavailable(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]time.Duration{"comes back": 3 * time.Hour, "too late": 5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = status(500)
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 1, DeadLetterContainer: "dead"})
			b.fault = func(p storage.FaultPoint) error {
				if p.Op == "Put" && b.clk.Now().Before(start.Add(back)) {
					return bindings.ErrUnavailable
				}
				return nil
			}
			b.publish("e")
			b.clk.Run(day)
			trace := b.trace(journal.DeadLettered, journal.EventDropped)
			want := []string{"4h5m0s event_dropped e 1 DeadLetterContainerUnavailable"}
			if name == "comes back" {
				want = []string{"3h0m0s dead_lettered e 1 MaxDeliveryAttemptsExceeded"}
			}
			if diff := cmp.Diff(want, trace); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// The container has to be there before the subscription.
func TestDeadLetterContainerMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	for _, place := range []string{"missing", eventgrid.StorageResource("other") + "/blobServices/default/containers/missing"} {
		err := b.try(func(ctx context.Context) error {
			_, err := b.grid.Subscribe(ctx, "orders", eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: place})
			return err
		})
		if e, ok := errors.AsType[*eventgrid.Error](err); !ok || e.Status != 400 || !strings.Contains(e.Message, `"missing"`) {
			t.Errorf("%s: %v, want 400 and the container's name", place, err)
		}
	}
	if n := len(b.grid.Topics()[0].Subscriptions); n != 0 {
		t.Errorf("%d subscriptions, want none", n)
	}
}

// A subscription that is changed keeps its events; one that goes takes them along.
func TestChangeAndRemove(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(500)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.publish("e")
	b.answer = status(200)
	b.subscribe(eventgrid.Subscription{Name: "S", Function: "G"})
	b.clk.Run(day)
	if n := len(b.calls); n != 2 || b.calls[1].To != "G" {
		t.Errorf("requests %v, want one to each", b.calls)
	}
	b.answer = status(500)
	b.publish("f")
	b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "ORDERS", "s") })
	if moved := b.clk.Run(day); moved != 0 || len(b.grid.Deliveries("", "")) != 0 {
		t.Errorf("time moved by %s for an event without a subscription", moved)
	}
	b.do(func(ctx context.Context) error { return b.grid.DeleteTopic(ctx, "orders") })
	if err := b.try(func(ctx context.Context) error { return b.grid.Publish(ctx, "orders") }); err == nil {
		t.Error("published to a topic that is gone")
	}
}

// Events that go with their subscription, or with its topic, are in the journal as dropped,
// by the order in which they came.
func TestRemovedSubscriptionsDropTheirEvents(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(b *bench){
		"subscription": func(b *bench) {
			b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "orders", "s") })
		},
		"topic": func(b *bench) { b.do(func(ctx context.Context) error { return b.grid.DeleteTopic(ctx, "orders") }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = status(500)
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
			want := []string{}
			for i := range 20 {
				b.publish(fmt.Sprint(i))
				want = append(want, fmt.Sprintf("0s event_dropped %d 1 SubscriptionDeleted", i))
			}
			remove(b)
			if diff := cmp.Diff(want, b.trace(journal.EventDropped)); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
		})
	}
}

// An event leaves a record when it comes while a subscription is being made, while an
// app waits for one, and when the subscription exists.
func TestEventsBeforeTheSubscription(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	hook := eventgrid.Subscription{Name: "hook", Endpoint: "http://127.0.0.1:1/hook", SubjectBeginsWith: "/orders"}
	late := eventgrid.Subscription{Name: "late", Function: "F", DeadLetterContainer: "later"}
	other := eventgrid.Subscription{Name: "other", Function: "F", SubjectBeginsWith: "/bills", DeadLetterContainer: "later"}
	b.answer = func(_ context.Context, _ string, r *eventgrid.Request) (*eventgrid.Response, error) {
		if r.Type == eventgrid.SubscriptionValidation {
			b.grid.Await("", nil) // it does not matter that nobody waits: it is being made
			events, err := eventgrid.ParseEvents([]byte("["+eventJSON("during")+"]"), eventgrid.EventGridSchema)
			if err == nil {
				err = b.grid.Publish(context.Background(), "ORDERS", events...)
			}
			if err != nil {
				t.Error(err)
			}
			return nil, errRefused
		}
		return &eventgrid.Response{Status: 200}, nil
	}
	wanted := []eventgrid.Wanted{{Topic: eventgrid.Topic{Name: "orders"}, Subscriptions: []eventgrid.Subscription{hook, late, other}}}
	b.grid.Await("", wanted)
	b.publish("before")
	if b.try(func(ctx context.Context) error { _, err := b.grid.Subscribe(ctx, "orders", hook); return err }) == nil {
		t.Error("a web hook that does not answer was subscribed")
	}
	b.publish("nobody waits")
	b.grid.Await("", wanted)
	if b.try(func(ctx context.Context) error { _, err := b.grid.Subscribe(ctx, "orders", late); return err }) == nil {
		t.Error("subscribed without the container")
	}
	b.publish("no container")
	late.DeadLetterContainer = ""
	b.subscribe(late)
	b.publish("after")
	b.do(func(ctx context.Context) error { return b.grid.Unsubscribe(ctx, "orders", "late") })
	b.publish("by hand")
	want := []string{
		"0s orders/hook before SubscriptionNotCreated", "0s orders/late before SubscriptionNotCreated",
		"0s orders/hook during SubscriptionNotValidated",
		"0s orders/hook no container SubscriptionNotCreated", "0s orders/late no container SubscriptionNotCreated",
		"0s orders/hook after SubscriptionNotCreated",
		"0s orders/hook by hand SubscriptionNotCreated",
	}
	var got []string
	for _, r := range b.records {
		if r.Kind == journal.EventDropped {
			got = append(got, fmt.Sprint(r.Time.Sub(start), " ", r.Source, " ", r.MessageID, " ", r.Cause))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// An event that a subscription would want whose web hook has not been validated is not
// delivered, and the journal says so.
func TestEventsBeforeTheValidation(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(202) // no validation code: somebody has to fetch the URL
	b.subscribe(eventgrid.Subscription{Name: "s", Endpoint: "http://127.0.0.1:1/hook"})
	b.publish("e")
	if diff := cmp.Diff([]string{"0s event_dropped e 0 SubscriptionNotValidated"}, b.trace(journal.Enqueued, journal.EventDropped)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}
