package app_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// seeds adds the named file of every broken app to the corpus.
func seeds(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(filepath.Join(brokenApps, pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// checkFaults holds for whatever was loaded: a fault says where and what, and at
// most one of a file is the platform's.
func checkFaults(t *testing.T, faults []*schemas.Fault) {
	t.Helper()
	first := make(map[string]bool)
	for _, f := range faults {
		if f.File == "" || f.Reason == "" {
			t.Errorf("fault without file or reason: %+v", f)
		}
		if f.First && first[f.File] {
			t.Errorf("two faults of %s are the platform's first: %v", f.File, f)
		}
		first[f.File] = first[f.File] || f.First
	}
}

func checkReport(t *testing.T, a *app.App) {
	t.Helper()
	checkFaults(t, a.Faults)
	for _, f := range a.Functions {
		checkFaults(t, f.Faults)
		if f.Runs() && (f.Trigger == nil || f.Kind == nil) {
			t.Errorf("%s runs and has no trigger", f.Name)
		}
	}
	if err := app.Check(a).Write(io.Discard); err != nil {
		t.Error(err)
	}
}

// FuzzLoadFunction: any function.json loads without a panic, and never affects
// another function.
func FuzzLoadFunction(f *testing.F) {
	seeds(f, "*/*/function.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		a := load(t, map[string]string{
			"Bad/function.json":  string(text),
			"Good/function.json": functionJSON(timerBinding, `"retry": `+fixed5),
		}, nil)
		if good := function(t, a, "Good"); good.InError() || good.Policy == nil || !a.OK() {
			t.Errorf("the good function: faults %v; the app: %v", good.Faults, a.Faults)
		}
		checkReport(t, a)
	})
}

// FuzzLoadHost: any host.json loads without a panic, and what was read of it is
// within its limits.
func FuzzLoadHost(f *testing.F) {
	seeds(f, "*/host.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if string(text) == "-" {
			return // the test's own sign for no file
		}
		a := load(t, map[string]string{"host.json": string(text), "Good/function.json": functionJSON(timerBinding, "")}, nil)
		if q := a.Config.Queues; q.BatchSize < 1 || q.BatchSize > 32 || q.NewBatchThreshold < 0 || q.MaxDequeueCount < 1 || q.MaxPollingInterval <= 0 {
			t.Errorf("queues out of range: %+v", q)
		}
		if p := a.Config.Retry; p != nil && len(p.Validate()) > 0 {
			t.Errorf("an invalid policy was accepted: %v", p)
		}
		if a.Config.FunctionTimeout < 0 {
			t.Errorf("function timeout %v", a.Config.FunctionTimeout)
		}
		checkReport(t, a)
	})
}
