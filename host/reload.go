package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/places"
	"github.com/redeliver/redeliver/host/watch"
	"github.com/redeliver/redeliver/schemas"
)

// Reload loads the app again and swaps it in: new handler processes start, the
// old listeners stop receiving, the new ones start; a running attempt ends on
// its old handler, a retry wait ends at once with the last failure (D-14). An
// app that did not change is left alone. One that is invalid, whose handlers do
// not build or start, or in which a function that runs now would be in error,
// is refused with a *LoadError and the running generation stays (D-15).
//
// Reload may be called from anywhere; calls take turns.
func (h *Host) Reload(ctx context.Context) error {
	var err error
	h.clk.Inside("reload", func() { err = h.reload(ctx, false) })
	return err
}

// reload is Reload; changed says that files have, and that a build may be writing them.
func (h *Host) reload(ctx context.Context, changed bool) error {
	release := h.lockLoading()
	defer release()
	if s := h.State(); s == Stopping || s == Stopped || s == Default {
		return ErrNotRunning
	}
	prev := h.current.Load()
	if watch.Offline(h.dir) != "" {
		if prev != nil {
			h.current.Store(nil)
			prev.stopListening(false)
			h.group.Go("retire generation", prev.retire)
		}
		h.setState(Offline)
		return nil
	}
	next, err := h.loader.load(ctx, prev, changed)
	if err != nil {
		if errors.Is(err, launch.ErrCalledOff) || errors.Is(err, watch.ErrHalf) {
			return err
		}
		if h.current.Load() == nil {
			h.starter.fail(err)
			h.starter.keepStarting()
		}
		h.loader.refuse(err)
		return err
	}
	switch {
	case next != nil:
		h.loader.swap(next)
	case h.loader.refused:
		h.loader.refused = false
		h.journal.Append(journal.Record{Kind: journal.EditUndone, Generation: prev.id})
	}
	return nil
}

// Restart replaces the running generation by a new one of the same app, even
// when nothing changed (admin API: restart, resume).
func (h *Host) Restart(ctx context.Context) error {
	var err error
	h.clk.Inside("restart", func() {
		release := h.lockLoading()
		defer release()
		if h.State() != Running {
			err = ErrNotRunning
			return
		}
		prev := h.current.Load()
		var next *generation
		if next, err = h.loader.load(ctx, nil, false); err != nil {
			if !errors.Is(err, launch.ErrCalledOff) {
				h.loader.refuse(err)
			}
			return
		}
		for _, f := range next.functions {
			f.keepBreaker(prev)
		}
		h.loader.swap(next)
	})
	return err
}

// loader loads the app, one load at a time: see Host.lockLoading.
type loader struct {
	host *Host

	residents []kinds.Resident
	warned    map[string]bool // warnings given
	refused   bool            // the last load, of what was edited since the running generation
	inFolders map[string]bool // functions that had a folder in a generation that ran
	half      watch.Half

	// Under the host's mutex.
	generations int
	settings    *appsettings.Settings // read once per process, as on the platform
	last        *app.App              // as read last, good or not
	asked       app.Options           // with which it was read
}

// load prepares a generation of the app, handlers started, until ctx or the host ends.
// With a running generation prev it returns nil when nothing changed.
func (l *loader) load(ctx context.Context, prev *generation, changed bool) (*generation, error) {
	read := func(ctx context.Context) (*generation, error) { return l.prepare(ctx, prev, changed) }
	return launch.Load(ctx, l.host.loads, read, (*generation).discard)
}

// prepare is load while nobody calls it off. What it has started ends with ctx.
func (l *loader) prepare(ctx context.Context, prev *generation, changed bool) (*generation, error) {
	opts := l.options(ctx)
	if prev != nil {
		opts.Declared, opts.InFiles = prev.declared, prev.inFiles
	}
	a, err := app.Load(l.host.dir, opts)
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	l.remember(a, opts)
	if prev != nil && changed {
		if err := l.half.Whole(a, prev.app); err != nil {
			return nil, &LoadError{Err: err}
		}
	}
	if !a.OK() {
		return nil, &LoadError{Faults: a.AllFaults()}
	}
	if prev != nil && a.Fingerprint != prev.app.Fingerprint {
		a, err = l.host.handlers.settle(ctx, a, opts)
	}
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	if prev != nil && a.Fingerprint == prev.app.Fingerprint {
		return nil, nil
	}
	if prev != nil && launch.OneAtATime(a) {
		l.host.current.Store(nil)
		prev.stopListening(false)
		prev.retire()
		prev = nil
	}
	defer launch.SaySlow(a, l.host.log, launch.After)()
	inv, handler, err := l.host.handlers.open(ctx, a)
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	gen, err := l.finish(ctx, inv, handler, prev)
	if err != nil {
		_ = inv.Close(context.Background()) // the error that counts is the load's
		return nil, err
	}
	return gen, nil
}

