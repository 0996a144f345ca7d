package host

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/shim"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/schemas"
)

// languageWorker is an Invoker that is told which functions the app has, before the
// first attempt.
type languageWorker interface {
	Invoker
	InCode() bool
	Load(ctx context.Context, functions []worker.Function) (map[string]*call.Error, error)
}

// workerOf is the language worker behind an Invoker, if it is one.
func workerOf(inv Invoker) (languageWorker, bool) {
	if k, ok := inv.(*kept); ok {
		inv = k.Invoker
	}
	w, ok := inv.(languageWorker)
	return w, ok
}

// findWorker looks for what runs functions of a runtime in the app of a folder.
func findWorker(dir, prefer, runtime string, settings *app.Settings) (*worker.Found, error) {
	return worker.Find(worker.Search{
		Language: runtime, App: dir, Prefer: prefer, Setting: settings.Get,
		Bundled: func(language string) (string, error) {
			s, ok := shim.Of(language)
			if !ok {
				return "", nil
			}
			return s.Extract(filepath.Join(dir, stateDir, "workers", language))
		},
	})
}

// NoWorker returns what app.Options.Worker needs for the app of a folder, as a host with
// Options.Worker loads it.
func NoWorker(dir, prefer string) func(runtime string, settings *app.Settings) app.NoWorker {
	return func(runtime string, settings *app.Settings) app.NoWorker {
		_, err := findWorker(dir, prefer, runtime, settings)
		if none, ok := errors.AsType[*worker.NotFoundError](err); ok {
			return app.NoWorker{Reason: none.Reason, Hint: none.Hint}
		}
		return app.NoWorker{}
	}
}

// notices are what the workers have said of themselves: a worker that is started again
// says the same again, and a person wants it once.
type notices struct {
	mu   sync.Mutex
	said map[string]bool
}

func (n *notices) first(text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said == nil {
		n.said = map[string]bool{}
	}
	before := n.said[text]
	n.said[text] = true
	return !before
}

// work starts the language worker of an app.
func (hs *handlers) work(a *app.App, spec app.HandlerSpec) (*kept, error) {
	found, err := findWorker(a.Dir, hs.host.opts.Worker, spec.Runtime, a.Settings)
	if err != nil {
		return nil, err
	}
	p := &kept{}
	ps := hs.keep(a, p, spec.Runtime)
	ps.Name, ps.Path, ps.Args, ps.Dir = spec.Runtime+" worker", found.Path, found.Args, a.Dir
	ps.Env = append(ps.Env, found.Environment(a.Dir, func(name string) bool { _, ok := a.Settings.Lookup(name); return ok })...)
	output := ps.Output
	ps.Output = func(l process.Line) {
		if text, drop := worker.ConsoleLine(l.Text); !drop {
			l.Text = text
			output(l)
		}
	}
	inv, err := worker.Start(hs.host.clk, worker.Spec{
		Spec: ps, Carriage: found.Carriage, Language: spec.Runtime, Directory: found.Directory, App: a.Dir,
		Indexing: found.Indexing, HostVersion: hs.host.opts.Version,
		Log: func(l call.Log) { output(process.Line{Level: l.Level, Text: l.Message}) },
		Notice: func(l call.Log) {
			if hs.told.first(l.Message) {
				output(process.Line{Level: l.Level, Text: l.Message})
			}
		},
	})
	if err != nil {
		return nil, err
	}
	p.Invoker = inv
	return p, nil
}

// workerFunctions are the functions of a generation as a worker loads them. Disabled ones
// come last (spec workers 4.2).
func (g *generation) workerFunctions() []worker.Function {
	var enabled, disabled []worker.Function
	for _, f := range g.functions {
		out := worker.Function{Name: f.def.Name, Directory: f.def.Dir, EntryPoint: f.def.EntryPoint}
		if f.def.ScriptFile != "" {
			out.ScriptFile = filepath.Join(g.app.Dir, filepath.FromSlash(f.def.ScriptFile))
		}
		for _, b := range f.def.Bindings {
			out.Bindings = append(out.Bindings, workerBinding(b))
		}
		if f.def.Disabled {
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

// loadWorker has a worker load the functions of a generation. A function that cannot be
// loaded stays: its attempts fail with the reason, as on the platform; only an edit that
// breaks one that runs is refused.
func (l *loader) loadWorker(ctx context.Context, g *generation, prev *generation) error {
	w, ok := workerOf(g.invoker)
	if !ok {
		return nil
	}
	failures, err := w.Load(ctx, g.workerFunctions())
	if err != nil {
		return &LoadError{Err: err}
	}
	var faults []*schemas.Fault
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		failure := failures[name]
		if old := prev.function(name); old != nil && old.unloaded == "" {
			faults = append(faults, faultOf(old.def, errors.New(loadText(failure))))
		}
		if f := g.function(name); f != nil {
			f.unloaded = loadText(failure)
		}
	}
	if len(faults) > 0 {
		return &LoadError{Faults: faults}
	}
	return nil
}

// loadText is why a function could not be loaded, for a person.
func loadText(e *call.Error) string {
	text := "the worker cannot load the function: " + e.Message
	if stack := strings.TrimSpace(e.Stack); stack != "" && !strings.Contains(e.Message, stack) {
		text += "\n\t" + strings.ReplaceAll(stack, "\n", "\n\t")
	}
	return text
}

// sayUnloaded tells of the functions of a generation that could not be loaded.
func (g *generation) sayUnloaded() {
	for _, f := range g.functions {
		if f.unloaded != "" {
			g.host.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: g.id, Function: f.def.Name,
				Message: "function could not be loaded: its attempts fail", Error: f.unloaded,
			})
		}
	}
}
