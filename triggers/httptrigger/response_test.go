package httptrigger_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

const (
	text   = "text/plain; charset=utf-8"
	jsonct = "application/json; charset=utf-8"
)

// TestResponseFrom has one row for each line of 9.3 and its readings (host:
// HttpBinding.cs, CreateResult, ParseResponseObject, TryParseStatusCode).
func TestResponseFrom(t *testing.T) {
	t.Parallel()
	js := func(s string) bindings.Value { return bindings.Value{Kind: bindings.JSON, Text: s} }
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	typed := func(t string) http.Header { return header("Content-Type", t) }
	tests := []struct {
		name   string
		value  bindings.Value
		status int
		header http.Header
		body   string
	}{
		{"nothing set", bindings.Value{}, 200, nil, ""},
		{"object with body", js(`{"body":"hi","status":201}`), 201, typed(text), "hi"},
		{"names in any case", js(`{"BODY":"hi","StatusCode":202,"HEADERS":{"x-a":"1"}}`), 202, header("Content-Type", text, "X-A", "1"), "hi"},
		{"statusCode before status", js(`{"status":500,"statusCode":201,"body":"x"}`), 201, typed(text), "x"},
		{"an unusable statusCode is not replaced by status", js(`{"statusCode":"soon","status":500,"body":"x"}`), 200, typed(text), "x"},
		{"numeric text status", js(`{"status":" 404 ","body":"x"}`), 404, typed(text), "x"},
		{"status with a fraction", js(`{"status":404.0,"body":"x"}`), 200, typed(text), "x"},
		{"status null", js(`{"status":null,"body":"x"}`), 200, typed(text), "x"},
		{"status 500 is a response", js(`{"status":500,"body":"x"}`), 500, typed(text), "x"},
		{"object body", js(`{"body":{"b":1, "a":[2]}}`), 200, typed(jsonct), `{"b":1, "a":[2]}`},
		{"number body", js(`{"body":5}`), 200, typed(jsonct), "5"},
		{"null body", js(`{"status":204,"body":null}`), 204, nil, ""},
		{"body text stays text", js(`{"body":"{\"a\":1}"}`), 200, typed(text), `{"a":1}`},
		{"own content type", js(`{"body":"<a/>","headers":{"content-type":"text/xml"}}`), 200, typed("text/xml"), "<a/>"},
		{"header values", js(`{"body":"","headers":{"A":5,"B":true,"C":["1","2"],"D":null,"E":{}}}`), 200,
			header("A", "5", "B", "true", "C", "1", "C", "2"), ""},
		{"headers of another type", js(`{"body":"x","headers":"no"}`), 200, typed(text), "x"},
		{"object without body", js(`{"status":500,"headers":{"a":"b"}}`), 200, typed(jsonct), `{"status":500,"headers":{"a":"b"}}`},
		{"JSON text", bindings.StringValue(` {"status":201,"body":"hi"} `), 201, typed(text), "hi"},
		{"JSON text without body", bindings.StringValue(`{"a": 1}`), 200, typed(jsonct), `{"a": 1}`},
		{"JSON array as text", bindings.StringValue(`[1,2]`), 200, typed(jsonct), `[1,2]`},
		{"JSON string as text", bindings.StringValue(`"hi"`), 200, typed(text), "hi"},
		{"text", bindings.StringValue("hello {"), 200, typed(text), "hello {"},
		{"text keeps its space", bindings.StringValue(" hello "), 200, typed(text), " hello "},
		{"empty text", bindings.StringValue(""), 200, nil, ""},
		{"bytes", bindings.BytesValue([]byte(`{"body":1}`)), 200, typed("application/octet-stream"), `{"body":1}`},
		{"integer", bindings.Value{Kind: bindings.Int, Int: -7}, 200, typed(jsonct), "-7"},
		{"double", bindings.Value{Kind: bindings.Double, Double: 1.5}, 200, typed(jsonct), "1.5"},
		{"strings", bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a")}}, 200, typed(jsonct), `["a"]`},
		{"response", bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{Body: []byte("x")}}, 200, nil, "x"},
		{"empty response", bindings.Value{Kind: bindings.Response}, 200, nil, ""},
		{"cookies", js(`{"body":"","cookies":[{"name":"a","value":"1","path":"/","maxAge":60,"httpOnly":true,"sameSite":"Lax"},{"name":"b","value":"2","secure":true,"expires":"2030-01-02T03:04:05Z"},{"Name":"c","Value":"","maxAge":0}]}`), 200,
			header("Set-Cookie", "a=1; Path=/; Max-Age=60; HttpOnly; SameSite=Lax",
				"Set-Cookie", "b=2; Expires=Wed, 02 Jan 2030 03:04:05 GMT; Secure", "Set-Cookie", "c=; Max-Age=0"), ""},
		{"cookies without body are data", js(`{"cookies":[]}`), 200, typed(jsonct), `{"cookies":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := httptrigger.ResponseFrom(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if got.StatusCode != tt.status || string(got.Body) != tt.body {
				t.Errorf("ResponseFrom = %d %q, want %d %q", got.StatusCode, got.Body, tt.status, tt.body)
			}
			if diff := cmp.Diff(got.Header, tt.header); diff != "" {
				t.Errorf("headers (-got +want):\n%s", diff)
			}
		})
	}
}

func TestResponseFromErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value bindings.Value
		want  string
	}{
		"status 99":       {bindings.Value{Kind: bindings.JSON, Text: `{"body":1,"status":99}`}, "status 99"},
		"status 1000":     {bindings.Value{Kind: bindings.JSON, Text: `{"body":1,"status":1000}`}, "status 1000"},
		"response status": {bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{StatusCode: -1}}, "status -1"},
		"broken JSON":     {bindings.Value{Kind: bindings.JSON, Text: `{`}, "not valid JSON"},
		"request":         {bindings.Value{Kind: bindings.Request}, "kind"},
		"cookie name":     {bindings.Value{Kind: bindings.JSON, Text: `{"body":1,"cookies":[{"name":"a b"}]}`}, `"a b"`},
		"cookie date":     {bindings.Value{Kind: bindings.JSON, Text: `{"body":1,"cookies":[{"name":"a","expires":"soon"}]}`}, `"soon"`},
		"cookies":         {bindings.Value{Kind: bindings.JSON, Text: `{"body":1,"cookies":5}`}, "list of cookies"},
	} {
		if r, err := httptrigger.ResponseFrom(tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: ResponseFrom = %v, %v; want an error with %q", name, r, err, tt.want)
		}
	}
}
