package shim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

// python is an environment that the tests of the shim run in.
type python struct {
	interpreter string
	env         []string
}

// TestPython runs everything twice: with the stand-in for the package azure-functions, and
// with the package itself.
func TestPython(t *testing.T) {
	t.Parallel()
	interpreter, err := command(t, "python3", "-c", "import sys; print(sys.executable)")
	if err != nil {
		t.Skipf("there is no python3 here: %v", err)
	}
	t.Run("stand-in", func(t *testing.T) {
		t.Parallel()
		if out, err := command(t, interpreter, "-c", "import azure.functions"); err == nil {
			t.Skipf("%s has the package azure-functions, which wins: %s", interpreter, out)
		}
		suite(t, python{interpreter, nil})
		t.Run("notice", func(t *testing.T) { t.Parallel(); testStandInNotice(t, python{interpreter, nil}) })
		t.Run("absent", func(t *testing.T) { t.Parallel(); testStandInAbsent(t, python{interpreter, nil}) })
	})
	t.Run("azure-functions", func(t *testing.T) {
		t.Parallel()
		packages, err := filepath.Abs(filepath.Join(interop, "functions"))
		if err == nil {
			_, err = os.Stat(filepath.Join(packages, "azure", "functions"))
		}
		switch {
		case err == nil:
		case os.Getenv("REDELIVER_INTEROP") == "required":
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		default:
			t.Skipf("%v; run make interop", err)
		}
		suite(t, python{interpreter, []string{"PYTHONPATH=" + packages}})
	})
}

func suite(t *testing.T, p python) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, python)
	}{
		{"start", testStart}, {"values", testValues}, {"load", testLoad}, {"failures", testFailures},
		{"index", testIndex}, {"index refused", testIndexRefused}, {"retry context", testRetryContext},
		{"http", testHTTP}, {"logs", testLogs}, {"output", testOutput}, {"exit", testExit},
		{"concurrency", testConcurrency}, {"connection", testConnection}, {"terminate", testTerminate},
		{"odd messages", testOddMessages}, {"large message", testLargeMessage}, {"fork", testFork},
		{"packages of the app", testPackages}, {"clients", testSDKTypes}, {"gateways", testGateways}, {"misfit", testMisfit}, {"interpreter too old", testTooOld},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, p)
		})
	}
}

// An interpreter that is too old says so, and what to do, before anything else.
func testTooOld(t *testing.T, p python) {
	one, _ := shim.Of("python")
	entry, err := one.Install()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command(t, p.interpreter, "-c", "import runpy, sys; sys.version_info = (3, 8, 18, 'final', 0); runpy.run_path(sys.argv[1], run_name='__main__')", entry)
	if err == nil || !like(out, "error: *functions need Python 3.9 or later: *virtual environment*") {
		t.Errorf("it ends with %v: %s", err, out)
	}
}

// app is the folder of an app of testdata.
func app(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "python", name))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// start starts the shim on an app that it may write its byte code beside.
func (p python) start(t *testing.T, dir string, env ...string) *script {
	t.Helper()
	env = append(append([]string{"PYTHONDONTWRITEBYTECODE=1", "PYTHON_SCRIPT_FILE_NAME="}, p.env...), env...)
	one, ok := shim.Of("python")
	if !ok {
		t.Fatal("there is no shim for Python")
	}
	return start(t, one, dir, p.interpreter, env...)
}

// v1 starts the shim on the app of function.json.
func (p python) v1(t *testing.T) *script {
	t.Helper()
	s := p.start(t, app(t, "v1"))
	s.init(app(t, "v1"))
	return s
}

// v2 starts the shim on the app of function_app.py, and loads its functions.
func (p python) v2(t *testing.T, env ...string) *script {
	t.Helper()
	s := p.start(t, app(t, "v2"), env...)
	s.init(app(t, "v2"))
	r := s.functions(app(t, "v2"))
	if r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		t.Fatalf("functions: %v", r.GetResult())
	}
	for _, f := range r.GetFunctionMetadataResults() {
		if got := s.load(f.GetFunctionId(), f); got.GetStatus() != workerpb.StatusResult_Success {
			t.Fatalf("load %s: %v", f.GetName(), got)
		}
	}
	return s
}

// The stand-in is told of once, when it is first needed.
func testStandInNotice(t *testing.T, p python) {
	s := p.v2(t)
	s.functions(app(t, "v2"))
	var said []string
	for _, m := range s.kept {
		if l := m.GetRpcLog(); l.GetLogCategory() == workerpb.RpcLog_System && strings.Contains(l.GetMessage(), "azure-functions") {
			said = append(said, fmt.Sprint(l.GetLevel(), " ", l.GetMessage()))
		}
	}
	if len(said) != 1 || !like(said[0], "Warning *azure-functions is not installed*stand-in*pip install*") {
		t.Errorf("it says %q", said)
	}
}

