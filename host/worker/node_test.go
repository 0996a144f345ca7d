package worker_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// nodeApp is an app that the worker for JavaScript runs.
type nodeApp struct {
	*testing.T
	dir string
	w   *worker.Worker

	mu   sync.Mutex // guards:
	said []string   // to no invocation, and to standard output
}

// write makes an app of files.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// startNode starts the worker for an app of files.
func startNode(t *testing.T, files map[string]string) *nodeApp {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node in PATH")
	}
	a := &nodeApp{T: t, dir: write(t, files)}
	s, _ := shim.Of("node")
	entry, err := s.Install()
	if err != nil {
		t.Fatal(err)
	}
	if packages, err := filepath.Abs("../../.interop/node_modules"); err == nil {
		_ = os.Symlink(packages, filepath.Join(a.dir, "node_modules"))
	}
	say := func(text string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.said = append(a.said, text)
	}
	a.w, err = worker.Start(clock.System(), worker.Spec{
		Spec:      process.Spec{Path: node, Args: []string{entry}, Dir: a.dir, Output: func(l process.Line) { say(l.Text) }},
		Transport: worker.Lines, Language: "node", App: a.dir, Indexing: true, HostVersion: "4.1037.0",
		Log: func(l call.Log) { say(l.Message) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.w.Close(context.Background()) })
	return a
}

// binding is a binding of a function in a file.
func binding(text string) worker.Binding {
	var b struct{ Name, Type, Direction, DataType string }
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		panic(err)
	}
	return worker.Binding{
		Name: b.Name, Type: b.Type, Raw: json.RawMessage(text),
		Direction: workerpb.BindingInfo_Direction(workerpb.BindingInfo_Direction_value[b.Direction]),
		DataType:  workerpb.BindingInfo_DataType(workerpb.BindingInfo_DataType_value[b.DataType]),
	}
}

// queueFunction is a queue function with an output, whose script is that file.
func (a *nodeApp) queueFunction(name, script, entryPoint string, more ...string) worker.Function {
	f := worker.Function{Name: name, Directory: filepath.Join(a.dir, name), ScriptFile: filepath.Join(a.dir, script), EntryPoint: entryPoint}
	for _, text := range append([]string{
		`{"name":"in","type":"queueTrigger","direction":"in","queueName":"orders"}`,
		`{"name":"out","type":"queue","direction":"out","queueName":"done"}`,
	}, more...) {
		f.Bindings = append(f.Bindings, binding(text))
	}
	return f
}

// load tells the worker of functions.
func (a *nodeApp) load(functions ...worker.Function) map[string]*call.Error {
	a.Helper()
	if _, err := a.w.Functions(context.Background()); err != nil {
		a.Fatal(err)
	}
	failures, err := a.w.Load(context.Background(), functions)
	if err != nil {
		a.Fatal(err)
	}
	return failures
}

// invoke calls a function with text.
func (a *nodeApp) invoke(function, text string, change func(*call.Request)) (*call.Response, []call.Log) {
	a.Helper()
	req := &call.Request{
		InvocationID: "inv " + function + text, Function: function,
		Inputs: []call.Input{{Name: "in", Value: bindings.StringValue(text)}}, Outputs: []string{"out", "$return", "res", "more"},
	}
	if change != nil {
		change(req)
	}
	var logs []call.Log
	resp, err := a.w.Invoke(context.Background(), req, func(l call.Log) { logs = append(logs, l) })
	if err != nil {
		a.Fatal(err)
	}
	return resp, logs
}

