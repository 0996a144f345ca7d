package invokertest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/customhandler"
	"github.com/redeliver/redeliver/host/invokertest"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/launch"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/javatest"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../.interop"

// libraries are those for apps in Java.
const libraries = javatest.Interop(interop)

// A model is a way to write functions in another language.
type model struct {
	name    string
	runtime string // FUNCTIONS_WORKER_RUNTIME
	library string // what the app needs of .interop, below its root; empty: nothing
	// standIn has the tests refuse an interpreter that knows the platform's library.
	standIn bool
}

func models() []model {
	return []model{
		{name: "node-classic", runtime: "node"},
		{name: "node-v4", runtime: "node", library: "node_modules/@azure/functions"},
		{name: "python-v1", runtime: "python", standIn: true},
		{name: "python-v2", runtime: "python", standIn: true},
		{name: "python-v1", runtime: "python", library: "functions/azure/functions"},
		{name: "python-v2", runtime: "python", library: "functions/azure/functions"},
		{name: "java", runtime: "java"},
		{name: "custom", runtime: "custom"},
	}
}

// title names the subtest of a model.
func (m model) title() string {
	switch {
	case m.standIn:
		return m.name + " with the stand-in"
	case m.runtime == "python":
		return m.name + " with azure-functions"
	}
	return m.name
}

// workerVariable names the environment variable that holds the folder of an official
// worker, which then runs the tests in the place of the program's own.
func (m model) workerVariable() string { return "REDELIVER_WORKER_" + strings.ToUpper(m.runtime) }

// prefer is Search.Prefer for a model.
func (m model) prefer() string {
	if dir := os.Getenv(m.workerVariable()); dir != "" {
		return dir
	}
	return launch.PreferShim
}

// official reports whether the platform's own worker runs the tests.
func (m model) official() bool { return m.prefer() != launch.PreferShim }

// need skips the test where what the model needs is missing; with REDELIVER_INTEROP=required
// it fails. It returns the environment of the app.
func (m model) need(tb testing.TB) (env []string) {
	tb.Helper()
	missing := func(format string, args ...any) {
		tb.Helper()
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			tb.Fatalf(format+", and REDELIVER_INTEROP is required; run make interop", args...)
		}
		tb.Skipf(format+"; run make interop", args...)
	}
	switch m.runtime {
	case "custom":
		return nil
	case languages.Dotnet: // make interop does not install it
		if out, err := command(tb, "dotnet", "--version"); err != nil {
			tb.Skipf("there is no .NET SDK here: %v %s", err, out)
		}
		return nil
	case "java":
		libraries.Need(tb)
		return nil
	}
	program := map[string]string{"node": "node", "python": "python3"}[m.runtime]
	out, err := command(tb, program, "--version")
	if err != nil {
		missing("there is no %s here: %v %s", program, err, out)
	}
	if m.official() && m.standIn {
		tb.Skip("an official worker brings the platform's library along")
	}
	if m.library != "" {
		if _, err := os.Stat(filepath.Join(interop, filepath.FromSlash(m.library))); err != nil {
			missing("%v", err)
		}
	}
	if m.runtime == "python" && m.library != "" && !m.official() {
		packages, err := filepath.Abs(filepath.Join(interop, "functions"))
		if err != nil {
			tb.Fatal(err)
		}
		return []string{"PYTHONPATH=" + packages}
	}
	if m.standIn {
		if out, err := command(tb, program, "-c", "import azure.functions"); err == nil {
			tb.Skipf("the package azure-functions wins over the stand-in: %s", out)
		}
	}
	return nil
}

// libraries gives a folder with an app the packages that it needs beside it.
func (m model) libraries(tb testing.TB, dir string) {
	tb.Helper()
	if m.runtime == "java" {
		if err := libraries.Libraries(dir, javatest.Annotations, javatest.Interfaces); err != nil {
			tb.Fatal(err)
		}
	}
	if m.runtime != "node" || m.library == "" {
		return
	}
	from, err := filepath.Abs(filepath.Join(interop, filepath.FromSlash(m.library)))
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "node_modules", "@azure"), 0o700)
	}
	if err == nil {
		err = os.Symlink(from, filepath.Join(dir, "node_modules", "@azure", "functions"))
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// functionFiles are the function.json of the suite's functions.
func (m model) functionFiles() map[string]string {
	files := map[string]string{}
	names := invokertest.Names()
	if m.runtime == "java" {
		names = append(names, "EchoText", "EchoBytes", "EchoTexts", "EchoBlocks")
	}
	for _, name := range names {
		trigger := fmt.Sprintf(`"type":"queueTrigger","queueName":%q`, strings.ToLower(name))
		if strings.HasPrefix(name, "Echo") { // which passes on what it is given, of any type
			trigger = `"type":"manualTrigger"`
		}
		script := ""
		if m.runtime != "custom" {
			script = fmt.Sprintf(`"scriptFile":"../%s","entryPoint":%q,`, m.script(), m.entry(strings.ToLower(name[:1])+name[1:]))
		}
		out := ""
		switch name { // Python wants a parameter for each binding
		case "Echo", "EchoText", "EchoBytes", "EchoTexts", "EchoBlocks", "Seen", "Fail", "Odd":
			out = `,{"type":"queue","direction":"out","name":"out","queueName":"done"}`
		}
		files[name+"/function.json"] = fmt.Sprintf(`{%s"bindings":[{%s,"direction":"in","name":"item"}%s]}`, script, trigger, out)
	}
	return files
}

// inCode reports whether a model declares functions in code.
func (m model) inCode() bool { return m.name == "node-v4" || m.name == "python-v2" }

// script is the file that holds the functions of the suite.
func (m model) script() string {
	switch {
	case m.runtime == "node":
		return "functions.js"
	case m.runtime == "java":
		return "functions.jar"
	case m.inCode():
		return "function_app.py"
	}
	return "functions.py"
}

// entry is the entryPoint of a function of the suite.
func (m model) entry(name string) string {
	if m.runtime == "java" {
		return "suite.Functions." + name
	}
	return name
}

// sources puts the sources of an app below testdata into its folder, those in Java as
// their jar.
func (m model) sources(tb testing.TB, dir, from string) {
	tb.Helper()
	text := os.DirFS(filepath.Join("testdata", filepath.FromSlash(from)))
	if m.runtime == "java" {
		write(tb, dir, map[string]string{m.script(): jarOf(tb, text)})
	} else if err := os.CopyFS(dir, text); err != nil {
		tb.Fatal(err)
	}
}

// jarWith is the jar of sources below testdata with a text in the place of another.
func jarWith(tb testing.TB, from, old, text string) string {
	tb.Helper()
	const name = "suite/Functions.java"
	source, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(from), name))
	if err != nil {
		tb.Fatal(err)
	}
	return jarOf(tb, fstest.MapFS{name: {Data: []byte(strings.ReplaceAll(string(source), old, text))}})
}

