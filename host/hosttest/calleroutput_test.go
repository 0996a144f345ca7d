package hosttest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// A handler that succeeds after its caller has hung up has succeeded: what it wrote is
// written, by output bindings of every kind.
func TestOutputsWithoutACaller(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(context.Background())
	app := functions.New()
	app.HTTP("Order", func(w http.ResponseWriter, r *http.Request) {
		hangUp()
		for functions.Sleep(r.Context(), time.Minute) == nil { // until the host has seen it
		}
		for name, value := range map[string]any{
			"queue": "q", "blob": "b", "bus": "s", "hub": "h",
			"grid":  functions.EventGridEvent{ID: "1", Subject: "s", EventType: "t", DataVersion: "1"},
			"items": map[string]string{"id": "c"},
		} {
			if err := functions.SetOutput(r.Context(), name, value); err != nil {
				t.Errorf("output %s: %v", name, err)
			}
		}
	}, functions.QueueOutput("queue", "mail"), functions.BlobOutput("blob", "docs/a"), functions.ServiceBusQueueOutput("bus", "bus"),
		functions.EventHubOutput("hub", "telemetry"), functions.EventGridOutput("grid", "TopicEndpoint", ""), functions.CosmosOutput("items", "shop", "orders"))
	var got []string
	app.EventHub("Hub", "telemetry", func(_ context.Context, e functions.EventHubEvent) error {
		got = append(got, e.Text())
		return nil
	})
	app.EventGrid("Grid", func(_ context.Context, e functions.EventGridEvent) error {
		got = append(got, e.ID)
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app,
		Files:    map[string]string{"host.json": `{"version":"2.0","functionTimeout":"-1","redeliver":{"eventGrid":{"topics":[{"name":"shop","subscriptions":[{"name":"all","function":"Grid"}]}]}}}`},
		Env:      []string{"TopicEndpoint=http://127.0.0.1:60101/shop/api/events"},
	})
	h.CreateCosmos("shop", "orders")
	h.RequestContext(ctx, "POST", "/api/Order", "")
	h.Advance(time.Second)
	for _, r := range h.Attempts("Order") {
		if r.Kind == journal.AttemptEnded && r.Status != "succeeded" {
			t.Errorf("the attempt has %s: %s", r.Status, r.Error)
		}
	}
	h.WantQueue("mail", "q")
	h.WantBlob("docs/a", "b")
	if n := len(h.ServiceBusMessages("bus")); n != 1 {
		t.Errorf("%d Service Bus messages, want 1", n)
	}
	if n := len(h.CosmosItems("shop", "orders")); n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
	if diff := cmp.Diff(2, len(got)); diff != "" {
		t.Errorf("events %v: (-want +got)\n%s", got, diff)
	}
}
