package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/kinds/table"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/host/trace"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/certificate"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/host/web/ui"
	"github.com/redeliver/redeliver/schemas"
)

// session is one "redeliver start": a host, its HTTP server, the printer of its
// journal and the right to run the app. Use open, run and close in this order;
// close also after an open that failed.
type session struct {
	dir    string
	flags  *startFlags
	stop   func()          // ends run
	ended  <-chan struct{} // closed when run is to end
	out    *console
	log    zerolog.Logger
	begun  time.Time
	secret string // of the run file

	owner    *ownership
	accounts []rest.Account // embedded, and served where their ports are open

	clock  *clock.Virtual
	pacing sync.Mutex // guards onlyReal, and changes of the clock's pace
	// onlyReal is a setting that leads to an account outside this host, if one is used:
	// then the clock has to be real.
	onlyReal string

	cloud        *cloud
	host         *host.Host
	web          *web.Server
	metrics      *telemetry.Metrics
	faults       faults.List
	crash        faults.Crash
	exports      telemetry.Config
	trace        *trace.Run        // nil: nothing is exported
	telemetry    *telemetry.Export // nil, too
	storage      *rest.Server      // nil when it is not served
	servers      []*listen.Server  // of Service Bus and Event Grid
	at           map[string]string // addresses of their ports, by the flags that choose these
	store        *store.Store      // nil in memory
	pair         *certificate.Pair
	started      bool   // host.Start was called
	otherBus     string // a setting that leads to the app's Service Bus elsewhere, when the embedded one is not served
	otherStorage bool   // the app's storage is elsewhere, and the embedded one is not served

	explained map[string]bool // why the app does not run, as far as it was said
	warned    map[string]bool // the warnings of the app that were said

	background sync.WaitGroup // watcher and printer
	printed    context.CancelFunc
	unwatch    context.CancelFunc
	watched    chan error // why the files are not watched; nil: the session ends
}

// newSession prepares a session that ends with ctx, which stop ends.
func newSession(ctx context.Context, stop func(), std streams, dir string, f *startFlags) *session {
	s := &session{
		dir: dir, flags: f, stop: stop, ended: ctx.Done(),
		out: newConsole(std, f.output != "pretty"), begun: time.Now(), secret: newSecret(), explained: map[string]bool{}, warned: map[string]bool{},
	}
	s.log = newLog(s.out, f.verbose, s.now)
	return s
}

// now is the clock's time.
func (s *session) now() time.Time {
	if s.clock == nil {
		return s.begun
	}
	return s.clock.Now()
}

// signalGrace is how long the news of a process that was told to end waits for
// the same signal to arrive here: it went to the whole process group.
const signalGrace = 250 * time.Millisecond

// ends reports whether the end of a process with that status belongs to the end
// of the session.
func (s *session) ends(status string) bool {
	select {
	case <-s.ended:
		return true
	default:
	}
	if !strings.HasPrefix(status, "signal: ") {
		return false
	}
	select {
	case <-s.ended:
		return true
	case <-time.After(signalGrace):
		return false
	}
}

