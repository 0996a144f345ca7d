package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/listen/listentest"
	"github.com/redeliver/redeliver/host/worker/dotnettest"
	"github.com/redeliver/redeliver/host/worker/javatest"
)

// The scripts in testdata are the specification of the command line. This test
// binary is the command, and also the handler of the scripts' apps.
func TestMain(m *testing.M) {
	commands := map[string]func(){
		"redeliver":      main,
		"orders-handler": func() { functions.Main(ordersApp()) },
		"bus-handler":    func() { functions.Main(busApp()) },
		"grid-handler":   func() { functions.Main(gridApp()) },
		"hub-handler":    func() { functions.Main(hubApp()) },
		"relay-handler":  func() { functions.Main(relayApp()) },
		"odd-handler":    func() { functions.Main(oddApp()) },
		"cosmos-handler": func() { functions.Main(cosmosApp()) },
		"open-handler":   func() { functions.Main(openApp()) },
		"notify-handler": func() { functions.Main(notifyApp()) },
		"chores-handler": func() { functions.Main(choresApp()) },
		"custom-handler": customMain,
		"dotnet":         dotnettest.Main, // there is no .NET where scripts run
	}
	if fleetMain != nil {
		commands["fleet-handler"], commands["point-handler"] = fleetMain, pointMain
	}
	testscript.Main(m, commands)
}

// fleetMain is the handler of the fleet's hosts, pointMain the one of hosts that are killed,
// where there are such tests.
var fleetMain, pointMain func()

func TestScripts(t *testing.T) { testscript.Run(t, scripts("testdata")) }

// scripts are the scripts of a folder.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"background":  background,
			"wait-for":    waitFor,
			"count":       count,
			"transcript":  transcript,
			"interrupt":   interrupt,
			"kill-host":   killHost,
			"end-group":   endGroup,
			"hang-up":     hangUp,
			"head":        head,
			"hostile":     hostile,
			"harmless":    harmless,
			"port-of":     portOf,
			"ends":        ends,
			"busy-port":   busyPort,
			"free-port":   freePort,
			"usage":       usage,
			"fill":        fill,
			"ask":         ask,
			"stream":      stream,
			"key-used":    keyUsed,
			"key-new":     keyNew,
			"served-at":   servedAt,
			"passes":      passes,
			"run-page":    runPage,
			"storage-put": storagePut,
			"listen-on":   listenOn,
			"released":    released,
			"unread":      unread,
			"big-file":    bigFile,
			"big-text":    bigText,
			"same-file":   sameFile,
			"remember":    remember,
			"refused":     refused,
			"bus-send":    busSend,
			"bus-admin":   busAdmin,

			"assistant":   askAssistant,
			"mvn-package": mvnPackage,
			"bus-receive": busReceive,
			"grid-post":   gridPost,
			"hub-send":    hubSend,
		},
	}
}

// ordersApp is the program of the scripts' apps: the sample, without its build.
func ordersApp() *functions.App {
	app := functions.New()
	app.HTTP("PlaceOrder", func(w http.ResponseWriter, r *http.Request) {
		if err := functions.SetOutput(r.Context(), "orders", map[string]string{"id": "1"}); err != nil {
			functions.Fail(r.Context(), err)
		}
		fmt.Fprintln(w, "accepted")
	}, functions.Route("orders"), functions.Methods("POST"), functions.QueueOutput("orders", "orders"))
	functions.QueueJSON(app, "ProcessOrder", "orders", func(ctx context.Context, o struct {
		ID                               string
		Fail, Hang, Env, Permanent, Wait bool
	}) error {
		if o.Env {
			functions.Logger(ctx).Info("environment", "name", os.Getenv("AZURE_FUNCTIONS_ENVIRONMENT"), "mine", os.Getenv("MINE"))
			fmt.Println("AzureWebJobsStorage=" + os.Getenv("AzureWebJobsStorage"))
		}
		if o.Wait {
			functions.Logger(ctx).Info("waiting")
			return functions.Sleep(ctx, 2*time.Minute)
		}
		if o.Hang {
			functions.Logger(ctx).Info("hanging")
			select {} // deaf to the end of ctx
		}
		if o.Permanent {
			return functions.Permanent(fmt.Errorf("not an order: %w", errors.New("no customer")))
		}
		if o.Fail {
			return errors.New("payment service unavailable")
		}
		functions.Logger(ctx).Info("order processed", "order", o.ID)
		return nil
	})
	app.Queue("Off", "off", func(context.Context, functions.QueueMessage) error { return nil }, functions.Disabled())
	return app
}

