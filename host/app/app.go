package app

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/emulator/servicebus/config"
	"github.com/redeliver/redeliver/schemas"
)

// Options say how an app is loaded. A nil *Options is the zero value: no
// environment, no switches, every function, nothing declared in code, and no
// trigger kinds (so every trigger is unknown).
type Options struct {
	// Env is the process environment. Names are looked up ignoring case, as the
	// platform's configuration does.
	Env map[string]string

	// Set holds the "name=value" of each --set, in order; the last one wins.
	Set []string

	// Functions are the names given to --functions. They override the entries of
	// host.json's "functions" list one by one from its start, because that is
	// how the platform's tool passes them on (cli: StartHostAction.cs).
	Functions []string

	// Declared are the functions that the handler process declares in code. It
	// is nil as long as no process was asked.
	Declared []call.Declaration

	// Removed names functions that had a folder while the host ran. One that has none
	// now is gone, also when it is declared in code.
	Removed []string

	// InProcess says that the handlers are registered in this process: it needs
	// no script file and no worker runtime, and Load looks for neither.
	InProcess bool

	// InFiles says that the worker leaves to function.json files which functions there
	// are; it has been asked.
	InFiles bool

	// Worker says why no worker runs functions of a runtime ("node"), the zero value
	// that one does. Nil: those do that this program brings along.
	Worker func(runtime string, settings *appsettings.Settings) NoWorker

	// Sources stands for the content of the Go program in an absolute folder, and
	// of all that it is built of. Nil: the host does not build it, and its changes
	// are not changes of the app.
	Sources func(dir string) string

	// Handler is the handler of the functions, found by an earlier Load and
	// started by its caller. Nil: Load looks for it.
	Handler *HandlerSpec

	// Kinds are the kinds that the host serves: package served below host/kinds
	// has them.
	Kinds Kinds

	// Overlay holds files that take the place of those in the app's folder, or stand
	// beside them, by slash path: host.json, function.json files, and files that host.json
	// names. Others are not looked for here.
	Overlay map[string]string

	// Settings are used instead of local.settings.json and Env when not
	// nil. A reload passes the settings of the running app, because the
	// platform reads the file once per process.
	Settings *appsettings.Settings

	// ServicesOnly looks for no functions and for nothing that runs them: of host.json
	// only the object redeliver counts, and what is wrong elsewhere is a warning. The
	// folder need not be an app's.
	ServicesOnly bool

	// Entities are the files that describe what the embedded services have.
	Entities EntityFiles

	// Processors replaces the number of processors in defaults that depend on
	// it; 0 means runtime.NumCPU().
	Processors int

	// MachineName replaces the machine's name in the host ID; "" means
	// os.Hostname().
	MachineName string
}

// App is an app as it was loaded. It is not changed after [Load] returns, so it
// may be shared.
type App struct {
	// Dir is the absolute path of the app.
	Dir string

	// ID is the host ID (spec host-and-retry 11.1): the prefix of everything that the
	// host keeps in storage.
	ID string

	// Config is host.json after overrides, with defaults filled in. It is usable
	// even when Faults is not empty: a bad value then shows as its default.
	Config hostjson.Config

	// Switches are the emulator's own switches.
	Switches hostjson.Switches

	// Settings are the app settings.
	Settings *appsettings.Settings

	// ServiceBusEntities are the entities of the file that
	// redeliver.serviceBus.config of host.json names; nil when it names none.
	// Faults of that file are among Faults.
	ServiceBusEntities *config.Entities

	// Functions are ordered by name, ordinal ignoring case. Functions in error are
	// included, functions that are not on the allow list are not.
	Functions []*Function

	// Faults are the faults of host.json, of the overrides and of the app as a
	// whole. If there are any, the app does not start. They come in file order;
	// the one that the platform would report is marked First.
	Faults []*schemas.Fault

	// Obstacle, when not nil, is why no function of the app can run, whatever is installed:
	// it is written for a model that this host refuses. The host starts all the same, for
	// its services.
	Obstacle *schemas.Fault

	// Warnings do not stop anything: local.settings.json, names in another case,
	// old section names.
	Warnings []*schemas.Fault

	// IdleHandlers are the Warnings about handlers that no function uses.
	IdleHandlers []*schemas.Fault

	// Local is the Host section of local.settings.json.
	Local appsettings.LocalHost

	// Handler says what runs the functions.
	Handler HandlerSpec

	// MissingHostJSON is set when the app has no host.json, or an empty object:
	// the platform then writes a default one. [App.DefaultHostJSON] returns its
	// text; Load writes nothing.
	MissingHostJSON bool

	// Bare is set when nothing in the folder is of an app. The platform makes one of it.
	Bare bool

	// Fingerprint stands for everything that was read: files, settings, switches,
	// declarations, and the handler (see HandlerSpec.Fingerprint). Two apps with
	// equal fingerprints behave alike, so a reload can stop there.
	Fingerprint string

	emptyHostJSON bool                // host.json is {}
	spans         []document.SpanText // time spans of host.json that read oddly
	nearMisses    []*schemas.Fault
	overrides     []override
	hostDoc       *schemas.Document
	built         []string // files that a build by others has written, absolute
}

// Function returns the function of that name, ignoring case, or nil.
func (a *App) Function(name string) *Function {
	for _, f := range a.Functions {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}

// OK reports whether the app can start: no faults of its own. Functions in error
// do not count.
func (a *App) OK() bool { return len(a.Faults) == 0 && a.Handler.Fault == nil }

// AllFaults returns what keeps the app from starting: its own faults and the
// handler's.
func (a *App) AllFaults() []*schemas.Fault {
	faults := slices.Clone(a.Faults)
	if a.Handler.Fault != nil {
		faults = append(faults, a.Handler.Fault)
	}
	return faults
}

// FunctionID returns the full name under which the platform knows a function in
// logs, locks and blob names.
func FunctionID(function string) string { return "Host.Functions." + function }

// EntityFiles are the paths of files in the form of Config.json of the official emulators,
// empty for files that host.json names. Relative paths start at the app folder.
type EntityFiles struct {
	// ServiceBus describes queues and topics, in the place of redeliver.serviceBus.config.
	ServiceBus string

	// EventHubs describes hubs and consumer groups, beside the hubs of host.json,
	// in the place of redeliver.eventHubs.config.
	EventHubs string
}

// NoWorker says why no worker runs the functions of an app.
type NoWorker struct {
	Reason string // of the platform's or this machine's; empty: one does
	Hint   string // what to do
}

// Names are the names of apps that run together, by their folders: as many last parts of each
// path as tell them apart. One that runs alone has none.
func Names(dirs []string) []string {
	names := make([]string, len(dirs))
	if len(dirs) == 1 {
		return names
	}
	longest := 0
	for _, dir := range dirs {
		longest = max(longest, strings.Count(filepath.ToSlash(dir), "/")+1)
	}
	for parts := 1; parts <= longest; parts++ {
		seen := map[string]bool{}
		for i, dir := range dirs {
			names[i] = lastParts(dir, parts)
			seen[names[i]] = true
		}
		if len(seen) == len(dirs) {
			break
		}
	}
	return names
}

// lastParts are the last n parts of a path, with slashes between them.
func lastParts(path string, n int) string {
	parts := strings.Split(strings.Trim(filepath.ToSlash(path), "/"), "/")
	return strings.Join(parts[max(len(parts)-n, 0):], "/")
}