// What a script may export (spec workers 10.1).
func TestNodeExports(t *testing.T) {
	t.Parallel()
	a := startNode(t, map[string]string{
		"plain.js":     `module.exports = async (context, order) => { context.bindings.out = "plain " + order.id }`,
		"done.js":      `module.exports = function (context, order) { context.bindings.out = "done"; setImmediate(() => context.done()) }`,
		"result.js":    `module.exports = (context) => { context.done(null, { out: "result" }) }`,
		"one.js":       `exports.only = async (context) => { context.bindings.out = "one" }`,
		"run.js":       `exports.run = async (context) => { context.bindings.out = "run" }; exports.other = () => {}`,
		"index.js":     `exports.index = async (context) => { context.bindings.out = "index" }; exports.other = () => {}`,
		"named.js":     `exports.a = async () => {}; exports.b = async (context) => { context.bindings.out = "named" }`,
		"self.js":      `module.exports = { prefix: "self ", run: async function (context) { context.bindings.out = this.prefix + (this instanceof Object) } }`,
		"class.js":     `class Counter { constructor() { this.m = 0; this.n = 40 } run(context) { this.n += 2; context.bindings.out = "class " + this.n; context.done() } }; module.exports = new Counter()`,
		"module.mjs":   `export default async function (context) { context.bindings.out = "module" }`,
		"several.mjs":  `export const a = 1; export async function index(context) { context.bindings.out = "several" }`,
		"compiled.js":  `"use strict"; Object.defineProperty(exports, "__esModule", { value: true }); exports.default = async (context) => { context.bindings.out = "compiled" }`,
		"returns.js":   `module.exports = async () => ({ out: { id: 7 }, nobody: 1 })`,
		"bytes.js":     `module.exports = async (context) => { context.bindings.out = Buffer.from([0, 255]) }`,
		"none.js":      `exports.a = () => {}; exports.b = () => {}`,
		"text.js":      `module.exports = { run: "text" }`,
		"syntax.js":    `module.exports = {{`,
		"missing.js":   `require("no-such-package")`,
		"promise.js":   `module.exports = (context) => { context.done(); return Promise.resolve() }`,
		"package.json": `{}`,
	})
	want := map[string]string{
		"plain.js": "plain 7", "done.js": "done", "result.js": "result", "one.js": "one", "run.js": "run", "index.js": "index", "named.js": "named",
		"self.js": "self true", "class.js": "class 42", "module.mjs": "module", "several.mjs": "several", "compiled.js": "compiled",
		"returns.js": `{"id":7}`, "bytes.js": "\x00\xff", "promise.js": "",
		"none.js": "fails: Unable to determine function entry point", "text.js": "fails: is not a function", "syntax.js": "fails: Unexpected token", "missing.js": "fails: no-such-package",
	}
	var functions []worker.Function
	for script := range want {
		entryPoint := ""
		if script == "named.js" {
			entryPoint = "b"
		}
		functions = append(functions, a.queueFunction(strings.ReplaceAll(script, ".", "_"), script, entryPoint))
	}
	a.load(functions...)
	for script, want := range want {
		resp, _ := a.invoke(strings.ReplaceAll(script, ".", "_"), `{"id":7}`, nil)
		if reason, fails := strings.CutPrefix(want, "fails: "); fails {
			if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, reason) {
				t.Errorf("%s: %v, %v; want a failure that says %q", script, resp.Status, resp.Error, reason)
			}
			continue
		}
		if got := resp.Outputs["out"].Text + string(resp.Outputs["out"].Data); got != want || resp.Status != call.Succeeded {
			t.Errorf("%s: %q, %v, %+v; want %q", script, got, resp.Status, resp.Error, want)
		}
	}
}

