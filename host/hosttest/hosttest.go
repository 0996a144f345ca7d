// Package hosttest runs a whole host in a test: the real loader, listeners,
// retry loop and services, with one call to start it and none to stop it.
//
//	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
//	h.Send("orders", `{"id":"7"}`)
//	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
//	h.WantAttempts("ProcessOrder", 25)
//
// Time is virtual: a back-off of 15 minutes takes no time, nothing happens
// while the test looks, and the same seed and input give the same journal, byte
// for byte. Tests may run in parallel, each with its own host.
//
// Handlers are registered in process, or the app's own program runs as it would
// in production (Options.Dir). Handlers in process hold the clock while they
// run; one with real I/O of its own wraps that in Clock().Outside.
//
// Kill and StartAgain show what an app makes of an end: the data stays, the clock goes on.
// ScaleOut runs another instance beside it, on the same services and clock:
//
//	first := hosttest.New(t, &hosttest.Options{Handlers: handlers, Instances: true})
//	second := first.ScaleOut()
//	first.Kill()
//	second.AwaitSettled("ProcessOrder", triggers.Deleted)
//
// Beside starts another app, on the same clock and services.
//
// A module of your own gets the kit, before it is published, from a clone:
//
//	go mod edit -replace=github.com/redeliver/redeliver=../redeliver
//	go get -t ./...
//
// Read [New], [Options] and the examples. The kit leaves out sockets
// (host/web), the command line (cmd/redeliver).
package hosttest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/host/worker"
)

// TB is the kit's view of a test: *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	TempDir() string
}

// Start is the virtual time at which a host starts unless Options.Start says
// otherwise: a Tuesday, at midnight, UTC.
var Start = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC) // read only

// limit is how far Await and its kin move virtual time before they give up.
const limit = 60 * 24 * time.Hour

// realLimit is how long they wait on the system clock.
const realLimit = 30 * time.Second

// handlerGrace is how long a handler process has to return once its context has
// ended (spec host-and-retry 8).
const handlerGrace = 2 * time.Second

