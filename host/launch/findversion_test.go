package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/worker"
)

// The worker for PowerShell is a program of .NET. Which version of PowerShell it runs says
// the setting, as far as the worker's pattern goes, else the worker (spec workers 3.3; spec
// workers-dotnet-java 3).
func TestPowerShellWorker(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name there")
	}
	const description = `{"description": {"language": "powershell", "extensions": [".ps1", ".psm1"], "defaultExecutablePath": "dotnet",
		"defaultWorkerPath": "%FUNCTIONS_WORKER_RUNTIME_VERSION%/Worker.dll", "supportedRuntimeVersions": ["7", "7.2", "7.4"],
		"defaultRuntimeVersion": "7.2", "sanitizeRuntimeVersionRegex": "PATTERN"}}`
	tools, root, inPath := t.TempDir(), t.TempDir(), t.TempDir()
	dir := filepath.Join(tools, "workers", "powershell")
	write := func(text string, elements ...string) {
		path := filepath.Join(elements...)
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(os.WriteFile(path, []byte(text), 0o700))
	}
	write("", dir, "7.2", "Worker.dll")
	write("", dir, "7.4", "Worker.dll")
	write("", root, "dotnet")
	write("#!/bin/sh\necho 8.0.404\n", inPath, "dotnet")
	for name, tt := range map[string]struct {
		settings map[string]string
		pattern  string // instead of that of the real worker
		path     string // PATH
		program  string // folder of the program
		version  string
		fault    string
		hint     string
	}{
		"default":         {path: inPath, program: inPath, version: "7.2"},
		"DOTNET_ROOT":     {settings: map[string]string{"DOTNET_ROOT": root}, path: inPath, program: root, version: "7.2"},
		"set":             {settings: map[string]string{"FUNCTIONS_WORKER_RUNTIME_VERSION": "~7.4.1"}, path: inPath, program: inPath, version: "7.4"},
		"no files":        {settings: map[string]string{"FUNCTIONS_WORKER_RUNTIME_VERSION": "7"}, path: inPath, fault: "has no file"},
		"not supported":   {settings: map[string]string{"FUNCTIONS_WORKER_RUNTIME_VERSION": "6.2"}, path: inPath, fault: `FUNCTIONS_WORKER_RUNTIME_VERSION is "6.2", and the worker in "` + dir + `" supports 7, 7.2, 7.4`, hint: "set FUNCTIONS_WORKER_RUNTIME_VERSION to one of these"},
		"no number":       {settings: map[string]string{"FUNCTIONS_WORKER_RUNTIME_VERSION": "latest"}, path: inPath, fault: `FUNCTIONS_WORKER_RUNTIME_VERSION is "latest"`},
		"pattern":         {pattern: "(", path: inPath, fault: "sanitizeRuntimeVersionRegex: error parsing regexp"},
		"without dotnet":  {fault: `there is no program "dotnet" in PATH`, hint: "install the .NET runtime"},
		"another program": {settings: map[string]string{"languageWorkers:powershell:defaultExecutablePath": filepath.Join(root, "dotnet")}, program: root, version: "7.2"},
		"no worker":       {settings: map[string]string{launch.CoreToolsVariable: root}, path: inPath, fault: "no official worker is to be found for powershell", hint: "install Core Tools (npm install -g azure-functions-core-tools@4), or set languageWorkers:powershell:workerDirectory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			pattern := tt.pattern
			if pattern == "" {
				pattern = `\\d+\\.?\\d*`
			}
			write(strings.ReplaceAll(description, "PATTERN", pattern), dir, "worker.config.json")
			setting := func(name string) string {
				if name == launch.CoreToolsVariable && tt.settings[name] == "" {
					return tools
				}
				return tt.settings[name]
			}
			got, err := launch.Find(launch.Search{
				Language: "powershell", App: root, Setting: setting, Bundled: func(string) (string, error) { return "", nil },
			})
			if tt.fault != "" {
				none, ok := errors.AsType[*launch.NotFoundError](err)
				if !ok || !strings.Contains(none.Reason, tt.fault) || !strings.HasPrefix(none.Hint, tt.hint) || none.Hint == "" {
					t.Errorf("got %+v, want %q with the hint %q", err, tt.fault, tt.hint)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &launch.Found{
				Language: "powershell", Path: filepath.Join(tt.program, "dotnet"), Args: []string{filepath.Join(dir, tt.version, "Worker.dll")}, Directory: dir, Transport: worker.GRPC,
				Env: []string{"FUNCTIONS_WORKER_DIRECTORY=" + dir, "FUNCTIONS_WORKER_RUNTIME_VERSION=" + tt.version}, App: root, Processes: usual,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Find (-want +got):\n%s", diff)
			}
			for set, bound := range map[bool]string{false: "PSWorkerInProcConcurrencyUpperBound=1000", true: ""} {
				env := got.Environment(func(string) bool { return set })
				if slices.Contains(env, "PSWorkerInProcConcurrencyUpperBound=1000") != (bound != "") {
					t.Errorf("environment %q, set by the app: %t", env, set)
				}
			}
		})
	}
}

// A worker for Python has a folder for each version of the interpreter that it supports.
func TestPythonVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name there")
	}
	inPath, dir := t.TempDir(), t.TempDir()
	check(os.WriteFile(filepath.Join(inPath, "python3"), []byte("#!/bin/sh\necho Python 3.15.1\n"), 0o700))
	check(os.WriteFile(filepath.Join(dir, "worker.config.json"), []byte(`{"description": {"language": "python", "extensions": [".py"], "defaultExecutablePath": "python",
		"defaultWorkerPath": "%FUNCTIONS_WORKER_RUNTIME_VERSION%/{os}/{architecture}/worker.py", "supportedRuntimeVersions": ["3.12", "3.13"], "defaultRuntimeVersion": "3.12"}}`), 0o600))
	t.Setenv("PATH", inPath)
	_, err := launch.Find(launch.Search{Language: "python", App: t.TempDir(), Prefer: dir, Setting: func(string) string { return "" }})
	if want := `the version of python is "3.15", and the worker in "` + dir + `" supports 3.12, 3.13`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
