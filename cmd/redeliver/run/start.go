package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/languages"
)

// startFlags are the flags of "redeliver start".
type startFlags struct {
	port            int
	portGiven       bool
	ports           string // "", or anyPorts
	address         string
	adminAddress    string
	cors            []string
	corsCredentials bool
	allowHosts      []string
	container       bool
	untilStdin      bool
	functions       []string
	noBuild         bool
	servicesOnly    bool
	worker          string
	languageWorker  string // arguments for the program that runs the functions
	verbose         bool
	userLogLevel    string
	enableAuth      bool
	logFile         string // of func 5
	noUI            bool
	open            bool
	clock           string
	seed            uint64
	output          string
	noWatch         bool
	poll            bool
	queuePort       portFlag
	blobPort        portFlag
	tablePort       portFlag
	strictDates     bool
	storageGiven    bool // the user asked for these three, or for accounts
	tls             tlsFlags
	bus             busFlags
	grid            gridFlags
	data            string
	sync            bool
	inMemory        bool
	set             []string
}

const startLong = `Start runs the app in DIR (default: this folder, or the one above it that holds
host.json) until Ctrl+C. It builds a Go app first, watches its files and reloads
it when one changes; an edit that is wrong is reported and changes nothing. A
folder with nothing of an app is refused. A wrong host.json at the start does
not end the host: it says what is wrong, and loads the app again when the file
changes.

Several DIRs run together, on one clock, with one set of services and one
journal: the first app takes port 7071 (or --port), each further one the port
of its local.settings.json or the next free one, and says so when it is ready.
Each has its own settings, host ID, keys, admin API and reload; one that cannot
be loaded waits in state Error while the others run. The data is the first
one's, and the services keep to the switches of the first one that runs.
Commands reach the run from each folder. There functions are app/function; the
function's name alone will do where one app has it. Ctrl+C and "redeliver stop"
end all.

It prints the endpoints and, for each function, attempts x deliveries and where
a message ends; then one line for each attempt and settlement. --output json
prints the journal itself instead, one JSON object a line, and nothing else. The
host's page, whose address it prints too, shows the same in a browser.
logging.logLevel of host.json hides lines as it does for the platform's tool:
what a handler writes has the category Function.NAME.User, attempts and
settlements have Function.NAME, and what the program of the functions writes by
itself has Host.Function.Console. Without a level Debug and Trace are hidden.
--verbose shows all; the page, "explain" and the journal always have all.

The clock is virtual. With "real" it follows the wall; with "auto" it skips
every wait as soon as nothing is left to do, so that a 15-minute back-off takes
no time; with "manual" it stands still until "redeliver clock advance" or "clock
next" moves it; "debug" is real, but time stands still while a handler runs, so
that no lock or timeout ends at a breakpoint. "redeliver clock" changes the mode
of a running host. Lines show the clock's time; a message's end also shows how
long it took, unless the clock is real in both the clock's and real time.

The embedded services keep their data in .redeliver/data below the app. It
outlives the host, however sudden its end; one host at a time has it. Storage
SDKs find queues and blobs at Azurite's ports, with UseDevelopmentStorage=true
or the printed connection string. AZURITE_ACCOUNTS=name:key1[:key2];... serves
other accounts instead. An app with its storage elsewhere opens no ports for it
unless asked. A clock that ran ahead of the wall goes on from there at the next
start.

Service Bus SDKs find the embedded namespace at the usual ports, 5672 and, for
administration, 5300, when the app needs it: a setting holds a connection string
of an emulator (Endpoint=sb://localhost;...;UseDevelopmentEmulator=true), there
is a file of entities and no setting leads elsewhere, or one of the flags is
given. Each port also takes AMQP over WebSockets, administration over HTTP and,
with --tls or --servicebus-tls-port, TLS. A connection string without a port
means the embedded namespace at any port; handlers are given the port.

Clients of Event Hubs find the hubs at the same port as Service Bus, with the
same string. Publishers find the topics of Event Grid at port 60101, over HTTP
and with --tls HTTPS too, when host.json describes topics (redeliver.eventGrid),
earlier runs have left some, a setting names that port, or --eventgrid-port is
given; endpoint and key of each topic are printed. With --eventgrid-port 0 an
output binding that names port 60101 means this host's topics too.

Apps in JavaScript, TypeScript, Python and Java run in a language worker: the
official one where Core Tools are installed, else the one that this program
brings; both need the interpreter, to which --language-worker hands arguments,
such as --inspect for a debugger. An app of isolated .NET is built with dotnet,
again after an edit, and runs its own worker; in the folder of a solution the
projects are named. An app in another language starts too: its functions do not
run and say why, and everything else is served. --services-only
starts the services alone, in any folder, for functions that another host runs.
All their ports are open unless a flag closes them, and the control API takes
any free port unless --port names one. Only the object redeliver of host.json
counts, if there is such a file. With --set autoCreateEntities=any Service Bus
entities and hubs are made when clients name them.

In a container --container serves everything at all interfaces, the control API
at port 7071 also with --services-only, and takes requests for names without a
dot, as other containers call this one. The control API wants the master key of
every caller then: the one in REDELIVER_MASTER_KEY, or one that is made and
printed once. A Config.json that is mounted where the official emulators of
Service Bus and Event Hubs look for theirs is taken, unless a flag names one.

Ctrl+C waits for running attempts, at most 10 s; a second one does not, unless
it comes within half a second: npm and the like pass on what the terminal has
sent already. Closing the terminal, or the reader of the output, counts as
Ctrl+C.`

