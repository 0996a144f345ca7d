package worker

import (
	"bytes"
	"encoding/json"
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
		if diff := cmp.Diff(want, can.http(tt.r), protocmp.Transform(), protocmp.IgnoreFields(&workerpb.RpcHttp{}, "identities")); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", tt.can, diff)
		}
	}
}

// A worker learns who the caller is: by a key, or by none (spec workers 6.1).
func TestIdentities(t *testing.T) {
	t.Parallel()
	const types = `"nameClaimType":{"value":"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"},
		"roleClaimType":{"value":"http://schemas.microsoft.com/ws/2008/06/identity/claims/role"}`
	const claim = "http://schemas.microsoft.com/2017/07/functions/claims/"
	for _, tt := range []struct {
		key  bindings.HTTPKey
		want string
	}{
		{bindings.HTTPKey{}, `{"identities":[{` + types + `}]}`},
		{bindings.HTTPKey{Level: "Admin", Name: "master"}, `{"identities":[{"authenticationType":{"value":"WebJobsAuthLevel"},` + types + `,"claims":[
			{"type":"` + claim + `authlevel","value":"Admin"},{"type":"` + claim + `invoke","value":"true"},{"type":"` + claim + `keyid","value":"master"}]}]}`},
	} {
		want := &workerpb.RpcHttp{}
		if err := protojson.Unmarshal([]byte(tt.want), want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, capabilities{}.http(&bindings.HTTPRequest{Key: tt.key}), protocmp.Transform()); diff != "" {
			t.Errorf("with %v (-want +got):\n%s", tt.key, diff)
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
	typeOf := func(s string) http.Header { return http.Header{"Content-Type": {s}} }
	const plain = "text/plain; charset=utf-8"
	for _, tt := range []struct {
		name string
		r    *workerpb.RpcHttp
		want bindings.HTTPResponse
	}{
		{"nothing", &workerpb.RpcHttp{}, bindings.HTTPResponse{StatusCode: 200, Header: typeOf(plain), Body: []byte{}}},
		{"text", &workerpb.RpcHttp{StatusCode: "201", Body: text("made")}, bindings.HTTPResponse{StatusCode: 201, Header: typeOf(plain), Body: []byte("made")}},
		{"typed", &workerpb.RpcHttp{Headers: map[string]string{"content-type": "text/html"}, Body: text("<p>")},
			bindings.HTTPResponse{StatusCode: 200, Header: typeOf("text/html; charset=utf-8"), Body: []byte("<p>")}},
		{"json", &workerpb.RpcHttp{Body: jsonData(`{"a":1,"at":"2020-01-02T03:04:05.500+02:00"}`)},
			bindings.HTTPResponse{StatusCode: 200, Header: typeOf(plain), Body: []byte("{\n  \"a\": 1,\n  \"at\": \"2020-01-02T03:04:05.500+02:00\"\n}")}},
		{"bytes", &workerpb.RpcHttp{Body: bytesData([]byte{0, 255})}, bindings.HTTPResponse{StatusCode: 200, Header: http.Header{}, Body: []byte{0, 255}}},
		{"typed bytes", &workerpb.RpcHttp{Headers: map[string]string{"content-type": "application/json"}, Body: bytesData([]byte("{}"))},
			bindings.HTTPResponse{StatusCode: 200, Header: typeOf("application/json"), Body: []byte("{}")}},
		{"null is no body", &workerpb.RpcHttp{StatusCode: "204", Body: jsonData(`null`)}, bindings.HTTPResponse{StatusCode: 204, Header: typeOf(plain), Body: []byte{}}},
		{"a status that is none", &workerpb.RpcHttp{StatusCode: "teapot", Body: text("x")}, bindings.HTTPResponse{StatusCode: 200, Header: typeOf(plain), Body: []byte("x")}},
		{"negotiated", &workerpb.RpcHttp{EnableContentNegotiation: true, Body: text("x")},
			bindings.HTTPResponse{StatusCode: 200, Header: typeOf("application/json; charset=utf-8"), Body: []byte(`"x"`)}},
		{"cookies", &workerpb.RpcHttp{Body: bytesData(nil), Cookies: []*workerpb.RpcHttpCookie{
			{Name: "a", Value: "1", Path: &workerpb.NullableString{String_: &workerpb.NullableString_Value{Value: "/x"}},
				HttpOnly: &workerpb.NullableBool{Bool: &workerpb.NullableBool_Value{Value: true}}, SameSite: workerpb.RpcHttpCookie_Strict,
				MaxAge: &workerpb.NullableDouble{Double: &workerpb.NullableDouble_Value{Value: 0}}},
			{Name: "b", Value: "2", Expires: &workerpb.NullableTimestamp{Timestamp: &workerpb.NullableTimestamp_Value{Value: timestamppb.New(time.Unix(0, 0))}}},
		}}, bindings.HTTPResponse{StatusCode: 200, Body: []byte{},
			Header: http.Header{"Set-Cookie": {"a=1; max-age=0; path=/x; samesite=strict; httponly", "b=2; expires=Thu, 01 Jan 1970 00:00:00 GMT; path=/"}}}},
	} {
		got, err := answerOf(tt.r, &bindings.HTTPRequest{Header: http.Header{"Accept": {"application/json"}}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got.HTTPResponse); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A response that a function without an http output returns is no answer: its caller gets
// it whole (host: WorkerFunctionInvoker.cs, HttpBinding.cs SetResponse).
func TestUntakenAnswer(t *testing.T) {
	t.Parallel()
	r := &workerpb.InvocationResponse{Result: &workerpb.StatusResult{Status: workerpb.StatusResult_Success}, ReturnValue: &typed{Data: &workerpb.TypedData_Http{Http: &workerpb.RpcHttp{
		StatusCode: "500", Headers: map[string]string{"x-a": "1"}, Body: bytesData([]byte("no")),
	}}}}
	got, err := responseOf(&call.Request{}, r)
	const want = `{"method":"","query":{},"statusCode":"500","headers":{"x-a":"1"},"enableContentNegotiation":false,"cookies":[],"body":"bm8="}`
	if err != nil || got.Return == nil || got.Return.Text != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = responseOf(&call.Request{Outputs: []string{"$return"}}, r); err != nil || got.Return.Kind != bindings.Response {
		t.Errorf("%+v, %v", got, err)
	}
}

// Parameters of a query travel in the order in which they came, in both transports.
func TestQueryOrder(t *testing.T) {
	t.Parallel()
	const names = "zeta,b,a,Ä,,c"
	req := &bindings.HTTPRequest{Method: "GET", URL: "http://h/api/x?zeta=1&b=2&a=%22&b=3&%C3%84=4&=5&c="}
	for _, can := range []capabilities{{}, {"UseNullableValueDictionaryForHttp": "true"}} {
		made := func() *message {
			return &message{Content: &workerpb.StreamingMessage_InvocationRequest{InvocationRequest: can.request(&call.Request{
				Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: req}}},
			}, &loaded{})}}
		}
		want, object := names, `"nullableQuery":`
		if !can.has("UseNullableValueDictionaryForHttp") {
			want, object = strings.TrimSuffix(names, ",c"), `"query":` // c is empty
		}
		m := made()
		line, err := lineOf(m)
		if err != nil {
			t.Fatal(err)
		}
		again := &message{}
		if err := protojson.Unmarshal(line, again); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if diff := cmp.Diff(m, again, protocmp.Transform()); diff != "" {
			t.Errorf("a line is another message (-want +got):\n%s", diff)
		}
		if got := membersInOrder(t, line, object); got != want {
			t.Errorf("lines: got %q, want %q", got, want)
		}

		wire, err := proto.Marshal(inOrder(made()))
		if err == nil {
			err = proto.Unmarshal(wire, again)
		}
		if diff := cmp.Diff(m, again, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("over gRPC it is another message: %v (-want +got):\n%s", err, diff)
		}
		last := -1
		for _, value := range []string{"1", "2,3", "\"", "4", "5"} { // as they stand one after the other
			at := bytes.Index(wire, append([]byte{byte(len(value))}, value...))
			if at <= last {
				t.Errorf("over gRPC %q stands at %d, after %d", value, at, last)
			}
			last = at
		}
	}
}

// membersInOrder are the names of the members of an object that stands behind a name.
func membersInOrder(t *testing.T, line []byte, object string) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line[bytes.Index(line, []byte(object))+len(object):]))
	var names []string
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			depth++
			continue
		case json.Delim('}'):
			if depth--; depth == 0 {
				return strings.Join(names, ",")
			}
			continue
		}
		if depth == 1 {
			names = append(names, token.(string))
			if next, _ := dec.Token(); next == json.Delim('{') {
				depth++
			}
		}
	}
}
