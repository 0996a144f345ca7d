package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// writeApp writes an app into a temporary folder. A host.json and a storage
// setting are added unless the files have their own ("-" leaves one out).
func writeApp(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"host.json":           `{"version": "2.0"}`,
		"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}}`,
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "-" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load loads an app with the test kinds, handlers in process.
func load(t testing.TB, files map[string]string, opts *app.Options) *app.App {
	t.Helper()
	return loadDir(t, writeApp(t, files), opts)
}

func loadDir(t testing.TB, dir string, opts *app.Options) *app.App {
	t.Helper()
	if opts == nil {
		opts = &app.Options{InProcess: true}
	}
	if opts.Kinds.Triggers == nil {
		opts.Kinds = served.Facts()
	}
	if opts.Processors == 0 {
		opts.Processors = 4
	}
	a, err := app.Load(dir, opts)
	if err != nil {
		t.Fatalf("Load(%q): %v", dir, err)
	}
	return a
}

// wantNoFaults fails the test when anything of the app is in error.
func wantNoFaults(t testing.TB, a *app.App) {
	t.Helper()
	for _, f := range a.AllFaults() {
		t.Errorf("fault: %v", f)
	}
	for _, fn := range a.Functions {
		for _, f := range fn.Faults {
			t.Errorf("fault of %s: %v", fn.Name, f)
		}
	}
}

// function returns a function that must exist.
func function(t testing.TB, a *app.App, name string) *app.Function {
	t.Helper()
	f := a.Function(name)
	if f == nil {
		t.Fatalf("the app has no function %q", name)
	}
	return f
}

const (
	queueBinding = `{"type": "queueTrigger", "name": "order", "queueName": "orders"}`
	timerBinding = `{"type": "timerTrigger", "name": "tick", "schedule": "0 */5 * * * *"}`
	httpBindings = `{"type": "httpTrigger", "name": "req"}, {"type": "http", "name": "$return", "direction": "out"}`

	fixed5      = `{"strategy": "fixedDelay", "maxRetryCount": 5, "delayInterval": "00:00:10"}`
	exponential = `{"strategy": "exponentialBackoff", "maxRetryCount": 4, "minimumInterval": "00:00:10", "maximumInterval": "00:15:00"}`
)

// functionJSON returns a function.json with these bindings and further keys.
func functionJSON(bindings, further string) string {
	if further != "" {
		further = ", " + further
	}
	return `{"bindings": [` + bindings + `]` + further + `}`
}
