package worker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// usual are the processes of a worker of which nothing is said.
var usual = worker.Processes{Count: 1, StartInterval: 10 * time.Second, RestartInterval: 10 * time.Second}

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
			"defaultWorkerPath": "dist/src/nodejsWorker.js", "workerIndexing": "true"}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := map[string]string{"languageWorkers:node:defaultExecutablePath": os.Args[0]}
	app := t.TempDir()
	got, err := worker.Find(worker.Search{
		Language: "node", App: app, Prefer: dir, Setting: func(name string) string { return settings[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &worker.Found{
		Language: "node", Path: os.Args[0], Args: []string{entry}, Directory: dir, Carriage: worker.GRPC, Indexing: true,
		Env: []string{"FUNCTIONS_WORKER_DIRECTORY=" + dir}, App: app,
		Processes: usual,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Find (-want +got):\n%s", diff)
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
			t.Errorf("ConsoleLine(%v, %q) = %q, want %q", test.level, test.text, l.Text, test.want)
		}
	}
}
