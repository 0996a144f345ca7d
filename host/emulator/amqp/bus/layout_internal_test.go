package bus

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// bare is a message with everything that has to come through untouched: described
// values, identifiers of all types, encodings that are not the smallest.
func bare() []byte {
	m := &wire.Message{
		HasHeader: true, Header: wire.Header{Durable: true, Priority: 9, TTL: wire.Some[uint32](5000), DeliveryCount: 7},
		DeliveryAnnotations: wire.Map{{Key: wire.Symbol("x-opt-lock-token"), Value: wire.UUID{9}}},
		MessageAnnotations: wire.Map{
			{Key: wire.Symbol("x-opt-sequence-number"), Value: int64(99)}, // not for senders to say
			{Key: wire.Symbol("x-opt-partition-key"), Value: "pk"},
			{Key: wire.Symbol("custom"), Value: int32(1)},
		},
		HasProperties: true,
		Properties: wire.Properties{MessageID: wire.UUID{1}, UserID: []byte("user"), CorrelationID: uint64(12), GroupID: wire.Some(""),
			GroupSequence: wire.Some[uint32](3), CreationTime: wire.Some[wire.Timestamp](5), ContentEncoding: wire.Some[wire.Symbol]("gzip")},
		ApplicationProperties: wire.Map{
			{Key: "span", Value: &wire.Described{Descriptor: wire.Symbol("com.microsoft:timespan"), Value: int64(1 << 40)}},
			{Key: "uri", Value: &wire.Described{Descriptor: wire.Symbol("com.microsoft:uri"), Value: "http://x"}},
			{Key: "char", Value: wire.Char('x')}, {Key: "dec", Value: wire.Decimal128{1}}, {Key: "n", Value: nil},
			{Key: "when", Value: wire.Timestamp(1000)}, {Key: "id", Value: wire.UUID{2}},
		},
		Body:   append(wire.AppendData(nil, []byte("one")), 0x00, 0x53, 0x75, 0xb0, 0, 0, 0, 1, 'x'),
		Footer: wire.AppendMapSection(nil, wire.DescFooter, wire.Map{{Key: wire.Symbol("f"), Value: true}}),
	}
	return m.Append(nil)
}

func receivedOf(t *testing.T, payload []byte) *servicebus.Received {
	t.Helper()
	m, err := decodeMessage(payload)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &servicebus.Received{Message: *m, SequenceNumber: 1, EnqueuedTime: at, LockedUntil: at.Add(time.Minute), LockToken: bindings.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}
}

