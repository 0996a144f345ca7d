package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

func TestApp(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", nothing)
	d := open(t, app(plainHostJSON, "local.settings.json",
		`{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true","Secret":"hunter2hunter2","Pin":"1234567890","Short":"12","DB_PASSWORD":"4711","On":"true","<b>":"x"}}`), handlers,
		&web.Options{Endpoints: func() []ops.Endpoint {
			return []ops.Endpoint{{Service: "blobs", Address: "http://127.0.0.1:10000/x"}}
		}})
	d.write("host.json", `{"version":`)
	d.want(409, "POST", prefix+"/reload", "")
	d.write("host.json", `{"version":"2.0","extensions":{"queues":{"batchSize":3}}}`)
	d.want(200, "POST", prefix+"/reload", "")
	raw := d.want(200, "GET", prefix+"/app", "").Body
	if strings.Contains(raw, "hunter") || strings.Contains(raw, "1234567890") {
		t.Errorf("a secret is shown: %s", raw)
	}
	got := get[run.App](d, 200, "GET", prefix+"/app", "")
	var settings []string
	for _, s := range got.Settings {
		settings = append(settings, fmt.Sprint(s.Name, "=", s.Value, " ", s.Masked))
	}
	want := []string{"<b>=******** true", "AzureWebJobsStorage=UseDevelopmentStorage=true false", "DB_PASSWORD=******** true", "On=true false", "Pin=******** true", "Secret=******** true", "Short=12 false"}
	if diff := cmp.Diff(want, settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	var generations []string
	for _, g := range got.Generations {
		generations = append(generations, fmt.Sprint(g.Number, " ", g.Current, " ", g.Refused, " ", g.File, " ", g.Reason != ""))
	}
	if diff := cmp.Diff([]string{"1 false false  false", "0 false true host.json true", "2 true false  false"}, generations); diff != "" {
		t.Errorf("generations (-want +got):\n%s", diff)
	}
	if len(got.Functions) != 1 || got.Functions[0].Name != "Orders" || got.Functions[0].Language == "" || got.Functions[0].State != "enabled" || got.Functions[0].Breaker != nil {
		t.Errorf("functions = %+v", got.Functions)
	}
	if len(got.Endpoints) != 1 || got.Endpoints[0].Service != "blobs" {
		t.Errorf("endpoints = %+v", got.Endpoints)
	}
}

// Before an app runs there is none, and nothing else fails.
func TestAppThatDoesNotRun(t *testing.T) {
	t.Parallel()
	d := prepare(t, app(`{"version":`), nil, nil)
	d.listen()
	if err := d.host.Start(t.Context()); err == nil {
		t.Fatal("the host starts")
	}
	got := get[run.App](d, 200, "GET", prefix+"/app", "")
	if len(got.Generations) != 1 || !got.Generations[0].Refused || got.Functions == nil || got.Settings == nil {
		t.Errorf("app = %+v", got)
	}
	if due := get[run.Dues](d, 200, "GET", prefix+"/due", ""); due.Items == nil || due.Now.IsZero() {
		t.Errorf("due = %+v", due)
	}
}

// due are the kinds of what is due, with the time until then.
func due(d *fixture) (out []string) {
	list := get[run.Dues](d, 200, "GET", prefix+"/due", "")
	for _, i := range list.Items {
		out = append(out, fmt.Sprint(i.Kind, " ", i.At.Sub(list.Now), " ", i.Function, i.Entity))
		if i.Text == "" {
			d.t.Errorf("%+v says nothing", i)
		}
	}
	return out
}

func TestDue(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("no") }, functions.FixedDelay(2, 2*time.Minute))
	handlers.Timer("Hourly", "0 30 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	d.want(201, "POST", prefix+"/queues/orders/messages", "x")
	d.wait(journal.RetryScheduled, "Orders")
	d.want(201, "POST", prefix+"/queues/later/messages?visibility=1h", "x")
	d.want(201, "PUT", prefix+"/servicebus/entity?path=bus", "")
	d.want(201, "POST", prefix+"/servicebus/messages?path=bus&delay=90m", "x")
	got := due(d)
	for _, want := range []string{"retry 2m0s Ordersorders", "delayed 1h0m0s later", "scheduled 1h30m0s bus"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if list := get[run.Dues](d, 200, "GET", prefix+"/due", ""); !slices.ContainsFunc(list.Items, func(i ops.DueItem) bool { return strings.HasSuffix(i.Text, "tries d1 again, attempt 2") }) {
		t.Errorf("the second attempt is not due: %+v", list.Items)
	}
	timer := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "timer ") && strings.HasSuffix(s, " Hourly") })
	redelivery := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "redelivery ") && strings.HasSuffix(s, " orders") })
	if !timer || !redelivery {
		t.Errorf("the timer or the redelivery is missing in %q", got)
	}
	list := get[run.Dues](d, 200, "GET", prefix+"/due", "")
	if !slices.IsSortedFunc(list.Items, func(a, b ops.DueItem) int { return a.At.Compare(b.At) }) {
		t.Errorf("not in order: %q", got)
	}
	d.want(200, "POST", prefix+"/clock/advance?by=4m", "")
	if got := due(d); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "retry ") }) {
		t.Errorf("after the retries %q are due", got)
	}
	for i := range 250 {
		d.want(201, "POST", fmt.Sprintf("%s/queues/many/messages?visibility=%dm", prefix, 60+i), "x")
	}
	if list := get[run.Dues](d, 200, "GET", prefix+"/due", ""); len(list.Items) != 200 || list.More < 50 {
		t.Errorf("%d things are listed, and %d more", len(list.Items), list.More)
	}
}

