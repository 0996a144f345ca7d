package shim_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/host/worker/javatest"
	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

const javaLibraries = javatest.Interop(interop)

// javaApp makes the staged app of sources in testdata.
func javaApp(t *testing.T, sources string, jars ...string) (dir string) {
	t.Helper()
	javaLibraries.Need(t)
	jar, err := javaLibraries.Jar(os.DirFS(filepath.Join("testdata", "java", sources)))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.jar"), jar, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := javaLibraries.Libraries(dir, jars...); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startJava starts the shim on an app.
func startJava(t *testing.T, dir string, env ...string) *script {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	one, ok := shim.Of("java")
	if !ok {
		t.Fatal("there is no shim for Java")
	}
	source, err := one.Install()
	if err != nil {
		t.Fatal(err)
	}
	classes, class, err := shim.CompileJava(t.Context(), "javac", source)
	if err != nil {
		t.Fatal(err)
	}
	env = append([]string{"FUNCTIONS_WORKER_DIRECTORY=" + filepath.Dir(source)}, env...)
	s := run(t, dir, []string{java, "-XX:TieredStopAtLevel=1", "-cp", classes, class}, env...)
	s.init(dir)
	return s
}

// java loads a function of class shop.Values and returns its ID.
func (s *script) java(method string, bindings ...string) string {
	s.Helper()
	return s.file("app.jar", "shop.Values."+method, append(bindings, "in queueTrigger in")...)
}

// TestJava runs functions with the JSON of the shim, and with that of Gson, which says what
// is right.
func TestJava(t *testing.T) {
	t.Parallel()
	for name, jars := range map[string][]string{
		"own": {javatest.Annotations, javatest.Interfaces}, "Gson": {javatest.Annotations, javatest.Interfaces, javatest.Gson},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startJava(t, javaApp(t, "values", jars...))
			for name, run := range map[string]func(*testing.T, *script){
				"given": testJavaGiven, "given wrong": testJavaWrong, "returned": testJavaReturned, "outputs": testJavaOutputs, "context": testJavaContext,
				"logs": testJavaLogs, "http": testJavaHTTP, "failures": testJavaFailures, "load": testJavaLoad,
			} {
				t.Run(name, func(t *testing.T) { s.T = t; run(t, s) })
			}
			s.T = t
		})
	}
}

const javaOrder = `{\"id\":\"7\",\"number\":4,\"size\":\"LARGE\",\"lines\":[{\"item\":\"nut\",\"count\":2}],\"prices\":{\"EUR\":1.5},\"paid\":true,\"unknown\":{}}`