// open prepares everything up to a host that runs, or that is in state Error and
// waits for a better app. An error means that there is nothing to wait for.
func (s *session) open(ctx context.Context) error {
	env := hostEnvironment(s.flags.languageWorker)
	a, err := s.look(env)
	if a == nil || a.Bare {
		return err // and nothing is left in a folder that is no app's
	}
	var owned error
	if s.owner, owned = own(s.dir); owned != nil {
		if _, runs := errors.AsType[*ownedError](owned); runs {
			return hinted(owned, "stop it with Ctrl+C there, or with: redeliver stop --dir "+shellWord(short(s.dir)))
		}
		return owned
	}
	if s.owner.exposed != nil {
		s.out.say("warning", fmt.Sprintf("other users of this machine may read the folder %s: %v", stateDir, s.owner.exposed))
	}
	if err != nil {
		return err
	}
	if s.accounts, err = accounts(env); err != nil {
		return err
	}
	s.tell(a)
	if err := s.hopeless(a.AllFaults(), len(app.Check(a).Errors)); err != nil {
		return err
	}
	if s.flags.languageWorker != "" && !(a.Handler.Kind == app.Language && slices.Contains(argumentRuntimes, a.Handler.Runtime)) {
		s.out.warn("--language-worker has no effect: no language worker for " + strings.Join(argumentRuntimes, ", ") + " runs the functions of this app")
	}
	if err := s.openStore(); err != nil {
		return err
	}
	s.exports = telemetry.Read(a)
	if err := s.openHost(env); err != nil {
		return err
	}
	if err := s.openWeb(a); err != nil {
		return err
	}
	if err := s.openTelemetry(); err != nil {
		return err
	}
	if err := s.openServices(a); err != nil {
		return err
	}
	s.completeApp(a)
	clients, admin := s.serviceBus()
	if err := s.owner.publish(runInfo{
		PID: os.Getpid(), Secret: s.secret, Address: s.web.AdminURL(), Started: s.begun.UTC(), Storage: s.storageStrings(), StorageKeys: s.storageKeys(), ServiceBus: clients, ServiceBusAdmin: admin, EventGrid: s.gridURL(),
	}); err != nil {
		return err
	}
	if s.flags.output != "json" {
		s.out.printf("redeliver %s: starting %s\n", longVersion(), s.dir)
	} else {
		s.out.say("info", "listening at "+s.web.URL())
		if line := s.networkLine(); line != "" {
			s.out.say("info", "network: "+line)
		}
		for _, text := range s.storageStrings() {
			s.out.say("info", "storage: "+text)
		}
		for _, line := range [][2]string{{"service bus: ", clients}, {"service bus administration: ", admin}} {
			if line[1] != "" {
				s.out.say("info", line[0]+line[1])
			}
		}
		s.follow(1)
	}
	s.started = true
	s.watch(ctx)
	err = s.host.Start(ctx)
	if ctx.Err() != nil {
		return nil // stopped while starting
	}
	return s.opened(err)
}

// opened says how the start went, and starts the printer.
func (s *session) opened(err error) error {
	if err != nil {
		var load *host.LoadError
		if !errors.As(err, &load) {
			return err
		}
		if err := s.hopeless(load.Faults, len(load.Faults)); err != nil {
			return err
		}
		s.explain(load)
	} else if a := s.host.App(); a != nil {
		s.warnOf(a) // of functions in code
	}
	s.openPage()
	if s.flags.output == "json" {
		s.sayTopics()
		return nil
	}
	from := uint64(1)
	if err != nil {
		from = s.host.Journal().Len() + 1 // all before has been said
	}
	s.follow(from)
	return nil
}

// pageAddress is where the host's page is.
func (s *session) pageAddress() string { return s.web.AdminURL() + web.PagePath }

// openPage opens the host's page, if that was asked for. The browser is the user's: it
// outlives the host.
func (s *session) openPage() {
	if !s.flags.open {
		return
	}
	opening, err := browserFor(s.pageAddress())
	if err == nil {
		ownGroup(opening)
		if err = opening.Start(); err == nil {
			err = opening.Process.Release()
		}
	}
	if err != nil {
		s.out.warn(err.Error())
		s.out.hint("the page is at " + s.pageAddress())
	}
}

// look reads the app once before the host runs, for defaults of flags, and what to tell.
func (s *session) look(env []string) (*app.App, error) {
	a, err := app.Load(s.dir, &app.Options{
		Env: app.Environment(env), Set: s.flags.set, Functions: s.flags.functions, Kinds: table.Facts(),
		Entities: app.EntityFiles{ServiceBus: s.flags.bus.files.bus, EventHubs: s.flags.bus.files.hubs}, ServicesOnly: s.flags.servicesOnly,
		Worker: launch.NoWorker(s.dir, s.flags.worker),
	})
	if err != nil {
		return nil, below(err, "start", s.dir)
	}
	if a.Bare {
		return a, noApp(s.dir)
	}
	return a, nil
}

// noApp is the error of a folder with nothing of an app. The platform's host would make one
// of it; the person who stands there seldom means that.
func noApp(dir string) error {
	dir = short(dir)
	return hinted(fmt.Errorf("there is no function app in %q, nor a host.json above it", dir),
		commandFor("init", dir)+" --lang LANGUAGE writes one, "+commandFor("start", dir)+" --services-only serves the services alone")
}

// tell says what stands in the way of an app, and warns.
func (s *session) tell(a *app.App) {
	if o := a.Obstacle; o != nil {
		s.out.say("error", o.Error())
		s.out.hint(o.Hint)
	}
	s.warnOf(a)
}

