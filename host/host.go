package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/internal/gobuild"
	"github.com/redeliver/redeliver/host/internal/ids"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/listening"
	"github.com/redeliver/redeliver/host/locks"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/host/watch"
	"github.com/redeliver/redeliver/host/worker"
)

// Options changes how a host runs. A nil *Options and the zero value both mean:
// the environment of this process, the app's own handler process, the embedded
// services, and a virtual clock that follows the wall.
type Options struct {
	// Clock serves host, services, triggers and retries. Nil: a clock.Virtual at
	// wall pace, which the host owns. A caller's own clock stays the caller's.
	Clock clock.Clock

	// Seed is the source of all chance and of all IDs.
	Seed uint64

	// Env is the environment that settings are looked up in and that handler
	// processes inherit, as "NAME=VALUE". Nil: the environment of this process.
	Env []string

	// BuildEnv is what builds have in their environment before Env.
	BuildEnv []string

	// Set holds "name=value" switches (spec host-and-retry 0.2), strongest last.
	Set []string

	// Functions limits the app to these functions; empty means all.
	Functions []string

	// ServicesOnly runs no functions: the folder need not be an app's, and
	// host.json, where there is one, only describes entities of the services.
	ServicesOnly bool

	// Handlers are registered in this process, instead of the app's own handler
	// program.
	Handlers *functions.App

	// Attached is the seat of a worker that somebody else has started, and whose functions
	// run instead of the app's own; those of Handlers run in this process. The start waits
	// until it has connected. It asks it for its functions, or leaves them to function.json
	// files, as with any worker; see worker.Seat for the end of the connection.
	Attached *worker.Seat

	// Scripted are functions of this process that take the place of those of the same names
	// in the app's language worker, which runs the others. The app says what they are.
	Scripted *functions.App

	// Sleepers, if not nil, lets handlers in other processes wait for the time of the clock.
	Sleepers *worker.Sleepers

	// Store keeps the embedded storage accounts across hosts, and survives the end
	// of the process, however sudden. The caller opens it before New, which reads
	// the accounts, and closes it after Close. A clock that only the host moves
	// should not start before [services.StartTime]. Nil: the accounts live in
	// memory and end with the host.
	Store *store.Store

	// Accounts names embedded storage accounts besides the first; see package services.
	Accounts []string

	// StorageFault, if not nil, is asked twice in every operation of the embedded
	// storage accounts, and its error is the operation's result: before it, so that
	// nothing happens, and after its effect, so that the caller does not learn of it.
	// It may wait, by the clock. See package emulator, and for errors that decide
	// what a client reads over HTTP, or cut its connection, host/emulator/rest.
	StorageFault func(services.StorageFault) error

	// Fault, if not nil, is asked in the same way about every operation of the embedded
	// services, those of storage included.
	Fault func(services.FaultPoint) error

	// Services are the services that triggers and bindings connect to. Nil: the
	// embedded ones.
	Services services.Backends

	// Entities are files that describe what the embedded services have before the first
	// function listens.
	Entities app.EntityFiles

	// Outside serves the connections that do not mean the embedded account, when
	// Services is nil (package bindings/azure, which only a command may choose).
	// Its calls are made outside the clock. Nil: functions with such connections
	// are in error.
	Outside services.Outside

	// Beside is a host whose clock and embedded services this one has too: another
	// instance of its app, as when the platform scales out, and then both have Shared; or,
	// with App, the first of several apps. Clock, Store, Accounts, StorageFault and
	// Outside come from it. The services go with the host that is closed last.
	Beside *Host

	// App names the app among several that share clock, services, identifiers and one
	// journal, which says whose its records are: journal.Journal.For. The services have the
	// switches of the first app that runs. Empty: the journal has no other app.
	App string

	// Shared says that other hosts reach the embedded services in this process. Locks
	// are then held as between machines.
	Shared bool

	// Instance names this host among those that share its storage, in the locks
	// that it holds there. With a Store it should be the same each time, so that a
	// host which was killed has its own locks back at once. Empty: made from Seed.
	Instance string

	// KillAt, if not nil, returns what is asked about the next record of a function, by
	// the goroutine that has written it; nil for nothing, which is quick. Where that says
	// true, the host ends at this point, as [Host.Kill] ends it, and runs no further
	// attempt; it still has to be killed or closed.
	KillAt func() func(*journal.Record) bool

	// Worker chooses the language worker: launch.PreferShim, launch.PreferOfficial, or
	// the folder of one. Empty takes an official one where it is found, else the one
	// that this program brings along.
	Worker string

	// Workers, if not nil, lends the processes of language workers: see worker.Pool.
	Workers *worker.Pool

	// Overlay holds files in place of the app folder's: app.Options.Overlay.
	Overlay map[string]string

	// Poll has Watch look at the files again and again, for folders whose file system tells
	// of no changes. It does so by itself where it knows of one.
	Poll bool

	// NoBuild uses the handler as the last build left it.
	NoBuild bool

	// Predictable switches off everything that is left to chance, as tests want,
	// unless the app or Set give it a value.
	Predictable bool

	// KeepRecords is the number of journal records kept: journal.Options.Keep. Their
	// room has journal's own bound. Below 0 the values of recorded outputs are all kept
	// too: recorded.Book.Whole.
	KeepRecords int

	// KeepBodies keeps what functions were given, as journal.Beside.Body of the records of
	// kind received, for as long as these are kept.
	KeepBodies bool

	// Processors replaces the number of processors in defaults that depend on
	// it; zero means runtime.NumCPU().
	Processors int

	// Trace names the spans of deliveries and attempts, for handlers; nil: none.
	Trace *trace.Run

	// Logger receives lines that are not in the journal: start, stop,
	// processes. The zero value is silent.
	Logger zerolog.Logger

	// Version is the host's version in the admin API and in host start records.
	Version string
}