func testStart(t *testing.T, p python) {
	s := p.start(t, app(t, "v1"))
	r := s.init(app(t, "v1"))
	if got := r.GetResult().GetStatus(); got != workerpb.StatusResult_Success {
		t.Errorf("the start is a %v", got)
	}
	want := map[string]string{
		"RpcHttpBodyOnly": "true", "RawHttpBodyBytes": "true", "RpcHttpTriggerMetadataRemoved": "true",
		"TypedDataCollection": "true", "WorkerStatus": "true", "HandlesWorkerTerminateMessage": "true",
	}
	if diff := cmp.Diff(want, r.GetCapabilities()); diff != "" {
		t.Errorf("capabilities (-want +got):\n%s", diff)
	}
	m := r.GetWorkerMetadata()
	if m.GetRuntimeName() != "python" || !strings.HasPrefix(m.GetRuntimeVersion(), "3.") || m.GetWorkerVersion() == "" {
		t.Errorf("worker metadata: %v", m)
	}
	s.status()
	i := s.functions(app(t, "v1"))
	if !i.GetUseDefaultMetadataIndexing() || len(i.GetFunctionMetadataResults()) > 0 || i.GetResult().GetStatus() != workerpb.StatusResult_Success {
		t.Errorf("an app of function.json is indexed as %v", i)
	}
}

// bindings reads "msg:queueTrigger out:queue:out" as the host has it in a load.
func bindings(text string) map[string]*workerpb.BindingInfo {
	out := map[string]*workerpb.BindingInfo{}
	for _, one := range strings.Fields(text) {
		parts := strings.Split(one, ":")
		info := &workerpb.BindingInfo{Type: parts[1]}
		if len(parts) > 2 {
			info.Direction = workerpb.BindingInfo_Direction(workerpb.BindingInfo_Direction_value[parts[2]])
		}
		out[parts[0]] = info
	}
	return out
}

// script1 is a function of the app of function.json.
func script1(t *testing.T, folder, entry, with string) *workerpb.RpcFunctionMetadata {
	t.Helper()
	dir := filepath.Join(app(t, "v1"), folder)
	return &workerpb.RpcFunctionMetadata{
		Name: folder, Directory: dir, ScriptFile: filepath.Join(dir, "__init__.py"), EntryPoint: entry, Bindings: bindings(with), Language: "python",
	}
}

func text(s string) *workerpb.TypedData {
	return &workerpb.TypedData{Data: &workerpb.TypedData_String_{String_: s}}
}
func jsonText(s string) *workerpb.TypedData {
	return &workerpb.TypedData{Data: &workerpb.TypedData_Json{Json: s}}
}
func octets(s string) *workerpb.TypedData {
	return &workerpb.TypedData{Data: &workerpb.TypedData_Bytes{Bytes: []byte(s)}}
}
func texts(list ...string) *workerpb.TypedData {
	return &workerpb.TypedData{Data: &workerpb.TypedData_CollectionString{CollectionString: &workerpb.CollectionString{String_: list}}}
}
func manyOctets(list ...string) *workerpb.TypedData {
	c := &workerpb.CollectionBytes{}
	for _, one := range list {
		c.Bytes = append(c.Bytes, []byte(one))
	}
	return &workerpb.TypedData{Data: &workerpb.TypedData_CollectionBytes{CollectionBytes: c}}
}
func request(r *workerpb.RpcHttp) *workerpb.TypedData {
	return &workerpb.TypedData{Data: &workerpb.TypedData_Http{Http: r}}
}

func input(name string, value *workerpb.TypedData) []*workerpb.ParameterBinding {
	return []*workerpb.ParameterBinding{{Name: name, RpcData: &workerpb.ParameterBinding_Data{Data: value}}}
}

type metadata = map[string]*workerpb.TypedData

// shown is a value for a person.
func shown(d *workerpb.TypedData) string {
	switch v := d.GetData().(type) {
	case nil:
		return "nothing"
	case *workerpb.TypedData_String_:
		return "string " + v.String_
	case *workerpb.TypedData_Json:
		var compact any
		if json.Unmarshal([]byte(v.Json), &compact) != nil {
			return "not json " + v.Json
		}
		raw, _ := json.Marshal(compact)
		return "json " + string(raw)
	case *workerpb.TypedData_Bytes:
		return fmt.Sprintf("bytes %q", v.Bytes)
	case *workerpb.TypedData_Int:
		return fmt.Sprintf("int %d", v.Int)
	case *workerpb.TypedData_Double:
		return fmt.Sprintf("double %v", v.Double)
	}
	return fmt.Sprint(d)
}

// outcome is an answer in one line: what is returned, the outputs, or the failure.
func outcome(r *workerpb.InvocationResponse) string {
	if r.GetResult().GetStatus() != workerpb.StatusResult_Success {
		return "failure " + r.GetResult().GetException().GetMessage()
	}
	var parts []string
	if r.GetReturnValue() != nil {
		parts = append(parts, shown(r.GetReturnValue()))
	}
	for _, out := range r.GetOutputData() {
		parts = append(parts, out.GetName()+"="+shown(out.GetData()))
	}
	return strings.Join(parts, " ")
}