// patience is how long a script waits for a line, in real time. Only a failing
// script ever waits that long.
const patience = 30 * time.Second

// processes are the background processes of one script, by name.
type processes struct {
	env    []string
	byName map[string]*process
	pipes  map[string]*os.File // open ones, by the script's paths
}

type processesKey struct{}

// setup gives a script what a process needs to find the go command's caches.
func setup(env *testscript.Env) error {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return nil // no go command: the scripts that need one are skipped
		}
		if value := strings.TrimSpace(string(out)); value != "" {
			env.Vars = append(env.Vars, name+"="+value)
		}
	}
	samples, err := filepath.Abs(filepath.Join("..", "..", "functions", "samples"))
	if err != nil {
		return err
	}
	modules, err := filepath.Abs(filepath.Join("..", "..", ".interop", "node_modules"))
	if err != nil {
		return err
	}
	var pypi []string
	for _, folder := range []string{"durable", "functions"} {
		pypi = append(pypi, filepath.Join(filepath.Dir(modules), folder))
	}
	env.Vars = append(env.Vars, "NO_COLOR=1", "TZ=UTC", "SAMPLES="+samples, "MODULES="+modules, "PYPI="+strings.Join(pypi, string(os.PathListSeparator)), "XDG_CACHE_HOME="+filepath.Join(env.WorkDir, ".cache"),
		"GORACE=atexit_sleep_ms=0") // the race detector else keeps every process for a second
	if sdk, err := dotnettest.SDK(); err == nil {
		env.Vars = append(append(env.Vars, "SDK="+sdk), dotnettest.Environment()...)
	}
	env.Values[processesKey{}] = &processes{env: env.Vars, byName: map[string]*process{}, pipes: map[string]*os.File{}}
	return nil
}

// javaLibraries are the libraries for apps in Java.
const javaLibraries = javatest.Interop("../../.interop")

// mvnPackage PROJECT stands for "mvn clean package" in a project with the platform's plugin, which
// is not needed for it.
func mvnPackage(ts *testscript.TestScript, neg bool, args []string) {
	project := ts.MkAbs(args[0])
	stage, app := filepath.Join(ts.MkAbs("."), ".staging"), filepath.Join(project, "target", "azure-functions", "app")
	ts.Check(javaLibraries.Stage(project, stage))
	ts.Check(javaLibraries.Libraries(stage, javatest.Interfaces))
	// A host that follows the folder has one change to see, however long the build took.
	ts.Check(os.RemoveAll(app))
	ts.Check(os.MkdirAll(filepath.Dir(app), 0o700))
	ts.Check(os.Rename(stage, app))
}

// condition knows [package:NAME]: an installed package of npm, in $MODULES; [pypi:FOLDER]: a
// module of Durable Functions' packages for Python, in $PYPI; and [java]: a
// JDK and the libraries for apps; and [sdk]: a real .NET SDK, which is $SDK.
func condition(cond string) (bool, error) {
	if cond == "java" {
		err := javaLibraries.Missing()
		if javatest.Required() {
			return true, err
		}
		return err == nil, nil
	}
	if cond == "sdk" {
		_, err := dotnettest.SDK()
		if dotnettest.Required() {
			return true, err
		}
		return err == nil, nil
	}
	kind, name, _ := strings.Cut(cond, ":")
	path := ""
	switch kind {
	case "package":
		path = filepath.Join("node_modules", name, "package.json")
	case "pypi":
		path = filepath.Join("durable", name)
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	_, err := os.Stat(filepath.Join("..", "..", ".interop", path))
	return err == nil, nil
}

// process is a background process and what it has written so far.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // set before done is closed

	mu      sync.Mutex
	out     bytes.Buffer // both outputs
	stdout  bytes.Buffer
	changed chan struct{}
}