const startExample = `  redeliver start
  redeliver start shop --clock auto
  redeliver start orders billing
  redeliver start --clock manual
  redeliver start --services-only
  redeliver start shop --ports any --functions ProcessOrder SendInvoice
  redeliver start shop --servicebus-config Config.json --servicebus-port 0`

// NewStart returns "redeliver start".
func NewStart(std cli.Streams) *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:     "start [DIR...]",
		Aliases: []string{"run"}, // as Core Tools 5 calls it
		Short:   "Run an app in the foreground",
		Long:    startLong,
		Example: startExample,
		Args:    cli.Arguments(0, mostApps),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.portGiven = cmd.Flags().Changed("port") || f.ports == anyPorts
			f.storageGiven = storageGiven(cmd)
			if err := f.check(); err != nil {
				return err
			}
			dirs, err := f.folders(args)
			if err != nil {
				return err
			}
			f.choosePorts(cmd)
			if err := f.bus.finish(cmd, f.container); err != nil {
				return err
			}
			f.grid.finish(cmd)
			return start(cmd.Context(), std, dirs, &f)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.port, "port", "p", remote.DefaultPort, "port to listen on; 0 for any free one")
	flags.StringVar(&f.ports, "ports", "", "any: any free port for each service that has no port flag of its own, for a second host beside another")
	flags.StringVar(&f.address, "address", "", "IP address to listen on (default 127.0.0.1)")
	flags.StringVar(&f.adminAddress, "admin-address", "", "IP address of the admin and control API only (default: as --address)")
	flags.StringSliceVar(&f.cors, "cors", nil, "origins that may call from a browser, with commas; * for all")
	flags.BoolVar(&f.corsCredentials, "cors-credentials", false, "let these origins send cookies")
	flags.StringSliceVar(&f.allowHosts, "allow-host", nil, "names of this machine, other than localhost, that requests may name")
	addForPrograms(flags, &f)
	flags.StringSliceVar(&f.functions, "functions", nil, "run only these functions: A B, A,B or repeated")
	flags.BoolVar(&f.noBuild, "no-build", false, "use the handler of the last build")
	flags.StringVar(&f.worker, "worker", "", "language worker: shim (the one this program brings), official, or the `FOLDER` of one; default the official one where it is found")
	flags.StringVar(&f.languageWorker, "language-worker", "", "`ARGUMENTS` for the program of the language worker, such as --inspect")
	flags.BoolVar(&f.servicesOnly, "services-only", false, "run no functions, in any folder: serve storage, Service Bus, Event Hubs and Event Grid")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "also show events of services and processes, and lines that host.json hides")
	flags.StringVar(&f.userLogLevel, "user-log-level", "", "lowest level of functions' lines, unless host.json has logging.logLevel.Function: Trace to None")
	flags.BoolVar(&f.enableAuth, "enableAuth", false, "ask callers for keys, as in the cloud")
	addCoreTools(flags, &f)
	flags.BoolVar(&f.noUI, "no-ui", false, "do not serve the host's page")
	flags.BoolVar(&f.open, "open", false, "open the host's page in a browser")
	flags.StringVar(&f.clock, "clock", string(clock.Real), "real, or auto: skip waiting, manual: stand still until moved, debug: stand still while a handler runs")
	flags.Uint64Var(&f.seed, "seed", 0, "source of all jitter and IDs")
	cli.AddOutput(cmd, &f.output, "pretty", "pretty, plain (no colour) or json (the journal)")
	flags.BoolVar(&f.noWatch, "no-watch", false, "do not reload when files change")
	flags.BoolVar(&f.poll, "poll", false, "look at the files each second, where the system tells of no changes")
	addStorage(cmd, &f)
	addBus(cmd, &f.bus)
	addGrid(cmd, &f.grid)
	addTLS(cmd, &f.tls)
	addStore(cmd, &f)
	AddSet(cmd, &f.set)
	return cmd
}

