package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/host/web/ui"
	"github.com/redeliver/redeliver/schemas"
)

// session is the part of one app in a "redeliver start": its host, its HTTP server and the
// right to run it. What the apps of one start have together is in common.
type session struct {
	*common
	dir    string
	name   string // of the app among several; empty: it is the only one
	secret string // of the run file
	read   *app.App

	owner        *remote.Ownership
	host         *host.Host
	web          *web.Server
	exports      telemetry.Config
	trace        *trace.Run        // nil: nothing is exported
	telemetry    *telemetry.Export // nil, too
	started      bool              // host.Start was called
	otherBus     string            // a setting that leads to the app's Service Bus elsewhere, when the embedded one is not served
	otherStorage bool              // the app's storage is elsewhere, and the embedded one is not served

	explained map[string]bool // why the app does not run, as far as it was said
	warned    map[string]bool // the warnings of the app that were said
	tidy      sync.Once       // after the start

	unwatch context.CancelFunc
	watched chan error // why the files are not watched; nil: the session ends
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

// take takes the right to run the app.
func (s *session) take() error {
	var owned error
	if s.owner, owned = remote.Own(s.dir); owned != nil {
		if _, runs := errors.AsType[*remote.OwnedError](owned); runs {
			return cli.Hinted(owned, "stop it with Ctrl+C there, or with: redeliver stop --dir "+cli.ShellWord(cli.Short(s.dir)))
		}
		return owned
	}
	if s.owner.Exposed != nil {
		s.out.Say("warning", fmt.Sprintf("other users of this machine may read the folder %s: %v", remote.StateDir, s.owner.Exposed))
	}
	return nil
}

// publish makes the app complete, and tells commands where it runs.
func (s *session) publish() error {
	s.completeApp(s.read)
	clients, admin := s.serviceBus()
	return s.owner.Publish(remote.RunInfo{
		PID: os.Getpid(), Secret: s.secret, Address: s.web.AdminURL(), Started: s.begun.UTC(), Storage: s.storageStrings(), StorageKeys: s.storageKeys(), ServiceBus: clients, ServiceBusAdmin: admin, EventGrid: s.gridURL(),
	})
}

// announce says that the app starts, and to readers of the journal where it listens.
func (s *session) announce() {
	if s.flags.output != "json" {
		s.out.Printf("redeliver %s: starting %s\n", cli.LongVersion(), s.dir)
		if s == s.first() {
			s.out.SayAge()
		}
		return
	}
	s.out.Say("info", s.ofApp("listening at "+s.web.URL()))
	if s != s.first() {
		return
	}
	clients, admin := s.serviceBus()
	if line := s.networkLine(); line != "" {
		s.out.Say("info", "network: "+line)
	}
	for _, text := range s.storageStrings() {
		s.out.Say("info", "storage: "+text)
	}
	for _, line := range [][2]string{{"service bus: ", clients}, {"service bus administration: ", admin}} {
		if line[1] != "" {
			s.out.Say("info", line[0]+line[1])
		}
	}
}

// ofApp says which app of several a text is about.
func (s *session) ofApp(text string) string {
	if s.name == "" {
		return text
	}
	return s.name + ": " + text
}

// start starts the host. Only an error that leaves nothing to wait for is returned.
func (s *session) start(ctx context.Context) error {
	s.started = true
	s.watch(ctx)
	err := s.host.Start(ctx)
	if ctx.Err() != nil {
		return nil // stopped while starting
	}
	return s.opened(err)
}

// warnOfArguments says when the arguments for a language worker reach none.
func (s *session) warnOfArguments() {
	handler := s.read.Handler
	if s.flags.languageWorker != "" && !(handler.Kind == app.Language && slices.Contains(languages.WithArguments(), handler.Runtime)) {
		s.out.Warn(s.ofApp("--language-worker has no effect: no language worker for " + strings.Join(languages.WithArguments(), ", ") + " runs the functions of this app"))
	}
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
		if s.name != "" {
			return nil // the printer has begun, and says it
		}
		s.explain(load)
	} else if a := s.host.App(); a != nil && s.name == "" {
		s.warnOf(a) // of functions in code
	}
	if s.name != "" {
		return nil
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
	opening, err := cli.BrowserFor(s.pageAddress())
	if err == nil {
		cli.OwnGroup(opening)
		if err = opening.Start(); err == nil {
			err = opening.Process.Release()
		}
	}
	if err != nil {
		s.out.Warn(err.Error())
		s.out.Hint("the page is at " + s.pageAddress())
	}
}

// look reads the app once before the host runs, for defaults of flags, and what to tell.
func (s *session) look(env []string) (*app.App, error) {
	a, err := app.Load(s.dir, &app.Options{
		Env: appsettings.Environment(env), Set: s.flags.set, Functions: s.flags.functions, Kinds: served.Facts(),
		Entities: s.flags.bus.files, ServicesOnly: s.flags.servicesOnly,
		Worker: launch.NoWorker(s.dir, s.flags.worker),
	})
	if err != nil {
		return nil, Below(err, "start", s.dir)
	}
	if a.Bare {
		return a, NoApp(s.dir)
	}
	return a, nil
}

// NoApp is the error of a folder with nothing of an app. The platform's host would make one
// of it; the person who stands there seldom means that.
func NoApp(dir string) error {
	dir = cli.Short(dir)
	return cli.Hinted(fmt.Errorf("there is no function app in %q, nor a host.json above it", dir),
		cli.CommandFor("init", dir)+" --lang LANGUAGE writes one, "+cli.CommandFor("start", dir)+" --services-only serves the services alone")
}

// tell says what stands in the way of an app, and warns.
func (s *session) tell(a *app.App) {
	if o := a.Obstacle; o != nil {
		s.out.Say("error", s.ofApp(o.Error()))
		s.out.Hint(o.Hint)
	}
	s.warnOf(a)
}

// Below adds the command for an app to the error of a folder that has only some below it.
func Below(err error, command, dir string) error {
	e, ok := errors.AsType[*app.NoAppError](err)
	if !ok {
		return err
	}
	var folders []string
	for _, file := range e.Apps {
		folders = append(folders, cli.Short(filepath.Join(dir, filepath.FromSlash(path.Dir(file)))))
	}
	hint := cli.CommandFor(command, folders[0])
	if command == "start" && len(folders) > 1 && len(folders) <= mostApps {
		hint += ", or several together: redeliver start"
		for _, folder := range folders {
			hint += " " + cli.ShellWord(folder)
		}
	}
	return cli.Hinted(err, hint)
}

// warnOf tells of the warnings of an app that have not been told.
func (s *session) warnOf(a *app.App) {
	for _, w := range a.Told() {
		if text := w.Error(); !s.warned[text] {
			s.warned[text] = true
			s.out.Warn(s.ofApp(text))
			s.out.Hint(w.Hint)
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
		s.out.Warn(s.ofApp("the app has no host.json, and a default one cannot be written: " + err.Error()))
		return
	}
	s.out.Say("info", s.ofApp("wrote a default host.json, because the app had none"))
}

// hopeless returns the first fault that no edit of a watched file cures: the
// command line, and local.settings.json, which is read once per process
// (spec host-and-retry 6.4). A missing storage account is one of these (12.3). The
// hint names the command that shows the other faults.
func (s *session) hopeless(faults []*schemas.Fault, all int) error {
	for _, f := range faults {
		if !show.OfProcess(f.File) {
			continue
		}
		hint := f.Hint
		if others := all - 1; others > 0 {
			hint = strings.TrimPrefix(hint+"; ", "; ") + fmt.Sprintf("%q shows %s more", s.checkCommand(), cli.Plural(others, "error"))
		}
		if s.name != "" {
			return cli.Hinted(fmt.Errorf("%s: %w", s.name, f), hint)
		}
		return cli.Hinted(f, hint)
	}
	return nil
}

// checkCommand is the command line that checks the app as this one runs it.
func (s *session) checkCommand() string {
	line := cli.CommandFor("check", cli.Short(s.dir))
	for _, set := range s.flags.set {
		line += " --set " + set
	}
	if f := s.flags.bus.files; f.ServiceBus != "" {
		line += " --servicebus-config " + cli.Short(f.ServiceBus)
	}
	if f := s.flags.bus.files; f.EventHubs != "" {
		line += " --eventhubs-config " + cli.Short(f.EventHubs)
	}
	return line
}

func (s *session) openHost(env []string) error {
	if s.exports.On() {
		s.trace = trace.NewRun(s.instance(), s.flags.seed, s.clock.Now()).Sampling(s.exports.Sampler)
	}
	var beside *host.Host
	if s != s.first() {
		beside = s.first().host
	}
	h, err := host.New(s.dir, &host.Options{
		Outside: s.cloud, Instance: s.instance(), Beside: beside, App: s.name,
		Store: s.store, Accounts: accountNames(s.accounts), Entities: s.flags.bus.files,
		Clock: s.clock, Seed: s.flags.seed, Env: env, Set: s.flags.set, Functions: s.flags.functions,
		Fault:  func(p services.FaultPoint) error { return s.faults.Ask(s.clock, p) },
		KillAt: s.killAt, Trace: s.trace, NoBuild: s.flags.noBuild, Poll: s.flags.poll, Worker: s.flags.worker, ServicesOnly: s.flags.servicesOnly, Logger: s.logger(), Version: cli.Version(),
	})
	if err != nil {
		return storeError(err)
	}
	s.host = h
	return nil
}

// openWeb listens. Flags go before the Host section of local.settings.json
// (spec host-and-retry 6.4).
func (s *session) openWeb(a *app.App) error {
	opts := &web.Options{
		Address: s.flags.address, AdminAddress: s.flags.adminAddress, Port: s.flags.port, EnableAuth: s.flags.enableAuth,
		Container: s.flags.container, MasterKey: os.Getenv(remote.MasterKeyVariable), Names: s.flags.allowHosts, CORS: s.flags.cors, CORSCredentials: s.flags.corsCredentials || a.Local.CORSCredentials,
		Stop: s.stop, Pace: s.setPace, Logger: s.log, Secret: s.secret,
	}
	switch {
	case s.flags.portGiven && (s == s.first() || s.flags.port == 0):
	case s.flags.servicesOnly && !s.flags.container:
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
	if s.flags.container {
		opts.Address = everyInterface
	}
	opts.Metrics, opts.Endpoints, opts.Faults, opts.Crash = s.metrics, s.endpoints, &s.faults, &s.crash
	if !s.flags.noUI {
		opts.Page = ui.Handler()
	}
	var err error
	s.web, err = s.listenFrom(opts, s != s.first() && (a.Local.Port == 0 || s.takenBeside(a.Local.Port)))
	if isBusy(err) {
		return cli.Hinted(err, "choose another port with --port, or any free one with --port 0; --ports any takes free ones for all services")
	}
	return err
}

// logger writes the lines of the app's host, which say whose they are.
func (s *session) logger() zerolog.Logger {
	if s.name == "" {
		return s.log
	}
	return s.log.With().Str("app", s.name).Logger()
}

// takenBeside reports whether another app of this start has the port.
func (s *session) takenBeside(port int) bool {
	return slices.ContainsFunc(s.apps, func(other *session) bool {
		return other.web != nil && other.web.Addr().(*net.TCPAddr).Port == port
	})
}

// portsTried is how many ports the second app of a start looks at, and each further one.
const portsTried = 100

// listenFrom starts the server at its port, or, where any does, at the first free one from
// there on.
func (s *session) listenFrom(opts *web.Options, any bool) (*web.Server, error) {
	for last := opts.Port + portsTried; ; opts.Port++ {
		server := web.New(s.host, opts)
		err := server.Start()
		switch {
		case err == nil:
			return server, nil
		case !any || !isBusy(err) || opts.Port == last || opts.Port >= 65535:
			return nil, err
		}
	}
}

// networkLine says what other machines of the network may do, empty when they reach
// nothing.
func (s *session) networkLine() string {
	functions, admin := s.web.ForOthers()
	const key = "the admin and control API ask other machines for the master key; \"redeliver keys\" shows it"
	switch {
	case s.flags.container:
		line := "everything is served at all interfaces; the admin and control API ask for the master key"
		if !admin {
			line = "all services and functions are served at all interfaces; the admin and control API at " + s.flags.adminAddress + " only, they ask for the master key"
		}
		if s.web.NewKey() != "" {
			line += " " + s.web.NewKey() + " (shown this once)"
		}
		return line
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
		s.out.Say("error", f.Error())
		s.out.Hint(f.Hint)
	}
	if len(load.Faults) == 0 {
		s.explained[load.Error()] = true
		s.out.Say("error", load.Error())
		s.out.Hint(host.Hint(load.Err))
	}
	if s.flags.noWatch {
		s.out.Hint("the host is in state Error and tries again from time to time; Ctrl+C stops it")
		return
	}
	s.out.Hint("the host waits in state Error: fix this and it loads the app again; Ctrl+C stops it")
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
		s.out.Warn(err.Error())
		s.out.Hint(`changes need "redeliver stop" and a new start; --no-watch silences this`)
		<-ctx.Done()
	}
	return nil
}

// killAt is what kills the process where "fail host" has said; nil: it has not.
func (s *session) killAt() func(*journal.Record) bool {
	if !s.crash.Pending() {
		return nil
	}
	return func(r *journal.Record) bool {
		if !s.crash.Reached(r) {
			return false
		}
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {} // the process has ended
	}
}