// below adds the command for an app to the error of a folder that has only some below it.
func below(err error, command, dir string) error {
	if e, ok := errors.AsType[*app.NoAppError](err); ok {
		return hinted(err, commandFor(command, short(filepath.Join(dir, filepath.FromSlash(path.Dir(e.Apps[0]))))))
	}
	return err
}

// warnOf tells of the warnings of an app that have not been told.
func (s *session) warnOf(a *app.App) {
	for _, w := range a.Told() {
		if text := w.Error(); !s.warned[text] {
			s.warned[text] = true
			s.out.warn(text)
			s.out.hint(w.Hint)
		}
	}
}

// completeApp writes a default host.json into an app that has none, as the platform
// does, when nothing refuses the start any more: the folder may be the wrong one.
func (s *session) completeApp(a *app.App) {
	text := a.DefaultHostJSON()
	if text == nil {
		return
	}
	// A file system that cannot be written is no obstacle (spec host-and-retry 6.1).
	if err := os.WriteFile(filepath.Join(s.dir, "host.json"), text, 0o644); err != nil {
		s.out.warn("the app has no host.json, and a default one cannot be written: " + err.Error())
		return
	}
	s.out.say("info", "wrote a default host.json, because the app had none")
}

// hopeless returns the first fault that no edit of a watched file cures: the
// command line, and local.settings.json, which is read once per process
// (spec host-and-retry 6.4). A missing storage account is one of these (12.3). The
// hint names the command that shows the other faults.
func (s *session) hopeless(faults []*schemas.Fault, all int) error {
	for _, f := range faults {
		if f.File != "--set" && f.File != "local.settings.json" {
			continue
		}
		hint := f.Hint
		if others := all - 1; others > 0 {
			hint = strings.TrimPrefix(hint+"; ", "; ") + fmt.Sprintf("%q shows %s more", s.checkCommand(), plural(others, "error"))
		}
		return hinted(f, hint)
	}
	return nil
}

