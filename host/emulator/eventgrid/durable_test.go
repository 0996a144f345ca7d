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
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// restart closes the Grid of a bench and opens another one from db, at the time
// down after the last change.
func (b *bench) restart(db *store.Store, down time.Duration) {
	b.Helper()
	b.grid.Close()
	last, err := eventgrid.Keys.LastTime(db)
	if err != nil {
		b.Fatal(err)
	}
	if last.IsZero() {
		last = start
	}
	b.clk = clock.NewVirtual(last.Add(down), &clock.VirtualOptions{Strict: true})
	endpoint := func(url string) eventgrid.Endpoint { return scripted{b, url} }
	b.grid, err = eventgrid.Open(b.clk, db, &eventgrid.Options{Function: endpoint, WebHook: endpoint, Blobs: func(string) blob.Account { return b.storage }})
	if err != nil {
		b.Fatal(err)
	}
	b.clk.Do("configure", func() { b.grid.Configure(eventgrid.Rules{}) })
}

// A Grid goes on where it was: an event of which the process ended in the middle of
// its schedule is tried 30 times in all, at the scheduled times, and its dead letter
// written once.
func TestDurable(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBench(t, eventgrid.Rules{})
	b.restart(db, 0)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "Orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "b", Function: "B", AdvancedFilters: []eventgrid.Filter{{Operator: "NumberIn", Key: "data.amount", Values: []any{7, 8}}}})
	b.subscribe(eventgrid.Subscription{Name: "a", Function: "A", SubjectBeginsWith: "/none"})
	topic, err := b.grid.Topic("orders")
	if err != nil {
		t.Fatal(err)
	}
	infos := b.grid.Topics()
	b.answer = status(500)
	b.publish("e")
	for range 40 { // the process ends after every attempt
		b.clk.Run(30 * time.Minute)
		before := b.grid.Deliveries("", "")
		b.restart(db, 0)
		if diff := cmp.Diff(before, b.grid.Deliveries("", "")); diff != "" {
			t.Fatalf("deliveries after a restart (-before +after):\n%s", diff)
		}
	}
	b.clk.Run(48 * time.Hour)
	b.clk = clock.NewVirtual(start, nil) // times of calls are since start
	var last time.Duration
	for i, c := range b.calls {
		if c.At < last || i != c.r.DeliveryCount {
			t.Errorf("call %d at %s with count %d, after %s", i, c.At, c.r.DeliveryCount, last)
		}
		last = c.At
	}
	if len(b.calls) != 30 || last != 23*time.Hour+46*time.Minute+40*time.Second {
		t.Errorf("%d attempts, the last at %s", len(b.calls), last)
	}
	b.restart(db, 0)
	if again, err := b.grid.Topic("ORDERS"); err != nil || again != topic {
		t.Errorf("topic %+v, %v; want %+v", again, err, topic)
	}
	if diff := cmp.Diff(fmt.Sprint(infos), fmt.Sprint(b.grid.Topics())); diff != "" {
		t.Errorf("topics (-before +after):\n%s", diff)
	}
	if left := b.grid.Deliveries("", ""); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

// Deliveries that fell due while no host ran are due at once, and expired ones
// are given up; a request that was out is made again with the same count.
func TestDurableAfterAWhile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		down time.Duration
		want []string
	}{
		"soon":       {time.Second, []string{"0s 0", "1s 0"}},
		"after TTL":  {2 * time.Hour, []string{"0s 0"}},
		"before TTL": {time.Hour, []string{"0s 0", "1h0m0s 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := store.OpenMemory(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			b := newBench(t, eventgrid.Rules{})
			b.restart(db, 0)
			b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", EventTimeToLiveInMinutes: 60})
			b.answer = slow(b, time.Hour)
			b.publish("e")
			b.answer = status(200)
			b.restart(db, test.down)
			b.clk.Run(day)
			var got []string
			for _, c := range b.calls {
				got = append(got, fmt.Sprint(c.At, " ", c.r.DeliveryCount))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if left := b.grid.Deliveries("", ""); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// A dead letter that waits to be written is written by the next process.
func TestDurableDeadLetter(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBench(t, eventgrid.Rules{})
	b.restart(db, 0)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", MaxDeliveryAttempts: 1, DeadLetterContainer: "dead"})
	b.answer = status(503)
	b.publish("e")
	b.answer = status(200)
	b.restart(db, time.Minute)
	if moved := b.clk.Run(day); moved != 4*time.Minute || len(b.calls) != 1 {
		t.Errorf("written after %s, %d requests; want 4m and one", moved, len(b.calls))
	}
	blobs := b.blobs("dead")
	for _, text := range blobs {
		if !strings.Contains(text, `"deadLetterReason":"MaxDeliveryAttemptsExceeded","deliveryAttempts":1,"lastDeliveryOutcome":"Busy","lastHttpStatusCode":503`) {
			t.Errorf("dead letter %s", text)
		}
	}
	if len(blobs) != 1 {
		t.Errorf("dead letters %v, want one", blobs)
	}
}

// A loaded state, and a reset, replace the old state.
func TestDurableReset(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBench(t, eventgrid.Rules{})
	b.restart(db, 0)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.answer = status(500)
	b.publish("e")
	b.do(func(context.Context) error { return b.grid.Reset() })
	if moved := b.clk.Run(day); moved != 0 || len(b.grid.Topics()) != 0 {
		t.Errorf("after a reset: time moved by %s, topics %+v", moved, b.grid.Topics())
	}
	b.restart(db, 0)
	if len(b.grid.Topics()) != 0 {
		t.Errorf("after a restart: %+v", b.grid.Topics())
	}
}

// A change that cannot be written has not happened.
func TestPublishUnwritten(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, eventgrid.Rules{})
	b.restart(db, 0)
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := eventgrid.ParseEvents([]byte("["+eventJSON("e")+"]"), eventgrid.EventGridSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.try(func(ctx context.Context) error { return b.grid.Publish(ctx, "orders", events...) }); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("publish: %v, want that the store cannot be written", err)
	}
	if len(b.calls) != 0 {
		t.Errorf("delivered %v", b.calls)
	}
}

// The text of an event is the same before and after a restart, byte for byte.
func TestTextOfAnEventIsKept(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := newBench(t, eventgrid.Rules{})
	b.restart(db, 0)
	defer func() { b.grid.Close() }()
	b.do(func(ctx context.Context) error { return b.grid.CreateTopic(ctx, eventgrid.Topic{Name: "orders"}) })
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.answer = status(500)
	const data = `{ "html" : "<b>&\u00e9</b>",  "n":1.50e1, "nested": [ 1,2 ] }`
	b.publishTo("orders", `[{"id":"e","subject":"/orders/<7>","eventType":"Shop.Ordered","eventTime":"2029-12-31T23:59:59Z","data":`+data+`,"dataVersion":"1.0"}]`, eventgrid.EventGridSchema)
	b.clk.Run(time.Second)
	b.restart(db, 0)
	b.clk.Run(time.Minute)
	if len(b.calls) < 2 {
		t.Fatalf("%d calls, want one before and one after the restart", len(b.calls))
	}
	if diff := cmp.Diff(b.calls[0].Body, b.calls[len(b.calls)-1].Body); diff != "" || !strings.Contains(b.calls[0].Body, data) {
		t.Errorf("the event after the restart (-before +after):\n%s", diff)
	}
}
