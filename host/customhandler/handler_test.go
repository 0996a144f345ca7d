package customhandler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/customhandler"
	"github.com/redeliver/redeliver/host/listen/listentest"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/retrycontext"
)

var _ host.Invoker = (*customhandler.Handler)(nil)

func environ(role string) []string {
	return append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0", "CONTAINER_NAME=azure")
}

// start starts a handler that is what change makes of a good one.
func start(t *testing.T, clk clock.Clock, change func(*customhandler.Spec)) (*customhandler.Handler, error) {
	t.Helper()
	spec := customhandler.Spec{Spec: process.Spec{Path: os.Args[0], Env: environ("handler"), Grace: 50 * time.Millisecond}, App: "/app", HostVersion: "9.9"}
	if change != nil {
		change(&spec)
	}
	h, err := customhandler.Start(clk, spec)
	if err == nil {
		t.Cleanup(func() { _ = h.Close(context.Background()) })
	}
	return h, err
}

func started(t *testing.T, change func(*customhandler.Spec)) *customhandler.Handler {
	t.Helper()
	h, err := start(t, clock.System(), change)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// answer has the function Answer answer with that text.
func answer(text string, outputs ...string) *call.Request {
	return &call.Request{
		InvocationID: "i", Function: "Answer", Outputs: outputs,
		Inputs: []call.Input{{Name: "in", Value: bindings.StringValue(text)}},
	}
}

// seen is what the function Echo saw of a request.
func seen(t *testing.T, h *customhandler.Handler, req *call.Request) (e echoed) {
	t.Helper()
	req.Function, req.Outputs = "Echo", []string{"$return"}
	resp, err := h.Invoke(context.Background(), req, func(call.Log) {})
	if err != nil || resp.Status != call.Succeeded {
		t.Fatalf("%+v, %v", resp, err)
	}
	var r struct{ Seen string }
	if resp.Return == nil {
		t.Fatalf("nothing is returned: %+v", resp)
	}
	if err := json.Unmarshal([]byte(resp.Return.Text), &r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(r.Seen), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// The environment and the arguments of a handler (spec workers 13.2).
func TestStart(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	levels := map[string]call.Level{}
	h := started(t, func(s *customhandler.Spec) {
		s.Args = []string{"--port", "%FUNCTIONS_CUSTOMHANDLER_PORT%", "%OTHER%"}
		s.Output = func(l process.Line) { mu.Lock(); levels[l.Text] = l.Level; mu.Unlock() }
	})
	e := seen(t, h, &call.Request{})
	port := e.Env["FUNCTIONS_CUSTOMHANDLER_PORT"]
	if diff := cmp.Diff([]string{"--port", port, "%OTHER%"}, e.Args); diff != "" || port == "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if e.Env["FUNCTIONS_HTTPWORKER_PORT"] != port || e.Env["FUNCTIONS_APP_ROOT_PATH"] != "/app" ||
		e.Env["FUNCTIONS_CUSTOMHANDLER_WORKER_ID"] == "" || e.Env["FUNCTIONS_CUSTOMHANDLER_WORKER_ID"] != e.Env["FUNCTIONS_HTTPWORKER_ID"] || e.Env["CONTAINER_NAME"] != "" {
		t.Errorf("environment: %v", e.Env)
	}
	if err := h.Health(context.Background()); err != nil {
		t.Errorf("health: %v", err)
	}
	if err := h.Close(context.Background()); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got, ok := levels["listening"]; !ok || got != call.ErrorLevel {
		t.Errorf("level of a line of standard error: %v, %v", got, ok)
	}
}

// A handler that does not come up is named, with what to do.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ role, path, reason, hint, output string }{
		{role: "exits", path: os.Args[0], reason: "it ended before it served HTTP: exit status 3", hint: "FUNCTIONS_CUSTOMHANDLER_PORT", output: "no such module"},
		{role: "silent", path: os.Args[0], reason: "it has not answered an HTTP request at http://127.0.0.1:", hint: "FUNCTIONS_CUSTOMHANDLER_PORT"},
		{role: "missing", path: "/nowhere/handler", reason: "there is no such program"},
	} {
		t.Run(tt.role, func(t *testing.T) {
			t.Parallel()
			_, err := start(t, clock.System(), func(s *customhandler.Spec) {
				s.Path, s.Env, s.StartTimeout = tt.path, environ(tt.role), 20*time.Second
				if tt.role == "silent" {
					s.StartTimeout = 200 * time.Millisecond
				}
			})
			serr, ok := errors.AsType[*process.StartError](err)
			if !ok || !strings.HasPrefix(serr.Reason, tt.reason) || !strings.Contains(serr.Hint, tt.hint) || !strings.Contains(err.Error(), tt.output) {
				t.Errorf("got %v, want %q with hint %q and output %q", err, tt.reason, tt.hint, tt.output)
			}
		})
	}
}

// A handler with a port of its own is not taken for whoever answers there, and comes back
// to it after a crash.
func TestFixedPort(t *testing.T) {
	t.Parallel()
	port := listentest.FreePort()
	fixed := func(s *customhandler.Spec) { s.Port = port }
	h := started(t, fixed)
	_, err := start(t, clock.System(), fixed)
	serr, ok := errors.AsType[*process.StartError](err)
	if !ok || !strings.Contains(serr.Reason, fmt.Sprintf("port %d is in use", port)) || !strings.Contains(serr.Hint, "customHandler.port") {
		t.Errorf("got %v", err)
	}
	if _, err := h.Invoke(context.Background(), &call.Request{Function: "Exit"}, nil); err == nil {
		t.Error("no error")
	}
	if _, err := h.Invoke(context.Background(), answer("{}"), nil); err != nil {
		t.Errorf("after a crash: %v", err)
	}
}

// What a handler gets (spec workers 13.3).
func TestRequest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := seen(t, started(t, nil), &call.Request{
		InvocationID: "inv", Now: now,
		Inputs: []call.Input{
			{Name: "text", Value: bindings.StringValue("hello")},
			{Name: "jsonText", Value: bindings.StringValue(`{"a":1}`)},
			{Name: "object", Value: bindings.JSONValue(json.RawMessage(`{"a":1}`))},
			{Name: "array", Value: bindings.JSONValue(json.RawMessage(`[1,2]`))},
			{Name: "bytes", Value: bindings.BytesValue([]byte{0, 255})},
			{Name: "batch", Value: bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("<a>")}}},
			{Name: "number", Value: bindings.Value{Kind: bindings.Int, Int: 7}},
			{Name: "http", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
				Method: "PUT", URL: "http://h/api/x?a=1&a=2", Header: http.Header{"X-A": {"b", "c"}}, Params: map[string]string{"id": "5"}, Body: []byte("raw"),
				Key: bindings.HTTPKey{Level: "Function", Name: "default"},
			}}},
			{Name: "upload", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
				Method: "PUT", URL: "http://h/", Header: http.Header{"Content-Type": {"application/octet-stream"}}, Body: []byte{0, 255},
			}}},
			{Name: "empty", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{Method: "GET", URL: "http://h/"}}},
		},
		Metadata: map[string]bindings.Value{
			"DequeueCount": bindings.JSONValue(json.RawMessage("2")), "Id": bindings.StringValue("x"), "QueueTrigger": bindings.StringValue("hello"),
			"InsertionTime": bindings.JSONValue([]byte(`"2026-01-02T03:04:05+00:00"`)),
		},
		Retry: &retrycontext.Context{RetryCount: 1, MaxRetryCount: 4, Exception: &retrycontext.Exception{Message: "boom"}},
	})
	if e.Method != "POST" || e.Path != "/Echo" {
		t.Errorf("got %s %s", e.Method, e.Path)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "X-Azure-Functions-Invocationid": "inv",
		"X-Azure-Functions-Hostversion": "9.9", "User-Agent": "Azure-Functions-Host/9.9",
	} {
		if got := e.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	var got map[string]map[string]any
	if err := json.Unmarshal([]byte(e.Body), &got); err != nil {
		t.Fatal(err)
	}
	sys, _ := got["Metadata"]["sys"].(map[string]any)
	if id, _ := sys["RandGuid"].(string); len(id) != 36 {
		t.Errorf("RandGuid %q", id)
	}
	delete(sys, "RandGuid")
	none := map[string]any{}
	const claim = "http://schemas.microsoft.com/2017/07/functions/claims/"
	claims := []any{}
	for _, c := range []string{"authlevel=Function", "invoke=true", "keyid=default"} {
		name, value, _ := strings.Cut(c, "=")
		claims = append(claims, map[string]any{"Issuer": "LOCAL AUTHORITY", "OriginalIssuer": "LOCAL AUTHORITY", "Properties": map[string]any{}, "Type": claim + name, "Value": value,
			"ValueType": "http://www.w3.org/2001/XMLSchema#string"})
	}
	known := []any{map[string]any{
		"AuthenticationType": "WebJobsAuthLevel", "IsAuthenticated": true, "Actor": nil, "BootstrapContext": nil, "Claims": claims, "Label": nil, "Name": nil,
		"NameClaimType": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "RoleClaimType": "http://schemas.microsoft.com/ws/2008/06/identity/claims/role",
	}}
	identities := []any{map[string]any{
		"AuthenticationType": nil, "IsAuthenticated": false, "Actor": nil, "BootstrapContext": nil, "Claims": []any{}, "Label": nil, "Name": nil,
		"NameClaimType": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name", "RoleClaimType": "http://schemas.microsoft.com/ws/2008/06/identity/claims/role",
	}}
	want := map[string]map[string]any{
		"Data": {
			"text": `"hello"`, "jsonText": `"{\"a\":1}"`, "object": map[string]any{"a": 1.0}, "array": "[1,2]", "bytes": "AP8=", "batch": `["<a>"]`, "number": "7",
			"http": map[string]any{
				"Url": "http://h/api/x?a=1&a=2", "Method": "PUT", "Query": map[string]any{"a": "1,2"}, "Headers": map[string]any{"X-A": []any{"b", "c"}},
				"Params": map[string]any{"id": "5"}, "Identities": known, "Body": "raw",
			},
			"upload": map[string]any{
				"Url": "http://h/", "Method": "PUT", "Query": none, "Headers": map[string]any{"Content-Type": []any{"application/octet-stream"}},
				"Params": none, "Identities": identities, "Body": "AP8=",
			},
			"empty": map[string]any{"Url": "http://h/", "Method": "GET", "Query": none, "Headers": none, "Params": none, "Identities": identities},
		},
		"Metadata": {
			"DequeueCount": "2", "Id": `"x"`, "InsertionTime": "2026-01-02T03:04:05+00:00",
			"sys": map[string]any{"MethodName": "Echo", "UtcNow": "2026-01-02T03:04:05Z"},
			"RetryContext": map[string]any{
				"RetryCount": 1.0, "MaxRetryCount": 4.0, "Instance": nil, "State": none,
				"Exception": map[string]any{"ClassName": "", "Message": "boom", "StackTraceString": "", "Source": ""},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// Without a policy there is no retry context.
func TestNoPolicy(t *testing.T) {
	t.Parallel()
	if e := seen(t, started(t, nil), &call.Request{}); strings.Contains(e.Body, "RetryContext") {
		t.Errorf("body %s", e.Body)
	}
}

// What a handler answers (spec workers 13.4).
func TestResponse(t *testing.T) {
	t.Parallel()
	h := started(t, func(s *customhandler.Spec) {
		s.Binary = func(_, binding string) bool { return binding == "binary" }
	})
	type values = map[string]bindings.Value
	given := func(status int, body string) values {
		header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
		return values{"res": {Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{StatusCode: status, Header: header, Body: []byte(body)}}}
	}
	for _, tt := range []struct {
		name, text string
		outputs    []string
		http       string
		want       values
		returned   bindings.Value
		logs       []string
	}{
		{name: "empty", text: `{}`, want: values{}},
		{name: "names in any case", text: `{"oUTPUTS":{"out":"a b"},"logs":["one",2],"returnvalue":"r s"}`, outputs: []string{"out", "$return"},
			want: values{"out": bindings.StringValue("a b")}, returned: bindings.StringValue("r s"), logs: []string{"one", "2"}},
		{name: "undeclared", text: `{"Outputs":{"out":"a","Other":"b"},"ReturnValue":{"out":"c"}}`, outputs: []string{"other"}, want: values{}, returned: bindings.JSONValue(json.RawMessage(`{"out":"c"}`))},
		{name: "output $return", text: `{"Outputs":{"$return":"o s"},"ReturnValue":null}`, outputs: []string{"$return"}, want: values{}},
		{name: "base64", text: `{"Outputs":{"out":"data","binary":"data","json":{"a":"data"}}}`, outputs: []string{"out", "binary", "json"},
			want: values{"out": bindings.BytesValue([]byte{0x75, 0xab, 0x5a}), "binary": bindings.StringValue("data"), "json": bindings.JSONValue(json.RawMessage(`{"a":"data"}`))}},
		{name: "base64 with white space", text: `{"Outputs":{"out":" da\tta\r\n","other":"  "}}`, outputs: []string{"out", "other"},
			want: values{"out": bindings.BytesValue([]byte{0x75, 0xab, 0x5a}), "other": bindings.BytesValue([]byte{})}},
		{name: "byte order mark", text: "\uFEFF" + `{"Logs":["one"]}`, want: values{}, logs: []string{"one"}},
		{name: "http", text: `{"Outputs":{"res":{"statusCode":201,"body":"x"}}}`, outputs: []string{"res"}, http: "res",
			want: given(201, "x")},
		{name: "http without body", text: `{"Outputs":{"res":{"status":"204"}}}`, outputs: []string{"res"}, http: "res",
			want: given(200, "")},
		{name: "http missing", text: `{"Outputs":{}}`, outputs: []string{"res"}, http: "res", want: given(200, "{}")},
		{name: "no outputs", text: `{}`, outputs: []string{"res"}, http: "res", want: values{}},
		{name: "status is not read", text: `{"Outputs":{"res":{"status":201,"body":"x"}}}`, outputs: []string{"res"}, http: "res", want: given(200, "x")},
		{name: "body with dates", text: `{"Outputs":{"res":{"body":{"at":"2020-01-02T03:04:05.500+02:00"}}}}`, outputs: []string{"res"}, http: "res",
			want: given(200, "{\n  \"at\": \"2020-01-02T01:04:05.5+00:00\"\n}")},
		{name: "answer as text", text: `{"Outputs":{"res":"{'statusCode':'202'}"}}`, outputs: []string{"res"}, http: "res", want: given(202, "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req := answer(tt.text, tt.outputs...)
			req.HTTPOutput = tt.http
			var logs []string
			resp, err := h.Invoke(context.Background(), req, func(l call.Log) { logs = append(logs, l.Message) })
			if err != nil || resp.Status != call.Succeeded {
				t.Fatalf("%+v, %v", resp, err)
			}
			if diff := cmp.Diff(tt.want, resp.Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			var returned bindings.Value
			if resp.Return != nil {
				returned = *resp.Return
			}
			if diff := cmp.Diff(tt.returned, returned); diff != "" {
				t.Errorf("returned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.logs, logs); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
		})
	}
}

// An answer that says no type, or another one, is read all the same, and it is told once
// that the platform does not.
func TestContentType(t *testing.T) {
	t.Parallel()
	h := started(t, nil)
	var logs []string
	for range 2 {
		resp, err := h.Invoke(context.Background(), &call.Request{Function: "Untyped"}, func(l call.Log) { logs = append(logs, l.Message) })
		if err != nil || resp.Status != call.Succeeded {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	want := []string{"the answers of the custom handler have the Content-Type text/plain; charset=utf-8: the platform reads application/json only, and fails such an attempt"}
	if diff := cmp.Diff(want, logs); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Answers that make no sense, and none at all, fail the attempt; the process lives on.
func TestNoResult(t *testing.T) {
	t.Parallel()
	h := started(t, func(s *customhandler.Spec) { s.MaxAnswer = 1000 })
	for text, want := range map[string]string{
		"": "its answer is empty", "hello": `its answer "hello" is not a JSON object`, "[]": "is not a JSON object", "null": "is not a JSON object",
		`{"Outputs":[]}`: "is not a JSON object of the form", strings.Repeat(" ", 1001): "its answer has more than 1000 bytes",
	} {
		if _, err := h.Invoke(context.Background(), answer(text), nil); !errors.Is(err, process.ErrNoResult) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, err, want)
		}
	}
	_, err := h.Invoke(context.Background(), &call.Request{Function: "Break"}, nil)
	if !errors.Is(err, process.ErrNoResult) || !strings.Contains(err.Error(), "closed the connection without an answer") {
		t.Errorf("broken connection: %v", err)
	}
	if _, err := h.Invoke(context.Background(), answer("{}"), nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A status outside 2xx is a failure of the function: nothing of the answer is used.
func TestStatus(t *testing.T) {
	t.Parallel()
	logs := 0
	resp, err := started(t, nil).Invoke(context.Background(), &call.Request{Function: "Status", Outputs: []string{"out"}}, func(call.Log) { logs++ })
	if err != nil || resp.Status != call.Failed || len(resp.Outputs) != 0 || logs != 0 || !strings.HasPrefix(resp.Error.Message, "the custom handler answered with status 418 (I'm a teapot): ") {
		t.Errorf("got %+v, %v, %d lines", resp, err, logs)
	}
}

// A request that is handed through is made anew (observed of the platform's host 4.1037).
func TestForwardRebuilt(t *testing.T) {
	t.Parallel()
	h := started(t, func(s *customhandler.Spec) { s.Forward = customhandler.ByPath })
	for _, tt := range []struct {
		method, query, body string
		header              http.Header
		want                string // query, then headers
	}{
		{"GET", "b=1&a=2&B=3", "", http.Header{"X-A": {"1", "2"}, "Cookie": {"a=b", "c=d"}}, `B=1,3&a=2 Cookie=a=b; c=d|User-Agent=Azure-Functions-Host/9.9|X-A=1, 2`},
		{"GET", "x=%20a+b%2Bc&%C3%A4=1&=v&n", "", nil, `x=%20a%20b%2Bc&%C3%A4=1&=v&n= User-Agent=Azure-Functions-Host/9.9`},
		{"POST", "", "", http.Header{"Content-Type": {"text/plain"}, "User-Agent": {"me"}}, ` Content-Length=0|User-Agent=me Azure-Functions-Host/9.9`},
		{"PUT", "", "", nil, ` Content-Length=0|User-Agent=Azure-Functions-Host/9.9`},
		{"PATCH", "", "", nil, ` Content-Length=0|User-Agent=Azure-Functions-Host/9.9`},
		{"DELETE", "", "", nil, ` User-Agent=Azure-Functions-Host/9.9`},
		{"POST", "", "hi", http.Header{"Content-Type": {"text/plain"}, "Content-Encoding": {"x"}, "Expires": {"0"}}, ` Content-Length=2|Content-Type=text/plain|User-Agent=Azure-Functions-Host/9.9`},
		{"GET", "", "hi", nil, ` Content-Length=2|User-Agent=Azure-Functions-Host/9.9`},
	} {
		resp, err := h.Invoke(context.Background(), &call.Request{
			InvocationID: "inv", Function: "Answer", Outputs: []string{"res"}, HTTPOutput: "res",
			Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
				Method: tt.method, URL: "http://h/api/echo?" + tt.query, Header: tt.header, Body: []byte(tt.body),
			}}}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var e echoed
		if err := json.Unmarshal(resp.Outputs["res"].HTTPResponse.Body, &e); err != nil {
			t.Fatal(err)
		}
		var headers []string
		for _, name := range slices.Sorted(maps.Keys(e.Header)) {
			if !strings.HasPrefix(name, "X-Azure-") {
				headers = append(headers, name+"="+strings.Join(e.Header[name], "|"))
			}
		}
		if got := e.Query + " " + strings.Join(headers, "|"); got != tt.want {
			t.Errorf("%s %s: got %s\nwant %s", tt.method, tt.query, got, tt.want)
		}
	}
}

// A request that is handed through keeps its method, path, query, headers and body, and
// every answer is a success (spec workers 13.5).
func TestForward(t *testing.T) {
	t.Parallel()
	request := func(outputs ...string) *call.Request {
		return &call.Request{
			InvocationID: "inv", Function: "Answer", Outputs: outputs, HTTPOutput: "res",
			Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
				Method: "PUT", URL: "http://h/api/echo?a=1", Header: http.Header{"X-A": {"b"}}, Body: []byte("raw"),
			}}}},
		}
	}
	h := started(t, func(s *customhandler.Spec) { s.Forward = customhandler.ByPath })
	resp, err := h.Invoke(context.Background(), request("res"), nil)
	if err != nil || resp.Status != call.Succeeded {
		t.Fatalf("%+v, %v", resp, err)
	}
	var e echoed
	got := resp.Outputs["res"].HTTPResponse
	if err := json.Unmarshal(got.Body, &e); err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != http.StatusFound || got.Header.Get("Location") != "/elsewhere" || e.Method != "PUT" || e.Path != "/api/echo" || e.Query != "a=1" ||
		e.Body != "raw" || e.Header.Get("X-A") != "b" || e.Header.Get("X-Azure-Functions-InvocationId") != "inv" {
		t.Errorf("got %d %v, the handler saw %+v", got.StatusCode, got.Header, e)
	}
	// With one more output it is wrapped.
	if resp, err = h.Invoke(context.Background(), request("res", "out"), nil); err == nil || !errors.Is(err, process.ErrNoResult) {
		t.Errorf("with another output: %+v, %v", resp, err)
	}
	// The older section has the function's name as the path.
	old := started(t, func(s *customhandler.Spec) { s.Forward = customhandler.ByName })
	req := request("res")
	req.Function = "Echo"
	if resp, err = old.Invoke(context.Background(), req, nil); err != nil || !strings.Contains(string(resp.Outputs["res"].HTTPResponse.Body), "PUT") {
		t.Errorf("by name: %+v, %v", resp, err)
	}
}

// The end of the process is an ExitError, and another one takes its place. The report has
// the last lines that say what went wrong; all lines were told before.
// An attempt is one request, also over a connection that was used before and then breaks.
func TestForwardOnce(t *testing.T) {
	t.Parallel()
	h := started(t, func(s *customhandler.Spec) { s.Forward = customhandler.ByPath })
	get := func(path string) (*call.Response, error) {
		return h.Invoke(context.Background(), &call.Request{
			InvocationID: "inv", Function: "Answer", Outputs: []string{"res"}, HTTPOutput: "res",
			Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{Method: "GET", URL: "http://h" + path}}}},
		}, nil)
	}
	for n := 1; n <= 3; n++ {
		if resp, err := get("/api/echo"); err != nil {
			t.Errorf("%+v, %v", resp, err)
		}
		if resp, err := get("/api/break"); !errors.Is(err, process.ErrNoResult) {
			t.Errorf("the connection broke: %+v, %v", resp, err)
		}
		resp, err := get("/api/breaks")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(resp.Outputs["res"].HTTPResponse.Body); got != fmt.Sprint(n) {
			t.Errorf("after %d attempts the handler has seen %s requests", n, got)
		}
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	exits := make(chan process.Exit, 1)
	h := started(t, func(s *customhandler.Spec) {
		s.OnExit = func(e process.Exit) {
			if !e.Planned {
				exits <- e
			}
		}
	})
	_, err := h.Invoke(context.Background(), &call.Request{Function: "Exit"}, nil)
	exit, ok := errors.AsType[*process.ExitError](err)
	if !ok || exit.Exit.Code != 4 || !strings.HasPrefix(err.Error(), "custom handler process exited: ") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"2 failed", "severe: 3", "panic: 4"}, (<-exits).Output); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if _, err := h.Invoke(context.Background(), answer("{}"), nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A handler that runs and refuses a connection is told of once, with what to do.
func TestRefusedConnect(t *testing.T) {
	t.Parallel()
	h := started(t, nil)
	var told []string
	log := func(l call.Log) { told = append(told, l.Message) }
	if _, err := h.Invoke(context.Background(), &call.Request{Function: "Deaf"}, log); err != nil || len(told) > 0 {
		t.Fatalf("got %v, told %q", err, told)
	}
	for range 2 {
		if _, err := h.Invoke(context.Background(), answer("{}"), log); !errors.Is(err, process.ErrNoResult) {
			t.Errorf("got %v", err)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "refused a connection") || !strings.Contains(told[0], "request_queue_size") {
		t.Errorf("told %q", told)
	}
}

// A function that does not return costs its process, which is no crash; the others go on
// in the next one.
func TestTimeout(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var exits []process.Exit
	h := started(t, func(s *customhandler.Spec) {
		s.OnExit = func(e process.Exit) { mu.Lock(); exits = append(exits, e); mu.Unlock() }
	})
	ctx, cancel := clock.System().WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := h.Invoke(ctx, &call.Request{Function: "Hang"}, nil)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `function "Hang" did not return`) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Invoke(context.Background(), answer("{}"), nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(exits) != 1 || !exits[0].Planned || exits[0].Restart != 0 {
		t.Errorf("exits %+v", exits)
	}
}
