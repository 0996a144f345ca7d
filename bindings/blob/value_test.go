package blob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

func TestBlobContentFrom(t *testing.T) {
	t.Parallel()
	json := func(s string) bindings.Value { return bindings.JSONValue([]byte(s)) }
	tests := []struct {
		name  string
		value bindings.Value
		want  string
		none  bool
		fails bool
	}{
		{name: "text", value: bindings.StringValue("grün"), want: "grün"},
		{name: "text that looks like JSON stays", value: bindings.StringValue(`{ "a": 1 }`), want: `{ "a": 1 }`},
		{name: "empty text", value: bindings.StringValue(""), want: ""},
		{name: "bytes", value: bindings.BytesValue([]byte{0, 255}), want: "\x00\xff"},
		{name: "object", value: json(`{ "a": [1, 2] }`), want: `{"a":[1,2]}`},
		{name: "array", value: json("[ 1 ]"), want: "[1]"},
		{name: "JSON text", value: json(`"a\n"`), want: "a\n"},
		{name: "int", value: bindings.Value{Kind: bindings.Int, Int: 258}, want: "\x02\x01\x00\x00"},
		{name: "negative int", value: bindings.Value{Kind: bindings.Int, Int: -1}, want: "\xff\xff\xff\xff"},
		{name: "long", value: bindings.Value{Kind: bindings.Int, Int: 1<<32 + 5}, want: "\x05\x00\x00\x00"},
		{name: "double", value: bindings.Value{Kind: bindings.Double, Double: 1}, want: "\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{name: "JSON int", value: json("7"), want: "\x07\x00\x00\x00"},
		{name: "JSON double", value: json("1.0"), want: "\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{name: "true", value: json("true"), want: "\x01"},
		{name: "false", value: json("false"), want: "\x00"},
		{name: "texts", value: bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a")}}, want: `["a"]`},
		{name: "null", none: true},
		{name: "JSON null", value: json("null"), none: true},
		{name: "bad JSON", value: json("{"), fails: true},
		{name: "response", value: bindings.Value{Kind: bindings.Response}, fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok, err := blob.ContentFrom(tt.value)
			if (err != nil) != tt.fails || ok == (tt.none || tt.fails) {
				t.Fatalf("BlobContentFrom = %q, %v, %v", got, ok, err)
			}
			if diff := cmp.Diff(string(got), tt.want); diff != "" {
				t.Errorf("content (-got +want):\n%s", diff)
			}
		})
	}
}

func TestBlobValueFrom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dataType, content string
		want              bindings.Value
	}{
		{"", "a", bindings.StringValue("a")},
		{"string", "\xef\xbb\xbfa\xff", bindings.StringValue("a\uFFFD")},
		{"Binary", "\xff", bindings.BytesValue([]byte("\xff"))},
		{"stream", "\xff", bindings.BytesValue([]byte("\xff"))},
	} {
		if diff := cmp.Diff(blob.ValueFrom([]byte(tt.content), tt.dataType), tt.want); diff != "" {
			t.Errorf("BlobValueFrom(%q, %q) (-got +want):\n%s", tt.content, tt.dataType, diff)
		}
	}
}
