package web_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
	"github.com/redeliver/redeliver/host/ops/run"
)

const gridHostJSON = `{"version":"2.0","redeliver":{"eventGridJitterPercent":0,"eventGridProbation":"off",
	"eventHubs":{"hubs":[{"name":"readings","partitionCount":2,"consumerGroups":["audit"]}]},
	"eventGrid":{"topics":[{"name":"shop","key":"own","subscriptions":[{"name":"orders","function":"OnOrder"}]}]}}}`

func gridHandlers() *functions.App {
	handlers := functions.New()
	handlers.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		if e.EventType == "good" {
			return nil
		}
		return errors.New("closed")
	})
	return handlers
}

func TestControlGridPublish(t *testing.T) {
	t.Parallel()
	d := open(t, app(gridHostJSON), gridHandlers(), nil)
	const events = prefix + "/eventgrid/events?topic=shop"
	for _, test := range []struct {
		name, path, body string
		status, count    int
	}{
		{"one", events, `{"eventType":"good"}`, 201, 1},
		{"an array", events, ` [{"eventType":"good"},{ }] `, 201, 2},
		{"nothing", events, ``, 201, 1},
		{"an empty array", events, `[]`, 201, 0},
		{"a whole one", events + "&raw=true", `{"id":"1","subject":"s","eventType":"good","eventTime":"2030-01-01T00:00:00Z"}`, 201, 1},
		{"incomplete", events + "&raw=true", `{"id":"1"}`, 400, 0},
		{"no event", events, `7`, 400, 0},
		{"no object", events, `[7]`, 400, 0},
		{"null", events, `[null]`, 400, 0},
		{"half of one", events, `{"id":`, 400, 0},
		{"no topic", prefix + "/eventgrid/events?topic=other", `{}`, 404, 0},
		{"too large", events, `{"data":"` + strings.Repeat("x", 1<<20) + `"}`, 413, 0},
	} {
		if test.status != 201 {
			d.want(test.status, "POST", test.path, test.body)
			continue
		}
		if got := get[eventgrid.Published](d, test.status, "POST", test.path, test.body); got.Topic != "shop" || len(got.IDs) != test.count {
			t.Errorf("%s: %+v, want %d events", test.name, got, test.count)
		}
	}
	d.want(403, "POST", events, `{}`, withHeader("Host", "evil.example"))
}

func TestControlGridCreate(t *testing.T) {
	t.Parallel()
	handlers := gridHandlers()
	handlers.Queue("Work", "work", nothing)
	d := open(t, app(gridHostJSON), handlers, nil)
	topic := prefix + "/eventgrid/topic?topic="
	made := get[eventgrid.GridTopic](d, 201, "PUT", topic+"cloud", `{"key":"k","inputSchema":"CloudEventSchemaV1_0"}`)
	if made.Name != "cloud" || made.Key != "k" || made.InputSchema != "CloudEventSchemaV1_0" {
		t.Errorf("topic = %+v", made)
	}
	d.want(409, "PUT", topic+"Cloud", "")
	d.want(400, "PUT", topic+"a%20b", "")
	d.want(400, "PUT", topic+"other", `{"colour":"red"}`)
	subscription := prefix + "/eventgrid/subscription?topic=cloud&name="
	want := eventgrid.Subscribed{Topic: "cloud", Subscription: "all", State: "Succeeded"}
	if diff := cmp.Diff(want, get[eventgrid.Subscribed](d, 201, "PUT", subscription+"all", `{"function":"OnOrder"}`)); diff != "" {
		t.Errorf("subscription (-want +got):\n%s", diff)
	}
	d.want(404, "PUT", subscription+"other", `{"function":"Nobody"}`)
	d.want(400, "PUT", subscription+"other", `{"function":"Work"}`)
	d.want(400, "PUT", subscription+"other", `{"function":"OnOrder","deadLetterContainer":"dead"}`)
	d.want(400, "PUT", subscription+"other", `{"endpoint":"http://example.com/"}`)
	d.want(404, "PUT", prefix+"/eventgrid/subscription?topic=none&name=all", `{"function":"OnOrder"}`)
	d.want(201, "POST", prefix+"/eventgrid/events?topic=cloud", `{"type":"sent"}`)
	d.wait(journal.Received, "OnOrder")
}