// What a function is given (spec workers-dotnet-java 2.4).
func testJavaGiven(t *testing.T, s *script) {
	const order = "7 4 LARGE kept {EUR=1.5} true nut*2"
	for _, tt := range []struct{ method, data, want string }{
		{"text", `{"string":"x y"}`, "x y 1"}, {"text", `{"json":"{\"a\":1}"}`, `{"a":1} 1`}, {"text", `{"bytes":"w7w="}`, "ü 1"}, {"text", `{"int":"7"}`, "7 1"}, {"text", `{}`, "null 1"},
		{"number", `{"string":" 7 "}`, "int 7"}, {"number", `{"json":"-7"}`, "int -7"}, {"number", `{"int":"7"}`, "int 7"}, {"large", `{"string":"9007199254740993"}`, "Long 9007199254740993"},
		{"large", `{}`, "Long null"}, {"real", `{"json":"0.1"}`, "double 0.1"}, {"real", `{"double":2.5}`, "double 2.5"}, {"decimal", `{"string":"1e3"}`, "BigDecimal 1E+3"},
		{"truth", `{"string":"True"}`, "boolean true"}, {"size", `{"string":"SMALL"}`, "SMALL"},
		{"bytes", `{"bytes":"AP8="}`, "[0, -1]"}, {"bytes", `{"string":"ü"}`, "[-61, -68]"},
		{"order", `{"string":"` + javaOrder + `"}`, order}, {"order", `{"json":"` + javaOrder + `"}`, order}, {"order", `{"bytes":"eyJpZCI6IjgifQ=="}`, "8 0 null null null null"}, {"order", `{}`, "null"},
		{"orders", `{"string":"[` + javaOrder + `]"}`, "ArrayList [" + order + "]"}, {"orders", `{"collectionString":{"string":["` + javaOrder + `"]}}`, "ArrayList [" + order + "]"},
		{"array", `{"json":"[` + javaOrder + `]"}`, "[" + order + "]"}, {"array", `{"collectionBytes":{"bytes":["eyJpZCI6IjgifQ=="]}}`, "[8 0 null null null null]"},
		{"texts", `{"collectionString":{"string":["a","{}",""]}}`, "3 [a, {}, ]"}, {"texts", `{"string":"no JSON"}`, "1 [no JSON]"}, {"texts", `{"string":"[\"a\"]"}`, "1 [a]"},
		// An object or array among them makes each member JSON (JW: RpcJsonDataSource.java convertToStringArrayOrList).
		{"texts", `{"json":"[{\"a\":1.50},\"b\",7,null]"}`, `4 [{"a":1.50}, "b", 7, null]`}, {"texts", `{"string":"[[],{}]"}`, "2 [[], {}]"},
		{"textArray", `{"collectionString":{"string":["a"]}}`, "1 [a]"}, {"set", `{"json":"[2,1,2]"}`, "[2, 1]"}, {"set", `{"collectionSint64":{"sint64":["5"]}}`, "[5]"},
		{"bytesList", `{"collectionBytes":{"bytes":["AA==",""]}}`, "[0];[]"}, {"map", `{"json":"{\"a\":[1,2]}"}`, "{a=[1, 2]}"},
		// Gson takes more than JSON.
		{"map", `{"json":"{'a':[1,2]}"}`, "{a=[1, 2]}"}, {"map", `{"json":"{a=[1;2]}"}`, "{a=[1, 2]}"}, {"map", `{"string":"# one\n{/* two */a => [1,2] // three\n}"}`, "{a=[1, 2]}"}, {"map", `{"string":"{\"it\\'s\":[]}"}`, "{it's=[]}"},
		{"order", `{"string":"{id:eight,number:007,paid:TRUE,lines:NULL}"}`, "eight 7 null null null true"}, {"texts", `{"string":"['a;b',c]"}`, "2 [a;b, c]"},
		{"maybe", `{"json":"` + javaOrder + `"}`, "Optional[" + order + "]"}, {"maybe", `{}`, "Optional.empty"}, {"maybe", `{"json":"null"}`, "Optional.empty"},
		{"any", `{"string":"{\"a\":\"b\"}"}`, "Map {a=b}"}, {"any", `{"string":"x {"}`, "String x {"}, {"any", `{"json":"[1,\"a\",null]"}`, "ArrayList [1.0, a, null]"}, {"any", `{}`, "none null"},
	} {
		want := tt.want
		// Gson has no constructor without parameters either, and leaves out what is transient.
		if got := told(s.call(s.java(tt.method, "$return queue out"), value(t, tt.data))); got != "returns "+line(text(want)) && got != "returns "+line(text(strings.Replace(want, " kept ", " null ", 1))) {
			t.Errorf("%s of %s: got %s, want %q", tt.method, tt.data, got, want)
		}
	}
}

// What no parameter can take fails the call, with the name of the binding.
func testJavaWrong(t *testing.T, s *script) {
	for _, tt := range []struct{ method, data, want string }{
		{"number", `{"string":"x"}`, `the value of "in" is no int: "x" is no int`}, {"number", `{"string":"1.5"}`, `"1.5" is no int`}, {"number", `{}`, `there is no value of "in" for a parameter of the type int`},
		{"truth", `{"string":"yes"}`, `"yes" is neither true nor false`}, {"size", `{"string":"HUGE"}`, "HUGE"}, {"order", `{"string":"no order"}`, `the value of "in" is no shop.Order: `},
		{"order", `{"json":"{\"number\":\"many\"}"}`, "many"}, {"order", `{"json":"[]"}`, `the value of "in" is no shop.Order: `}, {"orders", `{"string":"no list"}`, `the value of "in" is no java.util.List<shop.Order>: `},
		{"text", `{"modelBindingData":{"version":"1"}}`, "official worker"},
	} {
		if got := told(s.call(s.java(tt.method, "$return queue out"), value(t, tt.data))); !strings.HasPrefix(got, "fails: IllegalArgumentException: ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s of %s: got %s, want %q", tt.method, tt.data, got, tt.want)
		}
	}
	r := s.invoke(&workerpb.InvocationRequest{FunctionId: s.java("text", "$return queue out"), InputData: input("other", text("x"))})
	if got, want := told(r), `fails: IllegalArgumentException: there is no input "in" for this call`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a function gives back (spec workers-dotnet-java 2.3).
