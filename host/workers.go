package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/schemas"
)

// languageWorker is an Invoker that is told which functions the app has, before the
// first attempt.
type languageWorker interface {
	Invoker
	InCode() bool
	IndexingError() string
	Load(ctx context.Context, functions []worker.Function) (map[string]*call.Error, error)
}

// workerOf is the language worker behind an Invoker, if it is one.
func workerOf(inv Invoker) (languageWorker, bool) {
	w, ok := bare(inv).(languageWorker)
	return w, ok
}

func bare(inv Invoker) Invoker {
	if k, ok := inv.(*kept); ok {
		return k.Invoker
	}
	return inv
}

// empty is the failure of an app in which a worker finds nothing, and no file describes a
// function: the worker has told of an error meanwhile, or the app that runs declares
// functions in code, and an edit has broken that. Official workers tell of broken code
// beside their answer.
func empty(inv Invoker, a *app.App, prev *generation) error {
	w, isWorker := workerOf(inv)
	switch {
	case !isWorker || w.InCode() || len(a.Functions) > 0:
		return nil
	case w.IndexingError() != "":
		return &LoadError{Err: fmt.Errorf("the app has no functions, and its worker says: %s", w.IndexingError())}
	case prev != nil && !prev.inFiles && len(prev.functions) > 0:
		return &LoadError{Err: errors.New("the worker finds no functions in the code any more: see what it has written")}
	}
	return nil
}

// work starts the language worker of an app.
func (hs *handlers) work(ctx context.Context, a *app.App, spec *app.HandlerSpec) (*kept, error) {
	var found *launch.Found
	var err error
	hs.clk.Outside(hs.root, "prepare worker", func() {
		found, err = launch.Worker(ctx, a, spec, hs.building())
	})
	if err != nil {
		return nil, err
	}
	hs.programs.Use(found.App)
	p := &kept{release: func() { hs.programs.Release(found.App) }}
	if hs.inspecting {
		found.Processes.Count = 1
	} else {
		launch.Prune(a.Dir, hs.programs.Used())
	}
	ps := hs.keep(ctx, a, p, spec.Runtime)
	own := launch.WorkerSpec(a, found, launch.ToldWaiting(ps, hs.log), hs.opts.Version, &hs.told, hs.opts.Workers)
	own.Sleepers = hs.opts.Sleepers
	inv, err := worker.Start(hs.clk, own)
	if err != nil {
		p.release()
		return nil, err
	}
	if p.Invoker = inv; hs.opts.Scripted != nil {
		p.Invoker = &launch.Scripted{Beside: launch.Beside{Worker: inv, Own: InProcess(hs.clk, hs.opts.Scripted)}}
	}
	return p, nil
}

// attach has the worker at Options.Attached run the functions, save those of
// Options.Handlers. Without it the host runs no more: nobody can start another one.
func (hs *handlers) attach(ctx context.Context, a *app.App) (*kept, error) {
	p := &kept{}
	ps := hs.keep(ctx, a, p, launch.Attached)
	ps.StopHost = func(err error) { hs.group.Go("stop without worker", func() { hs.lost(p, err) }) }
	spec := launch.AttachedSpec(a, ps, hs.opts.Attached, hs.opts.Version)
	spec.Sleepers = hs.opts.Sleepers
	w, err := worker.Start(hs.clk, spec)
	if p.Invoker = w; hs.opts.Handlers != nil {
		p.Invoker = &launch.Beside{Worker: w, Own: InProcess(hs.clk, hs.opts.Handlers)}
	}
	return p, err
}

// settle builds an app whose build tells what has changed, and returns it as it is then.
func (hs *handlers) settle(ctx context.Context, a *app.App, opts *app.Options) (settled *app.App, err error) {
	hs.clk.Outside(hs.root, "build", func() { settled, err = launch.Settle(ctx, a, opts, hs.building()) })
	return settled, err
}

func (hs *handlers) building() launch.Build {
	o := &hs.opts
	return launch.Build{Worker: o.Worker, Env: slices.Concat(o.BuildEnv, o.Env), Only: o.NoBuild, Log: hs.log, Told: &hs.told}
}

// defs are the functions that run, as the app has them.
func (g *generation) defs() (list []*app.Function) {
	for _, f := range g.functions {
		list = append(list, f.def)
	}
	return list
}

// loadWorker has a worker load the functions of a generation. A function that cannot be
// loaded stays: its attempts fail with the reason, as on the platform; only an edit that
// breaks one that runs is refused.
func (l *loader) loadWorker(ctx context.Context, g *generation, prev *generation) error {
	w, ok := workerOf(g.invoker)
	if !ok {
		return nil
	}
	failures, err := w.Load(ctx, launch.WorkerFunctions(g.app.Dir, g.defs()))
	if err != nil {
		return &LoadError{Err: err}
	}
	var faults []*schemas.Fault
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		failure := failures[name]
		if old := prev.function(name); old != nil && old.def.Unloaded == "" {
			faults = append(faults, faultOf(old.def, errors.New(launch.LoadFailure(failure))))
		}
		if f := g.function(name); f != nil {
			f.def.Unloaded = launch.LoadFailure(failure)
		}
	}
	if len(faults) > 0 {
		return &LoadError{Faults: faults}
	}
	return nil
}

// tryWorker has a worker load the functions of an app that is only read. Those that it
// cannot load are in error.
func (l *loader) tryWorker(g *generation) error {
	err := l.loadWorker(l.host.root, g, nil)
	for _, f := range g.functions {
		if f.def.Unloaded != "" {
			f.def.Faults = append(f.def.Faults, faultOf(f.def, errors.New(f.def.Unloaded)))
		}
	}
	return err
}

// sayUnloaded tells of the functions of a generation that could not be loaded.
func (g *generation) sayUnloaded() {
	for _, f := range g.functions {
		if f.def.Unloaded != "" {
			g.host.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: g.id, Function: f.def.Name,
				Message: "function could not be loaded: its attempts fail", Error: f.def.Unloaded,
			})
		}
	}
}