func testValues(t *testing.T, p python) {
	queue := metadata{
		"Id": text("m-1"), "DequeueCount": jsonText("2"), "InsertionTime": jsonText(`"2026-01-02T03:04:05.1234567+00:00"`),
		"PopReceipt": text("r"), "ExpirationTime": jsonText(`"2026-01-09T03:04:05Z"`), "id": jsonText("7"),
	}
	s := p.v1(t)
	loaded := map[string]bool{}
	for _, test := range []struct {
		name, entry, bindings, input string
		value                        *workerpb.TypedData
		metadata                     metadata
		want                         string
	}{
		{"queue message", "main", "msg:queueTrigger $return:queue:out", "msg", text(`{"id":7}`), queue,
			`string ["QueueMessage", "{\"id\":7}", "m-1", 2, "2026-01-02T03:04:05.123456+00:00", "r"]`},
		{"queue message of bytes", "bare", "msg:queueTrigger $return:queue:out", "msg", octets("abc"), queue, `string ["QueueMessage", "abc"]`},
		{"queue message refuses json", "bare", "msg:queueTrigger $return:queue:out", "msg", jsonText(`{"id":7}`), queue, "failure TypeError: *json*"},
		{"metadata refuses int", "main", "msg:queueTrigger $return:queue:out", "msg", text("a"),
			metadata{"DequeueCount": {Data: &workerpb.TypedData_Int{Int: 2}}}, "failure TypeError: *'int'*"},
		{"metadata refuses double", "main", "msg:queueTrigger $return:queue:out", "msg", text("a"),
			metadata{"DequeueCount": {Data: &workerpb.TypedData_Double{Double: 2}}}, "failure TypeError: *'double'*"},
		{"text as str", "text", "msg:queueTrigger $return:queue:out", "msg", text(`{"id": "é"}`), queue, `string ["str", "{\"id\": \"\u00e9\"}"]`},
		{"bytes as bytes", "octets", "msg:queueTrigger $return:queue:out", "msg", octets("\x00\xff"), queue, `string ["bytes", [0, 255]]`},
		{"json as text", "generic", "value:table $return:queue:out", "value", jsonText(`{"a":1}`), nil, `string ["str", "{\"a\":1}"]`},
		{"null", "generic", "value:table $return:queue:out", "value", &workerpb.TypedData{}, nil, `string ["NoneType", null]`},
		{"timer", "timer", "timer:timerTrigger $return:queue:out", "timer",
			jsonText(`{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":true}`), nil, `string [true, {"AdjustForDST": true}, {}]`},
		{"service bus message", "bus", "msg:serviceBusTrigger $return:queue:out", "msg", text("order"), metadata{
			"UserProperties": jsonText(`{"a":1}`), "MessageId": text("m"), "DeliveryCount": jsonText("3"), "EnqueuedTimeUtc": jsonText(`"2026-01-02T03:04:05Z"`),
		}, `string ["order", "m", 3, {"a": 1}, "2026-01-02T03:04:05+00:00"]`},
		{"service bus message without body", "bus", "msg:serviceBusTrigger $return:queue:out", "msg", &workerpb.TypedData{}, metadata{
			"UserProperties": jsonText(`{}`), "MessageId": text("m"),
		}, `string ["", "m", null, {}, null]`},
		{"service bus batch", "bus_batch", "msgs:serviceBusTrigger $return:queue:out", "msgs", texts("one", "two"), metadata{
			"UserPropertiesArray": jsonText(`[{"a":1},{}]`), "MessageIdArray": jsonText(`["1","2"]`),
		}, `string [["one", "1", {"a": 1}], ["two", "2", {}]]`},
		{"event hub event", "hub", "event:eventHubTrigger $return:queue:out", "event", octets("e"), metadata{
			"SystemProperties": jsonText(`{"SequenceNumber":5}`), "SequenceNumber": jsonText("5"), "PartitionKey": text("k"),
		}, `string ["e", 5, "k"]`},
		{"event hub batch", "hub_batch", "events:eventHubTrigger $return:queue:out", "events", manyOctets("e", "f"), metadata{
			"SystemPropertiesArray": jsonText(`[{"SequenceNumber":5,"PartitionKey":"k"},{"SequenceNumber":6}]`),
		}, `string [["e", 5, "k"], ["f", 6, null]]`},
		{"event grid event", "grid", "event:eventGridTrigger $return:queue:out", "event",
			jsonText(`{"id":"1","subject":"s","eventType":"t","eventTime":"2026-01-02T03:04:05Z","data":{"a":1},"dataVersion":"1"}`), nil,
			`string ["1", "s", "t", "2026-01-02T03:04:05+00:00", {"a": 1}]`},
		{"blob", "blob", "blob:blobTrigger $return:queue:out", "blob", octets("content"), metadata{
			"BlobTrigger": text("c/n"), "Uri": text("http://x/c/n"), "Properties": jsonText(`{"ContentLength":7}`),
		}, `string ["content", "c/n", "http://x/c/n", 7]`},
		{"blob that is not there", "blob", "blob:blob $return:queue:out", "blob", &workerpb.TypedData{}, nil, `string null`},
		{"blob as bytes", "blob_bytes", "blob:blob $return:queue:out", "blob", octets("content"), nil, `string ["bytes", "content"]`},
		{"documents", "cosmos", "docs:cosmosDBTrigger $return:queue:out", "docs", jsonText(`[{"id":"1"},{"id":"2"}]`), nil, `string [{"id": "1"}, {"id": "2"}]`},

		{"returns str", "give", "kind:queueTrigger $return:table:out", "kind", text("text"), queue, "string é"},
		{"returns bytes", "give", "kind:queueTrigger $return:table:out", "kind", text("bytes"), queue, `bytes "\x00\xff"`},
		{"returns int", "give", "kind:queueTrigger $return:table:out", "kind", text("int"), queue, "int 7"},
		{"returns bool", "give", "kind:queueTrigger $return:table:out", "kind", text("bool"), queue, "int 1"},
		{"returns float", "give", "kind:queueTrigger $return:table:out", "kind", text("float"), queue, "double 1.5"},
		{"returns infinity", "give", "kind:queueTrigger $return:table:out", "kind", text("infinite"), queue, "double +Inf"},
		{"returns dict", "give", "kind:queueTrigger $return:table:out", "kind", text("dict"), queue, `json {"a":1}`},
		{"returns list", "give", "kind:queueTrigger $return:table:out", "kind", text("list"), queue, `json [1,"b"]`},
		{"returns None", "give", "kind:queueTrigger $return:table:out", "kind", text("none"), queue, ""},
		{"returns half a character", "give", "kind:queueTrigger $return:table:out", "kind", text("half"), queue, "string ?"},
		{"returns what is too large", "give", "kind:queueTrigger $return:table:out", "kind", text("huge"), queue, "failure OverflowError: *64 bits*"},
		{"returns no JSON", "give", "kind:queueTrigger $return:table:out", "kind", text("nan"), queue, "failure ValueError: *"},
		{"returns what is too deep", "give", "kind:queueTrigger $return:table:out", "kind", text("deep"), queue, "failure RecursionError: *"},
		{"returns another type", "give", "kind:queueTrigger $return:table:out", "kind", text("set"), queue, "failure TypeError: *table*set*"},
		{"returns None to a queue", "give", "kind:queueTrigger $return:queue:out", "kind", text("none"), queue, "failure TypeError: *queue*NoneType*"},
		{"output", "set_out", "kind:queueTrigger out:queue:out", "kind", text("text"), queue, "out=string é"},
		{"output of bytes", "set_out", "kind:queueTrigger out:queue:out", "kind", text("bytes"), queue, `out=bytes "\x00\xff"`},
		{"output that is not set", "set_out", "kind:queueTrigger out:queue:out", "kind", text("none"), queue, ""},
		{"output of several", "set_queue", "kind:queueTrigger out:queue:out", "kind", text("all"), queue, `out=json ["one","two"]`},
		{"returns without $return", "unbound", "msg:queueTrigger", "msg", text(""), queue, "failure RuntimeError: *$return*"},
		{"input that the function has not", "text", "msg:queueTrigger $return:queue:out", "other", text(""), queue, "failure TypeError: *'other'*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.T = t
			id := test.entry + " " + test.bindings
			if !loaded[id] {
				if got := s.load(id, script1(t, "Values", test.entry, test.bindings)); got.GetStatus() != workerpb.StatusResult_Success {
					t.Fatalf("load: %v", got)
				}
				loaded[id] = true
			}
			got := outcome(s.invoke(&workerpb.InvocationRequest{
				InvocationId: t.Name(), FunctionId: id, InputData: input(test.input, test.value), TriggerMetadata: test.metadata,
			}))
			if !like(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	s.T = t
}

// like compares with a text in which "*" stands for anything.
func like(got, want string) bool {
	parts := strings.Split(want, "*")
	if len(parts) == 1 {
		return got == want
	}
	rest, ok := strings.CutPrefix(got, parts[0])
	for _, part := range parts[1:] {
		if !ok {
			return false
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok
}

func testHTTP(t *testing.T, p python) {
	s := p.v1(t)
	for _, entry := range []string{"request", "request_json", "response", "response_json", "response_none"} {
		if got := s.load(entry, script1(t, "Values", entry, "req:httpTrigger $return:http:out")); got.GetStatus() != workerpb.StatusResult_Success {
			t.Fatalf("load %s: %v", entry, got)
		}
	}
	call := func(id string, r *workerpb.RpcHttp) *workerpb.InvocationResponse {
		return s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("req", request(r))})
	}
	got := outcome(call("request", &workerpb.RpcHttp{
		Method: "post", Url: "http://localhost/api/a?q=1", Headers: map[string]string{"x-one": "1"},
		Query: map[string]string{"q": "1"}, Params: map[string]string{"id": "7"}, Body: octets("body"),
	}))
	if want := `string ["POST", "http://localhost/api/a?q=1", "1", {"q": "1"}, {"id": "7"}, "body"]`; got != want {
		t.Errorf("request:\ngot  %s\nwant %s", got, want)
	}
	got = outcome(call("request", &workerpb.RpcHttp{Method: "GET", Url: "u", Headers: map[string]string{"x-one": "1"}}))
	if want := `string ["GET", "u", "1", {}, {}, ""]`; got != want {
		t.Errorf("request without body:\ngot  %s\nwant %s", got, want)
	}
	if got, want := outcome(call("request_json", &workerpb.RpcHttp{Body: octets(`{"deep":{"a":1}}`)})), `string {"a": 1}`; got != want {
		t.Errorf("JSON body:\ngot  %s\nwant %s", got, want)
	}
	if got, want := outcome(call("request_json", &workerpb.RpcHttp{Body: octets(`{`)})), `failure ValueError: *JSON*`; !like(got, want) {
		t.Errorf("no JSON body:\ngot  %s\nwant %s", got, want)
	}

	h := call("response", &workerpb.RpcHttp{}).GetReturnValue().GetHttp()
	if h.GetStatusCode() != "202" || string(h.GetBody().GetBytes()) != "hello é" {
		t.Errorf("response: %v", h)
	}
	headers := map[string]string{}
	for name, value := range h.GetHeaders() {
		headers[strings.ToLower(name)] = value
	}
	if diff := cmp.Diff(map[string]string{"x-two": "3", "content-type": "text/plain; charset=utf-8"}, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if len(h.GetCookies()) != 2 {
		t.Fatalf("cookies: %v", h.GetCookies())
	}
	c := h.GetCookies()[0]
	if c.GetName() != "a" || c.GetValue() != "b" || c.GetPath().GetValue() != "/x" || c.GetDomain() != nil || !c.GetSecure().GetValue() ||
		!c.GetHttpOnly().GetValue() || c.GetSameSite() != workerpb.RpcHttpCookie_Lax || c.GetMaxAge().GetDouble() == nil || c.GetMaxAge().GetValue() != 0 ||
		!c.GetExpires().GetValue().AsTime().Equal(time.Date(2037, 10, 21, 7, 28, 0, 0, time.UTC)) {
		t.Errorf("cookie: %v", c)
	}
	h = call("response_json", &workerpb.RpcHttp{}).GetReturnValue().GetHttp()
	if h.GetStatusCode() != "200" || string(h.GetBody().GetBytes()) != `{"a":1}` {
		t.Errorf("response of JSON: %v", h)
	}
	if got, want := outcome(call("response_none", &workerpb.RpcHttp{})), "failure TypeError: *NoneType*"; !like(got, want) {
		t.Errorf("no response: got %s, want %s", got, want)
	}
}

func testLoad(t *testing.T, p python) {
	s := p.v1(t)
	for _, test := range []struct {
		name, script, entry, bindings string
		want                          string
	}{
		{"relative import", "", "", "msg:queueTrigger $return:queue:out", ""},
		{"no such function", "", "missing", "msg:queueTrigger", "LoadError: *Broken*no function missing()*"},
		{"no function", "", "not_callable", "msg:queueTrigger", "LoadError: *no function not_callable()*"},
		{"parameter without binding", "", "wrong_name", "", "LoadError: *message*no binding*"},
		{"binding without parameter", "", "wrong_name", "message:queueTrigger out:queue:out", "LoadError: *out*no parameter*"},
		{"another type", "", "wrong_type", "msg:queueTrigger", "LoadError: *msg*queueTrigger*TimerRequest*"},
		{"output that is no Out", "", "wrong_way", "msg:queueTrigger out:queue:out", "LoadError: *out*azure.functions.Out*"},
		{"Out of nothing", "", "bare_out", "msg:queueTrigger out:queue:out", "LoadError: *Out[str]*"},
		{"returns None to HTTP", "", "wrong_return", "req:httpTrigger $return:http:out", "LoadError: *$return*http*NoneType*"},
		{"context of another type", "", "wrong_context", "msg:queueTrigger", "LoadError: *context*"},
		{"annotation that is not there", "", "no_annotation", "msg:queueTrigger", "LoadError: *Unknown*"},
		{"inout", "", "plain", "msg:queueTrigger:inout", "LoadError: *inout*"},
		{"$return that comes in", "", "plain", "msg:queueTrigger $return:queue", "LoadError: *$return*"},
		{"no Python", "handler.js", "main", "msg:queueTrigger", "LoadError: *no Python script*"},
		{"missing package", "../Needs.py", "main", "msg:queueTrigger", "ModuleNotFoundError: *a_package_that_is_not_there*requirements.txt*pip install*"},
		{"script that ends", "../Exits.py", "main", "msg:queueTrigger", "SystemExit: 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.T = t
			m := script1(t, "Broken", test.entry, test.bindings)
			if test.script != "" {
				m.ScriptFile = filepath.Join(m.Directory, test.script)
			}
			r := s.load(test.name, m)
			if test.want == "" {
				if got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: test.name, InputData: input("msg", text(""))})); got != "string from Shared" {
					t.Errorf("got %s", got)
				}
				return
			}
			if got := r.GetException().GetMessage(); r.GetStatus() != workerpb.StatusResult_Failure || !like(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			// The function stays listed; an attempt fails, and the worker lives.
			got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: test.name, InputData: input("msg", text(""))}))
			if !strings.HasPrefix(got, "failure ") {
				t.Errorf("an attempt: %s", got)
			}
		})
	}
	s.T = t
}