// Host runs one function app. Make one with [New], run it with Start and Close.
// Its methods may be called concurrently, from outside the clock, and not by
// handlers.
type Host struct {
	core
	own      *clock.Virtual // set when the host made its clock
	embedded *services.Embedded
	env      *kinds.Env

	// Never copied: they are read by more goroutines than one.
	loader   *loader
	handlers *handlers
	starter  *starter
	states   *states

	primary   locks.Primary
	listening *listening.Process
	counters  counters
	ids       *ids.Sequence
	poisoned  poisonErrors

	outputs recorded.Book

	hangUp  context.CancelFunc // ends pending calls to services outside this host
	cancel  context.CancelFunc // of root
	loads   *launch.Loads
	current atomic.Pointer[generation]
	epoch   atomic.Pointer[epoch.Epoch] // never nil
	life    epoch.Epoch                 // ends when the host is killed
	fleet   *fleet

	mu      sync.Mutex
	changed *clock.Cond // state, loading
	state   State
	errors  []string
	loading bool
}

// New returns a host for the app in dir. It reads nothing but Options.Store, and
// starts nothing.
func New(dir string, opts *Options) (*Host, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{core: core{dir: abs}, state: Default, loads: launch.NewLoads()}
	h.website = func() string { return h.env.Durable.Website() }
	h.loader = &loader{host: h, warned: map[string]bool{}, inFolders: map[string]bool{}}
	h.handlers, h.starter, h.states = &handlers{core: &h.core, lost: h.loader.giveUp}, &starter{host: h}, &states{host: h}
	h.outputs.Running = h.runningOutputs
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Env == nil {
		h.opts.Env = os.Environ()
	}
	if h.opts.Processors == 0 {
		h.opts.Processors = runtime.NumCPU()
	}
	h.handlers.sources = gobuild.NewSources(h.dir, filepath.Join(app.StateFolder(h.dir), "bin"), slices.Concat(h.opts.BuildEnv, h.opts.Env))
	if err := openClock(h); err != nil {
		return nil, err
	}
	h.outputs.Whole = h.opts.KeepRecords < 0
	h.epoch.Store(&epoch.Epoch{})
	h.fleet = fleetOf(h)
	h.listening = listening.NewProcess(h.clk)
	if err := openServices(h); err != nil {
		if h.own != nil {
			h.own.Close()
		}
		return nil, err
	}
	if h.opts.Instance == "" {
		h.opts.Instance = ids.GUID(h.opts.Seed, 0)
	}
	h.changed = clock.NewCond(h.clk, &h.mu)
	wire, hangUp := h.clk.WithCancel(context.Background())
	h.hangUp = hangUp
	h.connections = services.NewConnections(h.clk, h.embedded, &services.ConnectionOptions{
		Instead: h.opts.Services, Outside: h.opts.Outside, Wire: wire, Journal: h.journal, Back: h.listening.Made,
	})
	h.root, h.cancel = h.clk.WithCancel(context.Background())
	h.group = clock.NewGroup(h.clk, 0)
	h.env = kinds.NewEnv(kinds.Env{
		Clock: h.clk, Journal: h.journal, Log: h.log, Root: h.root, Embedded: h.embedded, Connections: h.connections,
		Seed: h.opts.Seed, Instance: h.opts.Instance, Predictable: h.opts.Predictable,
		Go: func(name string, f func()) { h.group.Go(name, f) }, AwaitMade: h.listening.AwaitMade, GUIDs: h.ids.GUIDs,
		AppName: h.opts.App, First: h.opts.Beside == nil, Switches: func(own hostjson.Switches) hostjson.Switches { return h.fleet.switches(h, own) },
		Durable: served.ManagementAPI(h.clk, h.log, h.embedded, h.token, func() kinds.Generation {
			if g := h.current.Load(); g != nil {
				return g
			}
			return nil
		}),
	})
	h.loader.residents = served.Residents(h.env)
	return h, nil
}

