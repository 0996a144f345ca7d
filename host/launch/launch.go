// Package launch says what is to be started for the functions of an app that run in
// other processes: which worker, and with what it has to know. The host starts it.
//
// Read [Worker] first. find.go looks for the worker of an app: the official one, whose
// worker.config.json description.go reads, or the one that the program brings along; the
// other files named find... have what is peculiar to a language. worker.go tells the worker
// what it has to know of the app.
package launch

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/customhandler"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// FindWorker looks for what runs functions of a runtime in the app of a folder, and writes
// nothing: the worker that the program brings along is not where the answer says. Prefer is
// Search.Prefer.
func FindWorker(dir, prefer, runtime string, settings *appsettings.Settings) (*Found, error) {
	return findWorker(search(dir, prefer, runtime, settings, func(s shim.Shim) (string, error) { return s.Entry, nil }))
}

func findWorker(s Search) (*Found, error) {
	if s.Language == languages.Dotnet {
		return findDotnet(s)
	}
	return Find(s)
}

// search is a search in which entry makes the path of a worker that the program brings along.
func search(dir, prefer, runtime string, settings *appsettings.Settings, entry func(shim.Shim) (string, error)) Search {
	return Search{
		Language: runtime, App: dir, Prefer: prefer, Setting: settings.Get,
		Bundled: func(language string) (string, error) {
			s, ok := shim.Of(language)
			if !ok {
				return "", nil
			}
			return entry(s)
		},
	}
}

// OneAtATime reports whether the program that runs the functions has a port of its own: a
// worker that is open for a debugger, a custom handler with customHandler.port. An old one
// has to end before a new one starts (spec host-and-retry 7.2, spec workers 13.2).
func OneAtATime(a *app.App) bool {
	arguments := a.Settings.Get("languageWorkers:" + a.Handler.Runtime + ":arguments")
	if a.Handler.Runtime == "java" {
		arguments += " " + a.Settings.Get("JAVA_OPTS")
	}
	if c := a.Config.CustomHandler; a.Handler.Kind == app.Custom && c != nil && c.Section == "customHandler" && c.Port != 0 {
		return true
	}
	return a.Handler.Kind == app.Language && worker.Debugs(strings.Fields(arguments))
}

// Build says how an app is built before its worker is started.
type Build struct {
	// Worker is Search.Prefer.
	Worker string
	// Env is the environment of the build.
	Env []string
	// Only takes what was built before: nothing is built.
	Only bool
	// Log is told of a build. Told are the warnings that it has had.
	Log  zerolog.Logger
	Told *Notices
}

// Worker finds the worker of an app, and makes it ready to be started: one that the
// program brings along is written, an app in .NET is built. It runs outside the clock;
// when ctx ends a build is stopped. spec, the app's handler, gets the fingerprint of what was
// built.
func Worker(ctx context.Context, a *app.App, spec *app.HandlerSpec, how Build) (*Found, error) {
	s := search(a.Dir, how.Worker, spec.Runtime, a.Settings, shim.Shim.Install)
	found, err := findWorker(s)
	switch {
	case err != nil:
	case spec.Runtime == languages.Dotnet:
		err = buildDotnet(ctx, s, found, spec, how)
	case !found.Official() && found.Language == "java":
		err = compileJava(ctx, found)
	}
	if err == nil && a.Handler.Root != "" {
		found.App = a.Handler.Root
	}
	return found, err
}

// NoWorker returns what app.Options.Worker needs for the app of a folder, as a host with
// Options.Worker loads it.
func NoWorker(dir, prefer string) func(runtime string, settings *appsettings.Settings) app.NoWorker {
	return func(runtime string, settings *appsettings.Settings) app.NoWorker {
		_, err := FindWorker(dir, prefer, runtime, settings)
		if none, ok := errors.AsType[*NotFoundError](err); ok {
			return app.NoWorker{Reason: none.Reason, Hint: none.Hint}
		}
		return app.NoWorker{}
	}
}

// WorkerFunctions are functions of the app in a folder as a worker loads them. Disabled ones
// come last (spec workers 4.2).
func WorkerFunctions(dir string, functions []*app.Function) []worker.Function {
	var enabled, disabled []worker.Function
	for _, f := range functions {
		out := worker.Function{Name: f.Name, Directory: f.Dir, EntryPoint: f.EntryPoint}
		if f.ScriptFile != "" {
			out.ScriptFile = filepath.Join(dir, filepath.FromSlash(f.ScriptFile))
		}
		for _, b := range f.Bindings {
			out.Bindings = append(out.Bindings, workerBinding(b))
		}
		if f.Disabled {
			disabled = append(disabled, out)
		} else {
			enabled = append(enabled, out)
		}
	}
	return append(enabled, disabled...)
}

func workerBinding(b *app.Binding) worker.Binding {
	raw, err := json.Marshal(b.Props)
	if err != nil {
		raw = []byte("{}") // decoded JSON has a JSON form
	}
	return worker.Binding{
		Name: b.Name, Type: b.Type, Raw: raw,
		Direction: workerpb.BindingInfo_Direction(workerpb.BindingInfo_Direction_value[b.Direction]),
		DataType:  workerpb.BindingInfo_DataType(workerpb.BindingInfo_DataType_value[strings.ToLower(b.DataType)]),
	}
}

// CustomHandler is what the custom handler of an app has to know, beside how it is kept
// running.
func CustomHandler(a *app.App, ps process.Spec, hostVersion string) customhandler.Spec {
	cs := customhandler.Spec{
		Spec: ps, App: a.Dir, HostVersion: hostVersion,
		Binary: func(function, binding string) bool {
			f := a.Function(function)
			return f != nil && slices.ContainsFunc(f.Bindings, func(b *app.Binding) bool {
				return b.Name == binding && strings.EqualFold(b.DataType, "binary")
			})
		},
	}
	switch c := a.Config.CustomHandler; {
	case c == nil: // a handler that was given to the load
	case c.Section == "httpWorker":
		cs.Forward = customhandler.ByName
	case c.Proxy:
		cs.Forward, cs.Port = customhandler.Proxied, c.Port
	case c.Forward:
		cs.Forward, cs.Port = customhandler.ByPath, c.Port
	default:
		cs.Port = c.Port
	}
	return cs
}
