package hosttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// gridApp is a host.json with a topic "shop" and one subscription to OnOrder.
func gridApp(subscription string) map[string]string {
	if subscription != "" {
		subscription = "," + subscription
	}
	return map[string]string{"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[{"name":"shop","key":"k","subscriptions":[
		{"name":"orders","function":"OnOrder"` + subscription + `}]}]}}}`}
}

func shopEvent(ids ...string) string {
	var list []string
	for _, id := range ids {
		list = append(list, `{"id":"`+id+`","subject":"/orders/`+id+`","eventType":"Shop.Ordered","eventTime":"2029-12-31T23:59:59Z","data":{"amount":7},"dataVersion":"1"}`)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// A publisher's event to a function that always fails: 30 deliveries by the table
// of 2019, or 11 by today's; then it is dropped, for want of a container.
func TestEventGridSchedule(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set  []string
		want int
		last time.Duration
		why  string
	}{
		"2019":    {nil, 30, 23*time.Hour + 46*time.Minute + 40*time.Second, "MaxDeliveryAttemptsExceeded"},
		"current": {[]string{"eventGridSchedule=current"}, 11, 22*time.Hour + 46*time.Minute + 40*time.Second, "TimeToLiveExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			var counts []int64
			var last time.Time
			app.EventGrid("OnOrder", func(ctx context.Context, e functions.EventGridEvent) error {
				counts = append(counts, e.DeliveryCount)
				last = functions.FromContext(ctx).Now
				return errors.New("no")
			})
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp(""), Set: test.set})
			h.PublishEvents("shop", shopEvent("1"))
			h.Run(48 * time.Hour)
			if len(counts) != test.want || counts[0] != 1 || counts[len(counts)-1] != int64(test.want) {
				t.Errorf("delivery counts %v, want 1 to %d", counts, test.want)
			}
			if got := last.Sub(hosttest.Start); got != test.last {
				t.Errorf("last delivery at %s, want %s", got, test.last)
			}
			if r := h.AwaitKind(journal.EventDropped); r.Cause != test.why || r.MessageID != "1" || r.Source != "shop/orders" {
				t.Errorf("dropped: %v", r)
			}
			if n := len(h.Settlements("OnOrder")); n != test.want {
				t.Errorf("%d settlements, want %d", n, test.want)
			}
		})
	}
}

// Function retries run within one delivery of the event: five attempts in each of
// three deliveries. The event then goes to the container that host.json names, which
// need not have been there when the host started.
func TestEventGridRetriesWithinDeliveries(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errors.New("no") }, functions.FixedDelay(4, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp(`"deadLetterContainer":"dead","maxDeliveryAttempts":3`)})
	if r := h.AwaitKind(journal.FunctionError); !strings.Contains(r.Error, `"dead"`) {
		t.Errorf("missing container: %v", r)
	}
	h.Clock().Do("create", func() {
		if _, err := h.Services().Storage().Container("dead").Create(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
	h.PublishEvents("shop", shopEvent("1")) // the next moment: the container was waited for
	h.Run(48 * time.Hour)
	h.WantAttempts("OnOrder", 15)
	h.WantSettled("OnOrder", triggers.Responded, triggers.Responded, triggers.Responded)
	r := h.AwaitKind(journal.DeadLettered)
	if !strings.HasPrefix(r.Target, "dead/ORDERS/2030/1/1/0/") || r.Cause != "MaxDeliveryAttemptsExceeded" {
		t.Errorf("dead letter: %v", r)
	}
}

// A web hook whose subscription lacks only its container is subscribed soon after the
// container was made, however long that took.
func TestEventGridWebHookWaitsForContainer(t *testing.T) {
	t.Parallel()
	arrived := make(chan string, 2)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.Header.Get("aeg-event-type")
		var events []struct {
			Data struct{ ValidationCode string }
		}
		if err := json.NewDecoder(r.Body).Decode(&events); err != nil || len(events) != 1 {
			t.Errorf("request: %v, %v", events, err)
			return
		}
		fmt.Fprintf(w, `{"validationResponse":%q}`, events[0].Data.ValidationCode)
	}))
	defer hook.Close()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New(), Files: map[string]string{"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[
		{"name":"shop","subscriptions":[{"name":"orders","endpoint":"` + hook.URL + `","deadLetterContainer":"dead"}]}]}}}`}})
	h.AwaitKind(journal.FunctionError)
	h.Advance(time.Hour)
	h.Clock().Do("create", func() {
		if _, err := h.Services().Storage().Container("dead").Create(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
	h.Advance(time.Millisecond) // the web hook is asked
	h.PublishEvents("shop", shopEvent("1"))
	if r := h.AwaitKind(journal.EventAttempted); r.Status != "Delivered" {
		t.Errorf("attempt: %v", r)
	}
	if first, second := <-arrived, <-arrived; first != "SubscriptionValidation" || second != "Notification" {
		t.Errorf("the web hook got %q and %q", first, second)
	}
}

// Events for a web hook that does not answer the handshake yet are in the journal, all the
// time that it is asked again.
func TestEventGridWebHookNotThereYet(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New(), Files: map[string]string{"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[
		{"name":"shop","subscriptions":[{"name":"orders","endpoint":"http://127.0.0.1:1/hook"}]}]}}}`}})
	h.AwaitKind(journal.FunctionError)
	h.PublishEvents("shop", shopEvent("1"))
	if r := h.AwaitKind(journal.EventDropped); r.MessageID != "1" || r.Source != "shop/orders" || r.Cause != "SubscriptionNotValidated" {
		t.Errorf("dropped: %v", r)
	}
}

// The runs of an event that always fails: 30 deliveries with all attempts of a policy
// in each (spec host-and-retry 4.1).
func TestEventGridTotals(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{0: 30, 4: 150, 5: 180} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errors.New("no") }, functions.FixedDelay(retries, time.Second))
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp("")})
			h.PublishEvents("shop", shopEvent("1"))
			h.Run(48 * time.Hour)
			h.WantAttempts("OnOrder", want)
		})
	}
}

// A subscription to a function without an Event Grid trigger delivers nothing, and
// says why.
func TestEventGridToAnotherTrigger(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("OnOrder", "inbox", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp(`"maxDeliveryAttempts":1`)})
	h.PublishEvents("shop", shopEvent("1"))
	if r := h.AwaitKind(journal.EventAttempted); r.Status != "InvalidAzureFunctionDestination" {
		t.Errorf("%v", r)
	}
}

// A function that takes longer than 30 s gets the event again while the first run
// goes on, unless it answers before the retry is sent.
func TestEventGridSlowFunction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		takes time.Duration
		want  int
	}{{29 * time.Second, 1}, {40 * time.Second, 1}, {4 * time.Minute, 3}} {
		t.Run(test.takes.String(), func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.EventGrid("OnOrder", func(ctx context.Context, _ functions.EventGridEvent) error { return functions.Sleep(ctx, test.takes) })
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp(`"maxDeliveryAttempts":3`)})
			h.PublishEvents("shop", shopEvent("1"))
			h.Run(time.Hour)
			h.WantAttempts("OnOrder", test.want)
			if left := h.Services().EventGrid().Deliveries("", ""); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// One failed event of a batch fails the request, and Event Grid sends all of it
// again. CloudEvents, batch functions and binding expressions.
func TestEventGridKinds(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	failed := false
	app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		seen = append(seen, e.ID)
		if e.ID == "2" && !failed {
			failed = true
			return errors.New("no")
		}
		return nil
	})
	app.CloudEvent("Cloud", func(ctx context.Context, e functions.CloudEvent) error {
		seen = append(seen, "cloud "+e.ID+" "+e.Type+" "+e.Source)
		return functions.SetOutput(ctx, "out", "paid")
	}, functions.QueueOutput("out", "amount-{data.amount}"))
	app.Handle("Batch", func(_ context.Context, in *functions.Trigger) error {
		var events []functions.EventGridEvent
		if err := in.Decode(&events); err != nil {
			return err
		}
		seen = append(seen, fmt.Sprint("batch of ", len(events)))
		return nil
	})
	files := map[string]string{
		"Batch/function.json": `{"bindings":[{"type":"eventGridTrigger","name":"e","direction":"in","cardinality":"many"}]}`,
		"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[{"name":"shop","subscriptions":[
			{"name":"a","function":"OnOrder","maxEventsPerBatch":10},
			{"name":"b","function":"Cloud","eventDeliverySchema":"CloudEventSchemaV1_0","advancedFilters":[{"operatorType":"StringIn","key":"id","value":"2"}]},
			{"name":"c","function":"batch","maxEventsPerBatch":10}]}]}}}`,
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: files})
	h.PublishEvents("shop", shopEvent("1", "2", "3"))
	h.Run(time.Hour)
	source := "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.EventGrid/topics/shop"
	want := map[string]int{"1": 2, "2": 2, "3": 2, "cloud 2 Shop.Ordered " + source: 1, "batch of 3": 1}
	got := map[string]int{}
	for _, s := range seen {
		got[s]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	if bodies := h.Bodies("amount-7"); len(bodies) != 1 {
		t.Errorf("queue amount-7: %v", bodies)
	}
}

