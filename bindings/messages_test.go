package bindings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
)

func TestQueueMessagesFrom(t *testing.T) {
	t.Parallel()
	text := bindings.StringValue
	jsonValue := func(s string) bindings.Value { return bindings.JSONValue([]byte(s)) }
	tests := []struct {
		name  string
		value bindings.Value
		want  []string
		fault string
	}{
		{"plain string", text(" hello "), []string{" hello "}, ""},
		{"empty string", text(""), []string{""}, ""},
		{"object in a string", text(` {"a":1,"b":{"c":[1,2]},"d":{},"e":[]} `),
			[]string{"{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [\n      1,\n      2\n    ]\n  },\n  \"d\": {},\n  \"e\": []\n}"}, ""},
		{"array in a string", text(`["a", "b\"c", 1, 1.50, true, {"x":1}, [2]]`),
			[]string{"a", `b"c`, "1", "1.5", "True", "{\n  \"x\": 1\n}", "[\n  2\n]"}, ""},
		{"empty array in a string", text("[]"), nil, ""},
		{"looks like an object", text("{id}"), nil, "looks like JSON but does not parse"},
		{"a comma at the end", text("[1,]"), []string{"1"}, ""},
		{"looks like an array", text("[1}]"), nil, "looks like JSON but does not parse"},
		{"only starts like one", text("{id"), []string{"{id"}, ""},
		{"mixed ends", text("{1]"), []string{"{1]"}, ""},
		{"object", jsonValue(`{"a":1}`), []string{"{\n  \"a\": 1\n}"}, ""},
		{"array", jsonValue(`["x",2]`), []string{"x", "2"}, ""},
		{"JSON string", jsonValue(`"x"`), []string{"x"}, ""},
		{"JSON number", jsonValue(`5`), []string{"5"}, ""},
		{"JSON null", jsonValue(`null`), nil, ""},
		{"bytes", bindings.BytesValue([]byte("[\xff]")), []string{"[\xff]"}, ""},
		{"absent", bindings.Value{}, nil, ""},
		{"list of strings", bindings.Value{Kind: bindings.Strings, List: []bindings.Value{text("a"), text("[1]")}}, []string{"a", "[1]"}, ""},
		{"list of bytes", bindings.Value{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{0})}}, []string{"\x00"}, ""},
		{"integer", bindings.Value{Kind: bindings.Int, Int: -7}, []string{"-7"}, ""},
		{"double", bindings.Value{Kind: bindings.Double, Double: 1e20}, []string{"1E+20"}, ""},
		{"null in an array", text(`[1,null]`), []string{"1", ""}, ""},
		{"escapes and numbers", jsonValue(`{"a":"\u00fc\/","b":1.50,"c":-0}`), []string{"{\n  \"a\": \"ü/\",\n  \"b\": 1.5,\n  \"c\": 0\n}"}, ""},
		{"times in text", text(`["2020-01-02T03:04:05Z"]`), []string{"01/02/2020 03:04:05"}, ""},
		{"times in JSON", jsonValue(`["2020-01-02T03:04:05Z"]`), []string{"2020-01-02T03:04:05Z"}, ""},
		{"null in a list", bindings.Value{Kind: bindings.Strings, List: make([]bindings.Value, 1)}, nil, "Cannot enqueue a null queue message instance."},
		{"request", bindings.Value{Kind: bindings.Request}, nil, "not a message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bodies, err := bindings.MessagesFrom(tt.value)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("QueueMessagesFrom error = %v, want one with %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatalf("QueueMessagesFrom: %v", err)
			}
			var got []string
			for _, b := range bodies {
				got = append(got, string(b))
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("bodies (-got +want):\n%s", diff)
			}
		})
	}
}

func FuzzQueueMessagesFrom(f *testing.F) {
	for _, s := range []string{"a", `{"a":1}`, `[1,"b",null]`, "{", "[]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		bodies, err := bindings.MessagesFrom(bindings.StringValue(s))
		if err != nil && bodies != nil {
			t.Errorf("QueueMessagesFrom(%q) gave bodies and the error %v", s, err)
		}
		_, _ = bindings.MessagesFrom(bindings.JSONValue([]byte(s)))
	})
}