// Hubs are listed with what each consumer group has still to read, topics with their
// keys.
func TestInventoryOfEvents(t *testing.T) {
	t.Parallel()
	d := open(t, app(gridHostJSON), gridHandlers(), nil)
	d.want(201, "POST", prefix+"/eventhubs/events?hub=readings&partition=1", "one")
	d.want(201, "POST", prefix+"/eventhubs/events?hub=readings&partition=1&property=n:=1", "two")
	d.want(404, "POST", prefix+"/eventhubs/events?hub=none", "x")
	d.want(400, "POST", prefix+"/eventhubs/events?hub=readings&partition=1&property=n", "x")
	d.want(400, "POST", prefix+"/eventhubs/events?hub=readings&partition=1&key=k", "x")
	inv := get[run.Inventory](d, 200, "GET", prefix+"/inventory", "")
	checkpoints := func(behind int64) []hubskind.HubCheckpoint {
		return []hubskind.HubCheckpoint{{ConsumerGroup: "$Default", Behind: behind}, {ConsumerGroup: "audit", Behind: behind}}
	}
	want := []hubskind.HubInfo{{Name: "readings", Partitions: []hubskind.HubPartition{
		{ID: "0", LastSequence: -1, Checkpoints: checkpoints(0)}, {ID: "1", Events: 2, LastSequence: 1, Checkpoints: checkpoints(2)},
	}}}
	if diff := cmp.Diff(want, inv.EventHubs); diff != "" {
		t.Errorf("hubs (-want +got):\n%s", diff)
	}
	if len(inv.EventGrid) != 1 || inv.EventGrid[0].Key != "own" || len(inv.EventGrid[0].Subscriptions) != 1 || inv.Deliveries == nil {
		t.Errorf("event grid = %+v, deliveries %v", inv.EventGrid, inv.Deliveries)
	}
}

// Each delivery is listed, unless the caller asks for fewer.
func TestInventoryHasNoLimit(t *testing.T) {
	t.Parallel()
	d := open(t, app(gridHostJSON), gridHandlers(), nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	const n = 300
	d.want(201, "POST", prefix+"/eventgrid/events?topic=shop", "["+strings.TrimSuffix(strings.Repeat(`{"eventType":"bad"},`, n), ",")+"]")
	for query, want := range map[string]int{"": n, "?deliveries=0": n, "?deliveries=7": 7} {
		if got := len(get[run.Inventory](d, 200, "GET", prefix+"/inventory"+query, "").Deliveries); got != want {
			t.Errorf("%q: %d deliveries, want %d", query, got, want)
		}
	}
	d.want(400, "GET", prefix+"/inventory?deliveries=-1", "")
}

// Hubs and consumer groups are made, with the service's defaults, once, and of what the
// service takes.
func TestControlHubCreate(t *testing.T) {
	t.Parallel()
	d := open(t, app(gridHostJSON), gridHandlers(), nil)
	hub := prefix + "/eventhubs/hub?hub="
	for _, test := range []struct {
		name, body string
		want       eventhubs.HubCreated
	}{
		{"plain", "", eventhubs.HubCreated{Name: "plain", Partitions: 4, Retention: "P1D", ConsumerGroups: []string{"$Default"}}},
		{"Own", `{"partitions":2,"retention":"PT90M","consumerGroups":["a","b","A"]}`, eventhubs.HubCreated{Name: "Own", Partitions: 2, Retention: "PT1H30M", ConsumerGroups: []string{"$Default", "a", "b"}}},
	} {
		if diff := cmp.Diff(test.want, get[eventhubs.HubCreated](d, 201, "PUT", hub+test.name, test.body)); diff != "" {
			t.Errorf("hub %s (-want +got):\n%s", test.name, diff)
		}
	}
	d.want(409, "PUT", hub+"own", "")
	for name, body := range map[string]string{
		"": "", "a%20b": "", "a%2Fb": "", "many": `{"partitions":1025}`, "few": `{"partitions":-1}`, "text": `{"partitions":"2"}`, "json": `{`, "unknown": `{"color":1}`,
		"long": `{"retention":"P91D"}`, "none": `{"retention":"PT0S"}`, "soon": `{"retention":"soon"}`, "group": `{"consumerGroups":["a/b"]}`,
	} {
		d.want(400, "PUT", hub+name, body)
	}
	group := prefix + "/eventhubs/consumergroup?hub="
	made := get[eventhubs.GroupCreated](d, 201, "PUT", group+"own&group=c", "")
	if want := (eventhubs.GroupCreated{Hub: "own", ConsumerGroup: "c"}); made != want {
		t.Errorf("group %+v, want %+v", made, want)
	}
	d.want(409, "PUT", group+"own&group=C", "")
	d.want(409, "PUT", group+"own&group=$Default", "")
	d.want(404, "PUT", group+"nowhere&group=c", "")
	d.want(400, "PUT", group+"own&group=", "")
}

// A namespace outside is nobody's business here.
func TestControlHubsOutside(t *testing.T) {
	t.Parallel()
	files := app(plainHostJSON, "OnReading/function.json", `{"bindings":[{"type":"eventHubTrigger","direction":"in","name":"e","eventHubName":"readings","connection":"Hub"}]}`)
	files["local.settings.json"] = `{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true","Hub":"Endpoint=sb://contoso.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=s"}}`
	d := prepare(t, files, nil, nil)
	d.listen()
	_ = d.host.Start(t.Context()) // the function has no handler here
	a := d.request("POST", prefix+"/eventhubs/events?hub=readings", "x")
	if a.Status != http.StatusConflict || !strings.Contains(a.Body, "Hub is an Event Hubs namespace outside this host") {
		t.Errorf("answer %d %s, want 409", a.Status, a.Body)
	}
}