// An output binding publishes to the embedded topic; a bad event fails the attempt.
func TestEventGridOutput(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	app.Queue("Publish", "inbox", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", functions.EventGridEvent{ID: m.Text(), Subject: m.Text(), EventType: "t", EventTime: hosttest.Start})
	}, functions.EventGridOutput("out", "TopicEndpoint", "TopicKey"))
	app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		seen = append(seen, e.ID)
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app, Files: gridApp(""),
		Env: []string{"TopicEndpoint=http://localhost:60101/shop/api/events", "TopicKey=k"},
	})
	h.Send("inbox", "a")
	h.Run(time.Hour)
	if diff := cmp.Diff([]string{"a"}, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	h.Send("inbox", "")
	h.AwaitSettled("Publish", triggers.Poisoned)
	if r := h.Attempts("Publish")[1]; !strings.Contains(r.Error, "the field id is empty") {
		t.Errorf("bad event: %v", r)
	}
}

// Settings of an output that are refused.
func TestEventGridOutputSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ env, want string }{
		"outside":  {"TopicEndpoint=https://shop.westeurope-1.eventgrid.azure.net/api/events", "names a topic outside"},
		"missing":  {"x=y", `setting "TopicEndpoint" with the topic's endpoint is missing`},
		"no topic": {"TopicEndpoint=http://127.0.0.1:60101/", "names no topic"},
		"no URL":   {"TopicEndpoint=shop", "is not the URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Queue("Publish", "inbox", func(context.Context, functions.QueueMessage) error { return nil }, functions.EventGridOutput("out", "TopicEndpoint", "TopicKey"))
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Env: []string{test.env}, InError: []string{"Publish"}})
			if r := h.AwaitKind(journal.FunctionError); !strings.Contains(r.Error, test.want) {
				t.Errorf("%v, want %q", r, test.want)
			}
		})
	}
}