// The context of a function of a file (spec workers 6.2, 7, 10.1).
func TestNodeContext(t *testing.T) {
	t.Parallel()
	a := startNode(t, map[string]string{
		"f.js": `module.exports = async (context, order) => {
			context.log("a", order); context.log.warn("b"); context.log.error("c"); context.log.verbose("d"); console.log("to the console")
			const retry = context.executionContext.retryContext
			context.bindings.out = { data: context.bindingData.dequeueCount, id: context.bindingData.id, name: context.executionContext.functionName,
				retry: retry && [retry.retryCount, retry.maxRetryCount, retry.exception && retry.exception.message], top: context.retryContext === undefined,
				same: context.invocationId === context.bindingData.invocationId, types: context.bindingDefinitions.map((b) => b.name + " " + b.type + " " + b.direction).join() }
			if (order === "fail") throw new TypeError("boom")
			if (order === "odd") throw undefined
		}`,
	})
	a.load(a.queueFunction("f", "f.js", ""))
	metadata := func(r *call.Request) {
		r.Metadata = map[string]bindings.Value{"DequeueCount": bindings.JSONValue([]byte("2")), "Id": bindings.StringValue("x")}
	}
	resp, logs := a.invoke("f", "text", metadata)
	want := `{"data":2,"id":"x","name":"f","retry":null,"top":true,"same":true,"types":"in queueTrigger in,out queue out"}`
	if got := resp.Outputs["out"].Text; got != want {
		t.Errorf("without a policy: %s\nwant %s (%+v)", got, want, resp.Error)
	}
	var lines []string
	for _, l := range logs {
		lines = append(lines, l.Message)
	}
	if diff := cmp.Diff([]string{"a text", "b", "c", "d"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if len(logs) == 4 && (logs[0].Level != call.Information || logs[1].Level != call.Warning || logs[2].Level != call.ErrorLevel || logs[3].Level != call.Trace) {
		t.Errorf("levels: %+v", logs)
	}
	resp, _ = a.invoke("f", "text", func(r *call.Request) {
		r.Retry = &retrycontext.Context{RetryCount: 2, MaxRetryCount: -1, Exception: &retrycontext.Exception{Message: "before"}}
	})
	if got := resp.Outputs["out"].Text; !strings.Contains(got, `"retry":[2,-1,"before"]`) {
		t.Errorf("with a policy: %s", got)
	}
	resp, _ = a.invoke("f", "fail", nil)
	if resp.Status != call.Failed || resp.Error.Type != "TypeError" || resp.Error.Message != "boom" || !strings.Contains(resp.Error.Stack, "f.js") || len(resp.Outputs) > 0 {
		t.Errorf("a failure: %+v, %+v", resp, resp.Error)
	}
	// As in the official worker, whose hooks know an error by that it is something
	// (worker: InvocationHandler.ts; observed: host 4.1037 with its worker 3.9.1).
	resp, logs = a.invoke("f", "odd", nil)
	if resp.Status != call.Succeeded || len(logs) == 0 || !strings.Contains(logs[len(logs)-1].Message, "counts as success") {
		t.Errorf("a function that throws nothing: %+v, %+v", resp, logs)
	}
	if err := a.w.Close(context.Background()); err != nil {
		t.Error(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.said, "to the console") {
		t.Errorf("said %q", a.said)
	}
}

func httpRequest(method, url, body string, header ...string) func(*call.Request) {
	return func(r *call.Request) {
		h := &bindings.HTTPRequest{Method: method, URL: url, Header: map[string][]string{}, Params: map[string]string{"id": "7"}, Body: []byte(body)}
		for i := 0; i+1 < len(header); i += 2 {
			h.Header.Set(header[i], header[i+1])
		}
		r.Inputs = []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: h}}}
	}
}

// Requests and responses of functions of files.
func TestNodeHTTP(t *testing.T) {
	t.Parallel()
	a := startNode(t, map[string]string{
		"res.js":     `module.exports = async (context, req) => { context.res = { status: 201, headers: { "X-A": "b" }, cookies: [{ name: "c", value: "d e", sameSite: "Strict" }], body: { q: req.query.q, id: req.params.id, h: req.get("X-H"), body: req.body, raw: req.rawBody, method: req.method } } }`,
		"express.js": `module.exports = (context, req) => { context.res.status(202).set("X-A", "b").type("text/html").send("<p>") }`,
		"return.js":  `module.exports = async (context, req) => ({ body: req.body })`,
		"empty.js":   `module.exports = async () => {}`,
	})
	function := func(name, out string) worker.Function {
		return worker.Function{Name: name, Directory: a.dir, ScriptFile: filepath.Join(a.dir, name+".js"), Bindings: []worker.Binding{
			binding(`{"name":"req","type":"httpTrigger","direction":"in"}`), binding(`{"name":"` + out + `","type":"http","direction":"out"}`),
		}}
	}
	a.load(function("res", "res"), function("express", "res"), function("return", "$return"), function("empty", "res"))
	resp, _ := a.invoke("res", "", httpRequest("POST", "http://localhost/api/x?q=1", `{"a":1}`, "X-H", "h", "Content-Type", "application/json"))
	got := resp.Outputs["res"].HTTPResponse
	if got == nil || got.StatusCode != 201 || got.Header.Get("X-A") != "b" || got.Header.Get("Set-Cookie") != "c=d%20e; path=/; samesite=strict" ||
		string(got.Body) != "{\n  \"q\": \"1\",\n  \"id\": \"7\",\n  \"h\": \"h\",\n  \"body\": {\n    \"a\": 1\n  },\n  \"raw\": \"{\\\"a\\\":1}\",\n  \"method\": \"POST\"\n}" {
		t.Errorf("res: %+v, %+v", got, resp.Error)
	}
	resp, _ = a.invoke("express", "", httpRequest("GET", "http://localhost/api/x", ""))
	if got := resp.Outputs["res"].HTTPResponse; got == nil || got.StatusCode != 202 || got.Header.Get("Content-Type") != "text/html; charset=utf-8" || string(got.Body) != "<p>" {
		t.Errorf("express: %+v, %+v", got, resp.Error)
	}
	resp, _ = a.invoke("return", "", httpRequest("POST", "http://localhost/api/x", "\x00\xff", "Content-Type", "application/octet-stream"))
	if got := resp.Return; got == nil || got.HTTPResponse == nil || string(got.HTTPResponse.Body) != "\x00\xff" {
		t.Errorf("return: %+v, %+v", got, resp.Error)
	}
	if resp, _ = a.invoke("empty", "", httpRequest("GET", "http://localhost/api/x", "")); resp.Status != call.Succeeded {
		t.Errorf("empty: %+v", resp.Error)
	}
}

