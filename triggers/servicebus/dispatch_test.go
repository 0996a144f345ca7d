package servicebus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// TestConcurrentCalls: no more messages in work than maxConcurrentCalls.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	most, now := 0, 0
	b.start(&servicebus.Options{MaxConcurrentCalls: 3}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		now++
		most = max(most, now)
		defer func() { now-- }()
		return b.after(time.Second, succeed)(ctx, ev)
	})
	for i := range 10 {
		b.send(fmt.Sprint(i))
	}
	b.clk.Advance(time.Minute)
	if most != 3 || len(b.sink.Settlements()) != 10 {
		t.Errorf("%d in work at once, %d settled; want 3, 10", most, len(b.sink.Settlements()))
	}
	if got := servicebusapi.DefaultMaxConcurrentCalls(2); got != 32 {
		t.Errorf("default on two processors: %d, want 32", got)
	}
}

// TestBatch: one invocation, every message settled.
func TestBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{MaxDeliveryCount: 2})
	b.send("a", "b", "c")
	n := 0
	b.start(&servicebus.Options{Batch: true, MaxMessageBatchSize: 2}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if n++; n == 1 {
			return fail(ctx, ev)
		}
		return succeed(ctx, ev)
	})
	var sizes []int
	for _, ev := range b.sink.Handled() {
		sizes = append(sizes, len(ev.Messages))
		if !ev.Batch {
			t.Error("not a batch")
		}
	}
	if diff := cmp.Diff([]int{2, 2, 1}, sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a/1", "a/2", "c/1"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Abandoned, triggers.Completed, triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if got := b.counts(); got != (servicebusapi.Counts{}) {
		t.Errorf("counts %+v", got)
	}
}

// TestMinimumBatch: a batch waits for its minimum, for no longer than
// maxBatchWaitTime from the first message.
func TestMinimumBatch(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	type run struct {
		At string
		N  int
	}
	var runs []run
	b.start(&servicebus.Options{Batch: true, MinMessageBatchSize: 3}, func(_ context.Context, ev *triggers.Event) triggers.Result {
		runs = append(runs, run{b.clk.Now().Sub(start).String(), len(ev.Messages)})
		return triggers.Result{}
	})
	b.send("a", "b")
	b.clk.Advance(10 * time.Second)
	b.send("c", "d")
	b.clk.Advance(10 * time.Second)
	b.send("e")
	b.clk.Advance(time.Minute)
	if diff := cmp.Diff([]run{{"10s", 4}, {"50s", 1}}, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// TestBatchLocksLost: a batch that runs longer than its lock is delivered twice.
func TestBatchLocksLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	n := 0
	b.start(&servicebus.Options{Batch: true}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if n++; n == 1 {
			return b.after(2*time.Minute, succeed)(ctx, ev)
		}
		return succeed(ctx, ev)
	})
	b.send("a")
	b.send("b")
	b.clk.Advance(5 * time.Minute)
	if diff := cmp.Diff([]triggers.Decision{triggers.LockLost, triggers.Completed}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestSessions: order within a session, sessions side by side, no more than
// maxConcurrentSessions; an idle session is given up.
func TestSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{RequiresSession: true})
	for i := range 3 {
		b.sendTo(fmt.Sprint("s", i), fmt.Sprint(i, "a"), fmt.Sprint(i, "b"))
	}
	var runs []string
	b.start(&servicebus.Options{Sessions: true, MaxConcurrentSessions: 2, SessionIdleTimeout: 10 * time.Second}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		runs = append(runs, fmt.Sprintf("%s %s", b.clk.Now().Sub(start), ev.Messages[0].Value.Text))
		return b.after(time.Second, succeed)(ctx, ev)
	})
	b.clk.Advance(time.Minute)
	want := []string{"0s 0a", "0s 1a", "1s 0b", "1s 1b", "12s 2a", "13s 2b"}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// TestSessionOrderAfterFailure: an abandoned message comes again before later ones
