package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
)

// deliverOne returns the event of one message.
func deliverOne(t *testing.T, text string, put *queueapi.PutOptions, opts *queue.Options) (*bench, *triggers.Event) {
	t.Helper()
	b := newBench(t, "orders")
	b.do(func(ctx context.Context, q queueapi.Queue) {
		if _, err := q.Put(ctx, text, put); err != nil {
			t.Fatal(err)
		}
	})
	b.start(opts, succeed)
	b.clk.Advance(time.Second)
	evs := b.sink.Handled()
	if len(evs) != 1 {
		t.Fatalf("%d deliveries, want 1", len(evs))
	}
	return b, evs[0]
}

// spec storage 5.
func TestMetadata(t *testing.T) {
	t.Parallel()
	const body = `{"customer":"c","n":3,"address":{"city":"x"},"tags":[1],"none":null,"dequeuecount":"mine"}`
	_, ev := deliverOne(t, queueapi.Base64.Encode([]byte(body)), nil, nil)
	m := ev.Messages[0]
	if ev.Source != "orders" || ev.DeliveryCount != 1 || ev.Batch || ev.CallerWaits || ev.Delivery != "" {
		t.Errorf("event = %+v", ev)
	}
	inserted := []triggers.Detail{{Name: "InsertedOn", Value: start.Format("2006-01-02T15:04:05") + ".000+00:00"}}
	if diff := cmp.Diff(ev.Details, inserted); diff != "" {
		t.Errorf("details (-got +want):\n%s", diff)
	}
	if m.ID == "" || m.Err != nil || m.Value.Text != body {
		t.Errorf("message = %+v", m)
	}
	want := map[string]any{
		"QueueTrigger":    body,
		"Id":              m.ID,
		"DequeueCount":    "mine", // a property of the body wins, ignoring case
		"ExpirationTime":  bindings.DateTimeOffset{Time: start.Add(queueapi.DefaultMessageTTL)},
		"InsertionTime":   bindings.DateTimeOffset{Time: start},
		"NextVisibleTime": bindings.DateTimeOffset{Time: start.Add(10 * time.Minute)},
		"PopReceipt":      m.Metadata["PopReceipt"],
		"customer":        "c",
		"n":               "3",
		"address":         json.RawMessage(`{"city":"x"}`),
	}
	if diff := cmp.Diff(m.Metadata, want); diff != "" {
		t.Errorf("metadata (-got +want):\n%s", diff)
	}
	if r, _ := m.Metadata["PopReceipt"].(string); r == "" {
		t.Error("no PopReceipt")
	}
}

func TestMetadataOfPlainTextThatNeverExpires(t *testing.T) {
	t.Parallel()
	_, ev := deliverOne(t, "aGVsbG8=", &queueapi.PutOptions{TTL: queueapi.NeverExpires}, nil)
	md := ev.Messages[0].Metadata
	if got := md["ExpirationTime"].(bindings.DateTimeOffset).Format(time.RFC3339Nano); got != "9999-12-31T23:59:59.9999999Z" {
		t.Errorf("ExpirationTime = %s, want the latest date", got)
	}
	if got := md["DequeueCount"]; got != int64(1) {
		t.Errorf("DequeueCount = %v (%T), want int64 1", got, got)
	}
	if got := md["QueueTrigger"]; got != "hello" || ev.Messages[0].Value.Text != "hello" {
		t.Errorf("QueueTrigger = %v, value %+v, want hello", got, ev.Messages[0].Value)
	}
}

func TestBodyByDataType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, dataType string
		want                 bindings.Value
		fails                bool
	}{
		{"text", "aGVsbG8=", "", bindings.StringValue("hello"), false},
		{"string", "aGVsbG8=", "string", bindings.StringValue("hello"), false},
		{"empty", "", "", bindings.StringValue(""), false},
		{"binary", "aGVsbG8=", "Binary", bindings.BytesValue([]byte("hello")), false},
		{"binary that is not text", "/wA=", "binary", bindings.BytesValue([]byte("\xff\x00")), false},
		{"not text", "/wA=", "string", bindings.Value{}, true},
		{"plain text that is valid base64", "test", "", bindings.Value{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, ev := deliverOne(t, tt.text, nil, &queue.Options{DataType: tt.dataType})
			m := ev.Messages[0]
			if errors.Is(m.Err, queue.ErrNotText) != tt.fails {
				t.Errorf("Err = %v, want ErrNotText: %v", m.Err, tt.fails)
			}
			if diff := cmp.Diff(m.Value, tt.want); diff != "" {
				t.Errorf("value (-got +want):\n%s", diff)
			}
			_, shown := m.Metadata["QueueTrigger"]
			if wantShown := tt.text != "/wA=" && tt.text != "test"; shown != wantShown {
				t.Errorf("QueueTrigger present = %v, want %v", shown, wantShown)
			}
		})
	}
}

func TestMessageOfAnAdminCall(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	never := bindings.DateTimeOffset{Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}
	got := queue.Message([]byte(`{"id":"7"}`), "", now)
	want := triggers.Message{
		Value: bindings.StringValue(`{"id":"7"}`),
		Metadata: map[string]any{
			"QueueTrigger": `{"id":"7"}`, "id": "7", "DequeueCount": int64(0),
			"InsertionTime": bindings.DateTimeOffset{Time: now.Truncate(time.Second)}, "ExpirationTime": never, "NextVisibleTime": never,
		},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("Message (-got +want):\n%s", diff)
	}
}

// Members of a JSON body are metadata of a text only, as on the platform: neither of bytes
// nor of model binding data (host: WorkerFunctionInvoker.cs TransformInput; observed, 4.1037).
func TestTextMembers(t *testing.T) {
	t.Parallel()
	for want, opts := range map[bool][]*queue.Options{
		true:  {{TextMembers: true}, {TextMembers: true, DataType: "string"}, {DataType: "binary"}},
		false: {{TextMembers: true, DataType: "Binary"}, {TextMembers: true, DataType: "stream"}, {TextMembers: true, Deferred: true}},
	} {
		for _, o := range opts {
			_, ev := deliverOne(t, queueapi.Base64.Encode([]byte(`{"x":1}`)), nil, o)
			m := ev.Messages[0]
			if _, got := m.Metadata["x"]; got != want || m.Metadata["QueueTrigger"] != `{"x":1}` {
				t.Errorf("%+v: %v", o, m.Metadata)
			}
		}
	}
}

// Times of messages are whole seconds, as clients of the service have them.
func TestTimesAreWholeSeconds(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.clk.Advance(678 * time.Millisecond)
	b.do(func(ctx context.Context, q queueapi.Queue) {
		if _, err := q.Put(ctx, queueapi.Base64.Encode([]byte("a")), nil); err != nil {
			t.Error(err)
		}
	})
	b.start(nil, succeed)
	b.clk.Advance(time.Second)
	ev := b.sink.Handled()[0]
	for _, name := range []string{"InsertionTime", "ExpirationTime", "NextVisibleTime"} {
		if at := ev.Messages[0].Metadata[name].(bindings.DateTimeOffset); at.Nanosecond() != 0 {
			t.Errorf("%s is %v", name, at)
		}
	}
	if got := ev.Details[0].Value; got != "2024-01-02T03:04:05.000+00:00" {
		t.Errorf("InsertedOn is %q", got)
	}
	if got := string(queue.Model(&queueapi.Message{Inserted: start.Add(678 * time.Millisecond)}, nil).Model.Content); strings.Contains(got, ".678") {
		t.Errorf("model binding data: %s", got)
	}
}
