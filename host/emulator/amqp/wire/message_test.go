package wire_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func ptr[T any](v T) *T { return &v }

// TestMessageOfGoAMQP reads a message that go-amqp wrote, and has go-amqp read
// it again.
func TestMessageOfGoAMQP(t *testing.T) {
	t.Parallel()
	sent := &amqp.Message{
		Header:              &amqp.MessageHeader{Durable: true, Priority: 4, TTL: time.Minute, DeliveryCount: 2},
		DeliveryAnnotations: amqp.Annotations{"x-opt-lock-token": amqp.UUID{1}},
		Annotations:         amqp.Annotations{"x-opt-sequence-number": int64(7)},
		Properties: &amqp.MessageProperties{MessageID: "id", UserID: []byte("me"), To: ptr("to"), Subject: ptr("subject"), ReplyTo: ptr("reply"), CorrelationID: uint64(9),
			ContentType: ptr("text/plain"), ContentEncoding: ptr("gzip"), AbsoluteExpiryTime: ptr(time.UnixMilli(5)), CreationTime: ptr(time.UnixMilli(6)), GroupID: ptr(""), GroupSequence: ptr(uint32(3)), ReplyToGroupID: ptr("g")},
		ApplicationProperties: map[string]any{"a": int32(5)},
		Data:                  [][]byte{[]byte("one"), bytes.Repeat([]byte("2"), 300)},
		Footer:                amqp.Annotations{"f": "g"},
	}
	b, err := sent.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	m, err := wire.ParseMessage(b)
	if err != nil {
		t.Fatal(err)
	}
	want := &wire.Message{
		Header: wire.Header{Durable: true, Priority: 4, TTL: wire.Some[uint32](60000), DeliveryCount: 2}, HasHeader: true,
		DeliveryAnnotations: wire.Map{{Key: wire.Symbol("x-opt-lock-token"), Value: wire.UUID{1}}},
		MessageAnnotations:  wire.Map{{Key: wire.Symbol("x-opt-sequence-number"), Value: int64(7)}},
		Properties: wire.Properties{MessageID: "id", UserID: []byte("me"), To: wire.Some("to"), Subject: wire.Some("subject"), ReplyTo: wire.Some("reply"), CorrelationID: uint64(9),
			ContentType: wire.Some[wire.Symbol]("text/plain"), ContentEncoding: wire.Some[wire.Symbol]("gzip"), AbsoluteExpiryTime: wire.Some[wire.Timestamp](5), CreationTime: wire.Some[wire.Timestamp](6), GroupID: wire.Some(""), GroupSequence: wire.Some[uint32](3), ReplyToGroupID: wire.Some("g")},
		HasProperties:         true,
		ApplicationProperties: wire.Map{{Key: "a", Value: int32(5)}},
		Body:                  m.Body, Footer: m.Footer,
		RawHeader: m.RawHeader, RawProperties: m.RawProperties, RawApplicationProperties: m.RawApplicationProperties,
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("ParseMessage (-want +got):\n%s", diff)
	}
	if got := m.DataSections(); len(got) != 2 || string(got[0]) != "one" || len(got[1]) != 300 {
		t.Errorf("DataSections() = %q", got)
	}
	var again amqp.Message
	if err := again.UnmarshalBinary(m.Append(nil)); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*amqp.Message{sent, &again} { // times come back in another zone
		m.Properties.AbsoluteExpiryTime = ptr(m.Properties.AbsoluteExpiryTime.UTC())
		m.Properties.CreationTime = ptr(m.Properties.CreationTime.UTC())
	}
	if diff := cmp.Diff(sent.Properties, again.Properties); diff != "" {
		t.Errorf("properties read by go-amqp (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(sent.Data, again.Data); diff != "" {
		t.Errorf("data read by go-amqp (-want +got):\n%s", diff)
	}
}

func TestMessageSections(t *testing.T) {
	t.Parallel()
	value := string(wire.AppendValue(nil, "v"))
	data := string(wire.AppendData(nil, []byte("d")))
	for name, tt := range map[string]struct {
		in string
		ok bool
	}{
		"empty":                  {"", true},
		"one value":              {value, true},
		"two data":               {data + data, true},
		"two sequences":          {"\x00\x53\x76\x45\x00\x53\x76\x45", true},
		"two values":             {value + value, false},
		"data after a value":     {value + data, false},
		"value after data":       {data + value, false},
		"two headers":            {"\x00\x53\x70\x45\x00\x53\x70\x45", false},
		"header after body":      {data + "\x00\x53\x70\x45", false},
		"footer twice":           {"\x00\x53\x78\xc1\x01\x00\x00\x53\x78\xc1\x01\x00", false},
		"unknown section":        {"\x00\x53\x7a\x45", false},
		"not described":          {"\xa1\x01a", false},
		"message id of int":      {"\x00\x53\x73\xc0\x03\x01\x54\x01", false},
		"property key of symbol": {"\x00\x53\x74\xc1\x05\x02\xa3\x01a\x40", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := wire.ParseMessage([]byte(tt.in))
			if (err == nil) != tt.ok {
				t.Errorf("ParseMessage = %+v, %v, want ok %t", m, err, tt.ok)
			}
			if err == nil && string(m.Body) != tt.in {
				t.Errorf("Body = %x, want all of it", m.Body)
			}
		})
	}
}