// Options changes what New starts. The zero value is an app without functions.
type Options struct {
	// Dir is an app folder. Nothing is written into it: Edit needs a copy, which Files,
	// even an empty map, or Executable ask for. Empty: a temporary folder with Files.
	Dir string

	// Files are written into the app folder before the start, by slash path. An app
	// without a host.json gets `{"version":"2.0"}`. With Dir, the folder is copied
	// first, so that the original stays as it is. The sources around it are copied
	// too: the packages of its module, and of modules that go.mod and go.work name by
	// a relative path.
	Files map[string]string

	// Handlers are registered in process. Nil: the app's own program.
	Handlers *functions.App

	// Scripted are functions of the test that take the place of those of the same names in
	// the app's language worker, which runs the others.
	Scripted *functions.App

	// Attached is the seat of a worker that somebody else runs, for instance a test in
	// another language, with handlers of its own; Handlers, if there are any, take the place
	// of those of the same name. Virtual time stands still while one of its handlers runs,
	// however long, unless Patience says otherwise: the same seed gives the same journal.
	Attached *worker.Seat

	// Sleepers, if not nil, lets handlers in other processes wait for the time of the clock.
	Sleepers *worker.Sleepers

	// Executable is a prebuilt program that calls functions.Main, a test binary of any
	// module for instance. It is written into host.json as
	// customHandler.description.defaultExecutablePath, and FUNCTIONS_WORKER_RUNTIME is go
	// unless Env has it.
	Executable string

	// App names the app in a run of several: see [Host.Beside]. Empty: it runs alone.
	App string

	// Seed is the source of all chance and of all IDs.
	Seed uint64

	// Start is the time at which the clock starts; zero for the package's Start.
	Start time.Time

	// System runs the host on the system clock, in real time: the way to look for
	// data races, which turn-taking hides. Advance, Next and Run are then not to
	// be had, and waits are real.
	System bool

	// Shuffle lets the seed also choose among what is ready: another seed,
	// another interleaving, each repeatable.
	Shuffle bool

	// Unchecked leaves out the check that only the clock's own goroutines use it, which
	// costs a run nothing that can be measured on amd64 and arm64, and half or more of it on
	// other processors: for handlers there that are known to keep to the clock.
	Unchecked bool

	// Lax is Unchecked, and lets more than 50,000 turns happen at one instant (some
	// 25,000 messages): for benchmarks.
	Lax bool

	// Patience is the real time for which a handler may hold virtual time still;
	// zero for 10 s, and with Attached for ever. Time then moves on without the call of a handler process; a handler
	// in process that waits for a channel, a lock or its context ends the test. It must be longer than the two seconds that a process
	// has to return once its context has ended.
	Patience time.Duration

	// Trace names the spans of deliveries and attempts; handlers get their context. Nil:
	// none.
	Trace *trace.Run

	// Processors replaces the number of processors in defaults that depend on it,
	// such as newBatchThreshold; zero for 2, on every machine.
	Processors int

	// Env are the settings and environment of the app, as "NAME=VALUE".
	// AzureWebJobsStorage is UseDevelopmentStorage=true, AzureWebJobsServiceBus is
	// ServiceBusConnection, AzureWebJobsEventHub EventHubConnection and
	// AzureWebJobsCosmosDB CosmosConnection unless given, and the host's ID is
	// "hosttest" (AzureFunctionsWebHost__hostid), so that journals do not depend on
	// the machine and the folder. The environment of the test process is not visible
	// to the app, and whole to its build.
	Env []string

	// Set holds switches, "name=value" (redeliver.* of host.json).
	Set []string

	// KeepBodies keeps what functions were given in the journal, beside its lines:
	// journal.Beside.Body.
	KeepBodies bool

	// Functions limits the app to these functions.
	Functions []string

	// Worker chooses the language worker of an app in another language, as
	// host.Options.Worker does.
	Worker string

	// Workers, if not nil, lends the processes of language workers, and gets them back when
	// the host stops: hosts of the same app have one after the other, with what its code
	// keeps between calls.
	Workers *worker.Pool

	// Overlay holds files, by slash path, that take the place of host.json and of
	// function.json files of Dir, or add functions with handlers in process, without a copy
	// of the folder.
	Overlay map[string]string

	// StorageFault makes operations of the embedded storage fail, before or after
	// their effect:
	//
	//	StorageFault: func(p host.StorageFault) error {
	//		if p.Op == "Delete" && p.Queue == "orders" && !p.After {
	//			return bindings.ErrUnavailable
	//		}
	//		return nil
	//	},
	//
	// The kit's own looks at queues and blobs are operations too.
	StorageFault func(services.StorageFault) error

	// Fault makes operations of any embedded service fail, as StorageFault does: Service
	// Bus, Event Hubs, Cosmos DB and storage. services.ErrNoEffect lets an operation
	// succeed without an effect: a settlement that gets lost, so that the message comes
	// again although the handler has succeeded. The test's own calls never fail.
	Fault func(services.FaultPoint) error

	// Table has the services and operations that faults and [Do] know; nil: those of package
	// all of host/ops.
	Table ops.Table

	// Services replace the embedded ones.
	Services services.Backends

	// Ports opens listeners for SDKs, on free ports of this machine: storage, Service Bus and
	// Event Hubs, Event Grid. Their connection strings take the place of the settings that
	// mean the embedded services, and [Host.Endpoints] tells them. What clients do comes in
	// between turns, in the order in which it arrives: a handler that sends by an SDK and
	// waits for the answer stays repeatable, one that sends side by side with another does not.
	Ports bool

	// Instances says that the app will run in several instances, see [Host.ScaleOut]:
	// they find each other by the locks and leases that they hold.
	Instances bool

	// Logger receives the host's log; silent by default.
	Logger zerolog.Logger

	// MayFail lets the app fail to start: New then returns a host in state Error,
	// and StartError tells why. Otherwise a failed start ends the test. A function in error
	// ends it in any case, unless InError names it: one that the host leaves out, or one that
	// its language worker cannot load, whose attempts would all fail.
	MayFail bool

	// Unjudged leaves out what New says of names in Functions, Env, Files and Overlay, and of
	// an app without functions: for a caller that says it in its own words.
	Unjudged bool

	// InError names the functions that are expected to be in error, at every start.
	InError []string
}