// A delivery runs again while its message can be had: in its queue, or as poison.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
		if m.Text() == "good" {
			return nil
		}
		return errors.New("no")
	})
	handlers.HTTP("Page", func(w http.ResponseWriter, _ *http.Request) {}, functions.AuthLevel(functions.AuthAnonymous))
	handlers.Timer("Hourly", "0 30 * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	handlers.ServiceBusQueue("Bus", "bus", func(context.Context, functions.ServiceBusMessage) error { return errors.New("no") }, functions.Connection("Bus"))
	d := open(t, app(plainHostJSON, "local.settings.json",
		`{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true","Bus":"Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=v;UseDevelopmentEmulator=true;"}}`), handlers, nil)
	again := func(delivery string) messages.RanAgain {
		t.Helper()
		return get[messages.RanAgain](d, 200, "POST", prefix+"/deliveries/again", fmt.Sprintf(`{"delivery":%q}`, delivery))
	}
	settled := func(function, decision, id string) journal.Record {
		t.Helper()
		rec, err := d.host.Journal().Wait(t.Context(), func(r *journal.Record) bool {
			return r.Kind == journal.Settled && r.Function == function && r.Decision == decision && (id == "" || r.MessageID == id)
		})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	sent := get[queues.Message](d, 201, "POST", prefix+"/queues/orders/messages", "bad \u202e<i>")
	poison := settled("Orders", "poisoned", sent.ID)
	got := again(poison.Delivery)
	if got.Function != "Orders" || got.Service != "queue" || got.Entity != "orders" || got.NewID == "" || got.NewID == sent.ID {
		t.Errorf("again = %+v", got)
	}
	settled("Orders", "poisoned", got.NewID)
	good := get[queues.Message](d, 201, "POST", prefix+"/queues/orders/messages", "good")
	done := settled("Orders", "deleted", good.ID)
	if refused := get[ops.Error](d, 409, "POST", prefix+"/deliveries/again", fmt.Sprintf(`{"delivery":%q}`, done.Delivery)); refused.Hint == "" {
		t.Errorf("refused with %+v", refused)
	}

	d.want(201, "POST", prefix+"/servicebus/messages?path=bus&id=one", "x")
	dead := settled("Bus", "abandoned", "one")
	if got := again(dead.Delivery); got.Service != "servicebus" || got.Entity != "bus" || got.NewID == "one" {
		t.Errorf("again = %+v", got)
	}

	d.want(200, "GET", "/api/Page", "")
	request, err := d.host.Journal().Wait(t.Context(), func(r *journal.Record) bool { return r.Kind == journal.Received && r.Function == "Page" })
	if err != nil {
		t.Fatal(err)
	}
	d.want(409, "POST", prefix+"/deliveries/again", fmt.Sprintf(`{"delivery":%q}`, request.Delivery))
	d.want(200, "POST", prefix+"/clock/advance?by=1h", "")
	tick := settled("Hourly", "recorded", "")
	if got := again(tick.Delivery); got.Function != "Hourly" || got.NewID != "" {
		t.Errorf("again = %+v", got)
	}
	for body, status := range map[string]int{`{"delivery":"d999"}`: 404, `{"delivery":""}`: 404, `{}`: 404, `{`: 400, `{"delivery":1}`: 400, `{"more":1}`: 400} {
		d.want(status, "POST", prefix+"/deliveries/again", body)
	}
}