func jarOf(tb testing.TB, sources fs.FS) string {
	tb.Helper()
	jar, err := libraries.Jar(sources)
	if err != nil {
		tb.Fatal(err)
	}
	return string(jar)
}

// hostFile makes this test binary the custom handler of an app.
func (m model) hostFile() string {
	return fmt.Sprintf(`{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":%q}}}`, os.Args[0])
}

// write writes files by their slash paths into a folder.
func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// folder makes the app of the suite's functions in a model.
func (m model) folder(tb testing.TB) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	files := map[string]string{"host.json": `{"version":"2.0"}`}
	switch m.name {
	case "custom":
		files["host.json"] = m.hostFile()
	default:
		m.sources(tb, dir, m.name)
	}
	if !m.inCode() {
		for name, text := range m.functionFiles() {
			files[name] = text
		}
	}
	write(tb, dir, files)
	m.libraries(tb, dir)
	return dir
}

// open starts what runs the functions of the app in a folder, as a host does, and has
// them loaded.
func (m model) open(tb testing.TB, clk clock.Clock, dir string, env []string) (invokertest.Invoker, error) {
	vars := map[string]string{"FUNCTIONS_WORKER_RUNTIME": m.runtime, "AzureWebJobsStorage": "UseDevelopmentStorage=true", "VIRTUAL_ENV": os.Getenv("VIRTUAL_ENV")}
	opts := &app.Options{Env: vars, Kinds: served.Facts()}
	a, err := app.Load(dir, opts)
	if err != nil {
		return nil, err
	}
	ps := process.Spec{
		Dir: dir, Env: append(append(os.Environ(), "FUNCTIONS_WORKER_RUNTIME="+m.runtime), env...), Grace: 300 * time.Millisecond,
		Output: func(l process.Line) {
			if testing.Verbose() && len(l.Text) < 1000 && !strings.HasPrefix(l.Text, "noise") {
				tb.Logf("%s", l.Text)
			}
		},
	}
	if a.Handler.Kind == app.Custom {
		ps.Path, ps.Env = a.Handler.Path, append(ps.Env, roleVariable+"=custom", "GORACE=atexit_sleep_ms=0")
		return customhandler.Start(clk, launch.CustomHandler(a, ps, "4.1037.0"))
	}
	found, err := launch.Worker(context.Background(), a, &app.HandlerSpec{Runtime: m.runtime}, launch.Build{Worker: m.prefer()})
	if err != nil {
		return nil, err
	}
	ps.Path, ps.Args = found.Path, found.Args
	ps.Env = append(ps.Env, found.Environment(func(string) bool { return false })...)
	w, err := worker.Start(clk, worker.Spec{
		Spec: ps, Transport: found.Transport, Language: m.runtime, Directory: found.Directory, App: dir, Indexing: found.Indexing, HostVersion: "4.1037.0",
	})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	opts.Declared, err = w.Functions(ctx)
	opts.InFiles, opts.Handler = !w.InCode(), &a.Handler
	if err == nil {
		a, err = app.Load(dir, opts)
	}
	if err == nil {
		for _, f := range a.Functions {
			err = errors.Join(err, faults(f))
		}
		loaded, lerr := w.Load(ctx, launch.WorkerFunctions(dir, a.Functions))
		err = errors.Join(err, lerr)
		for name, failure := range loaded {
			err = errors.Join(err, fmt.Errorf("load %s: %s %s", name, failure.Message, failure.Stack))
		}
	}
	if err != nil {
		_ = w.Close(ctx)
		return nil, err
	}
	return asked{w, opts.Declared}, nil
}

// asked is a worker that has been asked for its functions: that is done once.
type asked struct {
	*worker.Worker
	declared []call.Declaration
}

func (a asked) Functions(context.Context) ([]call.Declaration, error) { return a.declared, nil }

func faults(f *app.Function) (err error) {
	for _, fault := range f.Faults {
		err = errors.Join(err, fault)
	}
	return err
}

// start is open for a test that is in the clock's turn and goes on without.
func (m model) start(t *testing.T, clk clock.Clock, dir string, env []string) invokertest.Invoker {
	inv, err := m.open(t, clk, dir, env)
	if err != nil {
		t.Errorf("start: %v", err)
		return nil
	}
	return inv
}
