package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	servicebuops "github.com/redeliver/redeliver/host/ops/servicebus"
)

const emulated = "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"

// busApp returns the files of an app with a Service Bus connection.
func busApp(connection string) map[string]string {
	return map[string]string{
		"host.json":           plainHostJSON,
		"local.settings.json": fmt.Sprintf(`{"IsEncrypted":false,"Values":{"AzureWebJobsStorage":"UseDevelopmentStorage=true","AzureWebJobsServiceBus":%q}}`, connection),
	}
}

// bus is the address of an operation on an entity.
func bus(what, path string, query ...string) string {
	q := url.Values{"path": {path}}
	for i := 0; i < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	return prefix + "/servicebus/" + what + "?" + q.Encode()
}

// receive locks the next messages of a source, as any client does.
func (d *fixture) receive(source string, n int) []*servicebus.Received {
	d.t.Helper()
	var got []*servicebus.Received
	var err error
	d.host.Clock().Inside("receive", func() {
		var r servicebus.Receiver
		if r, err = d.host.Services().ServiceBus().Receiver(context.Background(), source, &servicebus.ReceiverOptions{RealTime: true}); err == nil {
			got, err = r.Receive(context.Background(), n, 0)
		}
	})
	if err != nil || len(got) != n {
		d.t.Fatalf("received %d of %d messages: %v", len(got), n, err)
	}
	return got
}

func TestControlBusEntities(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	made := get[servicebuops.BusEntity](d, 201, "PUT", bus("entity", "Orders"), `{"lockDuration":"PT30S","maxDeliveryCount":3,"defaultMessageTimeToLive":"P1D","requiresDuplicateDetection":true,"userMetadata":"ours"}`)
	want := servicebuops.BusEntity{Path: "Orders", Kind: setting.Queue, Settings: servicebuops.BusSettings{
		LockDuration: "PT30S", MaxDeliveryCount: 3, DefaultMessageTimeToLive: "P1D", RequiresDuplicateDetection: true,
		DuplicateDetectionHistoryTimeWindow: "PT10M", MaxSizeInMegabytes: 1024, MaxMessageSizeInKilobytes: 256, Status: "Active", UserMetadata: "ours",
	}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	d.want(409, "PUT", bus("entity", "ORDERS"), "")
	d.want(409, "PUT", bus("entity", "orders"), `{"topic":true}`)
	if a := d.want(404, "PUT", bus("entity", "events/Subscriptions/all"), ""); !strings.Contains(a.Body, "create servicebus events --topic") {
		t.Errorf("without the topic: %s, want a hint", a.Body)
	}
	if got := get[servicebuops.BusEntity](d, 201, "PUT", bus("entity", "events"), `{"topic":true}`); got.Kind != setting.Topic || got.Settings.LockDuration != "" {
		t.Errorf("topic = %+v", got)
	}
	sub := get[servicebuops.BusEntity](d, 201, "PUT", bus("entity", "EVENTS/subscriptions/Large"), `{"filter":"n > 5","action":"SET seen = 1","maxDeliveryCount":2}`)
	if sub.Path != "events/Subscriptions/Large" || sub.Kind != setting.Subscription || sub.Settings.MaxDeliveryCount != 2 {
		t.Errorf("subscription = %+v", sub)
	}
	d.want(201, "POST", bus("messages", "events", "property", "n:=6"), "six")
	d.want(201, "POST", bus("messages", "events", "property", "n:=5"), "five")
	got := get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", sub.Path), "")
	if got.Count != 1 || len(got.Messages) != 1 || *got.Messages[0].Body != "six" || fmt.Sprint(got.Messages[0].Properties["seen"]) != "1" {
		t.Errorf("messages behind the filter: %+v", got)
	}

	for _, tt := range []struct{ name, path, body, want string }{
		{"no path", "", "", "name of the entity is empty"},
		{"dead-letter queue", "a/$DeadLetterQueue", "", "dead-letter queue"},
		{"unknown setting", "a", `{"color":"red"}`, "color"},
		{"no JSON", "a", `{`, "settings"},
		{"duration", "a", `{"lockDuration":"soon"}`, "lockDuration"},
		{"limit", "a", `{"lockDuration":"PT1H"}`, "lock"},
		{"topic setting", "a", `{"topic":true,"maxDeliveryCount":3}`, "a topic has no maxDeliveryCount"},
		{"queue setting", "a", `{"filter":"1=1"}`, "a queue has no filter"},
		{"subscription setting", "events/Subscriptions/s", `{"maxSizeInMegabytes":3}`, "a subscription has no maxSizeInMegabytes"},
		{"topic of that path", "events/Subscriptions/s", `{"topic":true}`, "path of a subscription"},
		{"filter", "events/Subscriptions/s", `{"filter":"n >"}`, "filter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if a := d.want(400, "PUT", bus("entity", tt.path), tt.body); !strings.Contains(a.Body, tt.want) {
				t.Errorf("answer %s, want it to name %q", a.Body, tt.want)
			}
		})
	}
	var paths []string
	for _, e := range get[run.Inventory](d, 200, "GET", prefix+"/inventory", "").ServiceBus {
		paths = append(paths, fmt.Sprint(e.Path, " ", e.Active))
	}
	if diff := cmp.Diff([]string{"Orders 0", "events 0", "events/Subscriptions/Large 1"}, paths); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
}