// Host is a running host and its test.
//
// Its calls about a service, and about the journal, are methods of its parts.
type Host struct {
	*host.Host
	queueCalls
	blobCalls
	busCalls
	hubCalls
	gridCalls
	cosmosCalls
	tableCalls
	durableCalls
	journalCalls

	// StartError is the error of Start, with Options.MayFail.
	StartError error

	tb      TB
	virtual *clock.Virtual // nil on the system clock
	cursor  uint64         // journal position of the Awaits

	make     func(self *Host, beside *host.Host) (*host.Host, error) // another run on the same folder
	past     []journal.Record                                        // of the runs before
	others   []*Host                                                 // that ScaleOut has started
	shared   bool                                                    // Options.Instances
	down     bool                                                    // this one has not begun
	dying    bool                                                    // what the host still does comes to nothing
	begins   time.Time                                               // of the clock
	killAt   atomic.Pointer[killPoint]
	owed     []owedOutput // of FailOutput
	second   bool         // made by ScaleOut or Beside
	name     string       // Options.App
	run      *appRun      // of several apps; nil: there is one
	closed   bool         // by the test
	last     *app.App     // that ran
	unjudged bool         // Options.Unjudged
	faults   *faults.List // shared by all instances
	table    ops.Table    // Options.Table
	acting   bool         // a call of the test's own holds the clock
	ports    *listeners   // Options.Ports; nil: none

	mayFail  bool     // Options.MayFail
	inError  []string // Options.InError
	sure     sync.Map // names of queues, and of containers after a slash, that are none of a slip
	awaiting bool
	lax      bool
	hangs    bool
	copied   string      // the folder of the copy, the app's or above it; empty: the app is the test author's own
	stuck    chan string //clock:outside why time will never move again
}

// New starts a host and stops it when the test ends. nil options are the zero
// value.
func New(tb TB, opts *Options) *Host {
	tb.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Patience != 0 && o.Patience <= handlerGrace {
		tb.Fatalf("hosttest: Options.Patience is %v: want more than %v, the time that a handler has to return", o.Patience, handlerGrace)
	}
	h := whole(&Host{tb: tb, name: o.App, cursor: 1, lax: o.Lax, mayFail: o.MayFail, inError: o.InError, faults: &faults.List{}, stuck: make(chan string, 1)}) //clock:outside the test is of the real world
	if h.table = o.Table; h.table == nil {
		h.table = all.Table()
	}
	h.faults.Services = h.table.Faults()
	if o.App != "" {
		h.run = &appRun{apps: []*Host{h}}
	}
	var clk clock.Clock
	if o.System {
		clk = clock.System()
	} else {
		if o.Start.IsZero() {
			o.Start = Start
		}
		if o.Patience == 0 && o.Attached == nil {
			o.Patience = 10 * time.Second
		}
		h.virtual = clock.NewVirtual(o.Start, &clock.VirtualOptions{
			Seed: o.Seed, Shuffle: o.Shuffle, Strict: !o.Lax && !o.Unchecked, Patience: o.Patience, Watchdog: cmp.Or(o.Patience, 10*time.Second),
			Notify: h.notice,
		})
		clk = h.virtual
	}
	h.begins = clk.Now()
	h.open(&o, clk, nil)
	h.begin(&o)
	return h
}

// whole is a host with its parts.
func whole(h *Host) *Host {
	h.queueCalls, h.blobCalls, h.busCalls, h.hubCalls = queueCalls{h}, blobCalls{h}, busCalls{h}, hubCalls{h}
	h.gridCalls, h.cosmosCalls, h.tableCalls, h.journalCalls = gridCalls{h}, cosmosCalls{h}, tableCalls{h}, journalCalls{h}
	h.durableCalls = durableCalls{h}
	return h
}