func testFailures(t *testing.T, p python) {
	s := p.v1(t)
	fail := func(entry, with string, value *workerpb.TypedData) *workerpb.RpcException {
		t.Helper()
		if got := s.load(entry, script1(t, "Broken", entry, with)); got.GetStatus() != workerpb.StatusResult_Success {
			t.Fatalf("load %s: %v", entry, got)
		}
		r := s.invoke(&workerpb.InvocationRequest{FunctionId: entry, InputData: input(strings.Split(with, ":")[0], value)}).GetResult()
		if r.GetStatus() != workerpb.StatusResult_Failure {
			t.Fatalf("%s: %v", entry, r)
		}
		return r.GetException()
	}
	e := fail("plain", "msg:queueTrigger", text(""))
	if e.GetType() != "ValueError" || e.GetMessage() != "ValueError: no such order" || !e.GetIsUserException() {
		t.Errorf("failure: %v", e)
	}
	if stack := e.GetStackTrace(); !strings.Contains(stack, "in plain") || !strings.Contains(stack, `raise ValueError("no such order")`) || strings.Contains(stack, "redeliver_worker") {
		t.Errorf("its stack:\n%s", stack)
	}
	e = fail("nested", "msg:queueTrigger", text(""))
	if stack := e.GetStackTrace(); e.GetType() != "RuntimeError" || !strings.Contains(stack, "ValueError: no such order") || strings.Contains(stack, "redeliver_worker") {
		t.Errorf("failure with a cause: %s\n%s", e.GetMessage(), stack)
	}
	if e = fail("unreadable", "msg:queueTrigger", text("")); !strings.Contains(e.GetMessage(), "Odd") {
		t.Errorf("a failure without text: %v", e)
	}
	if got := s.load("fails", script1(t, "Odd", "fails", "msg:queueTrigger")); got.GetStatus() != workerpb.StatusResult_Success {
		t.Fatal(got)
	}
	for which, want := range map[string]string{
		"text": "Text: (its message cannot be read: LookupError)", "leaves": "Leaves: (its message cannot be read: SystemExit)", "letters": "Sub: letters",
		"name": "NoName: gone", "interrupt": "Interrupt: stop", "half": "Exception: half ?", "loop": "Exception: a",
	} {
		r := s.invoke(&workerpb.InvocationRequest{FunctionId: "fails", InputData: input("msg", text(which))}).GetResult()
		if got := r.GetException().GetMessage(); got != want {
			t.Errorf("%s: %q, want %q", which, got, want)
		}
	}
	e = fail("literal", "req:httpTrigger", request(&workerpb.RpcHttp{}))
	if e.GetType() != "TypeError" || !strings.Contains(e.GetStackTrace(), "in literal") {
		t.Errorf("the literal handler: %v", e)
	}
	e = fail("no_response", "req:httpTrigger $return:http:out", request(&workerpb.RpcHttp{}))
	if !strings.HasSuffix(e.GetMessage(), "cannot take a value of the type NoneType: return a str or an azure.functions.HttpResponse") || strings.Contains(e.GetStackTrace(), "NotImplementedError") {
		t.Errorf("no response: %s\n%s", e.GetMessage(), e.GetStackTrace())
	}
	got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: "never loaded"}))
	if !strings.Contains(got, "never loaded") {
		t.Errorf("a function that was not loaded: %s", got)
	}
}

