package launch_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/worker"
)

// outputOf writes an output folder with that description, and files beside it.
func outputOf(t *testing.T, description string, files ...string) string {
	t.Helper()
	root := t.TempDir()
	check(os.WriteFile(filepath.Join(root, "worker.config.json"), []byte(`{"description": {"language": "dotnet-isolated", `+description+`}}`), 0o600))
	for _, name := range files {
		check(os.WriteFile(filepath.Join(root, name), nil, 0o700))
	}
	return root
}

// dotnetSearch looks for the worker of an isolated app, with these settings.
func dotnetSearch(settings map[string]string) launch.Search {
	return launch.Search{Language: languages.Dotnet, Setting: func(name string) string { return settings[name] }}
}

// What a build has written says what is started: dotnet with the assembly, or the app's
// own program (spec workers-dotnet-java 1.3, 1.5).
func TestDotnetOutput(t *testing.T) {
	t.Parallel()
	s := dotnetSearch(map[string]string{"DOTNET_HOST_PATH": os.Args[0]})
	for _, tt := range []struct {
		about, description string
		files              []string
		path               string // below the output folder; "" for dotnet
		args               []string
		indexing           bool
		metadata           bool
	}{
		{"by dotnet", `"defaultExecutablePath": "dotnet", "defaultWorkerPath": "App.dll", "workerIndexing": "true"`, []string{"App.dll"}, "", []string{"App.dll"}, true, false},
		{"by its own program", `"defaultExecutablePath": "{WorkerRoot}App", "workerIndexing": "true"`, []string{"App"}, "App", nil, true, false},
		{"from the file", `"defaultExecutablePath": "dotnet", "defaultWorkerPath": "App.dll", "workerIndexing": "false"`, []string{"App.dll", "functions.metadata"}, "", []string{"App.dll"}, false, true},
	} {
		root := outputOf(t, tt.description, tt.files...)
		got, err := s.Output(root)
		if err != nil {
			t.Errorf("%s: %v", tt.about, err)
			continue
		}
		want := &launch.Found{
			Language: languages.Dotnet, Path: os.Args[0], Directory: root, App: root, Transport: worker.GRPC, Indexing: tt.indexing,
			Env:       []string{"FUNCTIONS_WORKER_DIRECTORY=" + root, "DOTNET_NOLOGO=true", "DOTNET_CLI_TELEMETRY_OPTOUT=true", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=true"},
			Processes: usual,
		}
		if tt.path != "" {
			want.Path = filepath.Join(root, tt.path)
		}
		for _, name := range tt.args {
			want.Args = append(want.Args, filepath.Join(root, name))
		}
		if tt.metadata {
			want.Metadata = filepath.Join(root, "functions.metadata")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.about, diff)
		}
	}
}

// What is missing in an output folder is named, with what helps.
func TestDotnetOutputLacks(t *testing.T) {
	t.Parallel()
	s := dotnetSearch(map[string]string{"DOTNET_HOST_PATH": os.Args[0]})
	for _, tt := range []struct{ description, want string }{
		{`"defaultExecutablePath": "{WorkerRoot}App"`, `names the program "`},
		{`"defaultExecutablePath": "dotnet", "defaultWorkerPath": "App.dll"`, `names the assembly "`},
		{`"defaultExecutablePath": "dotnet"`, "names no assembly"},
		{`"defaultExecutablePath": "{WorkerRoot}worker.config.json", "workerIndexing": "false"`, "leaves the functions to functions.metadata, which is missing"},
	} {
		_, err := s.Output(outputOf(t, tt.description))
		none, ok := errors.AsType[*launch.NotFoundError](err)
		if !ok || !strings.Contains(none.Reason, tt.want) || none.Hint != "build or publish the app again" {
			t.Errorf("%s: got %#v, want %q", tt.description, err, tt.want)
		}
	}
	if _, err := s.Output(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not the output of an isolated .NET app") {
		t.Errorf("an empty folder: %v", err)
	}
}

// dotnet is found where the variables of .NET say, and is named when it is missing (spec
// workers-dotnet-java 1.2).
func TestDotnetProgram(t *testing.T) {
	name := "dotnet"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	folders := map[string]string{}
	for _, about := range []string{"root", "host", "path"} {
		folders[about] = filepath.Join(t.TempDir(), name)
		check(os.WriteFile(folders[about], nil, 0o700))
	}
	t.Setenv("PATH", filepath.Dir(folders["path"]))
	settings := map[string]string{"DOTNET_HOST_PATH": folders["host"], "DOTNET_ROOT": filepath.Dir(folders["root"])}
	for _, about := range []string{"host", "root", "path"} {
		found, err := launch.Find(dotnetSearch(settings))
		if err != nil || found.Path != folders[about] {
			t.Errorf("got %+v, %v; want %s", found, err, folders[about])
		}
		check(os.Remove(folders[about]))
	}
	_, err := launch.Find(dotnetSearch(settings))
	none, ok := errors.AsType[*launch.NotFoundError](err)
	if !ok || none.Reason != `there is no program "dotnet" in PATH` || !strings.HasPrefix(none.Hint, "install the .NET SDK 8 or later") {
		t.Errorf("without dotnet: %#v", err)
	}
}