func TestControlBusMessages(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(404, "POST", bus("messages", "orders"), "a")
	d.want(201, "PUT", bus("entity", "orders"), "")
	sent := get[servicebuops.BusSent](d, 201, "POST", bus("messages", "orders", "id", "m1", "subject", "s", "contentType", "text/plain", "session", "", "correlation", "c",
		"to", "t", "replyTo", "r", "property", "a=b=c", "property", "n:=-7", "property", "f:=1.5", "property", "yes:=true", "property", "none:=null", "ttl", "10m"), "body")
	if sent.MessageID != "m1" || sent.SequenceNumber != 0 {
		t.Errorf("sent = %+v", sent)
	}
	if other := get[servicebuops.BusSent](d, 201, "POST", bus("messages", "orders"), "\xff"); len(other.MessageID) != 36 {
		t.Errorf("identifier %q, want one that was made", other.MessageID)
	}
	later := get[servicebuops.BusSent](d, 201, "POST", bus("messages", "orders", "delay", "2000h"), "later")
	if later.SequenceNumber == 0 || later.ScheduledFor.IsZero() {
		t.Errorf("scheduled = %+v", later)
	}
	d.want(201, "POST", bus("messages", "orders", "at", "2031-01-01T00:00:00Z"), "at")

	got := get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", "ORDERS"), "")
	if got.Path != "orders" || got.Count != 4 || len(got.Messages) != 4 {
		t.Fatalf("peeked %+v", got)
	}
	first, empty := got.Messages[0], ""
	first.Enqueued, first.Expires = time.Time{}, time.Time{}
	want := servicebuops.BusMessage{
		SequenceNumber: 1, MessageID: "m1", State: "active", Subject: "s", ContentType: "text/plain", SessionID: &empty, CorrelationID: "c", To: "t", ReplyTo: "r",
		Properties: map[string]any{"a": "b=c", "n": -7.0, "f": 1.5, "yes": true, "none": nil}, Body: ref("body"),
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if m := got.Messages[1]; m.Body != nil || string(m.Binary) != "\xff" {
		t.Errorf("a body that is no text: %+v", m)
	}
	if m := got.Messages[2]; m.State != "scheduled" || !m.ScheduledFor.Equal(later.ScheduledFor) {
		t.Errorf("a message that waits: %+v, want scheduled for %v", m, later.ScheduledFor)
	}
	part := get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", "orders", "from", "2", "max", "1"), "")
	if len(part.Messages) != 1 || part.Messages[0].SequenceNumber != 2 || part.Count != 4 {
		t.Errorf("from 2, at most 1: %+v", part)
	}

	for _, tt := range []struct {
		name, method, address string
		want                  int
	}{
		{"ttl", "POST", bus("messages", "orders", "ttl", "0s"), 400},
		{"delay", "POST", bus("messages", "orders", "delay", "soon"), 400},
		{"at", "POST", bus("messages", "orders", "at", "noon"), 400},
		{"both", "POST", bus("messages", "orders", "at", "2031-01-01T00:00:00Z", "delay", "1s"), 400},
		{"property without a value", "POST", bus("messages", "orders", "property", "a"), 400},
		{"property without a name", "POST", bus("messages", "orders", "property", ":=5"), 400},
		{"property of another type", "POST", bus("messages", "orders", "property", `a:="x"`), 400},
		{"long identifier", "POST", bus("messages", "orders", "id", strings.Repeat("i", 129)), 400},
		{"dead-letter queue", "POST", bus("messages", "orders/$DeadLetterQueue"), 400},
		{"max", "GET", bus("messages", "orders", "max", "0"), 400},
		{"from", "GET", bus("messages", "orders", "from", "-1"), 400},
		{"path", "GET", bus("messages", "a b"), 400},
		{"no entity", "GET", bus("messages", "none"), 404},
		{"no entity to purge", "DELETE", bus("messages", "none"), 404},
	} {
		t.Run(tt.name, func(t *testing.T) { d.want(tt.want, tt.method, tt.address, "x") })
	}
	d.want(413, "POST", bus("messages", "orders"), strings.Repeat("x", 256<<10+1))
	if got := get[ops.Purged](d, 200, "DELETE", bus("messages", "orders"), ""); got.Removed != 4 {
		t.Errorf("purged %+v, want 4 removed", got)
	}
}

func ref(text string) *string { return &text }

// A message that fails until it is dead-lettered, and its second chance.
func TestControlBusRedrive(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.ServiceBusQueue("Work", "work", func(_ context.Context, m functions.ServiceBusMessage) error {
		if m.Subject == "bad" {
			return functions.DeadLetter("bad", "it says so", errors.New("bad"))
		}
		return nil
	})
	d := open(t, busApp(emulated), handlers, nil)
	for range 3 {
		d.want(201, "POST", bus("messages", "work", "subject", "bad", "property", "a=b"), "x")
		d.wait(journal.Settled, "Work")
	}
	settled := 0
	if _, err := d.host.Journal().Wait(t.Context(), func(r *journal.Record) bool {
		if r.Kind == journal.Settled {
			settled++
		}
		return settled == 3
	}); err != nil {
		t.Fatal(err)
	}
	dead := get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", "work/$deadletterqueue"), "")
	if dead.Path != "work/$DeadLetterQueue" || dead.Count != 3 || dead.Messages[0].DeadLetterReason != "bad" || dead.Messages[0].DeadLetterDescription != "it says so" {
		t.Fatalf("dead letters %+v", dead)
	}
	if diff := cmp.Diff(map[string]any{"a": "b"}, dead.Messages[0].Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	one := fmt.Sprint(dead.Messages[1].SequenceNumber)
	d.receive("work/$DeadLetterQueue", 1)
	d.want(404, "POST", bus("redrive", "work", "sequence", one, "sequence", "99"), "")
	d.want(400, "POST", bus("redrive", "work", "sequence", "one"), "")
	if got := get[ops.Redriven](d, 200, "POST", bus("redrive", "WORK", "sequence", one), ""); got.From != "work/$DeadLetterQueue" || got.To != "work" || got.Moved != 1 {
		t.Errorf("redriven %+v, want 1 moved", got)
	}
	rec, err := d.host.Journal().Wait(t.Context(), func(r *journal.Record) bool { return r.Kind == journal.Forwarded })
	if err != nil || rec.Cause != "redrive" || rec.MessageID != dead.Messages[1].MessageID || rec.Target != "work" {
		t.Errorf("record %+v, %v, want the redrive of %s", rec, err, dead.Messages[1].MessageID)
	}
	// One is locked and stays.
	if got := get[ops.Redriven](d, 200, "POST", bus("redrive", "work/$DeadLetterQueue"), ""); got.Moved == 0 || got.Left == 0 {
		t.Errorf("redriven %+v, want some moved and one left", got)
	}
	d.want(404, "POST", bus("redrive", "nothing"), "")
}

func TestControlBusExpireLock(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(201, "PUT", bus("entity", "orders"), "")
	for _, body := range []string{"a", "b", "c"} {
		d.want(201, "POST", bus("messages", "orders"), body)
	}
	d.receive("orders", 2)
	got := get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", "orders"), "")
	if got.Entity.Locked != 2 || got.Messages[0].State != "locked" || got.Messages[0].LockedUntil.IsZero() || got.Messages[2].State != "active" {
		t.Errorf("locked: %+v", got)
	}
	if got := get[servicebuops.LocksExpired](d, 200, "POST", bus("expire-lock", "orders", "sequence", "2"), ""); got.Expired != 1 {
		t.Errorf("expired %+v, want one", got)
	}
	if got := get[servicebuops.LocksExpired](d, 200, "POST", bus("expire-lock", "orders"), ""); got.Expired != 1 {
		t.Errorf("expired %+v, want the other one", got)
	}
	for i, m := range get[servicebuops.BusPeeked](d, 200, "GET", bus("messages", "orders"), "").Messages {
		if want := int64(1); i < 2 && (m.State != "active" || m.FailedDeliveries != want) {
			t.Errorf("message %d: %+v, want one failed delivery", m.SequenceNumber, m)
		}
	}
	d.want(404, "POST", bus("expire-lock", "orders", "sequence", "3"), "")
	d.want(400, "POST", bus("expire-lock", "orders", "sequence", "1", "session", "s"), "")

	d.want(201, "PUT", bus("entity", "sessions"), `{"requiresSession":true}`)
	d.want(201, "POST", bus("messages", "sessions", "session", "s"), "a")
	d.want(409, "POST", bus("expire-lock", "sessions", "session", "s"), "")
	session := "s"
	d.host.Clock().Inside("accept", func() {
		r, err := d.host.Services().ServiceBus().AcceptSession(context.Background(), "sessions", &servicebus.SessionOptions{
			SessionID: &session, ReceiverOptions: servicebus.ReceiverOptions{RealTime: true},
		})
		if err == nil {
			_, err = r.Receive(context.Background(), 1, 0)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if got := get[servicebuops.LocksExpired](d, 200, "POST", bus("expire-lock", "sessions", "session", "s"), ""); got.Expired != 1 || *got.Session != "s" {
		t.Errorf("expired %+v, want one", got)
	}
}

// An app whose namespace is elsewhere has nothing here that a message could go to.
func TestControlBusOutside(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.ServiceBusQueue("Work", "work", func(context.Context, functions.ServiceBusMessage) error { return nil })
	d := open(t, busApp("Endpoint=sb://acme.servicebus.windows.net;SharedAccessKeyName=k;SharedAccessKey=s"), handlers, nil)
	for _, what := range []string{"POST messages", "GET messages", "DELETE messages", "PUT entity", "POST redrive", "POST expire-lock"} {
		method, what, _ := strings.Cut(what, " ")
		if a := d.want(409, method, bus(what, "work"), ""); !strings.Contains(a.Body, "AzureWebJobsServiceBus") {
			t.Errorf("%s %s: %s, want the setting", method, what, a.Body)
		}
	}
	d.want(200, "GET", prefix+"/inventory", "")
}