// short is a path below this folder as seen from here; others stay as they are.
func short(path string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// checkCommand is the command line that checks the app as this one runs it.
func (s *session) checkCommand() string {
	line := commandFor("check", short(s.dir))
	for _, set := range s.flags.set {
		line += " --set " + set
	}
	if f := s.flags.bus.files; f.bus != "" {
		line += " --servicebus-config " + short(f.bus)
	}
	if f := s.flags.bus.files; f.hubs != "" {
		line += " --eventhubs-config " + short(f.hubs)
	}
	return line
}

func (s *session) openHost(env []string) error {
	names := accountNames(s.accounts)
	clk, err := s.newClock(names)
	if err != nil {
		return err
	}
	s.clock = clk
	if s.exports.On() {
		s.trace = trace.NewRun(s.instance(), s.flags.seed, clk.Now()).Sampling(s.exports.Sampler)
	}
	s.cloud = newCloud(s.outside)
	h, err := host.New(s.dir, &host.Options{
		Outside: s.cloud, Instance: s.instance(),
		Store: s.store, Accounts: names, Entities: app.EntityFiles{ServiceBus: s.flags.bus.files.bus, EventHubs: s.flags.bus.files.hubs},
		Clock: s.clock, Seed: s.flags.seed, Env: env, Set: s.flags.set, Functions: s.flags.functions,
		Fault:  func(p services.FaultPoint) error { return s.faults.Ask(clk, p) },
		KillAt: s.killAt, Trace: s.trace, NoBuild: s.flags.noBuild, Poll: s.flags.poll, Worker: s.flags.worker, ServicesOnly: s.flags.servicesOnly, Logger: s.log, Version: version(),
	})
	if err != nil {
		return storeError(err)
	}
	s.host = h
	return s.setPace(clock.Pace(s.flags.clock))
}

// openWeb listens. Flags go before the Host section of local.settings.json
// (spec host-and-retry 6.4).
func (s *session) openWeb(a *app.App) error {
	opts := &web.Options{
		Address: s.flags.address, AdminAddress: s.flags.adminAddress, Port: s.flags.port, EnableAuth: s.flags.enableAuth,
		Names: s.flags.allowHosts, CORS: s.flags.cors, CORSCredentials: s.flags.corsCredentials || a.Local.CORSCredentials,
		Stop: s.stop, Pace: s.setPace, Logger: s.log, Secret: s.secret,
	}
	switch {
	case s.flags.portGiven:
	case s.flags.servicesOnly:
		opts.Port = 0 // the usual one is for the host that runs the functions
	case a.Local.Port != 0:
		opts.Port = a.Local.Port
	}
	if opts.Address == "" && a.Local.Address != "" {
		if err := checkAddress("Host.LocalHttpAddress", a.Local.Address); err != nil {
			return err
		}
		opts.Address = a.Local.Address
	}
	if len(opts.CORS) == 0 {
		opts.CORS = a.Local.CORS
	}
	s.metrics = telemetry.NewMetrics(s.host.Journal(), telemetry.DepthsOf(s.clock, s.host.Services(), s.host.AppStorage), version())
	opts.Metrics, opts.Endpoints, opts.Faults, opts.Crash = s.metrics, s.endpoints, &s.faults, &s.crash
	if !s.flags.noUI {
		opts.Page = ui.Handler()
	}
	server := web.New(s.host, opts)
	if err := server.Start(); err != nil {
		if isBusy(err) {
			return hinted(err, "choose another port with --port, or any free one with --port 0; --ports any takes free ones for all services")
		}
		return err
	}
	s.web = server
	return nil
}

// networkLine says what other machines of the network may do, empty when they reach
// nothing.
func (s *session) networkLine() string {
	functions, admin := s.web.ForOthers()
	const key = "the admin and control API ask other machines for the master key; \"redeliver keys\" shows it"
	switch {
	case functions && admin:
		return "other machines may call functions; " + key
	case functions:
		return "other machines may call functions; the admin and control API are served at " + s.flags.adminAddress + " only"
	case admin:
		return key
	}
	return ""
}

// explain says why the app does not run, and what will happen now.
func (s *session) explain(load *host.LoadError) {
	for _, f := range load.Faults {
		s.explained[f.Error()] = true
		s.out.say("error", f.Error())
		s.out.hint(f.Hint)
	}
	if len(load.Faults) == 0 {
		s.explained[load.Error()] = true
		s.out.say("error", load.Error())
		s.out.hint(host.Hint(load.Err))
	}
	if s.flags.noWatch {
		s.out.hint("the host is in state Error and tries again from time to time; Ctrl+C stops it")
		return
	}
	s.out.hint("the host waits in state Error: fix this and it loads the app again; Ctrl+C stops it")
}

// watch watches the app's files until ctx ends, from before the start: an edit gives up a
// load that does not come to an end.
func (s *session) watch(ctx context.Context) {
	if s.flags.noWatch {
		return
	}
	ctx, s.unwatch = context.WithCancel(ctx)
	s.watched = make(chan error, 1)
	s.background.Go(func() { s.watched <- s.host.Watch(ctx) })
}

// run goes on until ctx ends.
func (s *session) run(ctx context.Context) error {
	if s.flags.noWatch {
		<-ctx.Done()
		return nil
	}
	if err := <-s.watched; err != nil {
		s.out.warn(err.Error())
		s.out.hint(`changes need "redeliver stop" and a new start; --no-watch silences this`)
		<-ctx.Done()
	}
	return nil
}

// follow starts the printer of the journal with that record.
func (s *session) follow(from uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	s.printed = cancel
	sub := s.host.Journal().Subscribe(from)
	p := newPrinter(s)
	s.background.Go(func() {
		defer sub.Close()
		p.run(ctx, sub)
	})
}

// close ends everything, in the order in which things depend on each other, and
// prints what the journal still has to say.
func (s *session) close() error {
	var errs []error
	if s.unwatch != nil {
		s.unwatch()
	}
	if s.started {
		s.hurryUp()
		errs = append(errs, s.host.Close())
	}
	if s.web != nil {
		errs = append(errs, s.web.Close())
	}
	errs = append(errs, s.closeServices())
	if s.cloud != nil {
		s.cloud.close()
	}
	errs = append(errs, s.closeTelemetry())
	if s.printed != nil {
		s.printed()
	}
	s.background.Wait()
	if s.clock != nil {
		s.clock.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.owner != nil {
		errs = append(errs, s.owner.release())
	}
	return errors.Join(errs...)
}

// abort makes a close that is under way end sooner.
func (s *session) abort() {
	if s.started {
		s.host.Abort()
	}
}
