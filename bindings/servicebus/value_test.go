package servicebus_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestServiceBusMessagesFrom is spec messaging 2.6.
func TestServiceBusMessagesFrom(t *testing.T) {
	t.Parallel()
	type message struct{ Body, ContentType string }
	for _, test := range []struct {
		name  string
		value bindings.Value
		want  []message
	}{
		{"null", bindings.Value{}, nil},
		{"text", bindings.StringValue("hello"), []message{{"hello", "text/plain"}}},
		{"bytes", bindings.BytesValue([]byte("{}")), []message{{"{}", "application/octet-stream"}}},
		{"object", bindings.JSONValue([]byte(`{"a":1}`)), []message{{"{\n  \"a\": 1\n}", "application/json"}}},
		{"array", bindings.JSONValue([]byte(`["x","y"]`)), []message{{"x", "text/plain"}, {"y", "text/plain"}}},
		{"texts", bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("x"), bindings.StringValue("y")}}, []message{{"x", "text/plain"}, {"y", "text/plain"}}},
		{"number", bindings.Value{Kind: bindings.Int, Int: 7}, []message{{"7", "text/plain"}}},
	} {
		got, err := servicebus.MessagesFrom(test.value)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var plain []message
		for _, m := range got {
			plain = append(plain, message{string(m.Body), m.ContentType})
		}
		if diff := cmp.Diff(test.want, plain); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := servicebus.MessagesFrom(bindings.Value{Kind: bindings.Request}); err == nil {
		t.Error("an HTTP request is no message")
	}
}
