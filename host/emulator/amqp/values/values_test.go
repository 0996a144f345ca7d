package values_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	properties := map[string]any{
		"bool": true, "int": int32(-7), "long": int64(1 << 40), "byte": uint8(3), "text": "é", "bytes": []byte{1, 2}, "null": nil,
		"float": 1.5, "time": time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC), "guid": bindings.GUID{1, 15: 9},
		"char": messaging.Encoded(wire.AppendAny(nil, wire.Char('x'))),
	}
	encoded := wire.AppendAny(nil, values.WireMap(properties))
	d := wire.NewDecoder(encoded)
	if diff := cmp.Diff(properties, values.PlainMap(d.Map())); diff != "" || d.Err() != nil {
		t.Errorf("%v (-want +got):\n%s", d.Err(), diff)
	}
	if got := values.PlainMap(nil); got != nil {
		t.Errorf("an empty map is %v, want nil", got)
	}
	if got := values.Wire(struct{}{}); got != nil {
		t.Errorf("a value of no AMQP type becomes %v, want null", got)
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	data := func(parts ...string) (body []byte) {
		for _, p := range parts {
			body = wire.AppendBinary(wire.AppendDescriptor(body, wire.DescData), []byte(p))
		}
		return body
	}
	value := func(v any) []byte { return wire.AppendAny(wire.AppendDescriptor(nil, wire.DescValue), v) }
	for _, tt := range []struct {
		name       string
		body, want []byte
	}{
		{"none", nil, nil},
		{"data", data("a"), []byte("a")},
		{"several data sections", data("a", "bc", ""), []byte("abc")},
		{"empty data", data(""), []byte{}},
		{"text", value("é"), []byte("é")},
		{"binary", value([]byte{1}), []byte{1}},
		{"another value", value(int64(5)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, values.Body(&wire.Message{Body: tt.body})); diff != "" {
				t.Errorf("Body (-want +got):\n%s", diff)
			}
		})
	}
}