// outputOf is one of the outputs of a process.
type outputOf struct {
	p      *process
	stdout bool
}

// Write keeps output and wakes the waits for it.
func (o outputOf) Write(b []byte) (int, error) {
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(b)
	if o.stdout {
		p.stdout.Write(b)
	}
	close(p.changed)
	p.changed = make(chan struct{})
	return len(b), nil
}

func (p *process) output() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String(), p.changed
}

// await waits until the output of the process is as is says, until the process has ended
// or until patience is over, and returns the output and whether it is so.
func (p *process) await(patience time.Duration, is func(string) bool) (string, bool) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		text, changed := p.output()
		if is(text) {
			return text, true
		}
		select {
		case <-changed:
			continue
		case <-p.done:
		case <-limit.C:
		}
		text, _ = p.output()
		return text, is(text)
	}
}

// background NAME [VAR=VALUE...] COMMAND [ARG...] starts a process.
func background(ts *testscript.TestScript, neg bool, args []string) {
	all := ts.Value(processesKey{}).(*processes)
	name, args := args[0], args[1:]
	p := &process{done: make(chan struct{}), changed: make(chan struct{})}
	env := append([]string(nil), all.env...)
	for strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), env
	p.cmd.Stdout, p.cmd.Stderr = outputOf{p, true}, outputOf{p, false}
	cli.OwnGroup(p.cmd)
	p.cmd.WaitDelay = 5 * time.Second
	ts.Check(p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if text, _ := p.output(); text != "" {
			ts.Logf("[%s]\n%s", name, text)
		}
	})
	all.byName[name] = p
}

func named(ts *testscript.TestScript, name string) *process {
	p := ts.Value(processesKey{}).(*processes).byName[name]
	if p == nil {
		ts.Fatalf("no background process %q", name)
	}
	return p
}

// wait-for NAME REGEXP [TIME] waits until the output of a process matches: longer than others
// for what a compiler does.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	p, re, patience := named(ts, args[0]), regexp.MustCompile("(?m)"+args[1]), patience
	if len(args) > 2 {
		var err error
		patience, err = time.ParseDuration(args[2])
		ts.Check(err)
	}
	if _, met := p.await(patience, re.MatchString); !met {
		ts.Fatalf("%s has ended (%v), or %v have passed, without writing %q", args[0], p.err, patience, args[1])
	}
}

// count NAME N REGEXP checks how many lines of a process match. It waits for those that
// are still to come: a command's answer may be here before the line its host writes of it.
func count(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	re := regexp.MustCompile("(?m)" + args[2])
	matches := func(text string) int { return len(re.FindAllString(text, -1)) }
	text, _ := named(ts, args[0]).await(patience, func(text string) bool { return matches(text) >= want })
	if got := matches(text); got != want {
		ts.Fatalf("%s wrote %d lines that match %q, want %d", args[0], got, args[2], want)
	}
}

// transcript NAME [stdout] puts what a process has written, to both outputs or to
// one, on the standard output.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	p := named(ts, args[0])
	text, _ := p.output()
	if len(args) > 1 {
		p.mu.Lock()
		text = p.stdout.String()
		p.mu.Unlock()
	}
	fmt.Fprint(ts.Stdout(), text)
}

// interrupt NAME presses Ctrl+C; where there is no such thing it asks the host
// in the app's folder to stop.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	p := named(ts, args[0])
	if runtime.GOOS == "windows" {
		dir := "app"
		if len(args) > 1 {
			dir = args[1]
		}
		ts.Check(ts.Exec("redeliver", "stop", "--dir", dir))
		return
	}
	ts.Check(p.cmd.Process.Signal(os.Interrupt))
}

// kill-host NAME ends a process without a warning.
func killHost(ts *testscript.TestScript, neg bool, args []string) {
	p := named(ts, args[0])
	ts.Check(p.cmd.Process.Kill())
	<-p.done
}

// end-group NAME asks a process and all that it has started to end.
func endGroup(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(terminateGroup(named(ts, args[0]).cmd.Process))
}