func testIndex(t *testing.T, p python) {
	s := p.start(t, app(t, "v2"))
	s.init(app(t, "v2"))
	r := s.functions(app(t, "v2"))
	if r.GetUseDefaultMetadataIndexing() {
		t.Error("the functions are left to the host")
	}
	found := map[string]*workerpb.RpcFunctionMetadata{}
	for _, f := range r.GetFunctionMetadataResults() {
		found[f.GetName()] = f
	}
	for name, want := range map[string][]string{
		"place_order": {
			`{"authlevel":"anonymous","direction":"in","methods":["post"],"name":"req","route":"orders/{id}","type":"httptrigger"}`,
			`{"direction":"out","name":"$return","type":"http"}`,
			`{"connection":"azurewebjobsstorage","direction":"out","name":"out","queuename":"orders","type":"queue"}`,
		},
		"ProcessOrder": {`{"connection":"azurewebjobsstorage","direction":"in","name":"msg","queuename":"orders","type":"queuetrigger"}`},
		"tick":         {`{"direction":"in","name":"timer","schedule":"0 */5 * * * *","type":"timertrigger"}`},
		"on_invoice": {
			`{"cardinality":"many","connection":"bus","direction":"in","issessionsenabled":true,"name":"msg","subscriptionname":"all","topicname":"invoices","type":"servicebustrigger"}`,
			`{"connection":"azurewebjobsstorage","datatype":"binary","direction":"out","name":"out","path":"invoices/{rand-guid}","type":"blob"}`,
		},
	} {
		f := found[name]
		if f == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		var got []string
		for _, raw := range f.GetRawBindings() {
			var members map[string]any
			if err := json.Unmarshal([]byte(strings.ToLower(raw)), &members); err != nil {
				t.Fatal(err)
			}
			sorted, _ := json.Marshal(members)
			got = append(got, string(sorted))
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bindings of %s (-want +got):\n%s", name, diff)
		}
		if f.GetScriptFile() != "function_app.py" || f.GetDirectory() != app(t, "v2") || f.GetFunctionId() == "" || f.GetLanguage() != "python" {
			t.Errorf("%s: %v", name, f)
		}
	}
	if got := found["on_invoice"].GetBindings()["out"]; got.GetDirection() != workerpb.BindingInfo_out || got.GetDataType() != workerpb.BindingInfo_binary || got.GetType() != "blob" {
		t.Errorf("a binding: %v", got)
	}
	if got := found["ProcessOrder"].GetRetryOptions(); got.GetMaxRetryCount() != 4 || got.GetRetryStrategy() != workerpb.RpcRetryOptions_fixed_delay || got.GetDelayInterval().AsDuration() != 10*time.Second {
		t.Errorf("the fixed policy: %v", got)
	}
	if got := found["tick"].GetRetryOptions(); got.GetMaxRetryCount() != -1 || got.GetRetryStrategy() != workerpb.RpcRetryOptions_exponential_backoff ||
		got.GetMinimumInterval().AsDuration() != 10*time.Second || got.GetMaximumInterval().AsDuration() != 15*time.Minute {
		t.Errorf("the exponential policy: %v", got)
	}
	if got := found["place_order"].GetRetryOptions(); got != nil {
		t.Errorf("a policy where there is none: %v", got)
	}
	if got := s.load("ProcessOrder", found["ProcessOrder"]); got.GetStatus() != workerpb.StatusResult_Success {
		t.Errorf("load: %v", got)
	}
	if got := s.load("nobody", &workerpb.RpcFunctionMetadata{Name: "nobody", Directory: app(t, "v2")}); !like(got.GetException().GetMessage(), "LoadError: *nobody*function_app.py*") {
		t.Errorf("a function that is not declared: %v", got)
	}
}

