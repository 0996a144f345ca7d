package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/plugin"
)

// stateDir is the folder below the app in which the host keeps what it makes:
// built handlers, keys, the run file. It is never watched.
const stateDir = ".redeliver"

// openHandlers starts what runs the app's functions: the handlers registered in
// process, or the app's own program, built first where there is only source.
// ctx is one of the real world and limits the build.
func (h *Host) openHandlers(ctx context.Context, a *app.App) (Invoker, error) {
	if h.opts.Handlers != nil {
		return InProcess(h.clk, h.opts.Handlers), nil
	}
	spec := a.Handler
	switch spec.Kind {
	case app.GoSource:
		path, err := h.build(ctx, spec)
		if err != nil {
			return nil, err
		}
		spec.Path, spec.WorkingDirectory = path, a.Dir
		return h.startProcess(a, spec)
	case app.Executable:
		return h.startProcess(a, spec)
	default:
		return InProcess(h.clk, noHandlers), nil
	}
}

// build compiles the app's program, unless the last build was of the same
// sources, and returns its path.
func (h *Host) build(ctx context.Context, spec app.HandlerSpec) (string, error) {
	dir := filepath.Join(h.dir, stateDir, "bin")
	target := filepath.Join(dir, gobuild.Name(spec.Fingerprint))
	if _, err := os.Stat(target); err == nil {
		return target, nil
	}
	if h.opts.NoBuild {
		return "", fmt.Errorf("%s has not been built: start once without --no-build", filepath.Base(h.dir))
	}
	var err error
	h.clk.Outside(h.root, "go build", func() {
		err = gobuild.Build(ctx, spec.Path, target, h.opts.Env)
	})
	if err != nil {
		return "", err
	}
	keep := []string{target}
	if g := h.current.Load(); g != nil {
		keep = append(keep, gobuild.Name(g.app.Handler.Fingerprint))
	}
	gobuild.Prune(dir, keep...)
	return target, nil
}

// startProcess starts the handler program of an app.
func (h *Host) startProcess(a *app.App, spec app.HandlerSpec) (Invoker, error) {
	name := filepath.Base(spec.Path)
	if spec.Kind == app.GoSource {
		name = filepath.Base(h.dir) // the file's name holds a fingerprint
	}
	ps := plugin.Spec{
		Path: spec.Path, Args: spec.Arguments, Dir: spec.WorkingDirectory, Env: h.childEnvironment(a),
		HostVersion: h.opts.Version, Logger: h.log,
		Output: func(line plugin.Line) {
			h.journal.Append(journal.Record{Kind: journal.HandlerLog, Name: name, Level: levelName(line.Level), Message: line.Text})
		},
		OnStart: func(p plugin.Process) {
			h.journal.Append(journal.Record{Kind: journal.ProcessStarted, Name: name, Beside: journal.Beside{PID: p.PID}})
		},
		OnExit: func(x plugin.Exit) { h.journal.Append(exitRecord(name, x)) },
	}
	if a.Switches.WorkerCrash == "stop" {
		ps.StopHost = func(err error) {
			h.setState(Error, err.Error())
			h.group.Go("stop after crashes", func() { h.giveUp(err) })
		}
	}
	return plugin.Start(h.clk, ps)
}

// exitRecord says how a handler process ended.
func exitRecord(name string, x plugin.Exit) journal.Record {
	rec := journal.Record{
		Kind: journal.ProcessExited, Name: name, Cause: x.Reason,
		Beside: journal.Beside{PID: x.Process.PID, Detail: strings.Join(x.Output, "\n")},
	}
	if !x.Planned {
		rec.Status = x.Status // of a planned end it depends on who was faster
	}
	if x.Restart >= 0 {
		rec.Delay, rec.HasDelay = x.Restart, true
	}
	if x.Err != nil {
		rec.Error = x.Err.Error()
	}
	return rec
}

// giveUp stops the listeners after too many crashes (switch workerCrash: stop,
// as the platform does). The host stays in state Error until the app changes.
func (h *Host) giveUp(err error) {
	release := h.lockLoading()
	defer release()
	g := h.current.Swap(nil)
	if g == nil {
		return
	}
	h.refuse(&LoadError{Err: err})
	g.stopListening(false)
	g.kill()
	g.retire()
}

// childEnvironment is the environment of a handler process: the host's own and
// the values of local.settings.json (workers.md 3.2).
func (h *Host) childEnvironment(a *app.App) []string {
	env := slices.Clone(h.opts.Env)
	for i, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[i] = name + "=" + h.setting(value)
		}
	}
	local := a.Settings.Local()
	for _, name := range sortedKeys(local) {
		env = append(env, name+"="+h.setting(local[name]))
	}
	return append(env,
		"FUNCTIONS_APPLICATION_DIRECTORY="+a.Dir,
		"AZURE_FUNCTIONS_ENVIRONMENT=Development",
	)
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// remember keeps what later loads and the watcher need of the app that was read
// last, good or not. Settings are read once per process, as on the platform.
func (h *Host) remember(a *app.App) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settings, h.last = a.Settings, a
}

// lastRead is the app that was read last, or nil.
func (h *Host) lastRead() *app.App {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}
