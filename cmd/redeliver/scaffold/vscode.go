package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// editor is what Visual Studio Code needs to know of a language.
type editor struct {
	worker string         // arguments of its worker, with which a debugger can attach; empty: none are needed
	attach map[string]any // how the debugger attaches; nil: there is none
	test   map[string]any // how it runs the test that is selected in an open file; nil: by a scenario only
}

// editors are the languages, by the names of NewLanguages.
var editors = map[string]editor{ // read only
	"node":       nodeEditor,
	"typescript": nodeEditor,
	"python": {
		worker: "-m debugpy --listen 127.0.0.1:5678",
		attach: map[string]any{"type": "debugpy", "request": "attach", "connect": map[string]any{"host": "127.0.0.1", "port": 5678}, "justMyCode": false},
		test:   map[string]any{"type": "debugpy", "request": "launch", "module": "pytest", "args": []string{"${file}", "-k", "${selectedText}"}},
	},
	"java": {
		worker: "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=5005",
		attach: map[string]any{"type": "java", "request": "attach", "hostName": "127.0.0.1", "port": 5005},
	},
	"dotnet": {
		attach: map[string]any{"type": "coreclr", "request": "attach", "processId": "${command:pickProcess}"},
	},
	"go": {
		attach: map[string]any{"type": "go", "request": "attach", "mode": "local", "processId": "${command:pickProcess}"},
		test:   map[string]any{"type": "go", "request": "launch", "mode": "test", "program": "${fileDirname}", "args": []string{"-test.run", "${selectedText}"}},
	},
	"custom": {},
}

var nodeEditor = editor{ // read only
	worker: "--inspect=127.0.0.1:9229",
	attach: map[string]any{"type": "node", "request": "attach", "address": "127.0.0.1", "port": 9229, "restart": true, "outFiles": []string{"${workspaceFolder}/dist/**/*.js"}},
	test:   map[string]any{"type": "node", "request": "launch", "runtimeArgs": []string{"--test", "--test-name-pattern", "${selectedText}"}, "program": "${file}"},
}

// Names of the tasks, which launch.json names too.
const (
	startTask = "redeliver: start"
	debugTask = "redeliver: start for the debugger"
)

// vscodeFiles are the files for Visual Studio Code of an app in a language.
func vscodeFiles(lang string) map[string]string {
	e := editors[lang]
	debug := []string{"start", "--clock", "debug"}
	if e.worker != "" {
		debug = append(debug, "--language-worker", e.worker)
	}
	tasks := []any{
		hostTask(startTask, "start"),
		hostTask(debugTask, debug...),
		task("redeliver: test", "test", "--verbose"),
		task("redeliver: test this file", "test", "${file}", "--verbose"),
		task("redeliver: test the selected scenario", "test", "${file}", "--verbose", "--run", "${selectedText}"),
	}
	files := map[string]string{".vscode/tasks.json": indented(map[string]any{"version": "2.0.0", "tasks": tasks})}
	var launches []any
	if e.attach != nil {
		launches = append(launches, named("Functions: start and attach", e.attach, map[string]any{"preLaunchTask": debugTask}))
		launches = append(launches, named("Functions: attach", e.attach, nil))
	}
	if e.test != nil {
		launches = append(launches, named("Test: the selected name", e.test, nil))
	}
	if launches != nil {
		files[".vscode/launch.json"] = indented(map[string]any{"version": "0.2.0", "configurations": launches})
	}
	return files
}

func task(label string, args ...string) map[string]any {
	return map[string]any{"label": label, "type": "process", "command": "redeliver", "args": args, "problemMatcher": []any{}}
}

// hostTask runs until it is ended: it is done, for what waits for it, when the host is ready.
func hostTask(label string, args ...string) map[string]any {
	t := task(label, args...)
	t["isBackground"] = true
	t["problemMatcher"] = map[string]any{
		"pattern":    map[string]any{"regexp": `^redeliver: error: (.*?):(\d+):(\d+): (.*)$`, "file": 1, "line": 2, "column": 3, "message": 4},
		"background": map[string]any{"activeOnStart": true, "beginsPattern": `^redeliver .*: starting `, "endsPattern": `^redeliver .*: .*ready `},
	}
	return t
}

// named is a configuration of the debugger under a name, with further members.
func named(name string, of, further map[string]any) map[string]any {
	c := map[string]any{"name": name}
	for _, m := range []map[string]any{of, further} {
		for key, value := range m {
			c[key] = value
		}
	}
	return c
}

func indented(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil { // values of ours
		panic(err)
	}
	return b.String()
}

// addEditor writes the files for Visual Studio Code into the folder of an app.
func addEditor(r *remote.Remote, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "host.json")); err != nil {
		return cli.Hinted(fmt.Errorf("there is no host.json in %q", dir), "name the folder of an app, or --lang for a new one")
	}
	lang, err := languageOf(dir)
	if err != nil {
		return err
	}
	files := vscodeFiles(lang)
	if err := writeNew(dir, files); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	return r.Say(map[string]any{"wrote": names}, cli.Textf("wrote %s\n", strings.Join(names, " and ")))
}

// languageOf is the language of the app in a folder, by the names of NewLanguages.
func languageOf(dir string) (string, error) {
	a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(os.Environ()), Kinds: served.Facts()})
	if err != nil {
		return "", err
	}
	h := &a.Handler
	switch {
	case h.Kind == app.GoSource:
		return "go", nil
	case h.Kind == app.Custom:
		return "custom", nil
	case h.Runtime == "dotnet-isolated":
		return "dotnet", nil
	case editors[h.Runtime].attach != nil:
		return h.Runtime, nil
	}
	return "", cli.Hinted(errors.New("nothing in the folder says which language the app is written in"), "say it with FUNCTIONS_WORKER_RUNTIME of local.settings.json")
}
