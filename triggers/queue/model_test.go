package queue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/triggers/queue"
)

// spec workers-dotnet-java 1.8: the names exactly, and no nulls.
func TestModel(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		m    queueapi.Message
		want string
	}{
		{"whole", queueapi.Message{ID: "1", PopReceipt: "p", DequeueCount: 2, NextVisible: at, Inserted: at, Expires: at},
			`{"MessageId":"1","PopReceipt":"p","MessageText":"a \"b\"","DequeueCount":2,"NextVisibleOn":"2026-01-02T03:04:05+00:00","InsertedOn":"2026-01-02T03:04:05+00:00","ExpiresOn":"2026-01-02T03:04:05+00:00"}`},
		{"without times", queueapi.Message{ID: "1", DequeueCount: 1}, `{"MessageId":"1","PopReceipt":"","MessageText":"a \"b\"","DequeueCount":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := queue.Model(&tt.m, []byte(`a "b"`))
			want := &bindings.ModelData{Source: "AzureStorageQueues", ContentType: "application/json", Content: []byte(tt.want)}
			if diff := cmp.Diff(want, got.Model); diff != "" || got.Kind != bindings.Model {
				t.Errorf("kind %d (-want +got):\n%s\n%s", got.Kind, diff, got.Model.Content)
			}
		})
	}
}

// A body that is no text does not end the delivery of a function that takes the message.
func TestModelOfBytes(t *testing.T) {
	t.Parallel()
	_, ev := deliverOne(t, queueapi.Base64.Encode([]byte("\xff")), nil, &queue.Options{Deferred: true})
	if m := ev.Messages[0]; m.Err != nil || m.Value.Kind != bindings.Model {
		t.Errorf("got %+v", m)
	}
}
