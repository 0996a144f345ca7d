package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

func raw(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}

func TestDeclaredFunctions(t *testing.T) {
	t.Parallel()
	breaker := &call.CircuitBreaker{Failures: 3, Pause: time.Minute, Probes: 2}
	a := load(t, map[string]string{
		"Orders/function.json": functionJSON(timerBinding, ""),
		"Own/function.json":    functionJSON(timerBinding, `"redeliver":{"circuitBreaker":{"failures":7,"pause":"00:02:00"}}`),
	}, &app.Options{InProcess: true, Declared: []call.Declaration{
		{Name: "tick", Bindings: raw(timerBinding), Disabled: true},
		{Name: "ORDERS", Bindings: raw(queueBinding), Disabled: true, CircuitBreaker: breaker},
		{Name: "Plain", Bindings: raw(queueBinding, `{"type": "queue", "name": "$return", "direction": "out", "queueName": "done"}`)},
		{Name: "Own", CircuitBreaker: breaker},
	}})
	wantNoFaults(t, a)
	var got []string
	for _, f := range a.Functions {
		got = append(got, f.Name+" "+f.Trigger.Type)
	}
	want := []string{"Orders timerTrigger", "Own timerTrigger", "Plain queueTrigger", "tick timerTrigger"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions; function.json wins as a whole (-want +got):\n%s", diff)
	}
	orders, tick := function(t, a, "Orders"), function(t, a, "tick")
	if !orders.Declared || orders.File != "Orders/function.json" {
		t.Errorf("Orders: Declared %v, File %q", orders.Declared, orders.File)
	}
	if !tick.Declared || tick.File != "" || tick.Dir != "" {
		t.Errorf("tick: %+v", tick)
	}
	if !tick.Disabled || tick.DisabledBy != "code" {
		t.Errorf("tick: disabled %v by %q", tick.Disabled, tick.DisabledBy)
	}
	if orders.Disabled || orders.CircuitBreaker != nil {
		t.Errorf("Orders: disabled %v, circuit breaker %v; the file has neither", orders.Disabled, orders.CircuitBreaker)
	}
	if got := function(t, a, "Own").CircuitBreaker; got == nil || got.Failures != 7 {
		t.Errorf("Own: circuit breaker %+v, want the file's", got)
	}
	var config struct{ Bindings []map[string]any }
	if err := json.Unmarshal(tick.Config, &config); err != nil || len(config.Bindings) != 1 {
		t.Errorf("Config of a declared function: %s (%v)", tick.Config, err)
	}
}

// Faults in declarations name the place "code" and a path that begins with the
// function's name.
func TestDeclaredFaults(t *testing.T) {
	t.Parallel()
	strategy, count := "fixedDelay", -4
	for _, tt := range []struct {
		name string
		d    []call.Declaration
		want []schemas.Fault
	}{
		{
			name: "no JSON", d: []call.Declaration{{Name: "F", Bindings: raw(timerBinding, `{"type":`)}},
			want: []schemas.Fault{{Path: "F.bindings[1]", Kind: schemas.KindJSON, First: true}},
		},
		{
			name: "binding", d: []call.Declaration{{Name: "F", Bindings: raw(`{"type": "timerTrigger", "name": "a b", "schedule": "%X%"}`)}},
			want: []schemas.Fault{
				{Path: "F.bindings[0].name", Kind: schemas.KindArgument, First: true},
				{Path: "F.bindings[0].schedule", Kind: schemas.KindInvalidOperation},
			},
		},
		{
			name: "retry", d: []call.Declaration{{Name: "F", Bindings: raw(timerBinding), Retry: &retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count}}},
			want: []schemas.Fault{
				{Path: "F.retry.delayInterval", Kind: schemas.KindArgumentNull, First: true},
				{Path: "F.retry.maxRetryCount", Kind: schemas.KindArgumentOutOfRange},
			},
		},
		{
			name: "circuit breaker", d: []call.Declaration{{Name: "F", Bindings: raw(timerBinding), CircuitBreaker: &call.CircuitBreaker{}}},
			want: []schemas.Fault{{Path: "F.circuitBreaker.failures"}, {Path: "F.circuitBreaker.pause"}, {Path: "F.circuitBreaker.probes"}},
		},
		{
			name: "name", d: []call.Declaration{{Name: "a b", Bindings: raw(timerBinding)}},
			want: []schemas.Fault{{Path: `["a b"]`, Kind: schemas.KindInvalidOperation, First: true}},
		},
		{
			name: "name twice", d: []call.Declaration{{Name: "A", Bindings: raw(timerBinding)}, {Name: "a", Bindings: raw(timerBinding)}},
			want: []schemas.Fault{{Path: "a", Kind: schemas.KindInvalidOperation, First: true}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"Good/function.json": functionJSON(timerBinding, "")}, &app.Options{InProcess: true, Declared: tt.d})
			var got []schemas.Fault
			for _, f := range a.Functions {
				for _, fault := range f.Faults {
					if fault.File != "code" || fault.Line != 0 {
						t.Errorf("place: got %s:%d, want code", fault.File, fault.Line)
					}
					got = append(got, schemas.Fault{Path: fault.Path, Kind: fault.Kind, First: fault.First})
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if function(t, a, "Good").InError() {
				t.Error("the good function is in error too")
			}
		})
	}
}