// needModel4 skips a test where the package of the newer model is missing.
func needModel4(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../../.interop/node_modules/@azure/functions/package.json"); err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
}

// loadDeclared tells the worker of the functions that the app has declared.
func (a *nodeApp) loadDeclared(list []call.Declaration) []worker.Function {
	a.Helper()
	var functions []worker.Function
	for _, d := range list {
		f := worker.Function{Name: d.Name}
		for _, raw := range d.Bindings {
			f.Bindings = append(f.Bindings, binding(string(raw)))
		}
		functions = append(functions, f)
	}
	if failures, err := a.w.Load(context.Background(), functions); err != nil || len(failures) > 0 {
		a.Fatalf("%v, %v", failures, err)
	}
	return functions
}

// The newer model, by the package that apps bring along (spec workers 10.1).
func TestNodeModel4(t *testing.T) {
	t.Parallel()
	needModel4(t)
	a := startNode(t, map[string]string{
		"package.json": `{"main": "dist/{start.js,functions/**/*.js}"}`,
		"dist/start.js": `const { app } = require("@azure/functions")
			app.hook.preInvocation((context) => { context.inputs[0].hooked = true })
			app.hook.log((context) => { if (context.category === "user") context.message += " (hooked)" })
			app.hook.appStart((context) => { if (!context.hookData) throw new Error("no data") })`,
		"dist/functions/deep/orders.js": `const { app, output } = require("@azure/functions")
			const out = output.storageQueue({ queueName: "done", connection: "AzureWebJobsStorage", name: "out" })
			app.storageQueue("orders", { queueName: "orders", connection: "AzureWebJobsStorage", name: "in", extraOutputs: [out],
				retry: { strategy: "exponentialBackoff", maxRetryCount: 5, minimumInterval: { seconds: 10 }, maximumInterval: { minutes: 15 } },
				handler: async (order, context) => {
					context.warn("line")
					if (order.fail) throw new RangeError("boom")
					context.extraOutputs.set(out, { hooked: order.hooked, retry: context.retryContext ? context.retryContext.retryCount : "none", count: context.triggerMetadata.dequeueCount })
				} })`,
		"dist/functions/hello.js": `const { app } = require("@azure/functions")
			app.http("hello", { methods: ["GET"], authLevel: "anonymous", handler: async (req, context) => ({ status: 203, jsonBody: { q: req.query.get("q"), id: req.params.id, h: req.headers.get("x-h") } }) })`,
	})
	list, err := a.w.Functions(context.Background())
	if err != nil || len(list) != 2 || !a.w.InCode() {
		t.Fatalf("%v, %v", list, err)
	}
	byName := map[string]call.Declaration{}
	for _, d := range list {
		byName[d.Name] = d
	}
	if p := byName["orders"].Retry; p == nil || *p.Strategy != "exponentialBackoff" || *p.MaxRetryCount != 5 || p.MinimumInterval.String() != "10s" || p.MaximumInterval.String() != "15m0s" {
		t.Errorf("policy: %+v", p)
	}
	functions := a.loadDeclared(list)
	resp, logs := a.invoke("orders", `{"id":7}`, func(r *call.Request) {
		r.Metadata = map[string]bindings.Value{"DequeueCount": bindings.JSONValue([]byte("3"))}
	})
	if got, want := resp.Outputs["out"].Text, `{"hooked":true,"retry":"none","count":3}`; got != want {
		t.Errorf("orders: %s, %+v; want %s", got, resp.Error, want)
	}
	if len(logs) != 1 || logs[0].Message != "line (hooked)" || logs[0].Level != call.Warning {
		t.Errorf("lines: %+v", logs)
	}
	resp, _ = a.invoke("orders", `{"fail":true}`, nil)
	if resp.Status != call.Failed || resp.Error.Type != "RangeError" || resp.Error.Message != "boom" {
		t.Errorf("a failure: %+v, %+v", resp, resp.Error)
	}
	resp, _ = a.invoke("hello", "", func(r *call.Request) {
		httpRequest("GET", "http://localhost/api/hello?q=1", "", "X-H", "h")(r)
		r.Inputs[0].Name = functions[slices.IndexFunc(functions, func(f worker.Function) bool { return f.Name == "hello" })].Bindings[0].Name
	})
	if resp.Return == nil || resp.Return.HTTPResponse == nil || resp.Return.HTTPResponse.StatusCode != 203 || string(resp.Return.HTTPResponse.Body) != `{"q":"1","id":"7","h":"h"}` {
		t.Errorf("hello: %+v, %+v", resp.Return, resp.Error)
	}
}