// (spec messaging 1.10).
func TestSessionOrderAfterFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{RequiresSession: true})
	n := 0
	b.start(&servicebus.Options{Sessions: true}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if n++; n <= 2 {
			return fail(ctx, ev)
		}
		return succeed(ctx, ev)
	})
	b.sendTo("s", "a", "b")
	if diff := cmp.Diff([]string{"a/1", "a/2", "a/3", "b/1"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// TestSessionLockRenewal: the session's lock is renewed like a message's, and when
// it is lost another receiver gets the session.
func TestSessionLockRenewal(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{RequiresSession: true})
	n := 0
	b.start(&servicebus.Options{Sessions: true, MaxAutoLockRenewal: 2 * time.Minute}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if n++; n == 1 {
			return b.after(4*time.Minute, succeed)(ctx, ev)
		}
		return succeed(ctx, ev)
	})
	b.sendTo("s", "a")
	b.clk.Advance(10 * time.Minute)
	if diff := cmp.Diff([]string{"a/1", "a/2"}, b.seen()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]triggers.Decision{triggers.Completed, triggers.LockLost}, b.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// TestMetadata has the names of spec messaging 2.5.
func TestMetadata(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{RequiresSession: true})
	b.start(&servicebus.Options{Sessions: true}, succeed)
	session, reply := "s", "r"
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "orders", &servicebusapi.Message{
			Body: []byte(`{"customer":"c7"}`), MessageID: "m", SessionID: &session, ReplyToSessionID: &reply, CorrelationID: "c", Subject: "sub",
			To: "to", ReplyTo: "rt", ContentType: "application/json", PartitionKey: &session, TimeToLive: time.Hour,
			ApplicationProperties: map[string]any{"n": int32(1), "id": bindings.GUID{}, "t": start},
		})
	})
	ev := b.sink.Handled()[0]
	got := map[string]any{}
	for name, v := range ev.Messages[0].Metadata {
		if raw, ok := v.(json.RawMessage); ok {
			v = string(raw)
		}
		got[name] = v
	}
	if token, _ := got["LockToken"].(string); len(token) != 36 {
		t.Errorf("LockToken %q", token)
	}
	delete(got, "LockToken")
	properties := `{"id":"00000000-0000-0000-0000-000000000000","n":1,"t":"2024-01-02T03:04:05Z"}`
	want := map[string]any{
		"DeliveryCount": int64(1), "ExpiresAtUtc": start.Add(time.Hour), "ExpiresAt": bindings.DateTimeOffset{Time: start.Add(time.Hour)}, "EnqueuedTimeUtc": start, "EnqueuedTime": bindings.DateTimeOffset{Time: start},
		"MessageId": "m", "ContentType": "application/json", "ReplyTo": "rt", "To": "to", "CorrelationId": "c", "Subject": "sub", "Label": "sub",
		"SequenceNumber": int64(1), "SessionId": "s", "ReplyToSessionId": "r", "PartitionKey": "s",
		"ApplicationProperties": properties, "UserProperties": properties, "customer": "c7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if ev.Messages[0].ID != "m" || ev.Source != "orders" {
		t.Errorf("event %+v", ev)
	}
	details := []triggers.Detail{
		{Name: "EnqueuedTime", Value: "2024-01-02T03:04:05Z"}, {Name: "LockedUntil", Value: "2024-01-02T03:05:05Z"}, {Name: "SessionId", Value: "s"},
	}
	if diff := cmp.Diff(details, ev.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// TestBatchMetadata: the names of a single message with "Array" behind them.
func TestBatchMetadata(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{})
	b.send("a", "b")
	b.start(&servicebus.Options{Batch: true}, succeed)
	metadata := b.sink.Handled()[0].Messages[0].Metadata
	for name, want := range map[string]string{
		"MessageIdArray": `["id-a","id-b"]`, "DeliveryCountArray": `[1,1]`, "SequenceNumberArray": `[1,2]`,
		"ExpiresAtUtcArray": `["9999-12-31T23:59:59.9999999","9999-12-31T23:59:59.9999999"]`, "ApplicationPropertiesArray": `[{},{}]`,
	} {
		if got, _ := metadata[name].(json.RawMessage); string(got) != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if _, ok := metadata["MessageId"]; ok {
		t.Error("the name of the single form is there too")
	}
}

// TestBody: text, bytes, and bytes that are no text although they are said to
// be.
func TestBody(t *testing.T) {
	t.Parallel()
	if m := servicebus.Message([]byte("a"), "", "", false); m.Value.Text != "a" || m.Err != nil {
		t.Errorf("text: %+v", m)
	}
	if m := servicebus.Message([]byte{0xff}, "", "binary", false); m.Value.Kind != bindings.Bytes || m.Err != nil {
		t.Errorf("binary: %+v", m)
	}
	if m := servicebus.Message([]byte{0xff}, "x/y", "", false); m.Err == nil {
		t.Error("bytes for a text parameter: no error")
	}
	// The members of a batch are JSON where no dataType says of what it is.
	if m := servicebus.Message([]byte(`{ "a": 1 }`), "", "", true); m.Value.Kind != bindings.JSON || m.Value.Text != `{"a":1}` {
		t.Errorf("JSON: %+v", m)
	}
	if m := servicebus.Message([]byte("a"), "", "string", true); m.Value.Kind != bindings.String || m.Value.Text != "a" {
		t.Errorf("a batch of text: %+v", m)
	}
	for _, body := range []string{"a", "\xff"} {
		if m := servicebus.Message([]byte(body), "", "", true); m.Err == nil {
			t.Errorf("%q in a batch without dataType: no error", body)
		}
	}
}

// spec storage 5: members of a text only.
func TestTextMembers(t *testing.T) {
	t.Parallel()
	deferred := func(*servicebusapi.Received) bindings.Value { return bindings.Value{Kind: bindings.Model} }
	for want, opts := range map[bool][]*servicebus.Options{
		true:  {{TextMembers: true}, {DataType: "binary"}},
		false: {{TextMembers: true, DataType: "binary"}, {TextMembers: true, Value: deferred}},
	} {
		for _, o := range opts {
			b := newBench(t, servicebusapi.Queue{})
			b.start(o, succeed)
			b.do(func(ctx context.Context) error {
				return b.ns.Send(ctx, "orders", &servicebusapi.Message{Body: []byte(`{"x":1}`)})
			})
			if _, got := b.sink.Handled()[0].Messages[0].Metadata["x"]; got != want {
				t.Errorf("%+v: %v, want %v", o, got, want)
			}
		}
	}
}
