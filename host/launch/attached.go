package launch

import (
	"context"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// Attached names a worker that somebody else has started in texts and records.
const Attached = "attached worker"

// AttachedSpec is what such a worker at its seat has to know of an app.
func AttachedSpec(a *app.App, ps process.Spec, seat *worker.Seat, hostVersion string) worker.Spec {
	ps.Name = Attached
	say := func(l call.Log) { ps.Output(process.Line{Level: l.Level, Text: l.Message}) }
	return worker.Spec{Spec: ps, Seat: seat, Language: a.Handler.Runtime, App: a.Dir, HostVersion: hostVersion, Log: say, Notice: say}
}

// InProcess are functions of this process: host.InProcess.
type InProcess interface {
	Functions(ctx context.Context) ([]call.Declaration, error)
	Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error)
}

// Beside is an attached worker with functions of this process beside it, which take the place
// of its functions of the same name.
type Beside struct {
	*worker.Worker
	Own InProcess
}

// Scripted is a worker some of whose functions are played by this process. What functions
// there are, and their bindings, the worker says, or the files of the app.
type Scripted struct{ Beside }

// Functions implements host.Invoker.
func (s *Scripted) Functions(ctx context.Context) ([]call.Declaration, error) {
	return s.Worker.Functions(ctx)
}

// Invoke implements host.Invoker. A script returns a value as functions of workers do, and its
// failures are the text alone: the types of Go are nothing to an orchestrator in another language.
func (s *Scripted) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	if !s.own(req.Function) {
		return s.Worker.Invoke(ctx, req, log)
	}
	own := *req
	own.Outputs = append(slices.Clone(req.Outputs), "$return")
	resp, err := s.Own.Invoke(ctx, &own, log)
	if err == nil && resp.Error != nil {
		resp.Error.Message = strings.TrimPrefix(resp.Error.Message, resp.Error.Type+": ")
	}
	return resp, err
}

// Load tells the worker of all functions, also of those that are played: so one process serves
// hosts with scripts and without.
func (s *Scripted) Load(ctx context.Context, functions []worker.Function) (map[string]*call.Error, error) {
	return s.Worker.Load(ctx, functions)
}

// own reports whether a function is of this process.
func (b *Beside) own(name string) bool {
	declared, _ := b.Own.Functions(context.Background()) // in process it cannot fail
	return slices.ContainsFunc(declared, func(d call.Declaration) bool { return strings.EqualFold(d.Name, name) })
}

// Functions implements host.Invoker.
func (b *Beside) Functions(ctx context.Context) ([]call.Declaration, error) {
	list, err := b.Own.Functions(ctx)
	if err != nil {
		return nil, err
	}
	theirs, err := b.Worker.Functions(ctx)
	return append(list, slices.DeleteFunc(theirs, func(d call.Declaration) bool { return b.own(d.Name) })...), err
}

// Invoke implements host.Invoker.
func (b *Beside) Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error) {
	if b.own(req.Function) {
		return b.Own.Invoke(ctx, req, log)
	}
	return b.Worker.Invoke(ctx, req, log)
}

// Load tells the worker of its own functions: see worker.Worker.Load.
func (b *Beside) Load(ctx context.Context, functions []worker.Function) (map[string]*call.Error, error) {
	return b.Worker.Load(ctx, slices.DeleteFunc(slices.Clone(functions), func(f worker.Function) bool { return b.own(f.Name) }))
}
