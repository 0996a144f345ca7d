package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// describing is a host.json that describes a topic, with subscriptions of the function OnEvent.
func describing(topic string, subscriptions ...string) string {
	text := ""
	for i, s := range subscriptions {
		if i > 0 {
			text += ","
		}
		text += `{"name":"` + s + `","function":"OnEvent"}`
	}
	return `{"version":"2.0","redeliver":{"eventGridJitterPercent":0,"eventGrid":{"topics":[{"name":"` + topic + `","subscriptions":[` + text + `]}]}}}`
}

// Two apps share Event Grid: each has the events of its own subscriptions, whatever its
// functions are called. A reload of one, and a new start of both, removes nothing that the
// other describes, and a subscription that both describe is the first one's.
func TestTopicsOfTwoApps(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	orders, billing := t.TempDir(), t.TempDir()
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(orders, describing("shop", "all"))
	write(billing, describing("shop", "bills"))
	var got []string
	handlers := func(app string) *functions.App {
		a := functions.New()
		a.EventGrid("OnEvent", func(_ context.Context, e functions.EventGridEvent) error {
			got = append(got, app)
			return nil
		})
		return a
	}
	for life := range 2 {
		clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
		env := []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}
		first, err := host.New(orders, &host.Options{App: "orders", Clock: clk, Store: db, Handlers: handlers("orders"), Env: env})
		if err != nil {
			t.Fatal(err)
		}
		second, err := host.New(billing, &host.Options{App: "billing", Beside: first, Handlers: handlers("billing"), Env: env})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("start", func() {
			for _, h := range []*host.Host{first, second} {
				if err := h.Start(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
		subscriptions := func() (names []string) {
			for _, topic := range first.Services().EventGrid().Topics() {
				for _, s := range topic.Subscriptions {
					names = append(names, topic.Name+"/"+s.Name+" "+s.Function)
				}
			}
			slices.Sort(names)
			return names
		}
		want := func(names ...string) {
			t.Helper()
			if diff := cmp.Diff(subscriptions(), names); diff != "" {
				t.Errorf("life %d: subscriptions (-got +want):\n%s", life, diff)
			}
		}
		want("shop/all orders/OnEvent", "shop/bills billing/OnEvent")
		for _, h := range []*host.Host{first, second} {
			if f := served.Report(h.App(), h.Env()).Functions[0]; f.Deliveries == 0 {
				t.Errorf("life %d: %s/%s has no deliveries: %s", life, h.AppName(), f.Name, f.End)
			}
		}
		events, err := eventgrid.ParseEvents([]byte(gridEvent), eventgrid.EventGridSchema)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		clk.Do("publish", func() {
			if err := first.Services().EventGrid().Publish(context.Background(), "shop", events...); err != nil {
				t.Error(err)
			}
		})
		slices.Sort(got)
		if diff := cmp.Diff(got, []string{"billing", "orders"}); diff != "" {
			t.Errorf("life %d: the event reached (-got +want):\n%s", life, diff)
		}
		if life == 0 {
			reload := func(names ...string) {
				t.Helper()
				write(billing, describing("shop", names...))
				clk.Do("reload", func() {
					if err := second.Reload(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			reload()
			want("shop/all orders/OnEvent")
			reload("all", "bills")
			want("shop/all orders/OnEvent", "shop/bills billing/OnEvent")
			if _, ok := first.Journal().FindKind(1, journal.FunctionError, func(r *journal.Record) bool {
				return r.App == "billing" && r.Source == "shop/all" && r.Error == `the app "orders" describes a subscription of this name too`
			}); !ok {
				t.Errorf("nobody was told of the subscription that both describe:\n%v", first.Journal().Records())
			}
			reload("bills")
		}
		for _, h := range []*host.Host{first, second} {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
		clk.Close()
	}
}