// mostApps is how many apps one start runs: each has a program for its functions.
const mostApps = 20

// folders are the folders of the apps. What means one app is refused with several.
func (f *startFlags) folders(args []string) ([]string, error) {
	if len(args) < 2 {
		find := remote.AppAbove
		if f.servicesOnly {
			find = remote.AppDir // they are served in any folder
		}
		dir, err := find(args)
		return []string{dir}, err
	}
	switch {
	case f.servicesOnly:
		return nil, cli.Misused(errors.New("--services-only serves one folder's data, and several folders are named"))
	case len(f.functions) > 0:
		return nil, cli.Hinted(cli.Misused(errors.New("--functions names the functions of one app, and several apps are named")),
			`switch a function off in its app's local.settings.json: "AzureWebJobs.NAME.Disabled": "true"`)
	}
	var dirs []string
	var infos []os.FileInfo
	for _, arg := range args {
		dir, err := remote.AppDir([]string{arg})
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(dir) // follows links
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }); i >= 0 {
			return nil, cli.Misused(fmt.Errorf("%q and %q are the same folder: an app runs once", args[i], arg))
		}
		dirs, infos = append(dirs, dir), append(infos, info)
	}
	return dirs, nil
}

// check refuses values that no app could change.
func (f *startFlags) check() error {
	if err := cli.OneOf("clock", f.clock, show.ClockModes...); err != nil {
		return err
	}
	if f.output == "compact" {
		f.output = "pretty"
	}
	if f.logFile != "" {
		return cli.Hinted(cli.Misused(errors.New("--log-file of func 5 is not served")), "write the output to a file: redeliver start > "+cli.ShellWord(f.logFile)+" 2>&1")
	}
	if err := cli.OneOf("output", f.output, "pretty", "plain", "json"); err != nil {
		return err
	}
	if err := f.checkLevel(); err != nil {
		return err
	}
	if f.port < 0 || f.port > 65535 {
		return cli.Misused(fmt.Errorf("--port %d: want a number from 0 to 65535", f.port))
	}
	if f.ports != "" && f.ports != anyPorts {
		return cli.Hinted(cli.OneOf("ports", f.ports, anyPorts), "--port, --blob-port and the like each take a number")
	}
	if f.container && f.address != "" {
		return cli.Misused(errors.New("--container and --address exclude each other: a container is served at all interfaces"))
	}
	if f.open && f.noUI {
		return cli.Misused(errors.New("--open and --no-ui exclude each other"))
	}
	if err := f.tls.check(); err != nil {
		return err
	}
	if err := f.checkStore(); err != nil {
		return err
	}
	if f.adminAddress != "" {
		if err := checkAddress("--admin-address", f.adminAddress); err != nil {
			return err
		}
	}
	if f.address != "" {
		return checkAddress("--address", f.address)
	}
	return nil
}

// checkLevel refuses a level that is none. That of the environment is left alone, as by the
// platform's tool.
func (f *startFlags) checkLevel() error {
	words := hostjson.LogLevelWords()
	if f.userLogLevel == "" || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, f.userLogLevel) }) {
		return nil
	}
	return cli.Mistaken(fmt.Errorf("--user-log-level %q: want %s", f.userLogLevel, cli.Choice(words)), f.userLogLevel, words)
}

// checkAddress refuses what is no IP address (spec host-and-retry 12.3).
func checkAddress(where, address string) error {
	if _, err := netip.ParseAddr(address); err != nil {
		return cli.Hinted(fmt.Errorf("%s %q is not an IP address", where, address), "use 127.0.0.1 for this machine only, 0.0.0.0 for every interface")
	}
	return nil
}