func testIndexRefused(t *testing.T, p python) {
	for dir, want := range map[string]string{
		"syntax":  "SyntaxError: *",
		"missing": "ModuleNotFoundError: *a_package_that_is_not_there*pip install*",
		"two":     "ValueError: *more than one FunctionApp*",
		"none":    "ValueError: *no FunctionApp*",
		"policy":  "ValueError: *process*delay_interval*10 s*",
		"count":   "ValueError: *process*max_retry_count*9007199254740991*32 bits*",
		"quits":   "SystemExit: 3",
	} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			s := p.start(t, app(t, dir))
			if got := s.init(app(t, dir)); got.GetResult().GetStatus() != workerpb.StatusResult_Success {
				t.Errorf("the start: %v", got)
			}
			r := s.functions(app(t, dir)).GetResult()
			if got := r.GetException().GetMessage(); r.GetStatus() != workerpb.StatusResult_Failure || !like(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if stack := r.GetException().GetStackTrace(); strings.Contains(stack, "redeliver_worker") || dir == "syntax" && !strings.Contains(stack, "function_app.py") {
				t.Errorf("its stack:\n%s", stack)
			}
			s.status()
		})
	}
}

func testRetryContext(t *testing.T, p python) {
	s := p.v1(t)
	if got := s.load("context", script1(t, "Values", "context", "msg:queueTrigger $return:queue:out")); got.GetStatus() != workerpb.StatusResult_Success {
		t.Fatalf("load: %v", got)
	}
	for _, test := range []struct {
		name  string
		retry *workerpb.RetryContext
		want  string
	}{
		{"no policy", nil, `0, 0, "", ""]`},
		{"first attempt", &workerpb.RetryContext{MaxRetryCount: 4}, `0, 4, "", ""]`},
		{"second attempt", &workerpb.RetryContext{RetryCount: 1, MaxRetryCount: 4, Exception: &workerpb.RpcException{Message: "m", StackTrace: "s", Source: "o"}}, `1, 4, "m", "s"]`},
		{"for ever", &workerpb.RetryContext{RetryCount: 9, MaxRetryCount: -1}, `9, -1, "", ""]`},
	} {
		got := outcome(s.invoke(&workerpb.InvocationRequest{
			InvocationId: test.name, FunctionId: "context", InputData: input("msg", text("")), RetryContext: test.retry,
			TraceContext: &workerpb.RpcTraceContext{TraceParent: "00-1-2-01"},
		}))
		if want := fmt.Sprintf(`string [%q, "Values", "Values", "00-1-2-01", `, test.name) + test.want; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, want)
		}
	}
}

