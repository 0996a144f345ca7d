package launch_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/host/launch"
)

// An official worker is looked for where the settings say, in the folder of the platform's
// tools, and beside their program; else the worker that this program brings is taken (spec
// workers 3.4).
func TestSearchOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name there")
	}
	root := t.TempDir()
	install := func(elements ...string) string {
		dir := filepath.Join(append([]string{root}, elements...)...)
		check(os.MkdirAll(dir, 0o700))
		check(os.WriteFile(filepath.Join(dir, "worker.config.json"), []byte(`{"description": {"language": "node", "extensions": [".js"], "defaultWorkerPath": "worker.js"}}`), 0o600))
		check(os.WriteFile(filepath.Join(dir, "worker.js"), nil, 0o600))
		return dir
	}
	// The npm package has a script in PATH, by way of a link, and the program elsewhere.
	check(os.MkdirAll(filepath.Join(root, "npm", "lib"), 0o700))
	check(os.MkdirAll(filepath.Join(root, "path"), 0o700))
	check(os.WriteFile(filepath.Join(root, "npm", "lib", "main.js"), []byte("#!/bin/sh\n"), 0o700))
	check(os.Symlink(filepath.Join(root, "npm", "lib", "main.js"), filepath.Join(root, "path", "func")))
	t.Setenv("PATH", filepath.Join(root, "path"))
	settings := map[string]string{"languageWorkers:node:defaultExecutablePath": os.Args[0]}
	find := func(prefer string) string {
		t.Helper()
		found, err := launch.Find(launch.Search{
			Language: "node", App: root, Prefer: prefer, Setting: func(name string) string { return settings[name] },
			Bundled: func(string) (string, error) { return filepath.Join(root, "bundled", "worker.mjs"), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return found.Directory
	}
	bundled := filepath.Join(root, "bundled")
	if got := find(""); got != bundled {
		t.Errorf("without an official worker: %s", got)
	}
	// Each one that is there from now on is taken before those that were.
	for _, step := range []struct {
		dir     string
		setting string
		value   string
	}{
		{install("npm", "bin", "workers", "node"), "", ""},
		{install("npm", "lib", "workers", "node"), "", ""},
		{install("tools", "workers", "node"), launch.CoreToolsVariable, filepath.Join(root, "tools")},
		{install("all", "node"), "languageWorkers:workersDirectory", filepath.Join(root, "all")},
		{install("own"), "languageWorkers:node:workerDirectory", filepath.Join(root, "own")},
	} {
		if step.dir == filepath.Join(root, "npm", "bin", "workers", "node") {
			check(os.Rename(filepath.Join(root, "npm", "lib", "workers"), filepath.Join(root, "npm", "later")))
		} else if step.setting == "" {
			check(os.Rename(filepath.Join(root, "npm", "later"), filepath.Join(root, "npm", "lib", "workers")))
		}
		if step.setting != "" {
			settings[step.setting] = step.value
		}
		if got := find(""); got != step.dir {
			t.Errorf("got %s, want %s", got, step.dir)
		}
	}
	if got := find(launch.PreferShim); got != bundled {
		t.Errorf("with the worker of the program asked for: %s", got)
	}
	if got := find(filepath.Join(root, "tools", "workers", "node")); got != filepath.Join(root, "tools", "workers", "node") {
		t.Errorf("with a folder named: %s", got)
	}
}

// A worker gets the variables that libraries and workers look for; the app's own settings go
// first where they are the user's choice (spec workers 3.2).
func TestWorkerEnvironment(t *testing.T) {
	t.Parallel()
	f := &launch.Found{Language: "python", App: "/app", Env: []string{"FUNCTIONS_WORKER_DIRECTORY=/worker"}}
	places := []string{"AzureWebJobsScriptRoot=/app", "FUNCTIONS_APPLICATION_DIRECTORY=/app"}
	want := append(append([]string{"FUNCTIONS_WORKER_DIRECTORY=/worker", "FUNCTIONS_WORKER_RUNTIME=python"}, places...), "PYTHON_THREADPOOL_THREAD_COUNT=1000")
	if got := f.Environment(func(string) bool { return false }); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want = append([]string{"FUNCTIONS_WORKER_DIRECTORY=/worker"}, places...)
	if got := f.Environment(func(string) bool { return true }); !slices.Equal(got, want) {
		t.Errorf("with settings of the app: %q, want %q", got, want)
	}
}