// What goes wrong at the start of an app is told with the functions, or with each load.
func TestNodeStartErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"throws":     {map[string]string{"package.json": `{"main":"app.js"}`, "app.js": `throw new Error("no configuration")`}, "no configuration"},
		"not built":  {map[string]string{"package.json": `{"main":"dist/*.js","scripts":{"build":"tsc"}}`}, `"dist/*.js", and there is no such file: build the app first`},
		"unreadable": {map[string]string{"package.json": `{`}, "package.json cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startNode(t, tt.files)
			if _, err := a.w.Functions(context.Background()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		a := startNode(t, map[string]string{"package.json": `{"main":"app.js"}`, "app.js": `throw new Error("no configuration")`, "f/function.json": `{}`, "f/index.js": `module.exports = () => {}`})
		if failures := a.load(a.queueFunction("f", "f/index.js", "")); failures["f"] == nil || !strings.Contains(failures["f"].Message, "no configuration") {
			t.Errorf("failures %v", failures)
		}
	})
}

// The worker ends with a function that ends its process, and says why when user code
// throws where nobody waits.
func TestNodeExits(t *testing.T) {
	t.Parallel()
	a := startNode(t, map[string]string{
		"exit.js":   `module.exports = async (context, order) => { if (order === "exit") process.exit(3); if (order === "throw") { setTimeout(() => { throw new Error("nobody waits") }); await new Promise(() => {}) } context.bindings.out = "alive" }`,
		"binary.js": `module.exports = async (context) => { process.stdout.write(Buffer.from([0, 255, 10, 1])); context.bindings.out = "x".repeat(5 << 20) + "\ud800" }`,
	})
	a.load(a.queueFunction("exit", "exit.js", ""), a.queueFunction("binary", "binary.js", ""))
	for order, want := range map[string]string{"exit": "exit status 3", "throw": "exit status 1"} {
		_, err := a.w.Invoke(context.Background(), &call.Request{InvocationID: order, Function: "exit", Inputs: []call.Input{{Name: "in", Value: bindings.StringValue(order)}}}, func(call.Log) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", order, err, want)
		}
	}
	if resp, _ := a.invoke("exit", "x", nil); resp.Outputs["out"].Text != "alive" {
		t.Errorf("afterwards: %+v, %+v", resp, resp.Error)
	}
	if resp, _ := a.invoke("binary", "x", nil); len(resp.Outputs["out"].Text) != 5<<20+3 {
		t.Errorf("large text: %d bytes, %+v", len(resp.Outputs["out"].Text), resp.Error)
	}
}
