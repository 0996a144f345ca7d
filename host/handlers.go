package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/customhandler"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/plugin"
	"github.com/redeliver/redeliver/host/process"
)

// handlers start what runs the app's functions.
type handlers struct {
	*core
	lost func(p *kept, err error) // of a program that has crashed too often

	sources    *gobuild.Sources // of the app's program, if that is to be built
	programs   launch.Programs
	told       launch.Notices
	inspecting bool // the host only reads the app, beside one that may run it
}

// open starts what runs the app's functions: the handlers registered in process, or
// the app's own program, built first where there is only source. It also returns what
// it started: the app's handler, with the fingerprint of the sources that were built,
// which may be newer than the sources that the app was read with. ctx is one of the
// real world and limits the build; what was started ends with it.
func (hs *handlers) open(ctx context.Context, a *app.App) (Invoker, app.HandlerSpec, error) {
	spec := a.Handler
	switch {
	case hs.opts.Attached != nil:
		inv, err := hs.attach(ctx, a)
		return inv, spec, err
	case hs.opts.Handlers != nil:
		return InProcess(hs.clk, hs.opts.Handlers), spec, nil
	case !spec.Served():
		return InProcess(hs.clk, noHandlers), spec, nil
	case spec.Kind == app.Language:
		inv, err := hs.work(ctx, a, &spec)
		return inv, spec, err
	case spec.Kind == app.Custom:
		if hs.inspecting || len(a.Functions) == 0 { // it has nothing to declare, and nothing to do
			return InProcess(hs.clk, noHandlers), spec, nil
		}
		inv, err := hs.serve(ctx, a, spec)
		return inv, spec, err
	case spec.Kind == app.Executable:
		inv, err := hs.start(ctx, a, spec, spec.Path, spec.WorkingDirectory)
		return inv, spec, err
	}
	program, err := hs.build(ctx, &spec)
	if err != nil {
		return nil, spec, err
	}
	if err := app.NoHandlerProgram(program); err != nil {
		hs.programs.Release(program)
		return nil, spec, err
	}
	inv, err := hs.start(ctx, a, spec, program, a.Dir)
	if err != nil {
		hs.programs.Release(program)
		return nil, spec, err
	}
	inv.release = func() { hs.programs.Release(program) }
	return inv, spec, nil
}

// build compiles the app's program, unless that was done before, and returns its path,
// which is in use then. spec gets the fingerprint of what it was built of.
func (hs *handlers) build(ctx context.Context, spec *app.HandlerSpec) (program string, err error) {
	hs.clk.Outside(hs.root, "go build", func() {
		if program, spec.Fingerprint, err = hs.sources.Build(ctx, hs.opts.NoBuild); err != nil {
			return
		}
		hs.programs.Use(program)
		if !hs.inspecting {
			hs.sources.Prune(hs.programs.Used()...)
		}
	})
	if errors.Is(err, gobuild.ErrNotBuilt) {
		return "", fmt.Errorf("%s has not been built: start once without --no-build", filepath.Base(hs.dir))
	}
	return program, err
}

// readSources stands for what the app's program is built of.
func (hs *handlers) readSources(ctx context.Context) (fingerprint string) {
	hs.clk.Outside(hs.root, "read sources", func() { fingerprint = hs.sources.Read(ctx).Fingerprint })
	return fingerprint
}

// kept is a handler process of one generation.
type kept struct {
	Invoker
	release func() // of its program; nil: it has none
}

func (p *kept) Close(ctx context.Context) error {
	err := p.Invoker.Close(ctx)
	if p.release != nil {
		p.release()
	}
	return err
}

// start starts the handler program of an app.
func (hs *handlers) start(ctx context.Context, a *app.App, spec app.HandlerSpec, program, dir string) (*kept, error) {
	p := &kept{}
	ps := hs.keep(ctx, a, p, filepath.Base(spec.Path)) // a built program's own name holds a fingerprint
	ps.Path, ps.Args, ps.Dir = program, spec.Arguments, dir
	inv, err := plugin.Start(hs.clk, plugin.Spec{Spec: ps, HostVersion: hs.opts.Version, Logger: hs.log})
	if err != nil {
		return nil, err
	}
	p.Invoker = inv
	return p, nil
}

// serve starts the HTTP custom handler of an app.
func (hs *handlers) serve(ctx context.Context, a *app.App, spec app.HandlerSpec) (*kept, error) {
	p := &kept{}
	ps := hs.keep(ctx, a, p, filepath.Base(spec.Path))
	ps.Name, ps.Path, ps.Args, ps.Dir = "custom handler", spec.Path, spec.Arguments, spec.WorkingDirectory
	inv, err := customhandler.Start(hs.clk, launch.CustomHandler(a, ps, hs.opts.Version))
	if err != nil {
		return nil, err
	}
	p.Invoker = inv
	return p, nil
}

// inFiles reports whether function.json files say which functions there are, and the
// handlers, which were asked, do not.
func inFiles(inv Invoker, handler app.HandlerSpec) bool {
	w, isWorker := workerOf(inv)
	return handler.Kind == app.Custom || isWorker && !w.InCode()
}

// keep says how a program of an app is kept running: its environment, and the
// receivers of its starts and ends.
func (hs *handlers) keep(ctx context.Context, a *app.App, p *kept, name string) process.Spec {
	ps := process.Spec{
		Life:   ctx,
		Env:    launch.Environment(a, hs.opts.Env, hs.website(), hs.connections, &hs.told, hs.log),
		Output: hs.outputOf(name),
		OnStart: func(p process.Process) {
			hs.journal.Append(journal.Record{Kind: journal.ProcessStarted, Name: name, Beside: journal.Beside{PID: p.PID}})
		},
		OnExit: func(x process.Exit) { hs.journal.Append(launch.ExitRecord(name, x)) },
	}
	if a.Switches.WorkerCrash == "stop" {
		ps.StopHost = func(err error) {
			hs.group.Go("stop after crashes", func() { hs.lost(p, err) })
		}
	}
	return ps
}
