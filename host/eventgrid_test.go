package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

const gridHostJSON = `{"version":"2.0","redeliver":{"eventGridJitterPercent":0,"eventGridProbation":"off","eventGrid":{"topics":[{"name":"shop","subscriptions":[{"name":"orders","function":"OnOrder"}]}]}}}`

const gridEvent = `[{"id":"1","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z"}]`

// Event Grid outlives the host: an event goes on with its schedule under the next
// one, whose clock begins where the last one's stood.
func TestEventGridOutlivesTheHost(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(gridHostJSON), 0o644); err != nil {
		t.Fatal(err)
	}
	var counts []int64
	var times []time.Duration
	app := functions.New()
	app.EventGrid("OnOrder", func(ctx context.Context, e functions.EventGridEvent) error {
		counts = append(counts, e.DeliveryCount)
		times = append(times, functions.FromContext(ctx).Now.Sub(hosttest.Start))
		return errors.New("no")
	})
	now := hosttest.Start
	var key string
	for life := range 3 {
		clk := clock.NewVirtual(now, &clock.VirtualOptions{Strict: true})
		h, err := host.New(dir, &host.Options{
			Clock: clk, Store: db, Handlers: app, Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"},
		})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("start", func() { err = h.Start(context.Background()) })
		if err != nil {
			t.Fatal(err)
		}
		topic, err := h.Services().EventGrid().Topic("shop")
		if err != nil || life > 0 && topic.Key != key {
			t.Fatalf("topic %+v, %v; want the key %q", topic, err, key)
		}
		key = topic.Key
		if life == 0 {
			events, err := eventgrid.ParseEvents([]byte(gridEvent), eventgrid.EventGridSchema)
			if err != nil {
				t.Fatal(err)
			}
			clk.Do("publish", func() { err = h.Services().EventGrid().Publish(context.Background(), "shop", events...) })
			if err != nil {
				t.Fatal(err)
			}
		}
		clk.Run(8 * time.Hour)
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		now = clk.Now()
		if last, err := services.StartTime(db); err != nil || last.After(now) {
			t.Errorf("the store holds %v, %v; the clock shows %v", last, err, now)
		}
	}
	if len(counts) != 30 || counts[29] != 30 || times[29] != 23*time.Hour+46*time.Minute+40*time.Second {
		t.Errorf("delivery counts %v at %v", counts, times)
	}
}

// A reset empties Event Grid and gives it again what host.json says.
func TestEventGridReset(t *testing.T) {
	t.Parallel()
	runs := 0
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { runs++; return errors.New("no") })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"host.json": gridHostJSON}})
	h.PublishEvents("shop", gridEvent)
	h.Clock().Do("reset", func() {
		if err := h.Host.Reset(); err != nil {
			t.Error(err)
		}
	})
	if left := h.Services().EventGrid().Deliveries("", ""); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	h.PublishEvents("shop", gridEvent)
	if err := h.ResetState(); err != nil {
		t.Fatal(err)
	}
	if told := h.Select(func(r *journal.Record) bool { return r.Kind == journal.StateLoaded }); len(told) != 1 {
		t.Errorf("the journal tells of %d resets, want 1", len(told))
	}
	h.Run(48 * time.Hour)
	if topics := h.Services().EventGrid().Topics(); runs != 2 || len(topics) != 1 || len(topics[0].Subscriptions) != 1 {
		t.Errorf("%d runs, topics %+v; want one run for each event, and the topic of host.json", runs, topics)
	}
}

// Topics and subscriptions that host.json does not describe any more are removed,
// also when an earlier process read it. Those made by hand stay, and so do the
// events of all that remain.
func TestEventGridFollowsHostJSONOverProcesses(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := t.TempDir()
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errors.New("no") })
	now := hosttest.Start
	live := func(hostJSON string, f func(ctx context.Context, g *eventgrid.Grid) error) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(hostJSON), 0o644); err != nil {
			t.Fatal(err)
		}
		clk := clock.NewVirtual(now, &clock.VirtualOptions{Strict: true})
		h, err := host.New(dir, &host.Options{Clock: clk, Store: db, Handlers: app, Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("start", func() { err = h.Start(context.Background()) })
		if err == nil {
			clk.Do("use", func() { err = f(context.Background(), h.Services().EventGrid()) })
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		now = clk.Now()
	}
	var got []string
	look := func(_ context.Context, g *eventgrid.Grid) error {
		got = nil
		for _, topic := range g.Topics() {
			got = append(got, topic.Name)
			for _, s := range topic.Subscriptions {
				got = append(got, fmt.Sprint(topic.Name, "/", s.Name, " ", s.Pending))
			}
		}
		return nil
	}
	const one = `{"version":"2.0","redeliver":{"eventGridJitterPercent":0,"eventGrid":{"topics":[
		{"name":"shop","key":"a","subscriptions":[{"name":"orders","function":"OnOrder"},{"name":"audit","function":"OnOrder"}]},{"name":"old"}]}}}`
	live(one, func(ctx context.Context, g *eventgrid.Grid) error {
		events, err := eventgrid.ParseEvents([]byte(gridEvent), eventgrid.EventGridSchema)
		if err != nil {
			return err
		}
		if err := g.CreateTopic(ctx, eventgrid.Topic{Name: "mine"}); err != nil {
			return err
		}
		if _, err := g.Subscribe(ctx, "shop", eventgrid.Subscription{Name: "mine", Function: "OnOrder"}); err != nil {
			return err
		}
		return g.Publish(ctx, "shop", events...)
	})
	// A key that changes is no reason to lose events.
	live(`{"version":"2.0","redeliver":{"eventGridJitterPercent":0,"eventGrid":{"topics":[
		{"name":"SHOP","key":"b","subscriptions":[{"name":"orders","function":"OnOrder"}]}]}}}`, look)
	if diff := cmp.Diff([]string{"mine", "SHOP", "SHOP/orders 1", "SHOP/mine 1"}, got); diff != "" {
		t.Errorf("Event Grid after two processes (-want +got):\n%s", diff)
	}
	live(`{"version":"2.0"}`, look)
	if diff := cmp.Diff([]string{"mine"}, got); diff != "" {
		t.Errorf("Event Grid without topics in host.json (-want +got):\n%s", diff)
	}
}