func testJavaReturned(t *testing.T, s *script) {
	id := s.java("give", "$return queue out")
	for input, want := range map[string]string{
		"int": `returns {"int":"7"}`, "long": `returns {"int":"-9223372036854775808"}`, "double": `returns {"double":1.5}`, "nan": `returns {"double":"NaN"}`,
		"text": `returns {"string":"half � ü \"<\""}`, "bytes": `returns {"bytes":"AP8="}`, "boolean": `returns {"json":"true"}`, "list": `returns {"json":"[\"a\",2]"}`,
		"order": `returns {"json":"{\"id\":\"\\u003c7\\u003e\",\"size\":\"LARGE\",\"lines\":[{\"count\":0}],\"number\":3}"}`, "map": `returns {"json":"{\"b\":[1,2]}"}`, "null": "",
	} {
		if got := strings.ReplaceAll(told(s.call(id, text(input))), `": `, `":`); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
}

// Outputs that are not set are not sent.
func testJavaOutputs(t *testing.T, s *script) {
	id := s.java("both", "out queue out", "file blob out")
	if got, want := strings.ReplaceAll(told(s.call(id, text("set"))), `": `, `":`), `out={"json":"{\"id\":\"8\",\"number\":3}"} file={"bytes":"MyBieXRlcw=="}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := told(s.call(id, text("no"))); got != "" {
		t.Errorf("got %s, want nothing", got)
	}
	// An output is a plain object to libraries that write objects as JSON, which a proxy is not.
	id = s.java("serialised", "out queue out", "more queue out")
	if got, want := strings.ReplaceAll(told(s.call(id, text("x"))), `": `, `":`), `out={"json":"{\"more\":{\"value\":\"x\"}}"} more={"string":"x"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What the context and the metadata say; without a policy the retry context is zero (spec
// workers-dotnet-java 2.3).
func testJavaContext(t *testing.T, s *script) {
	id := s.java("context", "$return queue out", "other other in")
	ask := func(retry *workerpb.RetryContext, metadata map[string]*workerpb.TypedData) string {
		return told(s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: append(input("in", text("x")), input("other", text("o"))...), RetryContext: retry, TriggerMetadata: metadata,
			TraceContext: &workerpb.RpcTraceContext{TraceParent: "00-a-b-01", TraceState: "s", Attributes: map[string]string{"k": "v"}}}))
	}
	metadata := map[string]*workerpb.TypedData{"DequeueCount": value(t, `{"json":"2"}`), "Id": text("m")}
	for want, retry := range map[string]*workerpb.RetryContext{
		"call-1 F 00-a-b-01 s {k=v} 0 0 <||> 2 m o truefalsetrue":          nil,
		"call-1 F 00-a-b-01 s {k=v} 0 4 <||> 2 m o truefalsetrue":          {MaxRetryCount: 4},
		"call-1 F 00-a-b-01 s {k=v} 3 -1 <why|who|at> 2 m o truefalsetrue": {RetryCount: 3, MaxRetryCount: -1, Exception: &workerpb.RpcException{Message: "why", Source: "who", StackTrace: "at"}},
	} {
		if got := ask(retry, metadata); got != "returns "+line(text(want)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	delete(metadata, "Id")
	metadata["id"] = text("m") // case counts
	if got, want := ask(nil, metadata), `fails: IllegalArgumentException: the trigger has no metadata "Id" for the parameter with @BindingName("Id")`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Lines of the logger come before the answer, with the levels of the official worker.
func testJavaLogs(t *testing.T, s *script) {
	s.call(s.java("logs"), text("x"))
	want := []string{
		"call-1 Error : at SEVERE {0}", "call-1 Warning : at WARNING {0}", "call-1 Information : at INFO {0}", "call-1 Debug : at CONFIG {0}", "call-1 Trace : at FINE {0}",
		"call-1 Trace : at FINEST {0}", "call-1 Error : with",
	}
	if diff := cmp.Diff(want, s.logs()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Requests and responses; the request is metadata, too.
func testJavaHTTP(t *testing.T, s *script) {
	id := s.file("app.jar", "shop.Values.http", "req httpTrigger in", "$return http out")
	ask := func(id, query string, body *workerpb.TypedData) *workerpb.InvocationResponse {
		r := &workerpb.RpcHttp{Method: "POST", Url: "http://h:1/api/x?answer=" + query, Headers: map[string]string{"a": "1"}, Query: map[string]string{"answer": query}, Body: body}
		return s.invoke(&workerpb.InvocationRequest{FunctionId: id, InputData: input("req", &workerpb.TypedData{Data: &workerpb.TypedData_Http{Http: r}})})
	}
	for _, tt := range []struct {
		query, want string
		body        *workerpb.TypedData
	}{
		{"", `200 {} {"string":"POST http://h:1/api/x?answer= {a=1} {answer=} Optional[text] 4"}`, text("text")},
		{"", `200 {} {"string":"POST http://h:1/api/x?answer= {a=1} {answer=} Optional.empty none"}`, nil},
		{"", `200 {} {"string":"POST http://h:1/api/x?answer= {a=1} {answer=} Optional[{\"a\":1}] 7"}`, value(t, `{"json":"{\"a\":1}"}`)},
		{"order", `201 {"x-a":"2"} {"json":"{\"id\":\"9\",\"number\":3}"}`, nil},
		{"custom", `299 {"X-A":"1299"} {"bytes":"AQ=="}`, nil},
		{"empty", `204 {} {}`, nil},
	} {
		got := told(ask(id, tt.query, tt.body))
		if r := ask(id, tt.query, tt.body).GetReturnValue().GetHttp(); r != nil {
			headers := "{}"
			for name, value := range r.GetHeaders() {
				headers = `{"` + name + `":"` + value + `"}`
			}
			got = strings.ReplaceAll(r.GetStatusCode()+" "+headers+" "+line(r.GetBody()), `": `, `":`)
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.query, got, tt.want)
		}
	}
	id = s.file("app.jar", "shop.Values.httpOrder", "req httpTrigger in", "$return http out")
	got := strings.Replace(told(ask(id, "", value(t, `{"json":"`+javaOrder+`"}`))), " null ", " kept ", 1)
	if want := "returns " + line(text("7 4 LARGE kept {EUR=1.5} true nut*2")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	id = s.file("app.jar", "shop.Values.httpBody", "req httpTrigger in", "$return http out")
	if got, want := told(ask(id, "", nil)), `the value of "req" is no shop.Order: it is an HTTP request, which only an HttpRequestMessage<T> takes`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A failure has type, message and the calls of the app.
func testJavaFailures(t *testing.T, s *script) {
	id := s.java("fail")
	for input, want := range map[string]struct{ typ, message, first string }{
		"boom":   {"java.lang.IllegalArgumentException", "IllegalArgumentException: boom", "\tat shop.Values.fail(Values.java:"},
		"cause":  {"java.lang.Exception", "Exception: outer", "\tat shop.Values.fail(Values.java:"},
		"none":   {"java.lang.NullPointerException", "NullPointerException", "\tat shop.Values.fail(Values.java:"},
		"odd":    {"shop.Values$OddException", "Values$OddException: (its message cannot be read: java.lang.IllegalStateException)", "\tat shop.Values.fail(Values.java:"},
		"leaves": {"shop.Values$1", "Values$1: (its message cannot be read: java.lang.StackOverflowError)", "(the rest cannot be read: java.lang.LinkageError)"},
		"class":  {"java.lang.ExceptionInInitializerError", "ExceptionInInitializerError", "\tat shop.Values.fail(Values.java:"},
		"deep":   {"java.lang.StackOverflowError", "StackOverflowError", "\tat "}, // where the stack is full
	} {
		e := s.call(id, text(input)).GetResult().GetException()
		if e.GetType() != want.typ || e.GetMessage() != want.message || !strings.HasPrefix(e.GetStackTrace(), want.first) || strings.Contains(e.GetStackTrace(), "RedeliverWorker") || !e.GetIsUserException() {
			t.Errorf("%s: got type %q, message %q, stack\n%.300s", input, e.GetType(), e.GetMessage(), e.GetStackTrace())
		}
		if input == "cause" && !strings.Contains(e.GetStackTrace(), "\nCaused by: java.lang.IllegalStateException: inner\n") {
			t.Errorf("the cause is missing:\n%s", e.GetStackTrace())
		}
	}
	s.status()
}

// What cannot be called is a failure of its load, with what helps.
func testJavaLoad(t *testing.T, s *script) {
	for _, tt := range []struct{ file, entry, want string }{
		{"app.jar", "shop.Values.twice", "class shop.Values has more than one method twice: a function cannot be overloaded"},
		{"app.jar", "shop.Values.hidden", "class shop.Values has no public method hidden"},
		{"app.jar", "shop.Values.toString", "class shop.Values has no public method toString"},
		{"app.jar", "shop.Values.unnamed", "of shop.Values.unnamed has no annotation that names a binding"},
		{"app.jar", "shop.Values$Unmade.run", "class shop.Values$Unmade has no constructor without parameters"},
		{"app.jar", "shop.Missing.run", `the jar has no class shop.Missing, which the entryPoint of function F names: run "mvn package"`},
		{"app.jar", "run", `the entryPoint of function F is "run", and has to be the name of a class and a method`},
		{"none.jar", "shop.Values.text", `none.jar is missing: run "mvn package"`},
	} {
		got := s.loadFile(tt.file+tt.entry, tt.file, tt.entry, "in queueTrigger in")
		if m := got.GetException().GetMessage(); got.GetStatus() != workerpb.StatusResult_Failure || !strings.Contains(m, tt.want) {
			t.Errorf("%s: got %v %q, want %q", tt.entry, got.GetStatus(), m, tt.want)
		}
	}
}

// The interfaces, which a build leaves out of lib, come from where Maven or Gradle has put
// them; else the failure names the jar (spec workers-dotnet-java 2.1, 2.5).
func TestJavaInterfaces(t *testing.T) {
	t.Parallel()
	const name = "azure-functions-java-core-library"
	found, _ := filepath.Glob(filepath.Join(interop, "javafunctions", javatest.Interfaces))
	for title, tt := range map[string]struct{ path, settings, want string }{
		"Maven":    {".m2/repository/com/microsoft/azure/functions/" + name + "/1.3.0/" + name + "-1.3.0.jar", "", ""},
		"settings": {"own/com/microsoft/azure/functions/" + name + "/1.3.0/" + name + "-1.3.0.jar", "<settings><localRepository> ${user.home}/own </localRepository></settings>", ""},
		"Gradle":   {".gradle/caches/modules-2/files-2.1/com.microsoft.azure.functions/" + name + "/1.3.0/abc/" + name + "-1.3.0.jar", "", ""},
		"sources":  {".m2/repository/com/microsoft/azure/functions/" + name + "/1.3.0/" + name + "-1.3.0-sources.jar", "", "com.microsoft.azure.functions:" + name + " is neither in the folder lib"},
		"nowhere":  {"x", "", "com.microsoft.azure.functions:" + name + " is neither in the folder lib"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			dir, home := javaApp(t, "values", javatest.Annotations), t.TempDir()
			from, err := filepath.Abs(found[0])
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(home, filepath.FromSlash(tt.path))
			for _, folder := range []string{filepath.Dir(to), filepath.Join(home, ".m2")} {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(from, to); err != nil {
				t.Fatal(err)
			}
			if tt.settings != "" {
				if err := os.WriteFile(filepath.Join(home, ".m2", "settings.xml"), []byte(tt.settings), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := startJava(t, dir, "JAVA_TOOL_OPTIONS=-Duser.home="+home, "GRADLE_USER_HOME="+filepath.Join(home, ".gradle"))
			got := s.loadFile("f", "app.jar", "shop.Values.context", "in queueTrigger in")
			if m := got.GetException().GetMessage(); tt.want == "" && got.GetStatus() != workerpb.StatusResult_Success || !strings.Contains(m, tt.want) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

// A factory of instances that the app brings along is asked for them. Its interface is there
// where the build has left it to the worker, as for dependencies that are provided.
func TestJavaInjector(t *testing.T) {
	t.Parallel()
	for title, hidden := range map[string]string{"with the interface": "", "without the interface": "spi/inject/"} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			dir := javaApp(t, "injected", javatest.Annotations, javatest.Interfaces)
			without(t, filepath.Join(dir, "app.jar"), hidden)
			s := startJava(t, dir)
			id := s.file("app.jar", "shop.Injector$Functions.run", "in queueTrigger in", "$return queue out")
			if got, want := told(s.call(id, text("x"))), "returns "+line(text("injected")); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// without removes the classes whose names have a part from a jar; none for no part.
func without(t *testing.T, jar, part string) {
	t.Helper()
	r, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range r.File {
		if part == "" || !strings.HasSuffix(f.Name, ".class") || !strings.Contains(f.Name, part) {
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(jar, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// A build writes over the jar that runs: what the app loads later is still of the one
// that it has begun with. No copy of it stays behind.
func TestJavaOverwritten(t *testing.T) {
	t.Parallel()
	dir, worker := javaApp(t, "values", javatest.Annotations, javatest.Interfaces), t.TempDir()
	stale := filepath.Join(worker, "running", "999999999-0.jar")
	if err := os.MkdirAll(filepath.Dir(stale), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startJava(t, dir, "FUNCTIONS_WORKER_DIRECTORY="+worker)
	id := s.java("give", "$return queue out")
	if err := os.WriteFile(filepath.Join(dir, "app.jar"), []byte("a build has begun"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := told(s.call(id, text("order"))); !strings.HasPrefix(got, "returns ") {
		t.Errorf("got %s, want an order", got)
	}
	s.end()
	if left, err := os.ReadDir(filepath.Dir(stale)); err != nil || len(left) > 0 {
		t.Errorf("%v stay behind, %v", left, err)
	}
}

// What only the official worker does is a failure of the load.
func TestJavaOfficialOnly(t *testing.T) {
	t.Parallel()
	javaLibraries.Need(t)
	const service = "META-INF/services/com.microsoft.azure.functions.internal.spi.middleware.Middleware"
	plain := `package shop;
		import com.microsoft.azure.functions.annotation.QueueTrigger;
		public class Plain { public void run(@QueueTrigger(name = "in", queueName = "q") TYPE in) {} }`
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"middleware": {fstest.MapFS{
			"shop/Plain.java": {Data: []byte(strings.Replace(plain, "TYPE", "String", 1))}, service: {Data: []byte("# ours\nshop.Around\n")},
		}, "the app has the middleware shop.Around, which only the official worker runs: start with --worker official"},
		"Durable Functions": {fstest.MapFS{
			"shop/Plain.java": {Data: []byte(strings.Replace(plain, "TYPE", "String", 1))}, service: {Data: []byte("com.microsoft.durabletask.azurefunctions.Any")},
		}, ""},
		"SDK type": {fstest.MapFS{
			"shop/Plain.java":               {Data: []byte(strings.Replace(plain, "TYPE", "com.azure.storage.Client", 1))},
			"com/azure/storage/Client.java": {Data: []byte("package com.azure.storage; public class Client {}")},
		}, "has the type com.azure.storage.Client of an SDK, which only the official worker gives"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jar, err := javaLibraries.Jar(tt.files)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "app.jar"), jar, 0o600), javaLibraries.Libraries(dir, javatest.Annotations, javatest.Interfaces)); err != nil {
				t.Fatal(err)
			}
			got := startJava(t, dir).loadFile("f", "app.jar", "shop.Plain.run", "in queueTrigger in").GetException().GetMessage()
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The process ends as it is asked to, with the app's hooks, and by System.exit with its
// code; a line that is no message harms nothing.
func TestJavaProcess(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"-1": 0, "7": 7} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startJava(t, javaApp(t, "values", javatest.Annotations, javatest.Interfaces))
			s.raw("no message")
			s.status()
			if got := s.functions(s.cmd.Dir); !got.GetUseDefaultMetadataIndexing() || len(got.GetFunctionMetadataResults()) > 0 {
				t.Errorf("functions: %v, want that files declare them", got)
			}
			id := s.java("exit")
			s.begin(1, &workerpb.InvocationRequest{FunctionId: id, InputData: input("in", text(name))})
			if code == 0 {
				s.ended("call-1")
				s.send(&workerpb.StreamingMessage{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{GracePeriod: durationpb.New(20 * time.Second)}}})
			}
			if got := s.exited(); got != code || !strings.Contains(s.printed(), "the hook has run ü\n") {
				t.Errorf("exit code %d, want %d; it has written %q", got, code, s.printed())
			}
		})
	}
}
