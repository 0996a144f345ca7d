package worker

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// What a worker can do decides what is sent to it (spec workers 5).
func TestRequestByCapabilities(t *testing.T) {
	t.Parallel()
	request := &bindings.HTTPRequest{
		Method: "POST", URL: "http://localhost:7071/api/orders/7?x=1&x=2&y=", Params: map[string]string{"id": "7"},
		Header: http.Header{"X-A": {"1", "2"}, "X-Empty": {""}, "Content-Type": {"application/json"}}, Body: []byte(`{"a":1}`),
	}
	other := func(kind string, body string) *bindings.HTTPRequest {
		return &bindings.HTTPRequest{Method: "PUT", URL: "U", Header: http.Header{"Content-Type": {kind}}, Body: []byte(body)}
	}
	text, jsonText := other("text/plain", "hi"), other("Application/JSON; charset=utf-8", "{")
	octets, form := other("application/octet-stream", "hi"), other("multipart/form-data; boundary=x", "hi")
	const plain = `{"method":"PUT","url":"U","headers":{"content-type":"K"},`
	for _, tt := range []struct {
		can  string
		r    *bindings.HTTPRequest
		want string
	}{
		{"", request, `{"method":"POST","url":"U","headers":{"x-a":"1,2","x-empty":"","content-type":"application/json"},"params":{"id":"7"},"query":{"x":"1,2"},
			"body":{"json":"{\"a\":1}"},"rawBody":{"string":"{\"a\":1}"}}`},
		{"RpcHttpBodyOnly RawHttpBodyBytes IgnoreEmptyValuedRpcHttpHeaders", request, `{"method":"POST","url":"U","headers":{"x-a":"1,2","content-type":"application/json"},
			"params":{"id":"7"},"query":{"x":"1,2"},"body":{"bytes":"eyJhIjoxfQ=="}}`},
		{"RpcHttpBodyOnly UseNullableValueDictionaryForHttp IgnoreEmptyValuedRpcHttpHeaders", request,
			`{"method":"POST","url":"U","nullableHeaders":{"x-a":{"value":"1,2"},"x-empty":{"value":""},"content-type":{"value":"application/json"}},
			"nullableParams":{"id":{"value":"7"}},"nullableQuery":{"x":{"value":"1,2"},"y":{"value":""}},"body":{"string":"{\"a\":1}"}}`},
		{"", text, plain + `"body":{"string":"hi"},"rawBody":{"string":"hi"}}`},
		{"", jsonText, plain + `"body":{"string":"{"},"rawBody":{"string":"{"}}`},
		{"", octets, plain + `"body":{"bytes":"aGk="},"rawBody":{"string":"hi"}}`},
		{"RawHttpBodyBytes", form, plain + `"body":{"bytes":"aGk="},"rawBody":{"bytes":"aGk="}}`},
		{"RpcHttpBodyOnly", text, plain + `"body":{"string":"hi"}}`},
		{"RpcHttpBodyOnly", jsonText, plain + `"body":{"string":"{"}}`},
		{"RpcHttpBodyOnly", form, plain + `"body":{"bytes":"aGk="}}`},
		{"RpcHttpBodyOnly RawHttpBodyBytes", text, plain + `"body":{"bytes":"aGk="}}`},
	} {
		can := capabilities{}
		for name := range strings.FieldsSeq(tt.can) {
			can[name] = "true"
		}
		want := &workerpb.RpcHttp{}
		if err := protojson.Unmarshal([]byte(strings.NewReplacer(`"U"`, `"`+tt.r.URL+`"`, `"K"`, `"`+tt.r.Header.Get("Content-Type")+`"`).Replace(tt.want)), want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, can.http(tt.r), protocmp.Transform()); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", tt.can, diff)
		}
	}
}