// ends NAME CODE [WITHIN] waits for the end of a process and checks its exit code.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	p := named(ts, args[0])
	patience := patience
	if len(args) > 2 {
		var err error
		patience, err = time.ParseDuration(args[2])
		ts.Check(err)
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
		ts.Fatalf("%s has not ended in %v", args[0], patience)
	}
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with code %s, want %s", args[0], got, args[1])
	}
}

// busy-port VAR listens on a free port until the script ends, and names it.
func busyPort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// usage COMMAND [ARG...] runs a command that is not understood: exit code 3.
func usage(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), ts.Value(processesKey{}).(*processes).env
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != cli.ExitUsage {
		ts.Fatalf("%q: %v, want exit code %d", args, err, cli.ExitUsage)
	}
}

// free-port VAR names a port at which nobody listens.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strconv.Itoa(listentest.FreePort()))
}

// ask NAME STATUS METHOD PATH [HEADER:VALUE] makes a request to the host that a
// process runs, and puts the answer on the standard output.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	resp := asked(ts, args)
	defer resp.Body.Close()
	var body bytes.Buffer
	_, err := body.ReadFrom(resp.Body)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), body.String())
	if got := strconv.Itoa(resp.StatusCode); got != args[1] {
		ts.Fatalf("%s %s answered %s: %s, want %s", args[2], args[3], got, body.String(), args[1])
	}
}

func asked(ts *testscript.TestScript, args []string) *http.Response {
	text, _ := named(ts, args[0]).output()
	base := regexp.MustCompile(`http://localhost:\d+`).FindString(text)
	r, err := http.NewRequest(args[2], base+args[3], nil)
	ts.Check(err)
	if len(args) > 4 {
		name, value, _ := strings.Cut(args[4], ":")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Do(r)
	ts.Check(err)
	return resp
}

// stream NAME PATTERN METHOD PATH [HEADER:VALUE] makes a request to the host that a process
// runs, reads the answer as it comes until its text matches the pattern, and hangs up.
func stream(ts *testscript.TestScript, neg bool, args []string) {
	resp := asked(ts, args)
	defer resp.Body.Close()
	wanted := regexp.MustCompile(args[1])
	var seen []byte
	for part := make([]byte, 4096); !wanted.Match(seen); {
		n, err := resp.Body.Read(part)
		seen = append(seen, part[:n]...)
		if err != nil && !wanted.Match(seen) {
			ts.Fatalf("%s %s: %v after %q", args[2], args[3], err, seen)
		}
	}
}

// key-used NAME STATUS METHOD PATH KIND makes a request with the first key of a
// kind in keys.json, the output of "redeliver keys --output json".
func keyUsed(ts *testscript.TestScript, neg bool, args []string) {
	var keys []struct{ Kind, Value string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("keys.json")), &keys))
	for _, k := range keys {
		if k.Kind == args[4] {
			ask(ts, neg, append(args[:4:4], "x-functions-key:"+k.Value))
			return
		}
	}
	ts.Fatalf("no key of kind %q", args[4])
}

// fill FILE... replaces $NAME in files by the script's variables.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	for _, file := range args {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o644))
	}
}

// storage-put NAME QUEUE BODY [CERT] puts a message with a storage SDK and the
// connection string that a process has printed last, trusting a certificate. With
// "!" the SDK is refused.
func storagePut(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	found := regexp.MustCompile(`(?m)^  storage +(Default.*)$`).FindAllStringSubmatch(text, -1)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if len(args) > 3 {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(ts.ReadFile(args[3]))) {
			ts.Fatalf("%s holds no certificate", args[3])
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	account, err := azure.NewQueueAccount(found[len(found)-1][1], &azure.Options{HTTPClient: &http.Client{Transport: transport}})
	ts.Check(err)
	body := base64.StdEncoding.EncodeToString([]byte(args[2]))
	_, err = queue.PutOrCreate(context.Background(), account.Queue(args[1]), body, nil)
	switch {
	case !neg:
		ts.Check(err)
	case err == nil:
		ts.Fatalf("storage-put: the message was taken")
	default:
		ts.Logf("storage-put: %v", err)
	}
}
