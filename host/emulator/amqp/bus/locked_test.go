package bus_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
)

// spec workers-dotnet-java 1.8: the token in .NET's order, then what a client can decode,
// with the token before all that a library shall see. The third delivery says 3.
func TestAppendLocked(t *testing.T) {
	t.Parallel()
	token := bindings.GUID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	session, at := "s", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := bus.AppendLocked(nil, &servicebus.Received{
		Message: servicebus.Message{
			Body: []byte("body"), MessageID: "id", SessionID: &session, ContentType: "text/plain",
			ApplicationProperties: map[string]any{"n": int64(7)},
		},
		SequenceNumber: 9, EnqueuedTime: at, LockedUntil: at.Add(time.Minute), LockToken: token, DeliveryCount: 2,
	})
	if want := []byte{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}; !bytes.HasPrefix(got, want) {
		t.Fatalf("begins with % x, want % x", got[:16], want)
	}
	const header = "\x00\x53\x70"
	if !bytes.HasPrefix(got[16:], []byte(header)) {
		t.Errorf("after the token: % x, want the header", got[16:19])
	}
	if at := bytes.Index(got, []byte("x-opt-lock-token")); at < 0 || at > bytes.Index(got, []byte("x-opt-sequence-number")) {
		t.Errorf("the token stands at %d", at)
	}
	var m amqp.Message
	if err := m.UnmarshalBinary(got[16:]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(amqp.Annotations{"x-opt-lock-token": amqp.UUID(token)}, m.DeliveryAnnotations); diff != "" {
		t.Errorf("delivery annotations (-want +got):\n%s", diff)
	}
	if m.Header.DeliveryCount != 3 || m.Properties.MessageID != "id" || *m.Properties.GroupID != "s" || string(m.GetData()) != "body" ||
		m.ApplicationProperties["n"] != int64(7) || m.Annotations["x-opt-sequence-number"] != int64(9) {
		t.Errorf("decoded: %+v %+v %+v", m, m.Header, m.Properties)
	}
}