// start runs apps from the first signal handler to the last.
func start(ctx context.Context, std cli.Streams, dirs []string, f *startFlags) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	// A reader that goes away ("start | head") ends the host in good order: without
	// this the signal would end the process.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	if out, ok := std.Out.(*cli.Output); ok {
		out.Broken = stop
	}
	outputs := std.Watch()
	defer context.AfterFunc(ctx, outputs.Ending)()
	hurry, done := make(chan struct{}), make(chan struct{})
	var listening, saying sync.WaitGroup
	listening.Go(func() {
		select {
		case sig := <-signals:
			saying.Go(func() { // a second signal may come while the output is full
				out := cli.NewConsole(std, true)
				if sig == os.Interrupt {
					out.OverEcho()
				}
				out.Say("info", "stopping; Ctrl+C again ends at once")
			})
			stop()
		case <-done:
			return
		}
		if cli.Again(signals, done, time.Now) {
			outputs.Leave()
			close(hurry)
		}
	})
	defer listening.Wait()
	defer close(done)

	f.endWith(std.In, stop)
	s := newCommon(ctx, stop, std, dirs, f)
	err := s.open(ctx)
	if err == nil {
		err = s.run(ctx)
	}
	err = closeStart(s, err, hurry)
	saying.Wait()
	if err == nil {
		s.out.Say("info", "stopped")
	}
	return err
}

// abortGrace is how long a hurried end may take before the process just ends: a person
// who presses Ctrl+C again waits for nothing. Then the end is the one of a killed host,
// which loses nothing and leaves no process behind.
const abortGrace = 150 * time.Millisecond

// closeStart closes s, at once when hurry is closed meanwhile. err is what
// happened before.
func closeStart(s *common, err error, hurry <-chan struct{}) error {
	closed := make(chan error, 1)
	go func() { closed <- s.close() }()
	select {
	case closeErr := <-closed:
		if err == nil {
			err = closeErr
		}
		return err
	case <-hurry:
	}
	go s.abort() // may wait for what cannot be hurried; the process ends soon
	grace := time.NewTimer(abortGrace)
	defer grace.Stop()
	select {
	case <-closed:
	case <-grace.C:
		s.forget()
	}
	return cli.ExitCode(cli.ExitInterrupted)
}

// hostEnvironment is the environment that the app is loaded with: this
// process's, always in development (spec host-and-retry 12.3). Arguments for the language
// worker are a setting, as in the platform's tool.
func hostEnvironment(languageWorker string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, remote.MasterKeyVariable+"=") }) // functions have no use for it
	env = append(env, "AZURE_FUNCTIONS_ENVIRONMENT=Development")
	if languageWorker != "" {
		for _, language := range languages.WithArguments() {
			env = append(env, "languageWorkers__"+language+"__arguments="+languageWorker)
		}
	}
	return env
}

// addForPrograms adds the flags for what starts a host, and is no person.
func addForPrograms(flags *pflag.FlagSet, f *startFlags) {
	flags.BoolVar(&f.container, "container", false, "serve everything at all interfaces, for other containers; the control API wants the master key")
	flags.BoolVar(&f.untilStdin, "until-stdin-closes", false, "end when the standard input ends, for programs that start a host: it never outlives them")
}

// endWith stops the host when the input of who has started it ends, if that was asked for.
func (f *startFlags) endWith(input io.Reader, stop func()) {
	if !f.untilStdin {
		return
	}
	go func() { // ends with the process: nothing interrupts a read
		_, _ = io.Copy(io.Discard, input)
		stop()
	}()
}

// addCoreTools adds the flags of Core Tools 5 that are others here (spec host-and-retry
// 12.1). They are hidden: who has them in a script may go on, and nobody needs them.
func addCoreTools(flags *pflag.FlagSet, f *startFlags) {
	var nothing bool
	flags.BoolVar(&f.enableAuth, "enable-auth", false, "the same as --enableAuth")
	flags.BoolVar(&nothing, "no-tui", false, "no effect: there is no such view")
	flags.BoolVar(&nothing, "no-azurite", false, "no effect: the storage is this host's own")
	flags.StringVar(&f.logFile, "log-file", "", "not served: redirect the output")
	for _, name := range []string{"enable-auth", "no-tui", "no-azurite", "log-file"} {
		flags.Lookup(name).Hidden = true
	}
}

// AddSet adds --set.
func AddSet(cmd *cobra.Command, set *[]string) {
	cmd.Flags().StringArrayVar(set, "set", nil, "set a switch of the emulator, NAME=VALUE, over host.json (repeatable)")
}
