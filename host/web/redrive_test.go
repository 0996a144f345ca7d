package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
)

// at returns the n-th record that is wanted, from 1.
func (d *fixture) at(n int, want func(*journal.Record) bool) journal.Record {
	d.t.Helper()
	rec, err := d.host.Journal().Wait(d.t.Context(), func(r *journal.Record) bool {
		if want(r) {
			n--
		}
		return n == 0 && want(r)
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return rec
}

// A poison message of a blob goes back to the control queue of the host, and its function
// runs again for the blob; one that would come to nothing stays, with the reason.
func TestRedriveOfBlobs(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Blob("Import", "inbox/{name}", func(context.Context, functions.Blob) error { return errors.New("not now") })
	d := open(t, app(`{"version":"2.0","extensions":{"blobs":{"poisonBlobThreshold":1},"queues":{"messageEncoding":"none"}}}`), handlers, nil)
	poisoned := func(r *journal.Record) bool { return r.Kind == journal.Settled && r.Decision == "poisoned" }
	const poison = "webjobs-blobtrigger-poison"
	for i, name := range []string{"a", "changes", "gone"} {
		d.want(201, "PUT", prefix+"/containers/inbox/blob?name="+name, name)
		d.at(i+1, poisoned)
	}
	list := d.listed("queue", poison).Messages
	if len(list) != 3 {
		t.Fatalf("poison messages = %+v", list)
	}
	if diff := cmp.Diff(map[string]string{"function": "Import", "blob": "inbox/a"}, list[0].Properties); diff != "" || !strings.HasSuffix(list[0].Reason, "not now") ||
		!strings.HasPrefix(list[0].Origin, "azure-webjobs-blobtrigger-") || !strings.Contains(list[0].Preview, `"BlobName": "a"`) {
		t.Errorf("a poison message of a blob is %+v", list[0])
	}
	if peeked := get[queues.Peeked](d, 200, "GET", prefix+"/queues/"+poison+"/messages", ""); peeked.Messages[0].Body == nil {
		t.Errorf("peeked, it is %+v", peeked.Messages[0])
	}
	d.want(201, "PUT", prefix+"/containers/inbox/blob?name=changes", "another")
	d.at(4, poisoned)
	ctx := context.Background()
	d.host.Clock().Inside("delete", func() {
		if err := d.host.AppStorage().Container("inbox").Blob("gone").Delete(ctx, nil); err != nil {
			t.Error(err)
		}
	})
	for i, want := range map[int]string{1: "has changed since", 2: "does not exist any more"} {
		got := get[ops.Error](d, 409, "POST", prefix+"/messages/redrive", name("queue", poison, list[i].ID))
		if !strings.Contains(got.Text, want) {
			t.Errorf("redriven, %s: %+v, want %q", list[i].Properties["blob"], got, want)
		}
	}
	moved := get[ops.Redriven](d, 200, "POST", prefix+"/queues/"+poison+"/redrive", "")
	if diff := cmp.Diff(ops.Redriven{From: poison, To: list[0].Origin, Moved: 2, Left: moved.Left}, moved); diff != "" {
		t.Errorf("redriven (-want +got):\n%s", diff)
	}
	d.at(6, poisoned) // both have run again, and failed again
	var left []string
	for _, m := range d.listed("queue", poison).Messages {
		left = append(left, m.Properties["blob"])
	}
	if diff := cmp.Diff([]string{"inbox/changes", "inbox/gone", "inbox/a", "inbox/changes"}, left); diff != "" {
		t.Errorf("poison messages (-want +got):\n%s", diff)
	}
	one := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("queue", poison, d.listed("queue", poison).Messages[2].ID))
	if one.Moved != 1 || one.To != list[0].Origin || one.NewID == "" {
		t.Errorf("one = %+v", one)
	}
	d.at(7, poisoned)
	d.want(201, "POST", prefix+"/queues/"+poison+"/messages", "no message of a trigger")
	last := d.listed("queue", poison).Messages
	if got := get[ops.Error](d, 409, "POST", prefix+"/messages/redrive", name("queue", poison, last[len(last)-1].ID)); !strings.Contains(got.Text, "no message of a blob trigger") {
		t.Errorf("%+v", got)
	}
	// Anywhere else it goes as it is.
	d.want(201, "POST", prefix+"/queues/attic/messages", "x")
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/queues/"+poison+"/redrive?to=attic", ""); got.Moved != 5 || got.Left != 0 {
		t.Errorf("to the attic: %+v", got)
	}
}