// openClock makes a virtual clock, or takes the one of the options or of the host beside it.
func openClock(h *Host) error {
	if first := h.opts.Beside; first != nil {
		h.opts.Clock, h.opts.Outside = first.clk, first.opts.Outside
		h.opts.Store, h.opts.Accounts = first.opts.Store, first.opts.Accounts
	}
	h.clk, h.log = h.opts.Clock, h.opts.Logger
	if h.clk != nil {
		return nil
	}
	start, err := services.StartTime(h.opts.Store, h.opts.Accounts...)
	if err != nil {
		return err
	}
	h.own = clock.NewVirtual(start, &clock.VirtualOptions{Seed: h.opts.Seed, Arrival: true, Notify: h.ClockNotice})
	h.clk = h.own
	return nil
}

// openServices makes the embedded services, or takes the services of the host
// beside it.
func openServices(h *Host) (err error) {
	if first := h.opts.Beside; first != nil {
		h.own, h.embedded = first.own, first.embedded
		return nil
	}
	h.embedded, err = served.Open(h.clk, &services.Options{
		Seed: h.opts.Seed, Store: h.opts.Store, Accounts: h.opts.Accounts, Fault: h.opts.StorageFault, Faults: h.opts.Fault,
		Record: h.fleet.record, Made: h.fleet.made,
	}, h.fleet.front)
	return err
}

// Dir is the absolute path of the app.
func (h *Host) Dir() string { return h.dir }

// Clock is the clock that everything in the host runs on.
func (h *Host) Clock() clock.Clock { return h.clk }

// Journal is the account of what happened, of all apps of the run.
func (h *Host) Journal() *journal.Journal { return h.journal.For("", nil) }

// AppName is Options.App.
func (h *Host) AppName() string { return h.opts.App }

// Services are the embedded services. They are empty when Options.Services names others.
func (h *Host) Services() *services.Embedded { return h.embedded }

// Durable is the HTTP management API of Durable Functions, for who serves it.
func (h *Host) Durable() *durabletask.API { return h.env.Durable }

// Env is the part of the host that kinds and inspections of an app use.
func (h *Host) Env() *kinds.Env { return h.env }

// Connections say where the app's connections lead. Tell it before Start where the
// embedded services are served.
func (h *Host) Connections() *services.Connections { return h.connections }

// Version is Options.Version.
func (h *Host) Version() string { return h.opts.Version }

// App is the app of the running generation, or nil before the first one runs.
// Functions that are in error are part of it.
func (h *Host) App() *app.App {
	if g := h.current.Load(); g != nil {
		return g.app
	}
	return nil
}

// ID is the host's ID (spec host-and-retry 11.1), also of an app that does not run; empty
// before the first one was read.
func (h *Host) ID() string {
	if a := h.loader.lastRead(); a != nil {
		return a.ID
	}
	return ""
}

// Generation is the number of the running generation, from 1; 0 before.
func (h *Host) Generation() int {
	if g := h.current.Load(); g != nil {
		return g.id
	}
	return 0
}

// starter starts the host, again and again where it has to. Its plain fields are under the
// host's mutex.
type starter struct {
	host *Host

	forChange atomic.Bool // the last start failed for a configuration error
	started   bool
	starting  bool        // a failed start is repeated
	unread    atomic.Bool // it failed for code that its worker cannot read

	way launch.Way
}

// Start loads the app, starts its handlers and listeners and returns. An app
// that cannot start leaves the host in state Error: Start returns a *LoadError,
// and the host tries again, with the platform's back-off (but not after a
// configuration error, such as a bad version) and whenever Reload is called, until
// the app is right or the host is closed. ctx limits what Start waits for in real
// time (a build, a process); when it ends the start fails.
func (h *Host) Start(ctx context.Context) error {
	if h.own != nil {
		h.own.Real()
	}
	var err error
	h.clk.Inside("start host", func() { err = h.starter.start(ctx) })
	return err
}

func (s *starter) start(ctx context.Context) error {
	s.host.mu.Lock()
	if s.started {
		s.host.mu.Unlock()
		return errors.New("the host was started before")
	}
	s.started = true
	s.host.mu.Unlock()
	s.host.setState(Starting)
	err := s.loadFirst(ctx)
	for s.way.Given() {
		err = s.loadFirst(ctx)
	}
	if err != nil {
		s.keepStarting()
	}
	return err
}

// giveWay gives up a start that is under way if the app is another by now. It reports
// whether one is under way, or to come.
func (s *starter) giveWay(ctx context.Context) bool {
	state, loader := s.host.State(), s.host.loader
	return s.way.Give(loader.lastRead(), func() bool { return loader.differs(ctx) }) || state == Default || state == Starting
}