func testLogs(t *testing.T, p python) {
	s := p.v2(t)
	s.logs() // those of the start
	s.begin(1, &workerpb.InvocationRequest{FunctionId: "write_logs", InputData: input("msg", text(""))})
	s.ended("call-1")
	got := s.logs()
	for i := range got {
		if head, _, traced := strings.Cut(got[i], "\n"); traced {
			if !strings.Contains(got[i], "KeyError") || strings.Contains(got[i], "redeliver_worker") {
				t.Errorf("a log with a traceback:\n%s", got[i])
			}
			got[i] = head
		}
	}
	want := []string{
		"call-1 Debug shop.orders: debug", "call-1 Information shop.orders: info 1", "call-1 Warning shop.orders: warning", "call-1 Error root: error",
		"call-1 Critical shop.orders: critical", "call-1 Error shop.orders: caught",
		"call-1 Information shop.orders: from a thread that says whose it is", " Information shop.orders: from a thread",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("logs before the answer (-want +got):\n%s", diff)
	}
	if !s.says("printed by write_logs\n") {
		t.Errorf("standard output: %q", s.printed())
	}
	s.begin(2, &workerpb.InvocationRequest{FunctionId: "write_logs_async", InputData: input("msg", text(""))})
	s.ended("call-2")
	got = s.logs()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"call-2 Information shop.orders: async", "call-2 Information shop.orders: executor", "call-2 Information shop.orders: task"}, got); diff != "" {
		t.Errorf("logs of an async function (-want +got):\n%s", diff)
	}
}

func testOutput(t *testing.T, p python) {
	s := p.v2(t)
	if got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: "binary", InputData: input("msg", text(""))})); got != "" {
		t.Errorf("a handler that prints bytes: %s", got)
	}
	_ = s.conn.Close()
	s.exited() // all that it has written has come now
	if got := s.printed(); !strings.Contains(got, "\x00\xff\xfe binary\n") {
		t.Errorf("standard output: %q", got)
	}
}

func testExit(t *testing.T, p python) {
	for function, code := range map[string]int{"leave": 7, "quit_politely": 3} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			s := p.v2(t)
			s.begin(1, &workerpb.InvocationRequest{FunctionId: function, InputData: input("msg", text(""))})
			if got := s.exited(); got != code {
				t.Errorf("the process ended with %d, want %d", got, code)
			}
			if function == "quit_politely" && !strings.Contains(s.printed(), "bye\n") {
				t.Errorf("standard output: %q", s.printed())
			}
		})
	}
}

