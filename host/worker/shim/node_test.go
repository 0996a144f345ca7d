package shim_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// startNode starts the shim on a copy of an app of testdata. The app has a package of the
// platform as its @azure/functions, unless the name of the package is empty.
func startNode(t *testing.T, name, pkg string, env ...string) *script {
	t.Helper()
	node, err := command(t, "node", "--print", "process.execPath")
	if err != nil {
		t.Skipf("there is no node here: %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "node", name))); err != nil {
		t.Fatal(err)
	}
	if pkg != "" {
		from, err := filepath.Abs(filepath.Join(interop, "node_modules", pkg))
		if err == nil {
			_, err = os.Stat(filepath.Join(from, "package.json"))
		}
		switch {
		case err == nil:
		case os.Getenv("REDELIVER_INTEROP") == "required":
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		case errors.Is(err, fs.ErrNotExist):
			t.Skipf("%v; run make interop", err)
		default:
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "node_modules", "@azure"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(dir, "node_modules", "@azure", "functions")); err != nil {
			t.Fatal(err)
		}
	}
	one, ok := shim.Of("node")
	if !ok {
		t.Fatal("there is no shim for Node.js")
	}
	return start(t, one, dir, node, env...)
}

// classic starts the app of function.json files.
func classic(t *testing.T, pkg string, env ...string) *script {
	t.Helper()
	s := startNode(t, "classic", pkg, env...)
	s.init(s.cmd.Dir)
	return s
}

// bind is a map of bindings, "name type direction" each.
func bind(bindings ...string) map[string]*workerpb.BindingInfo {
	out := map[string]*workerpb.BindingInfo{}
	for _, text := range bindings {
		part := strings.Fields(text)
		out[part[0]] = &workerpb.BindingInfo{Type: part[1], Direction: workerpb.BindingInfo_Direction(workerpb.BindingInfo_Direction_value[part[2]])}
	}
	return out
}

// file loads a function of a script and returns its ID.
func (s *script) file(name, entryPoint string, bindings ...string) string {
	s.Helper()
	id := name + " " + entryPoint + " " + strings.Join(bindings, ",")
	if got := s.loadFile(id, name, entryPoint, bindings...); got.GetStatus() != workerpb.StatusResult_Success {
		s.Fatalf("load %s %s: %v", name, entryPoint, got)
	}
	return id
}

func (s *script) loadFile(id, name, entryPoint string, bindings ...string) *workerpb.StatusResult {
	s.Helper()
	return s.load(id, &workerpb.RpcFunctionMetadata{
		Name: "F", Directory: s.cmd.Dir, ScriptFile: filepath.Join(s.cmd.Dir, name), EntryPoint: entryPoint, Bindings: bind(bindings...),
	})
}

// value reads a value from its text, `{"string":"x"}`.
func value(t *testing.T, text string) *workerpb.TypedData {
	t.Helper()
	out := &workerpb.TypedData{}
	if err := protojson.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// call invokes a function of a queue.
func (s *script) call(id string, data *workerpb.TypedData) *workerpb.InvocationResponse {
	s.Helper()
	return s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("in", data)})
}

// told is an answer in one line: outputs by name, what is returned, or the failure.
func told(r *workerpb.InvocationResponse) string {
	if r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		return "fails: " + r.GetResult().GetException().GetMessage()
	}
	var out []string
	for _, o := range r.GetOutputData() {
		out = append(out, o.GetName()+"="+line(o.GetData()))
	}
	if r.GetReturnValue() != nil {
		out = append(out, "returns "+line(r.GetReturnValue()))
	}
	return strings.Join(out, " ")
}

func line(data *workerpb.TypedData) string {
	text, _ := protojson.Marshal(data)
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestNode runs apps of function.json files twice: with what the shim has for them, and with
// the platform's own package, version 3, which says what is right.
func TestNode(t *testing.T) {
	t.Parallel()
	for name, pkg := range map[string]string{"none": "", "azure-functions 3": "azure-functions-3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for name, run := range map[string]func(*testing.T, string){
				"given": testNodeGiven, "returned": testNodeReturned, "context": testNodeContext, "done": testNodeDone, "failures": testNodeFailures,
				"logs": testNodeLogs, "request": testNodeRequest, "response": testNodeResponse, "form": testNodeForm,
			} {
				t.Run(name, func(t *testing.T) { t.Parallel(); run(t, pkg) })
			}
		})
	}
}