// finish asks the handlers what they declare and loads the app with it, and with
// the handler that was started: what has changed since is of the next reload.
func (l *loader) finish(ctx context.Context, inv Invoker, handler app.HandlerSpec, prev *generation) (*generation, error) {
	declared, err := inv.Functions(l.host.root)
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	if declared == nil {
		declared = []call.Declaration{}
	}
	opts := l.options(ctx)
	opts.Declared, opts.Handler, opts.InFiles = declared, handler.Started(), inFiles(inv, handler)
	a, err := app.Load(l.host.dir, opts)
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	l.remember(a, opts)
	if !a.OK() {
		return nil, &LoadError{Faults: a.AllFaults()}
	}
	if err := empty(inv, a, prev); err != nil {
		return nil, err
	}
	gen := l.generation(a, inv, declared, prev)
	gen.inFiles = opts.InFiles
	err = l.loadWorker(l.host.root, gen, prev)
	if err == nil {
		err = gen.accept(prev)
	}
	if err != nil {
		gen.discard()
		return nil, err
	}
	return gen, nil
}

func (l *loader) options(ctx context.Context) *app.Options {
	return &app.Options{
		Env: appsettings.Environment(l.host.opts.Env), Set: l.host.opts.Set, Functions: l.host.opts.Functions,
		InProcess: l.host.opts.Handlers != nil || l.host.opts.Attached != nil, Kinds: served.Facts(), Settings: l.settings, Processors: l.host.opts.Processors,
		Removed:      slices.Sorted(maps.Keys(l.inFolders)),
		Sources:      func(string) string { return l.host.handlers.readSources(ctx) },
		Entities:     l.host.opts.Entities,
		Overlay:      l.host.opts.Overlay,
		Worker:       launch.NoWorker(l.host.dir, l.host.opts.Worker),
		ServicesOnly: l.host.opts.ServicesOnly,
	}
}

// broken returns the faults of functions that run in prev and would be in error
// in g (D-15). One whose trigger has become another that this host does not serve is in
// order, and stops; one whose input has lost its fixed value does not.
func (g *generation) broken(prev *generation) []*schemas.Fault {
	if prev == nil {
		return nil
	}
	var faults []*schemas.Fault
	for _, def := range g.app.Functions {
		if def.Runs() || prev.function(def.Name) == nil || def.ForeignTrigger && !def.InError() {
			continue
		}
		faults = append(faults, def.Faults...)
		if !def.InError() {
			faults = append(faults, faultOf(def, fmt.Errorf("function %q would not run: %s", def.Name, def.NotServed)))
		}
	}
	return faults
}

// swap makes next the running generation and retires the one before. A reload keeps
// everything that belongs to Host: journal, clock, services, counters, IDs. Of the old
// generation it keeps the circuit breakers only: see function.keepBreaker.
func (l *loader) swap(next *generation) {
	l.host.mu.Lock()
	l.generations++
	next.id = l.generations
	l.host.mu.Unlock()
	if prev := l.host.current.Load(); prev != nil {
		prev.stopListening(false)
		l.host.group.Go("retire generation", prev.retire)
	}
	places.Configure(l.host.env, l.host.env.Switches(next.app.Switches))
	l.host.current.Store(next)
	l.refused = false
	l.host.setState(Running) // before the record: who sees that one may look
	if next.id == 1 {
		l.host.journal.Append(journal.Record{Kind: journal.HostStarted, Name: filepath.Base(l.host.dir)})
	}
	l.host.journal.Append(journal.Record{
		Kind: journal.GenerationLoaded, Generation: next.id,
		Fields: []journal.Field{{Key: "functions", Value: strings.Join(next.names(), ",")}},
	})
	for _, def := range next.app.Functions {
		if def.NotServed != "" {
			l.host.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: next.id, Function: def.Name,
				Message: "function is not served and does not run", Error: def.NotServed,
			})
			continue
		}
		for _, fault := range def.Faults {
			l.host.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: next.id, Function: def.Name,
				Message: "function is in error and does not run", Error: fault.Error(),
			})
		}
	}
	next.sayUnloaded()
	for _, def := range next.app.Functions {
		if def.Dir != "" {
			l.inFolders[def.Name] = true
		}
	}
	next.nameUnserved()
	l.notices(next.app)
	l.host.primary.Campaign(l.host.root, next.Locks())
	next.listen()
	for _, r := range l.residents {
		r.Apply(next)
	}
}

