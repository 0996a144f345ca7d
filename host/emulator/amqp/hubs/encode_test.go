package hubs_test

import (
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
)

// spec workers-dotnet-java 1.8.
func TestAppend(t *testing.T) {
	t.Parallel()
	key, at := "k", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var m amqp.Message
	if err := m.UnmarshalBinary(hubs.Append(nil, &eventhubs.ReceivedEvent{
		Event:          eventhubs.Event{Body: []byte("body"), MessageID: "id", PartitionKey: &key, Properties: map[string]any{"n": int64(7)}},
		SequenceNumber: 9, Offset: "90", EnqueuedTime: at,
	})); err != nil {
		t.Fatal(err)
	}
	want := amqp.Annotations{"x-opt-sequence-number": int64(9), "x-opt-offset": "90", "x-opt-enqueued-time": at, "x-opt-partition-key": "k"}
	if diff := cmp.Diff(want, m.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if m.Properties.MessageID != "id" || string(m.GetData()) != "body" || m.ApplicationProperties["n"] != int64(7) {
		t.Errorf("decoded: %+v", m)
	}
}