// A change of host.json changes topics and subscriptions; events of what stays
// stay.
func TestEventGridReload(t *testing.T) {
	t.Parallel()
	app := functions.New()
	fail := true
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error {
		if fail {
			return errors.New("no")
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: gridApp("")})
	h.PublishEvents("shop", shopEvent("1"))
	if err := h.Edit("host.json", gridApp(`"maxDeliveryAttempts":7`)["host.json"]); err != nil {
		t.Fatal(err)
	}
	if left := h.Services().EventGrid().Deliveries("shop", "orders"); len(left) != 1 {
		t.Errorf("after a change: %+v, want the event", left)
	}
	fail = false
	h.Run(time.Hour)
	h.WantSettled("OnOrder", triggers.Responded, triggers.Responded)
	if err := h.Edit("host.json", `{"version":"2.0"}`); err != nil {
		t.Fatal(err)
	}
	if topics := h.Services().EventGrid().Topics(); len(topics) != 0 {
		t.Errorf("topics %+v, want none", topics)
	}
}

// A test on the system clock shows that nothing depends on turn-taking.
func TestEventGridOnSystemClock(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return nil })
	h := hosttest.New(t, &hosttest.Options{System: true, Handlers: app, Files: gridApp("")})
	for i := range 20 {
		h.PublishEvents("shop", shopEvent(fmt.Sprint(i)))
	}
	for range 20 {
		h.AwaitSettled("OnOrder", triggers.Responded)
	}
}

