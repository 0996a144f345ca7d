package web_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// listed asks for the messages of an entity.
func (d *fixture) listed(service, entity string, more ...string) messages.Messages {
	d.t.Helper()
	query := url.Values{"service": {service}, "entity": {entity}}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return get[messages.Messages](d, 200, "GET", prefix+"/messages?"+query.Encode(), "")
}

// short are messages in short: state, deliveries, body.
func short(list messages.Messages) (out []string) {
	for _, m := range list.Messages {
		out = append(out, fmt.Sprintf("%s %d %s", m.State, m.DeliveryCount, m.Preview))
	}
	return out
}

func (d *fixture) body(status int, service, entity, id string) answer {
	d.t.Helper()
	return d.want(status, "GET", prefix+"/messages/body?"+url.Values{"service": {service}, "entity": {entity}, "id": {id}}.Encode(), "")
}

func name(service, entity, id string) string {
	return fmt.Sprintf(`{"service":%q,"entity":%q,"id":%q}`, service, entity, id)
}

func TestMessagesOfQueues(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	const queue = prefix + "/queues/orders/messages"
	later := get[queues.Message](d, 201, "POST", queue+"?visibility=1h", "later \u202egnp.exe \x07")
	d.want(201, "POST", queue, `{"id":"A-7"}`)
	d.want(201, "POST", queue, "\xff\xfe\x00")
	d.want(201, "POST", queue, strings.Repeat("ä", 300))
	d.want(201, "POST", queue+"?raw=true", "not base64")
	all := d.listed("queue", "orders")
	want := []string{"scheduled 0 later \u202egnp.exe \x07", `visible 0 {"id":"A-7"}`, "visible 0 ", "visible 0 " + strings.Repeat("ä", 256), "visible 0 not base64"}
	if diff := cmp.Diff(want, short(all)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	m := all.Messages
	if !m[2].Binary || m[2].Size != 3 || m[3].Size != 600 || m[3].Binary || m[0].VisibleAt.Sub(m[0].Enqueued) != time.Hour || !strings.Contains(m[4].Reason, "base64") || all.More {
		t.Errorf("messages = %+v", all)
	}
	for _, row := range []struct {
		more []string
		want int
	}{
		{[]string{"search", "a-7"}, 1},
		{[]string{"search", "LATER"}, 1},
		{[]string{"search", later.ID[:8]}, 1},
		{[]string{"search", "nothing"}, 0},
		{[]string{"states", "scheduled"}, 1},
		{[]string{"states", "scheduled,visible"}, 5},
		{[]string{"states", "hidden"}, 0},
		{[]string{"limit", "2"}, 2},
	} {
		if got := d.listed("queue", "orders", row.more...); len(got.Messages) != row.want || got.More != (row.more[0] == "limit") {
			t.Errorf("%v: %d messages, more %v; want %d", row.more, len(got.Messages), got.More, row.want)
		}
	}
	body := d.body(200, "queue", "orders", m[2].ID)
	if body.Body != "\xff\xfe\x00" || body.Header.Get("Content-Type") != "application/octet-stream" || body.Header.Get("X-Content-Type-Options") != "nosniff" || body.Header.Get(messages.TruncatedHeader) != "" {
		t.Errorf("body %q with the header %v", body.Body, body.Header)
	}

	d.want(200, "POST", prefix+"/messages/release", name("queue", "orders", later.ID))
	if got := d.listed("queue", "orders", "search", later.ID); got.Messages[0].State != "visible" {
		t.Errorf("released, it is %+v", got.Messages)
	}
	d.want(409, "POST", prefix+"/messages/release", name("queue", "orders", later.ID))
	moved := get[ops.MessageMoved](d, 200, "POST", prefix+"/messages/poison", name("queue", "orders", later.ID))
	if moved.Target != "orders-poison" || moved.NewID == "" {
		t.Errorf("moved = %+v", moved)
	}
	if got := d.listed("queue", "orders-poison"); len(got.Messages) != 1 || got.Messages[0].Origin != "orders" || got.Messages[0].ID != moved.NewID || got.Messages[0].Preview != want[0][len("scheduled 0 "):] {
		t.Errorf("poison = %+v", got)
	}
	if got := d.listed("queue", "orders"); len(got.Messages) != 4 {
		t.Errorf("%d messages are left, want 4", len(got.Messages))
	}
	d.want(409, "POST", prefix+"/messages/poison", name("queue", "orders-poison", moved.NewID))
	d.body(404, "queue", "orders", later.ID)
	for _, op := range []string{"release", "poison"} {
		if refused := get[ops.Error](d, 404, "POST", prefix+"/messages/"+op, name("queue", "orders", later.ID)); !strings.Contains(refused.Text, later.ID) {
			t.Errorf("%s of a message that is gone: %+v", op, refused)
		}
		d.want(404, "POST", prefix+"/messages/"+op, name("queue", "nothing", "x"))
		d.want(400, "POST", prefix+"/messages/"+op, name("queue", "orders", ""))
		d.want(400, "POST", prefix+"/messages/"+op, name("post", "orders", "x"))
		d.want(400, "POST", prefix+"/messages/"+op, `{"service":"queue","more":1}`)
		d.want(400, "POST", prefix+"/messages/"+op, `{`)
		d.want(413, "POST", prefix+"/messages/"+op, name("queue", "orders", strings.Repeat("x", 1<<20)))
	}
	for query, status := range map[string]int{
		"service=queue&entity=nothing": 404, "service=queue&entity=No_Good": 400, "service=post&entity=orders": 400, "service=queue&entity=": 400,
		"service=queue&entity=orders&limit=0": 400, "service=queue&entity=orders&limit=1001": 400, "service=queue&entity=orders&limit=x": 400, "": 400,
		"service=queue&entity=orders%00%0d%0aX:1": 400,
	} {
		d.want(status, "GET", prefix+"/messages?"+query, "")
	}
}

// A message in work is released and poisoned under the hands of its function.
func TestMessageInWork(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.Sleep(ctx, time.Minute)
	})
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	sent := get[queues.Message](d, 201, "POST", prefix+"/queues/orders/messages", "x")
	d.wait(journal.AttemptStarted, "Orders")
	if got := short(d.listed("queue", "orders")); len(got) != 1 || got[0] != "hidden 1 x" {
		t.Fatalf("in work it is %q", got)
	}
	d.want(200, "POST", prefix+"/messages/release", name("queue", "orders", sent.ID))
	d.want(200, "POST", prefix+"/clock/advance?by=10s", "")
	if got := short(d.listed("queue", "orders")); len(got) != 1 || got[0] != "hidden 2 x" {
		t.Errorf("released, it is %q, want a second delivery", got)
	}
	d.want(200, "POST", prefix+"/messages/poison", name("queue", "orders", sent.ID))
	d.want(200, "POST", prefix+"/clock/advance?by=5m", "")
	if got := short(d.listed("queue", "orders")); len(got) != 0 {
		t.Errorf("poisoned, %q is left", got)
	}
	if got := short(d.listed("queue", "orders-poison")); len(got) != 1 || got[0] != "visible 0 x" {
		t.Errorf("poison messages: %q", got)
	}
}

