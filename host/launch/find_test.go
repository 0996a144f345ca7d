package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// usual are the processes of a worker of which nothing is said.
var usual = launch.Processes{Count: 1, StartInterval: 10 * time.Second, RestartInterval: 10 * time.Second}

// The official worker for Node.js starts by the file that its description names. A
// bundle beside it is for that file to load: by itself it connects to no host.
func TestOfficialEntry(t *testing.T) {
	dir := t.TempDir()
	entry := filepath.Join(dir, "dist", "src", "nodejsWorker.js")
	if err := os.MkdirAll(filepath.Dir(entry), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		entry: "", filepath.Join(filepath.Dir(entry), "worker-bundle.js"): "",
		filepath.Join(dir, "worker.config.json"): `{"description": {"language": "node", "extensions": [".js"],
			"arguments": ["-X no_debug_ranges", "--from={workerDirectoryPath}"], "defaultWorkerPath": "dist/src/nodejsWorker.js", "workerIndexing": "true"}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := map[string]string{"languageWorkers:node:defaultExecutablePath": os.Args[0]}
	app := t.TempDir()
	got, err := launch.Find(launch.Search{
		Language: "node", App: app, Prefer: dir, Setting: func(name string) string { return settings[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &launch.Found{
		Language: "node", Path: os.Args[0], Args: []string{"-X", "no_debug_ranges", "--from=" + dir, entry}, Directory: dir, Transport: worker.GRPC, Indexing: true,
		Env: []string{"FUNCTIONS_WORKER_DIRECTORY=" + dir}, App: app,
		Processes: usual,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Find (-want +got):\n%s", diff)
	}
}

// Python is looked for in the virtual environment that is active, in the one of the app,
// and by its names in PATH, of which there may be only one (spec workers 15).
func TestPythonInterpreter(t *testing.T) {
	dir := t.TempDir()
	program := func(parts ...string) string {
		name := filepath.Join(append([]string{dir}, parts...)...)
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return name
	}
	bin := "bin"
	if runtime.GOOS == "windows" {
		bin = "Scripts"
	}
	app := filepath.Join(dir, "app")
	search := launch.Search{
		Language: "python", App: app, Prefer: launch.PreferShim,
		Setting: os.Getenv, Bundled: func(string) (string, error) { return filepath.Join(dir, "worker.py"), nil },
	}
	t.Setenv("VIRTUAL_ENV", "")
	t.Setenv("PATH", filepath.Join(dir, "path"))
	var none *launch.NotFoundError
	if _, err := launch.Find(search); !errors.As(err, &none) || none.Reason != `there is no program "python3" or "python" in PATH` || none.Hint == "" {
		t.Errorf("without Python: %v", err)
	}
	// Each one that is there from now on is taken before those that were.
	for _, where := range [][]string{{"path", "python"}, {"path", "python3"}, {"app", "venv", bin, "python"}, {"app", ".venv", bin, "python"}, {"active", bin, "python"}} {
		want := program(where...)
		if where[0] == "active" {
			t.Setenv("VIRTUAL_ENV", filepath.Join(dir, "active"))
		}
		if found, err := launch.Find(search); err != nil || found.Path != want {
			t.Errorf("got %+v, %v; want %s", found, err, want)
		}
	}
}

func TestConsoleLines(t *testing.T) {
	for _, test := range []struct {
		level call.Level
		text  string
		want  string // "" for a line that is dropped
	}{
		{call.Information, "the user's own", "the user's own"},
		{call.Information, "azfuncjsonlog:{}", ""},
		{call.ErrorLevel, "azfuncjsonlog:{}", ""},
		{call.Information, "LanguageWorkerConsoleLogWorker 7 connecting on 127.0.0.1:1", ""},
		{call.Warning, "LanguageWorkerConsoleLog[warn] old version", "[warn] old version"},
		{call.ErrorLevel, "LanguageWorkerConsoleLog[error] wrong version", "[error] wrong version"},
	} {
		l, drop := worker.ConsoleLine(process.Line{Level: test.level, Text: test.text})
		if drop {
			l.Text = ""
		}
		if l.Text != test.want {
			t.Errorf("worker.ConsoleLine(%v, %q) = %q, want %q", test.level, test.text, l.Text, test.want)
		}
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