// A handler that no function uses is a warning: without bindings and folder, or left
// after its folder.
func TestIdleHandlers(t *testing.T) {
	t.Parallel()
	declared := []call.Declaration{{Name: "Plain"}, {Name: "Gone", Bindings: raw(timerBinding)}, {Name: "Both", Bindings: raw(timerBinding)}, {Name: "Good"}}
	a := load(t, map[string]string{"Good/function.json": functionJSON(timerBinding, "")},
		&app.Options{InProcess: true, Declared: declared, Removed: []string{"gone", "Good"}})
	wantNoFaults(t, a)
	var names, idle []string
	for _, f := range a.Functions {
		names = append(names, f.Name)
	}
	for _, w := range a.IdleHandlers {
		idle = append(idle, w.File+" "+w.Path+": "+w.Reason)
		if !slices.Contains(a.Warnings, w) || w.Hint == "" {
			t.Errorf("%v is no warning, or has no hint", w)
		}
	}
	if diff := cmp.Diff([]string{"Both", "Good"}, names); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"code Plain: the program has a handler of this name that declares no bindings, and there is no function.json: it does not run",
		"code Gone: the function's folder was removed, and the function with it; the program still has its handler",
	}, idle); diff != "" {
		t.Errorf("idle handlers (-want +got):\n%s", diff)
	}
}