// Whatever text a caller sends, the message about it can travel: one that cannot would end
// the stream, and with it all calls of the process.
func TestAnyText(t *testing.T) {
	t.Parallel()
	const odd = "a\xffb"
	text := bindings.StringValue(odd)
	texts := map[string]string{odd: odd}
	request := bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
		Method: odd, URL: "/" + odd + "?" + odd + "=" + odd + "&%ff=%ff", Header: http.Header{odd: {odd}}, Params: texts, Body: []byte(odd),
	}}
	r := &call.Request{
		InvocationID: "1", TraceParent: odd, TraceState: odd,
		Retry:    &retrycontext.Context{Exception: &retrycontext.Exception{Message: odd, Source: odd, StackTrace: odd, Type: odd}},
		Inputs:   []call.Input{{Value: text}, {Value: bindings.JSONValue([]byte(`"` + odd + `"`))}, {Value: bindings.StringsValue([]string{odd})}, {Value: request}},
		Metadata: map[string]bindings.Value{odd: text, odd + "r": request},
	}
	for _, can := range []capabilities{{}, {"TypedDataCollection": "1"}, {"RpcHttpBodyOnly": "1", "UseNullableValueDictionaryForHttp": "1"}, {forwarding: "1", "RequiresRouteParameters": "1"}} {
		if _, err := proto.Marshal(can.request(r, &loaded{})); err != nil {
			t.Errorf("with %v: %v", can, err)
		}
	}
}

// A batch is a collection for workers that take one; without the capability for them,
// it has no empty members (spec workers 5, 6.1).
func TestBatchesByCapabilities(t *testing.T) {
	t.Parallel()
	list := bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a"), bindings.StringValue("")}}
	bytes := bindings.Value{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{1}), bindings.BytesValue(nil)}}
	all := capabilities{"TypedDataCollection": "true", "IncludeEmptyEntriesInMessagePayload": "true"}
	some := capabilities{"TypedDataCollection": "true"}
	for _, tt := range []struct {
		can  capabilities
		v    bindings.Value
		want string
	}{
		{nil, list, `{"json":"[\"a\",\"\"]"}`}, {some, list, `{"collectionString":{"string":["a"]}}`}, {all, list, `{"collectionString":{"string":["a",""]}}`},
		{nil, bytes, `{"json":"[\"AQ==\",\"\"]"}`}, {some, bytes, `{"collectionBytes":{"bytes":["AQ=="]}}`}, {all, bytes, `{"collectionBytes":{"bytes":["AQ==",""]}}`},
	} {
		want := &typed{}
		if err := protojson.Unmarshal([]byte(tt.want), want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tt.can.value(tt.v), protocmp.Transform()); diff != "" {
			t.Errorf("with %v (-want +got):\n%s", tt.can, diff)
		}
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	text := func(s string) *typed { return &typed{Data: &workerpb.TypedData_String_{String_: s}} }
	for _, tt := range []struct {
		name string
		r    *workerpb.RpcHttp
		want bindings.HTTPResponse
	}{
		{"nothing", &workerpb.RpcHttp{}, bindings.HTTPResponse{Header: http.Header{}}},
		{"text", &workerpb.RpcHttp{StatusCode: "201", Body: text("made")},
			bindings.HTTPResponse{StatusCode: 201, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte("made")}},
		{"typed", &workerpb.RpcHttp{Headers: map[string]string{"content-type": "text/html"}, Body: text("<p>")},
			bindings.HTTPResponse{Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>")}},
		{"json", &workerpb.RpcHttp{Body: jsonData(`{"a":1}`)},
			bindings.HTTPResponse{Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: []byte(`{"a":1}`)}},
		{"null is no body", &workerpb.RpcHttp{StatusCode: "204", Body: jsonData(`null`)}, bindings.HTTPResponse{StatusCode: 204, Header: http.Header{}}},
		{"cookies", &workerpb.RpcHttp{Cookies: []*workerpb.RpcHttpCookie{
			{Name: "a", Value: "1", Path: &workerpb.NullableString{String_: &workerpb.NullableString_Value{Value: "/"}},
				HttpOnly: &workerpb.NullableBool{Bool: &workerpb.NullableBool_Value{Value: true}}, SameSite: workerpb.RpcHttpCookie_Strict,
				MaxAge: &workerpb.NullableDouble{Double: &workerpb.NullableDouble_Value{Value: 0}}},
			{Name: "b", Value: "2", Expires: &workerpb.NullableTimestamp{Timestamp: &workerpb.NullableTimestamp_Value{Value: timestamppb.New(time.Unix(0, 0))}}},
		}}, bindings.HTTPResponse{Header: http.Header{"Set-Cookie": {"a=1; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", "b=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}}}},
	} {
		got, err := responseValue(tt.r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got.HTTPResponse); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := responseValue(&workerpb.RpcHttp{StatusCode: "teapot"}); err == nil {
		t.Error("a status that is no number was taken")
	}
}