// open makes the host, beside the first one of several apps.
func (h *Host) open(o *Options, clk clock.Clock, first *Host) {
	h.tb.Helper()
	if err := o.check(); err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	if o.Processors == 0 {
		o.Processors = 2
	}
	dir, copied := appFolder(h.tb, o)
	h.copied, h.unjudged = copied, o.Unjudged
	runs := uint64(0)
	h.shared = o.Instances
	h.make = func(self *Host, beside *host.Host) (*host.Host, error) {
		opts := &host.Options{
			Clock: clk, Beside: beside, App: o.App, Shared: o.Instances, Seed: o.Seed + runs<<32, Env: environment(o), BuildEnv: os.Environ(), Set: o.Set, Functions: o.Functions, Worker: o.Worker, Workers: o.Workers, Overlay: o.Overlay,
			Handlers: o.Handlers, Scripted: o.Scripted, Attached: o.Attached, Sleepers: o.Sleepers, StorageFault: alive(self, o.StorageFault, false), Fault: alive(self, self.faulty(o.Fault), true), Services: o.Services, KeepRecords: -1, KeepBodies: o.KeepBodies, Trace: o.Trace, Processors: o.Processors, Predictable: true, Logger: o.Logger, Version: "test",
			KillAt: func() func(*journal.Record) bool {
				if k := self.killAt.Load(); k != nil {
					return k.reached
				}
				return nil
			},
		}
		runs++
		return host.New(dir, opts)
	}
	var beside *host.Host
	if first != nil {
		beside = first.Host
	}
	real, err := h.make(h, beside)
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	h.Host = real
	if o.Ports && first == nil {
		h.ports = &listeners{}
		h.tb.Cleanup(h.ports.close)
	}
}

// begin starts the host, until the test ends.
func (h *Host) begin(o *Options) {
	h.tb.Helper()
	h.tb.Cleanup(h.stop)
	h.start(o.MayFail)
	mustMean(h, o)
}

// start starts the host. It returns when all that the start made ready has run, so that
// what the test does next meets the same host every time.
func (h *Host) start(mayFail bool) {
	h.tb.Helper()
	if h.ports != nil {
		if err := h.ports.open(h); err != nil {
			h.tb.Fatalf("hosttest: %v", err)
		}
	}
	h.do("start", func() { h.StartError = h.Host.Start(context.Background()) })
	if h.StartError != nil && !mayFail {
		_ = h.Host.Close()
		h.tb.Fatalf("hosttest: start: %v", h.StartError)
	}
	h.closed = false
	if h.ran() != nil && h.StartError == nil {
		h.wantRunning(h.inError)
	}
}

// ran is the app that runs, or that ran before the host ended; nil when none has run.
func (h *Host) ran() *app.App {
	if a := h.App(); a != nil {
		h.last = a
	}
	return h.last
}

// wantRunning ends the test when a function is in error that is not expected to be, or
// the other way round. One whose input has no value would leave a test without a word.
func (h *Host) wantRunning(inError []string) {
	h.tb.Helper()
	var why []string
	a := h.ran()
	for _, f := range a.Functions {
		expected := slices.ContainsFunc(inError, func(name string) bool { return strings.EqualFold(name, f.Name) })
		wrong := wrongWith(f)
		switch {
		case !expected:
			why = append(why, wrong...)
		case len(wrong) == 0:
			why = append(why, fmt.Sprintf("function %q is not in error", f.Name))
		}
	}
	for _, name := range inError {
		if a.Function(name) == nil {
			why = append(why, fmt.Sprintf("the app has no function %q%s", name, orMeant(name, functionNames(h))))
		}
	}
	if len(why) > 0 {
		h.tb.Fatalf("hosttest: %s\n(Options.InError names the functions that are expected to be in error)", strings.Join(why, "\n"))
	}
}