// A dead letter of Event Grid is shown as what it is, and goes back to its subscription.
func TestRedriveOfEvents(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventGrid("Created", func(context.Context, functions.EventGridEvent) error { return errors.New("not now") })
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(201, "PUT", prefix+"/containers/dead/blob?name=MINE/readme.txt", "not an event")
	d.want(201, "PUT", prefix+"/eventgrid/topic?topic=shop", "{}")
	d.want(201, "PUT", prefix+"/eventgrid/subscription?topic=shop&name=mine", `{"function":"Created","maxDeliveryAttempts":1,"deadLetterContainer":"dead"}`)
	letter := func(r *journal.Record) bool { return r.Kind == journal.DeadLettered }
	d.want(201, "POST", prefix+"/eventgrid/events?topic=shop", `[{"id":"e1","subject":"s","eventType":"t","data":{"x":"needle"}},{"id":"e2","subject":"s","eventType":"t"}]`)
	d.at(2, letter)
	found := d.listed("blob", "dead", "search", "needle").Messages
	if len(found) != 1 || found[0].MessageID != "e1" || found[0].Origin != "shop/mine" || found[0].Reason != "MaxDeliveryAttemptsExceeded" || !strings.Contains(found[0].Preview, "needle") {
		t.Fatalf("dead letter = %+v", found)
	}
	if all := d.listed("blob", "dead").Messages; len(all) != 3 || all[2].ID == "MINE/readme.txt" && all[2].Origin != "" {
		t.Errorf("blobs = %+v", all)
	}
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("blob", "dead", found[0].ID)); got.Moved != 1 || got.To != "shop/mine" {
		t.Errorf("redriven: %+v", got)
	}
	if rec := d.at(1, func(r *journal.Record) bool { return r.Kind == journal.Forwarded }); rec.Source != "dead/"+found[0].ID || rec.Target != "shop/mine" || rec.MessageID != "e1" || rec.Cause != "redrive" {
		t.Errorf("record %s", rec)
	}
	d.at(3, letter)
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("eventgrid", "SHOP/MINE", "e2")); got.Moved != 1 || got.Left != 1 || got.From != "dead" || got.To != "shop/mine" {
		t.Errorf("the event e2: %+v", got)
	}
	d.at(4, letter)
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("eventgrid", "shop/mine", "")); got.Moved != 2 || got.Left != 0 {
		t.Errorf("all: %+v", got)
	}
	d.at(6, letter)
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("blob", "dead", "")); got.Moved != 2 || got.To != "shop/mine" {
		t.Errorf("all of the container: %+v", got)
	}
	d.at(8, letter)
	for _, row := range []struct {
		status       int
		body, reason string
	}{
		{409, name("blob", "dead", "MINE/readme.txt"), "no dead letter"},
		{409, name("blob", "dead", "none"), "no dead letter"},
		{404, name("blob", "dead", "MINE/none"), "does not exist"},
		{404, name("blob", "nothing", ""), "does not exist"},
		{400, name("blob", "No_Good", ""), "container name"},
		{404, name("eventgrid", "shop/mine", "e9"), "no dead letter of event"},
		{404, name("eventgrid", "shop/other", ""), "does not exist"},
		{404, name("eventgrid", "other/mine", ""), "does not exist"},
		{400, name("eventgrid", "shop", ""), "want TOPIC/SUBSCRIPTION"},
		{400, name("servicebus", "orders", "x"), "want a sequence number"},
		{404, name("servicebus", "orders", "1"), "not"},
		{400, name("cosmos", "db/items", ""), "no poison messages"},
		{400, name("queue", "orders", ""), "not a poison queue"},
		{400, name("post", "orders", ""), "service"},
	} {
		if got := d.want(row.status, "POST", prefix+"/messages/redrive", row.body); !strings.Contains(got.Body, row.reason) {
			t.Errorf("%s: %s, want %q", row.body, got.Body, row.reason)
		}
	}
}

func TestRedriveOfServiceBus(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(201, "PUT", prefix+"/servicebus/entity?path=bus", "")
	for _, id := range []string{"one", "two"} {
		d.want(201, "POST", prefix+"/servicebus/messages?path=bus&id="+id, id)
	}
	for _, m := range d.listed("servicebus", "bus").Messages {
		d.want(200, "POST", prefix+"/messages/poison", name("servicebus", "bus", m.ID))
	}
	const dead = "bus/$DeadLetterQueue"
	first := d.listed("servicebus", dead).Messages[0]
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("servicebus", dead, first.ID)); got.Moved != 1 || got.To != "bus" || got.Left != 1 {
		t.Errorf("one: %+v", got)
	}
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/messages/redrive", name("servicebus", dead, "")); got.Moved != 1 || got.Left != 0 {
		t.Errorf("all: %+v", got)
	}
}