// What a function is given (spec workers 6.1).
func testNodeGiven(t *testing.T, pkg string) {
	s := classic(t, pkg)
	plain := s.file("values.js", "given", "in queueTrigger in", "out queue out")
	timer := s.file("values.js", "given", "in timerTrigger in", "out queue out")
	for _, tt := range []struct{ name, id, data, want string }{
		{"text", plain, `{"string":"x y"}`, `'x y'`},
		{"text that is JSON is parsed", plain, `{"string":"{\"a\":[1]}"}`, `{ a: [ 1 ] }`},
		{"number in text is parsed", plain, `{"string":"7"}`, `7`},
		{"json", plain, `{"json":"{\"a\":null}"}`, `{ a: null }`},
		{"bytes", plain, `{"bytes":"AP8="}`, `<Buffer 00 ff>`},
		{"batch of text", plain, `{"collectionString":{"string":["a","{}"]}}`, `[ 'a', '{}' ]`},
		{"batch of bytes", plain, `{"collectionBytes":{"bytes":["AA==",""]}}`, `[ <Buffer 00>, <Buffer > ]`},
		{"batch of numbers", plain, `{"collectionDouble":{"double":[1.5]}}`, `[ 1.5 ]`},
		{"no value", plain, `{}`, `undefined`},
		{"timer", timer, `{"json":"{\"Schedule\":{\"AdjustForDST\":true},\"ScheduleStatus\":null,\"IsPastDue\":false}"}`,
			`{ schedule: { adjustForDST: true }, scheduleStatus: null, isPastDue: false }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := s.invoke(&workerpb.InvocationRequest{FunctionId: tt.id, InputData: append(input("in", value(t, tt.data)), input("second", text("b"))...)})
			if len(r.GetOutputData()) != 1 {
				t.Fatal(told(r))
			}
			if got, want := r.GetOutputData()[0].GetData().GetString_(), "[ "+tt.want+", 'b' ]"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// What a function gives back (spec workers 6.3).
func testNodeReturned(t *testing.T, pkg string) {
	s := classic(t, pkg)
	returned := s.file("values.js", "returned", "in queueTrigger in", "$return queue out")
	ignored := s.file("values.js", "returned", "in queueTrigger in", "out queue out")
	spread := s.file("values.js", "spread", "in queueTrigger in", "out queue out")
	binding := s.file("values.js", "binding", "in queueTrigger in", "out queue out")
	both := s.file("values.js", "both", "in queueTrigger in", "out queue out", "more queue out")
	for _, tt := range []struct{ name, id, input, want string }{
		{"string", binding, "text", `out={"string":"text"}`},
		{"Buffer is bytes", binding, "bytes", `out={"bytes":"AP8="}`},
		{"view is bytes", binding, "view", `out={"bytes":"AQACAA=="}`},
		{"integer is int", binding, "int", `out={"int":"7"}`},
		{"integer that is too large is double", binding, "large", `out={"double":1e+30}`}, {"least integer", binding, "least", `out={"int":"-9223372036854775808"}`},
		{"float is double", binding, "double", `out={"double":1.5}`},
		{"object is json", binding, "object", `out={"json":"{\"a\":[1]}"}`},
		{"list is json", binding, "list", `out={"json":"[\"a\",2]"}`},
		{"boolean is json", binding, "no", `out={"json":"false"}`},
		{"empty text", binding, "empty", `out={"string":""}`},
		{"unset output is left out", binding, "none", ``},
		{"$return", returned, "object", `returns {"json":"{\"a\":[1]}"}`},
		{"object is spread over outputs", spread, "int", `out={"int":"7"}`},
		{"value without a binding", ignored, "text", `returns {"string":"text"}`},
		{"returned value wins over binding", both, "x", `out={"string":"return"} more={"string":"more"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := told(s.call(tt.id, text(tt.input))); strings.ReplaceAll(got, `": `, `":`) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// What the context says (spec workers 6.2, 7).
func testNodeContext(t *testing.T, pkg string) {
	s := classic(t, pkg)
	id := s.file("values.js", "context", "in queueTrigger in", "out queue out", "state blob inout")
	ask := func(retry *workerpb.RetryContext) string {
		t.Helper()
		r := s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("in", text("x")), RetryContext: retry,
			TraceContext: &workerpb.RpcTraceContext{TraceParent: "00-a-b-01", TraceState: "s", Attributes: map[string]string{"k": "v"}}})
		if len(r.GetOutputData()) != 1 {
			t.Fatal(told(r))
		}
		return strings.ReplaceAll(r.GetOutputData()[0].GetData().GetString_(), s.cmd.Dir, "DIR")
	}
	rest := ` }, [ { name: 'in', type: 'queueTrigger', direction: 'in' }, { name: 'out', type: 'queue', direction: 'out' }, { name: 'state', type: 'blob', direction: 'inout' } ], ` +
		`{ traceparent: '00-a-b-01', tracestate: 's', attributes: { k: 'v' } }, [ 'in' ] ]`
	head := `[ 'call-1', { invocationId: 'call-1', functionName: 'F', functionDirectory: 'DIR', retryContext: `
	if got, want := ask(nil), head+"null"+rest; got != want {
		t.Errorf("without a policy:\n%s\nwant\n%s", got, want)
	}
	if got, want := ask(&workerpb.RetryContext{MaxRetryCount: 4}), head+`{ retryCount: 0, maxRetryCount: 4 }`+rest; got != want {
		t.Errorf("first attempt:\n%s\nwant\n%s", got, want)
	}
	got := ask(&workerpb.RetryContext{RetryCount: 2, MaxRetryCount: -1, Exception: &workerpb.RpcException{Message: "m", StackTrace: "t"}})
	if !strings.Contains(got, `retryCount: 2, maxRetryCount: -1, exception: {`) || !strings.Contains(got, `message: 'm'`) || !strings.Contains(got, `source: ''`) || !strings.Contains(got, `stackTrace: 't'`) {
		t.Errorf("third attempt:\n%s", got)
	}

	data := s.file("values.js", "data", "in queueTrigger in", "out queue out")
	r := s.invoke(&workerpb.InvocationRequest{FunctionId: data, InputData: input("in", text("x")), TriggerMetadata: map[string]*workerpb.TypedData{
		"DequeueCount": value(t, `{"json":"2"}`), "Id": text("x"), "UserProperties": value(t, `{"json":"{\"Inner\":{\"Deep\":1},\"List\":[{\"A\":1}]}"}`),
	}})
	for _, want := range []string{"invocationId: 'call-1'", "dequeueCount: 2", "id: 'x'", "userProperties: { inner: { deep: 1 }, list: [ { A: 1 } ] }"} {
		if got := told(r); !strings.Contains(got, want) {
			t.Errorf("binding data %s, want %s in it", got, want)
		}
	}
}

func testNodeDone(t *testing.T, pkg string) {
	s := classic(t, pkg)
	id := s.file("values.js", "done", "in queueTrigger in", "out queue out")
	for input, want := range map[string]string{
		"result": `out={"string":"result"}`, "later": `out={"string":"later"}`, "error": "fails: boom", "text": "fails: no error, but text",
		"throws": "fails: at once", "twice": `out={"string":"first"}`,
	} {
		if got := strings.ReplaceAll(told(s.call(id, text(input))), `": `, `":`); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
	if got := told(s.call(id, text("promise"))); !strings.HasPrefix(got, "out=") {
		t.Errorf("promise: %s", got)
	}
}

// What is thrown, whatever it is, is a failure.
func testNodeFailures(t *testing.T, pkg string) {
	s := classic(t, pkg)
	id := s.file("values.js", "throws", "in queueTrigger in", "out queue out")
	for input, want := range map[string]string{
		"text": "fails: only text", "empty": "fails: ", "zero": "fails: 0", "object": `fails: {"code":7}`, "frozen": "fails: frozen",
		"loop": "fails: <ref *1> { loop: [Circular *1] }", "bare": "fails: {}", "oddMessage": "fails: { message: [Object: null prototype] {} }", "oddStack": "fails: odd stack", "oddName": "fails: odd name",
		"toString": "fails: { message: { toString: [Function: toString] } }", "proxy": "fails: {}", "symbol": "fails: Symbol(only a symbol)", "function": "fails: function f() {}",
		"revoked": "fails: <Revoked Proxy>", "code": "fails: odd code",
		"half": `fails: half � \ud800 😀`,
	} {
		if got := told(s.call(id, text(input))); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
	r := s.call(id, text("frozen")).GetResult().GetException()
	if r.GetType() != "SyntaxError" || !strings.Contains(r.GetStackTrace(), "values.js") {
		t.Errorf("exception %v", r)
	}
}

// A stack names the lines of the source where the compiler of TypeScript wrote a map of them.
func TestNodeSourceMap(t *testing.T) {
	t.Parallel()
	s := classic(t, "")
	got := s.call(s.file("mapped.js", "", "in queueTrigger in"), text("x")).GetResult().GetException().GetStackTrace()
	if !strings.Contains(got, "mapped.ts:10:9") {
		t.Errorf("the stack does not name line 10 of mapped.ts:\n%s", got)
	}
}

// Lines of user code come before the answer, with the invocation (spec workers 8).
func testNodeLogs(t *testing.T, pkg string) {
	s := classic(t, pkg)
	s.call(s.file("values.js", "logs", "in queueTrigger in"), text("x"))
	want := []string{
		"call-1 Information F.Invocation: a b { c: 1 }", "call-1 Information F.Invocation: half \uFFFD", "call-1 Error F.Invocation: error", "call-1 Warning F.Invocation: warn",
		"call-1 Information F.Invocation: info", "call-1 Trace F.Invocation: verbose",
	}
	if diff := cmp.Diff(want, s.logs()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	s.call(s.file("values.js", "late", "in queueTrigger in"), text("x"))
	s.await(func(m *workerpb.StreamingMessage) bool {
		l := m.GetRpcLog()
		return l.GetLogCategory() == workerpb.RpcLog_System && l.GetLevel() == workerpb.RpcLog_Warning && l.GetInvocationId() == "call-1"
	})
	s.await(func(m *workerpb.StreamingMessage) bool { return m.GetRpcLog().GetMessage() == "too late" })
}

// web calls a function of HTTP, with headers "name: value".
func (s *script) web(id, method, url, body string, headers ...string) *workerpb.InvocationResponse {
	s.Helper()
	return s.invoke(webRequest(id, method, url, body, headers...))
}

func webRequest(id, method, url, body string, headers ...string) *workerpb.InvocationRequest {
	nullable := func(s string) *workerpb.NullableString {
		return &workerpb.NullableString{String_: &workerpb.NullableString_Value{Value: s}}
	}
	r := &workerpb.RpcHttp{Method: method, Url: url, NullableHeaders: map[string]*workerpb.NullableString{}, NullableQuery: map[string]*workerpb.NullableString{},
		NullableParams: map[string]*workerpb.NullableString{"id": nullable("7")}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.NullableHeaders[name] = nullable(value)
	}
	if _, query, ok := strings.Cut(url, "?"); ok {
		name, value, _ := strings.Cut(query, "=")
		r.NullableQuery[name] = nullable(value)
	}
	if body != "" {
		r.Body = &workerpb.TypedData{Data: &workerpb.TypedData_Bytes{Bytes: []byte(body)}}
	}
	return &workerpb.InvocationRequest{FunctionId: id, InputData: input("request", &workerpb.TypedData{Data: &workerpb.TypedData_Http{Http: r}})}
}

// answer is the response of a function of HTTP.
func answer(t *testing.T, r *workerpb.InvocationResponse) *workerpb.RpcHttp {
	t.Helper()
	if r.GetReturnValue().GetHttp() != nil {
		return r.GetReturnValue().GetHttp()
	}
	for _, o := range r.GetOutputData() {
		if o.GetData().GetHttp() != nil {
			return o.GetData().GetHttp()
		}
	}
	t.Fatalf("no response: %v", r)
	return nil
}

func testNodeRequest(t *testing.T, pkg string) {
	s := classic(t, pkg)
	id := s.file("http.js", "request", "request httpTrigger in", "res http out")
	principal := "eyJpZGVudGl0eVByb3ZpZGVyIjoiZ2l0aHViIiwidXNlckRldGFpbHMiOiJ3aG8ifQ==" // {"identityProvider":"github","userDetails":"who"}
	for _, tt := range []struct {
		name, body string
		headers    []string
		want       string
	}{
		{"JSON", `{"a":1}`, []string{"x-a: b", "content-type: application/json"}, `body: { a: 1 }, rawBody: '{"a":1}', get: 'b', same: true, user: null }`},
		{"text", `abc`, nil, `body: 'abc', rawBody: 'abc', get: undefined, same: true, user: null }`},
		{"no body", ``, nil, `body: undefined, rawBody: undefined, get: undefined, same: true, user: null }`},
		{"byte order mark", "\xef\xbb\xbf[1]", nil, `body: [ 1 ], rawBody: '[1]', get: undefined, same: true, user: null }`},
		{"UTF-16", "\xff\xfeh\x00i\x00", nil, `body: 'hi', rawBody: 'hi', get: undefined, same: true, user: null }`},
		{"bytes", "a\xff", []string{"content-type: application/octet-stream"}, `body: <Buffer 61 ff>, rawBody: 'a` + "\uFFFD" + `', get: undefined, same: true, user: null }`},
		{"user", ``, []string{"x-ms-client-principal: " + principal}, `get: undefined, same: true, user: 'who' }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, s.web(id, "POST", "http://localhost/api/x?q=1", tt.body, tt.headers...)).GetBody().GetString_()
			if !strings.HasPrefix(got, `{ method: 'POST', url: 'http://localhost/api/x?q=1', query: { q: '1' }, params: { id: '7' }, headers: {`) || !strings.HasSuffix(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func testNodeForm(t *testing.T, pkg string) {
	s := classic(t, pkg)
	id := s.file("http.js", "form", "request httpTrigger in", "res http out")
	multipart := "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nl1\r\nl2\r\n--XX--\r\n"
	for _, tt := range []struct{ kind, body, want string }{
		{"application/x-www-form-urlencoded", "a=1+2&b=%C3%A9&a=3", "a=1 2|undefined|undefined&b=é|undefined|undefined&a=3|undefined|undefined 3 true 2 null"},
		{"multipart/form-data; boundary=XX", multipart, "a=1|undefined|undefined&f=l1\r\nl2|x.txt|text/plain 2 true 1 null"},
	} {
		if got := answer(t, s.web(id, "POST", "http://localhost/api/x", tt.body, "content-type: "+tt.kind)).GetBody().GetString_(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.kind, got, tt.want)
		}
	}
	for _, kind := range []string{"text/plain", "multipart/form-data"} {
		if r := s.web(id, "POST", "http://localhost/api/x", "a=1", "content-type: "+kind); r.GetResult().GetStatus() != workerpb.StatusResult_Failure {
			t.Errorf("%s: %v", kind, r)
		}
	}
}

func testNodeResponse(t *testing.T, pkg string) {
	s := classic(t, pkg)
	res := s.file("http.js", "res", "request httpTrigger in", "res http out")
	returned := s.file("http.js", "return", "request httpTrigger in", "$return http out")
	express := s.file("http.js", "express", "request httpTrigger in", "res http out")
	cookies := `"cookies":[{"name":"a","value":"b c","domain":{"value":"d"},"path":{"value":"/p"},"expires":{"value":"1970-01-01T00:16:40Z"},"secure":{"value":true},"httpOnly":{"value":false},"sameSite":"ExplicitNone","maxAge":{"value":60}},` +
		`{"name":"b","expires":{"value":"1970-01-01T00:00:05Z"},"sameSite":"Lax"},{"name":"c"}]`
	for _, tt := range []struct{ id, name, want string }{
		{res, "status", `{"statusCode":"201","headers":{"X-A":"1"},"body":{"string":"text"}}`},
		{res, "statusCode", `{"statusCode":"202","body":{}}`},
		{res, "json", `{"body":{"json":"{\"a\":1}"}}`},
		{res, "bytes", `{"body":{"bytes":"AP8="}}`},
		{res, "unknown", `{"body":{}}`},
		{res, "cookies", `{"body":{},` + cookies + `}`},
		{returned, "status", `{"statusCode":"201","headers":{"X-A":"1"},"body":{"string":"text"}}`},
		{express, "send", `{"statusCode":"202","headers":{"x-a":"b","content-type":"text/html"},"body":{"string":"<p>"}}`},
		{express, "json", `{"headers":{"content-type":"application/json"},"body":{"json":"{\"a\":1}"}}`},
		{express, "sendStatus", `{"statusCode":"204","body":{}}`},
		{express, "buffer", `{"headers":{"content-type":"application/octet-stream"},"body":{"bytes":"AQI="}}`},
		{express, "removed", `{"body":{"string":"undefined"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := answer(t, s.web(tt.id, "GET", "http://localhost/api/x?name="+tt.name, "")), &workerpb.RpcHttp{}
			if err := protojson.Unmarshal([]byte(tt.want), want); err != nil {
				t.Fatal(err)
			}
			for _, r := range []*workerpb.RpcHttp{got, want} {
				if r.GetBody().GetData() == nil {
					r.Body = nil // a body without a value is none
				}
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
	for _, name := range []string{"text", "list", "badCookie"} {
		if r := s.web(returned, "GET", "http://localhost/api/x?name="+name, ""); r.GetResult().GetStatus() != workerpb.StatusResult_Failure {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// What a script may export (spec workers 10.1). A fault is of the function alone, and stays.
func TestNodeExports(t *testing.T) {
	t.Parallel()
	s := classic(t, "")
	if r := s.functions(s.cmd.Dir); !r.GetUseDefaultMetadataIndexing() || r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		t.Errorf("functions: %v", r)
	}
	for _, tt := range []struct{ name, script, entryPoint, want string }{
		{"function", "function.js", "", "function"},
		{"entry point", "load.js", "index", "index"},
		{"this is the module", "load.js", "self", "self 1"},
		{"only one", "only.js", "", "only"},
		{"run or index", "load.js", "", "run true"},
		{"default of a module", "default.mjs", "", "default"},
		{"names of a module", "names.mjs", "", "index of a module"},
		{"module that awaits", "await.mjs", "", "awaited 1"},
		{"compiled", "compiled.cjs", "", "compiled"},
		{"several", "several.js", "", "fails: Unable to determine function entry point"},
		{"none of that name", "several.js", "c", "fails: Unable to determine function entry point: c"},
		{"no function", "text.js", "", "fails: is not a function"},
		{"syntax error", "syntax.js", "", "fails: Unexpected token"},
		{"missing package", "missing.js", "", "fails: Cannot find module 'no-such-package': run \"npm install\" in "},
		{"missing file", "nowhere.js", "", "fails: nowhere.js"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := tt.script + " " + tt.entryPoint
			loaded := s.loadFile(id, tt.script, tt.entryPoint, "in queueTrigger in", "out queue out")
			r := s.call(id, text("x"))
			if reason, fails := strings.CutPrefix(tt.want, "fails: "); fails {
				for _, result := range []*workerpb.StatusResult{loaded, r.GetResult()} {
					if result.GetStatus() != workerpb.StatusResult_Failure || !strings.Contains(result.GetException().GetMessage(), reason) {
						t.Errorf("got %v, want a failure that says %q", result, reason)
					}
				}
				return
			}
			if got := r.GetOutputData(); len(got) != 1 || got[0].GetData().GetString_() != tt.want {
				t.Errorf("got %s, want %s", told(r), tt.want)
			}
		})
	}
	stack := s.loadFile("again", "syntax.js", "", "in queueTrigger in").GetException().GetStackTrace()
	if !strings.Contains(stack, "syntax.js:") || strings.Contains(stack, "Unexpected token") || strings.Contains(stack, "node:internal") || strings.Contains(stack, "load.js") {
		t.Errorf("stack %q, want the place in the app, without the message and the worker's own calls", stack)
	}
	if r := s.call("nobody", text("x")); r.GetResult().GetStatus() != workerpb.StatusResult_Failure {
		t.Errorf("a function that was never loaded: %v", r)
	}
}

// The process ends with what nobody handles, and says why; not with its output.
func TestNodeProcess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what string
		code int
		says string
	}{
		{"exit", 3, ""}, {"throw", 1, "nobody waits"}, {"reject", 1, "nobody handles"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			s := classic(t, "")
			s.begin(1, &workerpb.InvocationRequest{FunctionId: s.file("process.js", "", "in queueTrigger in"), InputData: input("in", text(tt.what))})
			if got := s.exited(); got != tt.code || !strings.Contains(s.printed(), tt.says) {
				t.Errorf("exit code %d, printed %q; want %d and %q", got, s.printed(), tt.code, tt.says)
			}
		})
	}
	t.Run("binary", func(t *testing.T) {
		t.Parallel()
		s := classic(t, "")
		id := s.file("process.js", "", "in queueTrigger in", "out queue out")
		never := s.begin(2, &workerpb.InvocationRequest{FunctionId: id, InputData: input("in", text("never"))})
		if got := told(s.call(id, text("binary"))); !strings.Contains(got, "written") {
			t.Errorf("while %s hangs: %s", never, got)
		}
		s.status()
		s.raw(`{"requestId":"","functionLoadRequestCollection":{},"somethingNew":{"a":1}}`)
		large := strings.Repeat("x", 20<<20)
		values := s.file("values.js", "echo", "in queueTrigger in", "out queue out")
		if got := s.call(values, text(large)); got.GetOutputData()[0].GetData().GetString_() != large {
			t.Errorf("a large message: %d bytes", len(got.GetOutputData()[0].GetData().GetString_()))
		}
		s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{}}})
		if got := s.exited(); got != 0 || !strings.Contains(s.printed(), "\x00\xff\r\n\x01") {
			t.Errorf("exit code %d, printed %q", got, s.printed())
		}
	})
}

// What the worker says of itself (spec workers 5).
func TestNodeStart(t *testing.T) {
	t.Parallel()
	s := startNode(t, "classic", "")
	r := s.init(s.cmd.Dir)
	want := map[string]string{
		"RawHttpBodyBytes": "true", "RpcHttpBodyOnly": "true", "RpcHttpTriggerMetadataRemoved": "true", "IgnoreEmptyValuedRpcHttpHeaders": "true",
		"UseNullableValueDictionaryForHttp": "true", "TypedDataCollection": "true", "WorkerStatus": "true", "HandlesWorkerTerminateMessage": "true",
	}
	if diff := cmp.Diff(want, r.GetCapabilities()); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
	if m := r.GetWorkerMetadata(); m.GetRuntimeName() != "node" || m.GetRuntimeVersion() == "" || m.GetCustomProperties()["modelName"] != "@azure/functions" {
		t.Errorf("metadata %v", m)
	}
}

// A fault at the start is told with the functions (spec workers 4.3).
func TestNodeStartErrors(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"throws": "no configuration", "none": "there is no such file: write that file, or correct \"main\"", "twice": `A function with id "twice" has already been registered.`,
		"requires": "require()", // of a module that can only be imported: the script runs once all the same
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startNode(t, name, "")
			if r := s.init(s.cmd.Dir); r.GetResult().GetStatus() != workerpb.StatusResult_Success {
				t.Errorf("init: %v", r)
			}
			r := s.functions(s.cmd.Dir)
			if r.GetResult().GetStatus() != workerpb.StatusResult_Failure || !strings.Contains(r.GetResult().GetException().GetMessage(), want) {
				t.Errorf("functions: %v, want %q", r, want)
			}
		})
	}
}

// A pattern finds what the platform's finds: names that begin with a dot only where it has
// that dot.
func TestNodePattern(t *testing.T) {
	t.Parallel()
	s := startNode(t, "pattern", "")
	s.init(s.cmd.Dir)
	var got []string
	for _, f := range s.functions(s.cmd.Dir).GetFunctionMetadataResults() {
		got = append(got, f.GetName())
	}
	if diff := cmp.Diff([]string{"built", "deep", "src"}, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

// The newer model, by the platform's own package (spec workers 10.1).
func TestNodeModel4(t *testing.T) {
	t.Parallel()
	s := startNode(t, "v4", filepath.Join("@azure", "functions"))
	if got := s.init(s.cmd.Dir).GetCapabilities(); got["OfTheApp"] != "yes" || got["RpcHttpBodyOnly"] != "true" {
		t.Errorf("capabilities %v", got)
	}
	list := s.functions(s.cmd.Dir)
	byName := map[string]*workerpb.RpcFunctionMetadata{}
	for _, f := range list.GetFunctionMetadataResults() {
		byName[f.GetName()] = f
		if got := s.load(f.GetFunctionId(), f); got.GetStatus() != workerpb.StatusResult_Success {
			t.Errorf("load %s: %v", f.GetName(), got)
		}
	}
	if len(byName) != 4 || byName["gone"] != nil || list.GetUseDefaultMetadataIndexing() {
		t.Fatalf("functions: %v", list)
	}
	orders := byName["orders"]
	if r := orders.GetRetryOptions(); r.GetMaxRetryCount() != -1 || r.GetRetryStrategy() != workerpb.RpcRetryOptions_fixed_delay || r.GetDelayInterval().GetSeconds() != 2 {
		t.Errorf("policy %v", r)
	}
	if r := byName["timer"].GetRetryOptions(); r.GetMaxRetryCount() != -1 || r.GetDelayInterval().GetSeconds() != 1 {
		t.Errorf("a policy whose count has no place in a message: %v", r)
	}
	if orders.GetScriptFile() != "all.js" || filepath.Base(orders.GetDirectory()) != "functions" || byName["web"].GetRetryOptions() != nil {
		t.Errorf("metadata %v, %v", orders, byName["web"])
	}
	if !slices.ContainsFunc(orders.GetRawBindings(), func(raw string) bool {
		return strings.Contains(raw, `"type":"queueTrigger"`) && strings.Contains(raw, `"direction":"in"`) && strings.Contains(raw, `"name":"order"`)
	}) {
		t.Errorf("raw bindings %q", orders.GetRawBindings())
	}
	lines := strings.Join(s.logs(), "\n")
	if !strings.Contains(lines, "Warning : core string 4.0 @azure/functions") || !strings.Contains(lines, "RangeError") {
		t.Errorf("lines %s", lines)
	}

	order := func(text string, retry *workerpb.RetryContext) *workerpb.InvocationResponse {
		return s.invoke(&workerpb.InvocationRequest{FunctionId: "orders", RetryContext: retry,
			InputData:       append(input("order", value(t, `{"string":`+strconv.Quote(text)+`}`)), input("blob", value(t, `{"bytes":"AP8="}`))...),
			TriggerMetadata: map[string]*workerpb.TypedData{"DequeueCount": value(t, `{"json":"2"}`)}})
	}
	r := order(`{"id":1}`, nil)
	if got, want := r.GetReturnValue().GetString_(), `[ { id: 1 }, <Buffer 00 ff>, undefined, { dequeueCount: 2 }, 'orders' ]`; got != want {
		t.Errorf("got %s, want %s: %v", got, want, r)
	}
	if got := r.GetOutputData(); len(got) != 1 || got[0].GetName() != "queue" || got[0].GetData().GetJson() != `{"id":1}` {
		t.Errorf("outputs %v", got)
	}
	var levels []string
	for _, l := range s.logs() {
		levels = append(levels, strings.Fields(l)[1])
	}
	if diff := cmp.Diff([]string{"Trace", "Debug", "Information", "Information", "Warning", "Error"}, levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	r = order(`{"id":1}`, &workerpb.RetryContext{RetryCount: 1, MaxRetryCount: 4, Exception: &workerpb.RpcException{Message: "m"}})
	if got := r.GetReturnValue().GetString_(); !strings.Contains(got, "retryCount: 1") || !strings.Contains(got, "message: 'm'") {
		t.Errorf("with a policy: %s", got)
	}
	for text, want := range map[string]string{
		`{"fail":"boom"}`: "fails: boom", `{"fail":"mended"}`: `returns {"string":"mended"}`, `{"swap":true}`: `returns {"string":"swapped swapped 1"}`,
	} {
		if got := strings.ReplaceAll(told(order(text, nil)), `": `, `":`); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}

	r = s.invoke(&workerpb.InvocationRequest{FunctionId: "timer", InputData: input("timer", value(t, `{"json":"{\"IsPastDue\":false,\"Schedule\":{\"AdjustForDST\":true}}"}`))})
	if got, want := r.GetReturnValue().GetString_(), `{ isPastDue: false, schedule: { adjustForDST: true } }`; got != want {
		t.Errorf("timer: got %s, want %s", got, want)
	}
	http := answer(t, s.web("web", "POST", "http://localhost/api/web/7?q=1", "body", "x-h: h"))
	if got, want := string(http.GetBody().GetBytes()), `[ 'POST', 'http://localhost/api/web/7?q=1', { id: '7' }, '1', 'h', 'body' ]`; got != want || http.GetStatusCode() != "201" || len(http.GetCookies()) != 2 {
		t.Errorf("web: %v; want %s", http, want)
	}
	s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{}}})
	if got := s.exited(); got != 0 || !strings.Contains(s.printed(), "terminated by hook") {
		t.Errorf("exit code %d, printed %q", got, s.printed())
	}
}

// With HTTP streams the model serves requests itself, and the host is told where.
func TestNodeStreams(t *testing.T) {
	t.Parallel()
	s := startNode(t, "stream", filepath.Join("@azure", "functions"))
	if got := s.init(s.cmd.Dir).GetCapabilities(); !strings.HasPrefix(got["HttpUri"], "http://") {
		t.Errorf("capabilities %v", got)
	}
}