func parse(t *testing.T, b []byte) *wire.Message {
	t.Helper()
	m, err := wire.ParseMessage(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBareMessage: properties, application properties, body and footer go through
// byte for byte; header and annotations are ours.
func TestBareMessage(t *testing.T) {
	t.Parallel()
	in := parse(t, bare())
	m := receivedOf(t, bare())
	out := parse(t, appendMessage(nil, m))
	for name, tt := range map[string]struct{ got, want []byte }{
		"properties":             {out.RawProperties, in.RawProperties},
		"application properties": {out.RawApplicationProperties, in.RawApplicationProperties},
		"body":                   {out.Body, in.Body},
		"footer":                 {out.Footer, in.Footer},
	} {
		if !bytes.Equal(tt.got, tt.want) {
			t.Errorf("%s: got %x, want %x", name, tt.got, tt.want)
		}
	}
	if diff := cmp.Diff(wire.Header{Durable: true, Priority: 9, TTL: wire.Some[uint32](5000)}, out.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if !bytes.Contains(out.RawHeader, []byte{0x43}) { // uint 0, written
		t.Errorf("header %x: no delivery-count", out.RawHeader)
	}
	at := wire.TimestampOf(m.EnqueuedTime)
	want := wire.Map{
		{Key: annSequenceNumber, Value: int64(1)}, {Key: annEnqueuedTime, Value: at},
		{Key: annLockedUntil, Value: at + 60000}, {Key: annPartitionKey, Value: "pk"}, {Key: wire.Symbol("custom"), Value: int32(1)},
	}
	if diff := cmp.Diff(want, out.MessageAnnotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wire.Map{{Key: annLockToken, Value: wire.UUID(m.LockToken)}}, out.DeliveryAnnotations); diff != "" {
		t.Errorf("delivery annotations (-want +got):\n%s", diff)
	}
	if string(m.Body) != "onex" || m.MessageID != "01000000-0000-0000-0000-000000000000" || m.CorrelationID != "12" || m.SessionID == nil || m.TimeToLive != 5*time.Second {
		t.Errorf("plain fields: %+v", m.Message)
	}
}

// TestAnnotationsOfSomeMessages: a message that was not forwarded has no number of an
// earlier entity, and one that is active no state (azservicebus v1.11.0:
// TestSender_SendAMQPMessageWithMultipleByteSlicesInData).
func TestAnnotationsOfSomeMessages(t *testing.T) {
	t.Parallel()
	m := receivedOf(t, bare())
	m.EnqueuedSequenceNumber, m.State = 1, servicebus.StateDeferred
	all := parse(t, appendMessage(nil, m)).MessageAnnotations
	if got := all.Get(string(annEnqueueSequenceNumber)); got != int64(1) {
		t.Errorf("forwarded: enqueue sequence number = %v", got)
	}
	if got := all.Get(string(annMessageState)); got != int32(1) {
		t.Errorf("deferred: state = %v", got)
	}
}

// TestChangedMessage: what the service changed is encoded anew, and nothing else is lost.
func TestChangedMessage(t *testing.T) {
	t.Parallel()
	m := receivedOf(t, bare())
	m.Wire.PropertiesChanged, m.Wire.ApplicationPropertiesChanged = true, true
	m.Subject, m.MessageID = "new", "other"
	m.ApplicationProperties["DeadLetterReason"] = "why"
	m.ExpiresAt = m.EnqueuedTime.Add(time.Hour)
	out := parse(t, appendMessage(nil, m))
	want := parse(t, bare()).Properties
	want.MessageID, want.Subject = "other", wire.Some("new")
	want.AbsoluteExpiryTime = wire.Some(wire.TimestampOf(m.ExpiresAt))
	if diff := cmp.Diff(want, out.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if out.Header.TTL.V != 3600_000 {
		t.Errorf("ttl %d", out.Header.TTL.V)
	}
	for _, e := range append(parse(t, bare()).ApplicationProperties, wire.Entry{Key: "DeadLetterReason", Value: "why"}) {
		if diff := cmp.Diff(e.Value, out.ApplicationProperties.Get(e.Key.(string))); diff != "" {
			t.Errorf("application property %s (-want +got):\n%s", e.Key, diff)
		}
	}
	if got := out.DeliveryAnnotations.Get("x-opt-lock-token"); got != wire.UUID(m.LockToken) {
		t.Errorf("lock token = %v", got)
	}
}

// TestPlainMessage: a message that did not come over AMQP.
func TestPlainMessage(t *testing.T) {
	t.Parallel()
	id := "s"
	m := &servicebus.Received{Message: servicebus.Message{Body: []byte("b"), MessageID: "m", SessionID: &id, ContentType: "text/plain",
		ApplicationProperties: map[string]any{"a": int32(1), "t": time.UnixMilli(7).UTC(), "g": bindings.GUID{3}}}}
	out := parse(t, appendMessage(nil, m))
	if got := out.DataSections(); len(got) != 1 || string(got[0]) != "b" {
		t.Errorf("body %q", got)
	}
	if diff := cmp.Diff(wire.Properties{MessageID: "m", GroupID: wire.Some("s"), ContentType: wire.Some[wire.Symbol]("text/plain")}, out.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wire.Map{{Key: "a", Value: int32(1)}, {Key: "g", Value: wire.UUID{3}}, {Key: "t", Value: wire.Timestamp(7)}}, out.ApplicationProperties); diff != "" {
		t.Errorf("application properties (-want +got):\n%s", diff)
	}
}

// TestDeliveryTag is the order of bytes in .NET: 00010203-0405-0607-0809-0a0b0c0d0e0f is
// written 03020100-0504-0706-...
func TestDeliveryTag(t *testing.T) {
	t.Parallel()
	g := bindings.GUID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	if got, want := deliveryTag(g), []byte{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestTimeToLive: clients for whom the header is too small say it in two times.
func TestTimeToLive(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ttl             wire.Opt[uint32]
		created, expiry wire.Timestamp
		want            time.Duration
	}{
		"none":                    {},
		"header":                  {ttl: wire.Some[uint32](1500), want: 1500 * time.Millisecond},
		"more than 49 days":       {ttl: wire.Some[uint32](math.MaxUint32), expiry: 90 * 24 * 3600_000, want: 90 * 24 * time.Hour},
		"beyond what Go has":      {ttl: wire.Some[uint32](math.MaxUint32), expiry: math.MaxInt64},
		"expiry before the start": {ttl: wire.Some[uint32](math.MaxUint32), created: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &wire.Message{Header: wire.Header{TTL: tt.ttl}, Properties: wire.Properties{CreationTime: wire.Some(tt.created), AbsoluteExpiryTime: wire.Some(tt.expiry)}}
			if got := timeToLive(m); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// FuzzDecode: whatever is taken in can be given out, and its body is the same.
func FuzzDecode(f *testing.F) {
	f.Add(bare())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			return
		}
		for _, changed := range []bool{false, true} {
			m.Wire.PropertiesChanged, m.Wire.ApplicationPropertiesChanged = changed, changed
			out, err := wire.ParseMessage(appendMessage(nil, &servicebus.Received{Message: *m, ExpiresAt: time.Unix(1, 0)}))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Body, m.Wire.Body) {
				t.Fatalf("body %x, want %x", out.Body, m.Wire.Body)
			}
		}
	})
}

// TestSectionsOfThePythonClient: it sends delivery annotations after all others, and a
// received annotation again as binary.
func TestSectionsOfThePythonClient(t *testing.T) {
	t.Parallel()
	sent := wire.AppendMapSection(nil, wire.DescMessageAnnotations, wire.Map{{Key: annPartitionKey, Value: []byte("pk")}})
	sent = wire.AppendData(sent, []byte("x"))
	sent = wire.AppendMapSection(sent, wire.DescFooter, wire.Map{{Key: wire.Symbol("f"), Value: int32(1)}})
	footer := len(sent)
	sent = wire.AppendMapSection(sent, wire.DescDeliveryAnnotations, wire.Map{{Key: wire.Symbol("custom"), Value: int32(2)}})
	m := receivedOf(t, sent)
	if m.PartitionKey == nil || *m.PartitionKey != "pk" || string(m.Body) != "x" {
		t.Errorf("message %+v", m.Message)
	}
	out := parse(t, appendMessage(nil, m))
	want := wire.Map{{Key: annLockToken, Value: wire.UUID(m.LockToken)}, {Key: wire.Symbol("custom"), Value: int32(2)}}
	if diff := cmp.Diff(want, out.DeliveryAnnotations); diff != "" {
		t.Errorf("delivery annotations (-want +got):\n%s", diff)
	}
	if _, err := wire.ParseMessage(append(sent, sent[footer:]...)); err == nil {
		t.Error("delivery annotations were there twice, and no error")
	}
	if _, err := wire.ParseMessage(wire.AppendData(sent, nil)); err == nil {
		t.Error("a body came after delivery annotations that came last, and no error")
	}
}