// Issue item 6: what runs the functions of an app.
func TestDiscoverHandler(t *testing.T) {
	t.Parallel()
	const (
		main    = "package main\n\nimport \"github.com/redeliver/redeliver/functions\"\n\nfunc main() { functions.Main(nil) }\n"
		foreign = "package main\n\nfunc main() {}\n"
		library = "package x\n\nimport _ \"github.com/redeliver/redeliver/functions\"\n"
		broken  = "package main\n\nimport \"github.com/redeliver/redeliver/functions\"\n\nfunc main( {"
	)
	prebuilt := hostWith(`"customHandler": {"description": {"defaultExecutablePath": "bin/handler", "workingDirectory": "work", "arguments": ["%Mode%"]}}`)
	inPath := hostWith(`"customHandler": {"description": {"defaultExecutablePath": "handler"}}`)
	for _, tt := range []struct {
		name    string
		files   map[string]string
		runtime string
		want    app.HandlerKind
		path    string // relative to the app, or as it is
		fault   string
	}{
		{name: "nothing", want: app.NoHandler},
		{name: "main package that imports functions", files: map[string]string{"main.go": main}, want: app.GoSource, path: "."},
		{name: "in another file", files: map[string]string{"a.go": foreign, "b.go": main}, want: app.GoSource, path: "."},
		{name: "does not compile", files: map[string]string{"main.go": broken}, want: app.GoSource, path: "."},
		{name: "main package that imports functions through a package of its module", files: map[string]string{
			"go.mod": "module shop\n", "main.go": "package main\n\nimport \"shop/internal/orders\"\n\nfunc main() { orders.Main() }\n", "internal/orders/x.go": library,
		}, want: app.GoSource, path: "."},
		{name: "another main package", files: map[string]string{"main.go": foreign}, want: app.NoHandler},
		{name: "a library", files: map[string]string{"x.go": library}, want: app.NoHandler},
		{name: "only tests", files: map[string]string{"main_test.go": main}, want: app.NoHandler},
		{name: "in a sub-folder", files: map[string]string{"cmd/main.go": main}, want: app.NoHandler},
		{name: "runtime go", files: map[string]string{"main.go": foreign}, runtime: "Go", want: app.GoSource, path: "."},
		{name: "runtime go, no program", runtime: "go", want: app.GoSource, path: ".", fault: "no main package"},
		{name: "prebuilt", files: map[string]string{"host.json": prebuilt, "bin/handler": "x", "main.go": main}, want: app.Executable, path: "bin/handler"},
		{name: "prebuilt in PATH", files: map[string]string{"host.json": inPath}, want: app.Executable, path: "handler"},
		{name: "prebuilt, of this module", files: map[string]string{"host.json": hostWith(`"customHandler": {"description": {"defaultExecutablePath": ` + strconv.Quote(os.Args[0]) + `}}`)}, want: app.Executable, path: os.Args[0]},
		{name: "prebuilt, another program", files: map[string]string{"host.json": prebuilt, "bin/handler": "x"}, want: app.Custom, path: "bin/handler"},
		{name: "prebuilt, another program, said to be ours", files: map[string]string{"host.json": prebuilt, "bin/handler": "x"}, runtime: "go", want: app.Executable, path: "bin/handler"},
		{name: "prebuilt, missing, over HTTP", files: map[string]string{"host.json": hostWith(`"customHandler": {"description": {"defaultExecutablePath": "bin/handler"}, "enableForwardingHttpRequest": true}`)}, want: app.Custom, path: "bin/handler", fault: "does not exist"},
		{name: "prebuilt, missing, source of another program", files: map[string]string{"host.json": prebuilt, "main.go": foreign}, want: app.Custom, path: "bin/handler", fault: "does not exist"},
		{name: "prebuilt, missing", files: map[string]string{"host.json": prebuilt}, want: app.Executable, path: "bin/handler", fault: "does not exist"},
		{name: "custom", files: map[string]string{"host.json": prebuilt, "bin/handler": "x"}, runtime: "Custom", want: app.Custom, path: "bin/handler"},
		{name: "custom without a program", runtime: "custom", want: app.Custom, fault: "names no program"},
		{name: "node", files: map[string]string{"main.go": main}, runtime: "node", want: app.Language},
		{name: "python", runtime: "python", want: app.Language},
		{name: "native", files: map[string]string{"main.go": foreign}, runtime: "native", want: app.Language},
		{name: "golang", runtime: "golang", want: app.Language},
		{name: "golang with a main package that imports functions", files: map[string]string{"main.go": main}, runtime: "golang", want: app.GoSource, path: "."},
		{name: "unknown", runtime: "cobol", want: app.NoHandler, fault: "no such worker runtime"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := writeApp(t, tt.files)
			env := map[string]string{"MODE": "fast"}
			if tt.runtime != "" {
				env["FUNCTIONS_WORKER_RUNTIME"] = tt.runtime
			}
			a := loadDir(t, dir, &app.Options{Env: env})
			h := a.Handler
			want := tt.path
			if want != "" && want != "handler" && !filepath.IsAbs(want) {
				want = strings.TrimSuffix(a.Dir+"/"+tt.path, "/.")
			}
			if h.Kind != tt.want || strings.ReplaceAll(h.Path, `\`, "/") != strings.ReplaceAll(want, `\`, "/") {
				t.Errorf("got %s %q, want %s %q", h.Kind, h.Path, tt.want, want)
			}
			switch {
			case (h.Fault == nil) != (tt.fault == ""), h.Fault != nil && !strings.Contains(h.Fault.Reason, tt.fault):
				t.Errorf("fault: got %v, want %q", h.Fault, tt.fault)
			case h.Fault != nil && (h.Fault.Hint == "" || a.OK()):
				t.Errorf("fault without a hint, or the app is OK: %+v", h.Fault)
			}
			if tt.name == "prebuilt" {
				if diff := cmp.Diff([]string{"fast"}, h.Arguments); diff != "" || !strings.HasSuffix(h.WorkingDirectory, "work") {
					t.Errorf("working directory %q, arguments (-want +got):\n%s", h.WorkingDirectory, diff)
				}
			}
		})
	}
}

// The command line of a custom handler, and the files that a reload looks at (spec
// workers 13.1).
func TestCustomHandler(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"bin/serve": "1", "work/main.txt": "1", "list.txt": "1",
		"F/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "orders"}]}`,
		"host.json": hostWith(`"customHandler": {"description": {"defaultExecutablePath": "bin/%Program%", "workingDirectory": "%Dir%",
			"arguments": ["main.txt", "%FUNCTIONS_CUSTOMHANDLER_PORT%"], "defaultWorkerPath": "list.txt", "workerArguments": ["%Mode%"]}}`),
	}
	opts := &app.Options{Env: map[string]string{"FUNCTIONS_WORKER_RUNTIME": "custom", "PROGRAM": "serve", "DIR": "work", "MODE": "fast"}}
	dir := writeApp(t, files)
	a := loadDir(t, dir, opts)
	wantNoFaults(t, a)
	h := a.Handler
	at := func(name string) string { return filepath.Join(a.Dir, filepath.FromSlash(name)) }
	if diff := cmp.Diff([]string{"main.txt", "%FUNCTIONS_CUSTOMHANDLER_PORT%", at("list.txt"), "fast"}, h.Arguments); diff != "" || h.Path != at("bin/serve") || h.WorkingDirectory != at("work") {
		t.Errorf("got %q in %q, arguments (-want +got):\n%s", h.Path, h.WorkingDirectory, diff)
	}
	if len(a.Warnings) > 0 {
		t.Errorf("warnings: %v", a.Warnings)
	}
	for _, name := range []string{"bin/serve", "work/main.txt", "list.txt"} {
		before := loadDir(t, dir, opts).Fingerprint
		if err := os.WriteFile(at(name), []byte("2"), 0o600); err != nil {
			t.Fatal(err)
		}
		if loadDir(t, dir, opts).Fingerprint == before || !slices.Contains(h.Files, at(name)) {
			t.Errorf("a change of %s is no change of the app", name)
		}
	}
}

// Section 5.2: which script a function has.
func TestScriptFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, further string
		files         []string
		handler       bool
		want          string
		fault         bool
	}{
		{name: "named", further: `"scriptFile": "../dist/a.js"`, files: []string{"dist/a.js"}, want: "dist/a.js"},
		{name: "named, missing", further: `"scriptFile": "a.js"`, fault: true},
		{name: "named, missing, with a handler program", further: `"scriptFile": "a.js"`, handler: true, fault: true},
		{name: "the only file", files: []string{"F/anything.js"}, want: "F/anything.js"},
		{name: "run", files: []string{"F/a.js", "F/Run.csx"}, want: "F/Run.csx"},
		{name: "index", files: []string{"F/a.js", "F/index.mjs"}, want: "F/index.mjs"},
		{name: "python", files: []string{"F/a.py", "F/__init__.py"}, want: "F/__init__.py"},
		{name: "none of several", files: []string{"F/a.js", "F/runner.js"}, fault: true},
		{name: "no file", fault: true},
		{name: "no file, with a handler program", handler: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"F/function.json": functionJSON(timerBinding, tt.further)}
			for _, name := range tt.files {
				files[name] = "x"
			}
			if tt.handler {
				files["main.go"] = "package main\n\nimport _ \"github.com/redeliver/redeliver/functions\"\n\nfunc main() {}\n"
			}
			f := function(t, load(t, files, &app.Options{}), "F")
			if f.ScriptFile != tt.want || f.InError() != tt.fault {
				t.Errorf("got %q, faults %v; want %q, fault %v", f.ScriptFile, f.Faults, tt.want, tt.fault)
			}
		})
	}
}