// wrongWith says why a function is in error; nothing when it is not.
func wrongWith(f *app.Function) (why []string) {
	switch {
	case f.InError():
		for _, fault := range f.Faults {
			text := fmt.Sprintf("function %q is in error: %v", f.Name, fault)
			if fault.Hint != "" {
				text += "; " + fault.Hint
			}
			why = append(why, text)
		}
	case f.Unloaded != "":
		why = append(why, fmt.Sprintf("function %q is in error: %s", f.Name, f.Unloaded))
	case f.LacksInput:
		why = append(why, fmt.Sprintf("function %q does not run: %s", f.Name, f.NotServed))
	}
	return why
}

// stop closes the host at the end of the test.
func (h *Host) stop() {
	if h.hangs {
		return // what hangs would hold up the stop too
	}
	if err := h.Close(); err != nil {
		h.tb.Errorf("hosttest: close: %v", err)
	}
	h.settleUp()
}

// Close stops the host before the test ends. Time moves as far as running
// attempts need it, at most by the grace of a stop; see [host.Host.Close].
func (h *Host) Close() error {
	h.tb.Helper()
	h.ran()
	var err error
	h.drive(func() { err = h.Host.Close() })
	h.closed = err == nil
	return err
}

// forward ends the test unless time is to move forward, on a host that can.
func (h *Host) forward(call string, d time.Duration) {
	h.tb.Helper()
	h.needVirtual(call)
	if d < 0 {
		h.tb.Fatalf("hosttest: %s: %v is negative, and time moves forward only", call, d)
	}
}

// Clock is the host's virtual clock; nil with Options.System.
func (h *Host) Clock() *clock.Virtual { return h.virtual }

// Advance moves time by d, through every deadline on the way.
func (h *Host) Advance(d time.Duration) {
	h.tb.Helper()
	h.forward("Advance", d)
	h.wait(func() { h.Host.Advance(d) })
}

// Jump moves time by d at once, as the clock of a machine does that has slept: what is due
// on the way happens at the end, in order.
func (h *Host) Jump(d time.Duration) {
	h.tb.Helper()
	h.forward("Jump", d)
	h.wait(func() { h.virtual.Jump(d) })
}

// Run moves time while something waits for it, at most max, and returns by
// how much it moved. Polls of an empty queue and ticks of a schedule are
// nothing that anybody waits for.
func (h *Host) Run(max time.Duration) time.Duration {
	h.tb.Helper()
	h.forward("Run", max)
	var moved time.Duration
	h.wait(func() { moved = h.virtual.Run(max) })
	return moved
}

func (h *Host) needVirtual(call string) {
	h.tb.Helper()
	if h.virtual == nil {
		h.tb.Fatalf("hosttest: %s: the host runs on the system clock", call)
	}
}

// do runs f inside the clock and works off what it made ready.
func (h *Host) do(name string, f func()) {
	h.tb.Helper()
	if h.virtual != nil {
		h.wait(func() {
			h.virtual.Do(name, func() {
				h.acting = true
				defer func() { h.acting = false }()
				f()
			})
		})
		return
	}
	f()
}

// Act calls f inside the clock, as the calls of the test do, and works off what it made ready:
// for what the kit has no call for. Faults never meet what f does.
func (h *Host) Act(name string, f func(ctx context.Context)) {
	h.tb.Helper()
	h.do(name, func() { f(context.Background()) })
}

// environment gives an app its storage and its identity.
func environment(o *Options) []string {
	base := []string{"AzureFunctionsWebHost__hostid=hosttest", "AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsServiceBus=" + ServiceBusConnection, "AzureWebJobsEventHub=" + EventHubConnection, "AzureWebJobsCosmosDB=" + CosmosConnection}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SYSTEMROOT", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOPATH", "GOWORK", "GOENV", "GOTOOLCHAIN", "CGO_ENABLED",
		"DOTNET_ROOT", "DOTNET_HOST_PATH", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "JAVA_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			base = append(base, name+"="+v) // what a handler program needs to be built and to start
		}
	}
	if o.Executable != "" {
		base = append(base, "FUNCTIONS_WORKER_RUNTIME=go") // it need not say by itself what it is
	}
	return append(base, o.Env...)
}