// keepStarting begins to repeat a failed start, unless that is done already.
func (s *starter) keepStarting() {
	s.host.mu.Lock()
	already := s.starting
	s.starting = true
	s.host.mu.Unlock()
	if !already {
		s.host.group.Go("start again", func() {
			s.startAgain()
			s.host.mu.Lock()
			defer s.host.mu.Unlock()
			s.starting = false
		})
	}
}

// loadFirst loads the app when nothing runs yet.
func (s *starter) loadFirst(ctx context.Context) error {
	release := s.host.lockLoading()
	defer release()
	if s.host.current.Load() != nil {
		return nil
	}
	if err := s.host.root.Err(); err != nil {
		return err // closed while it waited for its turn
	}
	if watch.Offline(s.host.dir) != "" {
		s.host.setState(Offline)
		return nil
	}
	gen, err := launch.GivesWay(ctx, &s.way, func(ctx context.Context) (*generation, error) { return s.host.loader.load(ctx, nil, false) })
	if err != nil {
		if errors.Is(err, launch.ErrCalledOff) {
			return err
		}
		s.fail(err)
		s.host.loader.refuse(err)
		return err
	}
	s.host.loader.swap(gen)
	return nil
}

// startAgain repeats a failed start until it succeeds: 1, 2, 4, 8, ... s, at
// most 2 min (host: Utility.cs ComputeBackoff). As long as the failure is a
// configuration error, nothing but a change of a file, which is a reload, starts
// the host again (spec host-and-retry 6.1).
func (s *starter) startAgain() {
	for attempt := 1; ; attempt++ {
		if s.host.clk.Idle(s.host.root, startBackoff(attempt)) != nil {
			return
		}
		if s.host.current.Load() != nil || s.host.State() == Offline {
			return
		}
		if !s.waitsForChange() && s.loadFirst(s.host.root) == nil {
			return
		}
	}
}

// startBackoff is the wait after failed start number attempt, from 1: half of
// 2^attempt - 1 s rounded to even, at least 1 s, at most 2 min.
func startBackoff(attempt int) time.Duration {
	const limit = 2 * time.Minute
	if attempt >= 8 {
		return limit
	}
	// (2^n - 1)/2 lies half-way between two whole numbers; the even one of them
	// is 2^(n-1) for n > 1.
	return max(time.Second, min(limit, time.Duration(1<<(attempt-1))*time.Second))
}

// Close stops receiving, waits for running deliveries within the limits of spec
// host-and-retry 7.3, ends the handlers and returns when nothing is left. The
// limits pass in real time too: a virtual clock may stand still, because no pace
// moves it or because a handler hangs.
func (h *Host) Close() error {
	grace := time.AfterFunc(shutdownTimeout, h.Abort) //clock:outside the clock may stand still
	defer grace.Stop()
	h.clk.Inside("stop host", h.close)
	err := h.env.Durable.Close()
	if !h.fleet.isLast(h) {
		return err
	}
	if h.own != nil {
		h.own.Close()
	}
	return errors.Join(err, h.embedded.Close())
}

func (h *Host) close() {
	if s := h.State(); s == Stopped || s == Stopping {
		return
	}
	h.setState(Stopping)
	h.loads.CallOff()
	release := h.lockLoading()
	h.setState(Stopping) // a load that was under way may have said otherwise
	last := h.fleet.isLast(h)
	if last {
		h.embedded.Stop()
	}
	if g := h.current.Swap(nil); g != nil {
		g.stopListening(false)
		g.retire()
	}
	h.primary.Resign()
	h.cancel()
	release() // a waiting load has to find out that it is over
	if last {
		h.embedded.Stopped()
	}
	h.group.Wait()
	h.hangUp()
	h.setState(Stopped)
	h.fleet.leave(h)
	h.journal.Append(journal.Record{Kind: journal.HostStopped})
}

// Abort ends running attempts at once instead of after the grace of Close,
// which returns sooner. It may be called while Close waits.
func (h *Host) Abort() {
	h.clk.Inside("abort", func() {
		h.cancel()
		h.hangUp()
	})
}

// lockLoading lets one load, reload, stop or replacement of the state happen at a time.
func (h *Host) lockLoading() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.loading {
		// Loads end: they hold no lock while they wait for what needs another.
		_ = h.changed.Wait(context.Background())
	}
	h.loading = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.loading = false
		h.changed.Broadcast()
	}
}

// texts returns what the admin API shows of a load error.
func texts(err error) []string {
	var load *LoadError
	if !errors.As(err, &load) || len(load.Faults) == 0 {
		return []string{err.Error()}
	}
	var out []string
	for _, f := range load.Faults {
		out = append(out, f.Error())
	}
	return out
}