// Section 9.1.
func TestRoutes(t *testing.T) {
	t.Parallel()
	http := func(further string) string {
		return functionJSON(`{"type": "httpTrigger", "name": "req"`+further+`}, {"type": "http", "name": "$return", "direction": "out"}`, "")
	}
	load2 := func(t *testing.T, a, b string) (one, two *app.Function) {
		x := load(t, map[string]string{"A/function.json": http(a), "B/function.json": http(b)}, nil)
		return function(t, x, "A"), function(t, x, "B")
	}
	for _, tt := range []struct {
		name, a, b string
		clash      bool
	}{
		{name: "names differ"},
		{name: "same route, all methods", a: `, "route": "x"`, b: `, "route": "X/"`, clash: true},
		{name: "route equals the other's name", a: "", b: `, "route": "a"`, clash: true},
		{name: "methods apart", a: `, "route": "x", "methods": ["get"]`, b: `, "route": "x", "methods": ["post"]`},
		{name: "methods meet", a: `, "route": "x", "methods": ["get", "post"]`, b: `, "route": "x", "methods": ["post"]`, clash: true},
		{name: "methods in another case do not meet", a: `, "route": "x", "methods": ["get"]`, b: `, "route": "x", "methods": ["GET"]`},
		{name: "empty set is all", a: `, "route": "x", "methods": []`, b: `, "route": "x", "methods": ["put"]`, clash: true},
		{name: "routes differ, methods meet", a: `, "route": "x", "methods": ["get"]`, b: `, "route": "y", "methods": ["get"]`},
		{name: "case and outer slashes", a: `, "route": "X/{ID}/"`, b: `, "route": "x/{id}"`, clash: true},
		{name: "no methods is all", a: `, "route": "x"`, b: `, "route": "x", "methods": ["get"]`, clash: true},
		{name: "parameters with other names", a: `, "route": "x/{a}"`, b: `, "route": "x/{b}"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := load2(t, tt.a, tt.b)
			if a.InError() || b.InError() != tt.clash {
				t.Errorf("faults %v and %v, want a clash of the later one: %v", a.Faults, b.Faults, tt.clash)
			}
		})
	}
	x := load(t, map[string]string{
		"host.json":       hostWith(`"extensions": {"http": {"routePrefix": "/v1"}}`),
		"F/function.json": http(`, "route": "orders/{id}/"`), "G/function.json": http(""),
	}, nil)
	if got := app.RouteTemplate(x, function(t, x, "F")); got != "v1/orders/{id}" {
		t.Errorf("RouteTemplate: got %q", got)
	}
	if got := app.RouteTemplate(x, function(t, x, "G")); got != "v1/G" {
		t.Errorf("RouteTemplate without route: got %q", got)
	}
}

// Section 9.1: no route into the host's own space, given or by the function's name.
func TestReservedRoutes(t *testing.T) {
	t.Parallel()
	for route, want := range map[string]bool{
		"admin": true, "/Admin/x": true, "administrate": true, "runtime/webhooks": true, "RUNTIMES": true,
		"my/admin": false, "adm": false, "{x}": false,
	} {
		x := load(t, map[string]string{"F/function.json": functionJSON(
			`{"type": "httpTrigger", "name": "req", "route": "`+route+`"}, {"type": "http", "name": "$return", "direction": "out"}`, "")}, nil)
		if f := function(t, x, "F"); f.InError() != want {
			t.Errorf("route %q: faults %v, want one: %v", route, f.Faults, want)
		}
	}
	x := load(t, map[string]string{"AdminTool/function.json": functionJSON(httpBindings, "")}, nil)
	if f := function(t, x, "AdminTool"); !f.InError() {
		t.Error("a function name that serves as route is not checked")
	}
}

// Section 12.3: host storage is missing only if a trigger needs it.
func TestHostStorage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, binding string
		env           map[string]string
		want          bool // fault of the app
		function      bool // fault of the function
	}{
		{name: "http", binding: httpBindings},
		{name: "timer", binding: timerBinding, want: true},
		{name: "queue", binding: queueBinding, want: true},
		{name: "queue with its own connection", binding: `{"type": "queueTrigger", "name": "q", "queueName": "orders", "connection": "Own"}`, env: map[string]string{"Own": "x"}, want: true},
		{name: "identity", binding: queueBinding, env: map[string]string{"AzureWebJobsStorage__accountName": "x"}},
		{name: "connection strings", binding: queueBinding, env: map[string]string{"ConnectionStrings__AzureWebJobsStorage": "x"}},
		{name: "http with a queue output", binding: httpBindings + `, {"type": "queue", "name": "q", "direction": "out", "queueName": "orders"}`, function: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{"local.settings.json": "-", "F/function.json": functionJSON(tt.binding, "")}, &app.Options{InProcess: true, Env: tt.env})
			f := function(t, a, "F")
			if a.OK() == tt.want || f.InError() != tt.function {
				t.Errorf("faults %v, of the function %v; want %v, %v", a.Faults, f.Faults, tt.want, tt.function)
			}
		})
	}
}