// notices logs what is worth a line at a start: the list of functions to run (spec
// host-and-retry 6.2); handlers that no function uses; for each function that is
// indexed and has a policy, that the platform does not officially support retries
// on its trigger (2.7), where the policy stays active, in one line; and three lints: messages
// without a place for poison ones (spec storage 2, S-3), one delivery in all (D-9),
// and an output that feeds its own trigger. A reload does not repeat it.
func (l *loader) notices(a *app.App) {
	if list := a.Config.Functions; len(list) > 0 && l.first("6.2", list...) {
		l.host.log.Info().Strs("functions", list).Msg("only the functions of this list run")
	}
	for _, w := range a.IdleHandlers {
		if l.first("idle", w.Path, w.Reason) {
			l.host.log.Warn().Str("function", w.Path).Str("hint", w.Hint).Msg(w.Reason)
		}
	}
	var unsupported []string
	for _, f := range a.Functions {
		if f.Runs() && f.RetrySupportWarning() != nil {
			unsupported = append(unsupported, f.Name)
		}
	}
	if len(unsupported) > 0 && l.first("2.7") {
		l.host.log.Warn().Strs("functions", unsupported).Str("help", "https://aka.ms/func-retry-policies").
			Msg("retries will soon not be supported by the platform on the triggers of these functions; here they stay active")
	}
	for _, lint := range app.Lints(a) {
		if (lint.ID == "L-6" || lint.ID == "L-12" || lint.ID == "L-16") && !a.Switches.Ignores(lint.ID) && l.first(lint.ID, lint.Function, lint.Message) {
			l.host.log.Warn().Str("function", lint.Function).Str("lint", lint.ID).Msg(lint.Message)
		}
	}
}

// first reports whether a notice, given by its topic and parts, has not been
// given before. Loads take turns, so there is one caller at a time.
func (l *loader) first(topic string, parts ...string) bool {
	key := topic + "\x00" + strings.Join(parts, "\x00")
	if l.warned[key] {
		return false
	}
	l.warned[key] = true
	return true
}

func (g *generation) names() []string {
	names := []string{}
	for _, f := range g.functions {
		names = append(names, f.def.Name)
	}
	return names
}

// refuse writes down why a load failed.
func (l *loader) refuse(err error) {
	l.refused = true
	write := func(file string, err error, more ...journal.Field) {
		rec := journal.Record{Kind: journal.GenerationRefused, Name: file, Error: err.Error()}
		if hint := Hint(err); hint != "" {
			rec.Fields = []journal.Field{{Key: "hint", Value: hint}}
		}
		rec.Fields = append(rec.Fields, more...)
		l.host.journal.Append(rec)
	}
	var load *LoadError
	if !errors.As(err, &load) || len(load.Faults) == 0 {
		write("", err)
		return
	}
	for i, f := range load.Faults {
		if len(load.Faults) == 1 {
			write(f.File, f)
			return
		}
		write(f.File, f, journal.Field{Key: "fault", Value: strconv.Itoa(i + 1)}, journal.Field{Key: "faults", Value: strconv.Itoa(len(load.Faults))})
	}
}

// OfflinePage returns the text of app_offline.htm, or nil.
func (h *Host) OfflinePage() []byte { return watch.OfflinePage(h.dir) }

// Watch reloads the app when something in its files changed that matters (spec
// host-and-retry 7.1), until ctx ends: see [watch.Follow]. It enters the clock
// only to reload. A reload reports to the journal.
func (h *Host) Watch(ctx context.Context) error {
	starting := false // when it was asked last
	return watch.Follow(ctx, &watch.Options{
		Dir: h.dir, Sources: h.handlers.sources, Log: h.log, App: h.loader.lastRead,
		Settings: func() *appsettings.Settings {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.loader.settings
		},
		Awaits: func() bool {
			s := h.State()
			return s == Running || s == Offline || s == Error && h.starter.waitsForChange()
		},
		Reload: func(ctx context.Context) bool {
			started := starting
			if starting = h.starter.giveWay(ctx); starting {
				return true
			}
			if started && h.State() == Error && !h.loader.differs(ctx) {
				return false // the start has told of this app
			}
			var err error
			h.clk.Inside("reload", func() { err = h.reload(ctx, true) })
			return errors.Is(err, watch.ErrHalf) // refusals are in the journal
		},
		Differs: h.loader.differs,
		Poll:    h.opts.Poll,
	})
}

// giveUp stops the listeners after too many crashes of their generation's process
// (switch workerCrash: stop, as the platform does). The host stays in state Error until
// the app changes. The process of a generation that does not run any more, or never
// came to run, stops nothing.
func (l *loader) giveUp(p *kept, err error) {
	h := l.host
	release := h.lockLoading()
	defer release()
	g := h.current.Load()
	if g == nil || g.invoker != Invoker(p) {
		return
	}
	h.setState(Error, err.Error())
	h.current.Store(nil)
	l.refuse(&LoadError{Err: err})
	g.stopListening(false)
	g.kill()
	g.retire()
}