func testConcurrency(t *testing.T, p python) {
	s := p.v2(t, "PYTHON_THREADPOOL_THREAD_COUNT=8")
	// Each waits for the seven others.
	for i := range 8 {
		s.begin(i, &workerpb.InvocationRequest{FunctionId: "meet", InputData: input("msg", text(""))})
	}
	for i := range 8 {
		if got := outcome(s.ended(fmt.Sprint("call-", i))); got != "" {
			t.Errorf("call %d: %s", i, got)
		}
	}
	s.begin(10, &workerpb.InvocationRequest{FunctionId: "wait", InputData: input("msg", text(""))})
	s.begin(11, &workerpb.InvocationRequest{FunctionId: "open_gate", InputData: input("msg", text(""))})
	for _, id := range []string{"call-10", "call-11"} {
		if got := outcome(s.ended(id)); got != "" {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// The shim must not outlive its host, whatever a handler does.
func testConnection(t *testing.T, p python) {
	for _, function := range []string{"block", "block_loop", "nothing"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			s := p.v2(t)
			if function != "nothing" {
				s.begin(1, &workerpb.InvocationRequest{FunctionId: function, InputData: input("msg", text(""))})
				s.await(func(m *workerpb.StreamingMessage) bool { return m.GetRpcLog().GetMessage() == "blocked" })
				s.status() // it can still be asked
			}
			_ = s.conn.Close()
			s.exited()
		})
	}
}

func testTerminate(t *testing.T, p python) {
	for _, function := range []string{"nothing", "block"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			s := p.v2(t)
			if function != "nothing" {
				s.begin(1, &workerpb.InvocationRequest{FunctionId: function, InputData: input("msg", text(""))})
				s.await(func(m *workerpb.StreamingMessage) bool { return m.GetRpcLog().GetMessage() == "blocked" })
			}
			s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{
				GracePeriod: durationpb.New(200 * time.Millisecond),
			}}})
			if got := s.exited(); got != 0 {
				t.Errorf("the process ended with %d", got)
			}
		})
	}
}

func testOddMessages(t *testing.T, p python) {
	s := p.v2(t)
	for _, line := range []string{
		``, `{`, `[]`, `7`, `null`, `"text"`, `{"requestId":null}`, `{"somethingNew":{"a":1}}`, `{"invocationRequest":null}`, `{"invocationRequest":7}`,
		`{"invocationRequest":{"functionId":["a"]}}`, `{"functionLoadRequest":null}`, `{"functionLoadRequest":{"functionId":"x","metadata":{"bindings":7}}}`,
		`{"functionsMetadataRequest":[]}`, `{"workerInitRequest":"a"}`, `{"workerStatusRequest":null}`, `{"invocationCancel":{"invocationId":"none"}}`,
		`{"fileChangeEventRequest":{}}`, `{"invocationRequest":{"invocationId":"odd","functionId":"write_logs","inputData":{"a":1},"triggerMetadata":[]}}`,
		"\xff\xfe", strings.Repeat("[", 100000), `{"requestId":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"invocationRequest":{"invocationId":"half","functionId":"\ud800"}}`,
	} {
		s.raw(line)
	}
	s.status()
	s.ended("odd")
	s.ended("half")
	if got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: "binary", InputData: input("msg", text(""))})); got != "" {
		t.Errorf("an invocation after them: %s", got)
	}
}

func testLargeMessage(t *testing.T, p python) {
	s := p.v1(t)
	if got := s.load("text", script1(t, "Values", "text", "msg:queueTrigger $return:queue:out")); got.GetStatus() != workerpb.StatusResult_Success {
		t.Fatalf("load: %v", got)
	}
	body := strings.Repeat("0123456789", 2<<20/10)
	if got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: "text", InputData: input("msg", text(body))})); got != `string ["str", "`+body+`"]` {
		t.Errorf("%d bytes came back, want %d", len(got), len(body))
	}
}

// A child of user code shares the connection, and says nothing on it.
func testFork(t *testing.T, p python) {
	s := p.v2(t)
	if got := outcome(s.invoke(&workerpb.InvocationRequest{FunctionId: "fork", InputData: input("msg", text(""))})); got != "" && !strings.Contains(got, "fork") {
		t.Errorf("a handler that forks: %s", got)
	}
	s.status()
	if got := s.logs(); len(got) > 0 {
		t.Errorf("logs: %q", got)
	}
}

// What the app has installed in its folder comes before everything else; the package that
// it has there wins over the stand-in.
func testPackages(t *testing.T, p python) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"function_app.py": "import azure.functions as func\nimport installed\n\napp = func.FunctionApp()\n",
		".python_packages/lib/site-packages/installed.py":                "",
		".python_packages/lib/site-packages/azure/functions/__init__.py": "class FunctionRegister:\n    def get_functions(self):\n        return []\n\n\nFunctionApp = FunctionRegister\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := p.start(t, dir)
	s.init(dir)
	if r := s.functions(dir); r.GetResult().GetStatus() != workerpb.StatusResult_Success || r.GetUseDefaultMetadataIndexing() {
		t.Errorf("index: %v", r)
	}
	if len(s.kept) > 0 {
		t.Errorf("it says %v", s.kept)
	}
}