// Uploads and deletions in an embedded account are events of the topic that has the
// account's name; a dead letter is an upload like any other.
func TestStorageEvents(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []functions.EventGridEvent
	app.EventGrid("OnBlob", func(_ context.Context, e functions.EventGridEvent) error {
		seen = append(seen, e)
		return nil
	})
	app.EventGrid("Fail", func(context.Context, functions.EventGridEvent) error { return errors.New("no") })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"host.json": `{"version":"2.0","redeliver":{"eventGrid":{"topics":[
		{"name":"devstoreaccount1","subscriptions":[{"name":"blobs","function":"OnBlob"}]},
		{"name":"shop","subscriptions":[{"name":"orders","function":"Fail","maxDeliveryAttempts":1,"deadLetterContainer":"dead"}]}]}}}`}})
	h.Upload("dead/a b.txt", "abc")
	h.Clock().Do("delete", func() {
		if err := h.Services().Storage().Container("dead").Blob("a b.txt").Delete(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
	h.Advance(5 * time.Minute)
	h.PublishEvents("shop", shopEvent("1"))
	h.Run(time.Hour)
	var got []string
	for _, e := range seen {
		var data struct {
			API, ETag, ContentType, BlobType, URL string
			ContentLength                         int64
		}
		if err := e.Decode(&data); err != nil {
			t.Fatal(err)
		}
		subject, _, dead := strings.Cut(e.Subject, "/ORDERS/2030/1/1/0/")
		if !dead {
			subject += " " + data.URL
		}
		got = append(got, fmt.Sprint(e.EventType, " ", data.API, " ", subject, " ", data.BlobType, " ", data.ContentType, " ", data.ContentLength > 0, " ", data.ETag != ""))
		if e.Topic != "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.Storage/storageAccounts/devstoreaccount1" {
			t.Errorf("topic %q", e.Topic)
		}
	}
	const subject, url = "/blobServices/default/containers/dead/blobs", "http://127.0.0.1:10000/devstoreaccount1/dead/a%20b.txt"
	want := []string{
		"Microsoft.Storage.BlobCreated PutBlob " + subject + "/a b.txt " + url + " BlockBlob application/octet-stream true true",
		"Microsoft.Storage.BlobDeleted DeleteBlob " + subject + "/a b.txt " + url + " BlockBlob application/octet-stream false false",
		"Microsoft.Storage.BlobCreated PutBlob " + subject + " BlockBlob application/json true true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A blob trigger with the source EventGrid scans nothing: events make control
// messages, without receipts, and what fails five times is poison.
func TestBlobTriggerOnEventGrid(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	app.Handle("OnBlob", func(_ context.Context, in *functions.Trigger) error {
		seen = append(seen, in.Metadata.Get("name")+"="+in.Text())
		if in.Text() == "bad" {
			return errors.New("no")
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"OnBlob/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"uploads/{name}.txt","source":"EventGrid","dataType":"string"}]}`,
	}})
	h.Upload("uploads/a.txt", "one")
	h.Upload("uploads/a.csv", "two")
	h.Upload("others/a.txt", "three")
	h.AwaitSettled("OnBlob", triggers.Deleted)
	h.Upload("uploads/b.txt", "bad")
	h.AwaitSettled("OnBlob", triggers.Poisoned)
	if diff := cmp.Diff([]string{"a=one", "b=bad", "b=bad", "b=bad", "b=bad", "b=bad"}, seen); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	for _, name := range h.Blobs("azure-webjobs-hosts") {
		if strings.HasPrefix(name, "blobreceipts/") {
			t.Errorf("receipt %s", name)
		}
	}
}

// The ETag of a control message is not compared where Event Grid tells of blobs:
// an overtaken version runs all the same, with the content that is there by then.
func TestBlobTriggerOnEventGridIgnoresETags(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var seen []string
	app.Handle("OnBlob", func(_ context.Context, in *functions.Trigger) error {
		seen = append(seen, in.Text())
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"OnBlob/function.json": `{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"uploads/{name}","source":"EventGrid","dataType":"string"}]}`,
	}})
	h.Clock().Do("upload", func() {
		ctx, c := context.Background(), h.Services().Storage().Container("uploads")
		if _, err := c.Create(ctx, nil); err != nil {
			t.Error(err)
		}
		for _, content := range []string{"one", "two"} {
			if _, err := c.Blob("a").Put(ctx, strings.NewReader(content), nil); err != nil {
				t.Error(err)
			}
		}
	})
	if diff := cmp.Diff([]string{"two", "two"}, seen); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// The promise of check for an event that always fails comes true. A function that
// answers too late is delivered to after 2 minutes at least, so that the later tries
// do not fall into the event's life; its attempts go on all the same.
func TestEventGridPromise(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy functions.EventGridOption
		set    []string
		want   int
	}{
		"no policy":                  {nil, nil, 30},
		"answers in time":            {functions.FixedDelay(4, time.Second), nil, 5 * 30},
		"in time, but 29 times 28 s": {functions.FixedDelay(4, 7*time.Second), nil, 5 * 29},
		"at the limit":               {functions.FixedDelay(3, 10*time.Second), nil, 4 * 29},
		"fixed, too late":            {functions.FixedDelay(4, 10*time.Second), nil, 5 * 29},
		"exponential, too late":      {functions.ExponentialBackoff(5, 10*time.Second, 15*time.Minute), nil, 6 * 29},
		"longer than the schedule":   {functions.FixedDelay(4, 15*time.Minute), nil, 5 * 29},
		"current":                    {functions.FixedDelay(4, 10*time.Second), []string{"eventGridSchedule=current"}, 5 * 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handlers := functions.New()
			var opts []functions.EventGridOption
			if test.policy != nil {
				opts = append(opts, test.policy)
			}
			handlers.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return errors.New("no") }, opts...)
			h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: gridApp(""), Set: test.set})
			h.PublishEvents("shop", shopEvent("1"))
			h.Run(72 * time.Hour)
			report := app.Check(h.App()).Functions[0]
			if n := len(h.Attempts("OnOrder")); n != test.want || report.Total != n {
				t.Errorf("%d attempts, check says %d × %d = %d, want %d", n, report.Attempts, report.Deliveries, report.Total, test.want)
			}
		})
	}
}