func TestMessagesOfServiceBus(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	d.want(201, "PUT", prefix+"/servicebus/entity?path=bus", "")
	const send = prefix + "/servicebus/messages?path=bus"
	d.want(201, "POST", send+"&id=one&subject=greeting&property=tenant%3Dnorth", "hello")
	later := get[servicebus.BusSent](d, 201, "POST", send+"&id=two&delay=1h", "later")
	large := strings.Repeat("x", 200<<10)
	d.want(201, "POST", send+"&id=three", large)
	all := d.listed("servicebus", "bus")
	if diff := cmp.Diff([]string{"active 0 hello", "scheduled 0 later", "active 0 " + large[:256]}, short(all)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if m := all.Messages[0]; m.MessageID != "one" || m.Properties["subject"] != "greeting" || m.Properties["tenant"] != "north" {
		t.Errorf("message = %+v", m)
	}
	if got := d.listed("servicebus", "bus", "search", "NORTH"); len(got.Messages) != 1 {
		t.Errorf("found by a property: %+v", got)
	}
	if got := d.body(200, "servicebus", "bus", all.Messages[2].ID); got.Body != large {
		t.Errorf("the body has %d bytes", len(got.Body))
	}
	d.want(200, "POST", prefix+"/messages/release", name("servicebus", "bus", fmt.Sprint(later.SequenceNumber)))
	released := d.listed("servicebus", "bus", "search", "two").Messages[0]
	if released.State != "active" {
		t.Errorf("released, it is %+v", released)
	}
	d.want(409, "POST", prefix+"/messages/release", name("servicebus", "bus", released.ID))
	moved := get[ops.MessageMoved](d, 200, "POST", prefix+"/messages/poison", name("servicebus", "bus", released.ID))
	dead := d.listed("servicebus", moved.Target)
	if len(dead.Messages) != 1 || dead.Messages[0].Origin != "bus" || !strings.HasPrefix(dead.Messages[0].Reason, "ByHand: ") {
		t.Errorf("%s has %+v", moved.Target, dead)
	}
	d.want(409, "POST", prefix+"/messages/poison", name("servicebus", moved.Target, dead.Messages[0].ID))
	for _, op := range []string{"release", "poison"} {
		d.want(404, "POST", prefix+"/messages/"+op, name("servicebus", "bus", "999"))
		d.want(400, "POST", prefix+"/messages/"+op, name("servicebus", "bus", "x"))
		d.want(404, "POST", prefix+"/messages/"+op, name("servicebus", "nothing", "1"))
		d.want(400, "POST", prefix+"/messages/"+op, name("servicebus", "bad//path", "1"))
	}
	for i := range 300 { // more than are looked at together
		d.want(201, "POST", send+fmt.Sprintf("&id=m%d", i), "x")
	}
	if got := d.listed("servicebus", "bus", "search", "m299"); len(got.Messages) != 1 {
		t.Errorf("the last of many is not found")
	}
}

func TestMessagesOfEventGrid(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventGrid("Created", func(context.Context, functions.EventGridEvent) error { return fmt.Errorf("not now") })
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(200, "PUT", prefix+"/clock?mode=manual", "")
	d.want(201, "PUT", prefix+"/eventgrid/topic?topic=shop", "{}")
	d.want(201, "PUT", prefix+"/eventgrid/subscription?topic=shop&name=mine", `{"function":"Created"}`)
	d.want(201, "POST", prefix+"/eventgrid/events?topic=shop", `{"id":"a/b","subject":"s","eventType":"t","data":{"x":"needle"}}`)
	d.wait(journal.EventAttempted, "Created")
	got := d.listed("eventgrid", "shop", "search", "needle")
	if len(got.Messages) != 1 || got.Messages[0].State != "waiting" || got.Messages[0].DeliveryCount != 1 || got.Messages[0].ID != "shop/mine/a/b" || got.Messages[0].VisibleAt.IsZero() {
		t.Fatalf("events = %+v", got)
	}
	if body := d.body(200, "eventgrid", "shop/mine", "shop/mine/a/b"); !strings.Contains(body.Body, "needle") {
		t.Errorf("the event is %s", body.Body)
	}
	d.want(200, "POST", prefix+"/messages/release", name("eventgrid", "shop", "shop/mine/a/b"))
	d.want(200, "POST", prefix+"/clock/advance?by=1ms", "")
	if got := d.listed("eventgrid", "shop").Messages[0]; got.DeliveryCount != 2 {
		t.Errorf("released, it is %+v, want a second attempt", got)
	}
	d.want(200, "POST", prefix+"/messages/poison", name("eventgrid", "shop", "shop/mine/a/b"))
	if got := d.listed("eventgrid", "shop"); len(got.Messages) != 0 {
		t.Errorf("given up, there is %+v", got)
	}
	if rec := d.wait(journal.EventDropped, ""); rec.Cause != "GivenUpByHand" {
		t.Errorf("the record is %s", rec)
	}
	d.want(404, "POST", prefix+"/messages/release", name("eventgrid", "shop", "shop/mine/a/b"))
	d.want(400, "POST", prefix+"/messages/release", name("eventgrid", "shop", "a"))
	d.want(404, "GET", prefix+"/messages?service=eventgrid&entity=nothing", "")
}

func TestMessagesOfOtherServices(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(201, "PUT", prefix+"/eventhubs/hub?hub=hub", `{"partitions":2}`)
	d.want(201, "POST", prefix+"/eventhubs/events?hub=hub&partition=1&id=e1&property=a%3Db", "event")
	hub := d.listed("eventhub", "hub")
	if len(hub.Messages) != 1 || hub.Messages[0].ID != "1/0" || hub.Messages[0].Preview != "event" || hub.Messages[0].Properties["a"] != "b" {
		t.Errorf("events = %+v", hub)
	}
	if got := d.body(200, "eventhub", "hub", "1/0"); got.Body != "event" {
		t.Errorf("the event is %q", got.Body)
	}
	d.want(201, "POST", prefix+"/cosmos/documents?container=db/items", `{"id":"7","name":"<b>bold</b>"}`)
	if got := d.listed("cosmos", "db/items", "search", "<b>"); len(got.Messages) != 1 || got.Messages[0].ID != "7" {
		t.Errorf("documents = %+v", got)
	}
	large := strings.Repeat("y", 1<<20+5)
	d.want(201, "PUT", prefix+"/containers/files/blob?name=a/b%20c.txt", large)
	blobs := d.listed("blob", "files")
	if len(blobs.Messages) != 1 || blobs.Messages[0].ID != "a/b c.txt" || blobs.Messages[0].Size != int64(len(large)) {
		t.Errorf("blobs = %+v", blobs)
	}
	if got := d.body(200, "blob", "files", "a/b c.txt"); len(got.Body) != 1<<20 || got.Header.Get(messages.TruncatedHeader) != "true" {
		t.Errorf("%d bytes of the blob, truncated %q", len(got.Body), got.Header.Get(messages.TruncatedHeader))
	}
	for _, row := range [][3]string{{"eventhub", "nothing", "1/0"}, {"eventhub", "hub", "9/9"}, {"cosmos", "db/none", "7"}, {"cosmos", "db/items", "8"}, {"blob", "none", "x"}, {"blob", "files", "x"}} {
		d.body(404, row[0], row[1], row[2])
	}
	for _, service := range []string{"eventhub", "cosmos", "blob"} {
		d.want(400, "POST", prefix+"/messages/release", name(service, "x", "y"))
		d.want(400, "POST", prefix+"/messages/poison", name(service, "x", "y"))
	}
}
