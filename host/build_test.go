//clock:outside builds real programs

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// goApp is a function app in Go source, as a developer has it: a module of its
// own that uses this one. It builds without the network.
func goApp(t *testing.T) map[string]string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module shop\n\n%s\n\nrequire (\n\tgithub.com/redeliver/redeliver v0.0.0\n", regexp.MustCompile(`(?m)^go .*$`).Find(mod))
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+ v\S+)`).FindAllSubmatch(mod, -1) {
		fmt.Fprintf(&b, "\t%s // indirect\n", m[1])
	}
	fmt.Fprintf(&b, ")\n\nreplace github.com/redeliver/redeliver => %q\n", root)
	return map[string]string{
		"go.mod":               b.String(),
		"go.sum":               string(sum),
		"main.go":              goSource(`functions.Logger(ctx).Info("first")`),
		"Orders/function.json": orders(1),
	}
}

func goSource(body string) string {
	return `package main

import (
	"context"

	"github.com/redeliver/redeliver/functions"
)

func main() {
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		` + body + `
		return nil
	})
	functions.Main(app)
}
`
}

// An app in Go source is built at the start and after an edit of its code; code
// that does not compile is refused with the compiler's file and line, and an
// edit of a function.json builds nothing (7.1, D-15).
func TestGoApp(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	h := hosttest.New(t, &hosttest.Options{Files: goApp(t)})
	said := func() string {
		t.Helper()
		h.Send("orders", "x")
		h.AwaitSettled("Orders", triggers.Deleted)
		logs := h.Select(func(r *journal.Record) bool { return r.Kind == journal.HandlerLog && r.Function == "Orders" })
		if len(logs) == 0 {
			t.Fatal("the handler wrote nothing")
		}
		return logs[len(logs)-1].Message
	}
	built := func() []string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(h.Dir(), ".redeliver", "bin", "handler-*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if got := said(); got != "first" {
		t.Errorf("the handler said %q", got)
	}
	first := built()
	if len(first) != 1 {
		t.Fatalf("built: %q, want one handler", first)
	}

	err := h.Edit("main.go", goSource("return undefinedThing"))
	var load *host.LoadError
	if !errors.As(err, &load) || !strings.Contains(err.Error(), "main.go:12:10: undefined: undefinedThing") {
		t.Errorf("Edit with a compile error = %v, want a *host.LoadError with file:line:column", err)
	}
	if h.Generation() != 1 || h.State() != host.Running {
		t.Errorf("generation %d is %s after a bad edit, want the first one running", h.Generation(), h.State())
	}
	refused := h.AwaitKind(journal.GenerationRefused)
	if !strings.Contains(refused.Error, "main.go:12:10") {
		t.Errorf("generation_refused = %v, want the compiler's line", refused)
	}
	if got := said(); got != "first" {
		t.Errorf("after a bad edit the handler said %q", got)
	}

	if err := h.Edit("main.go", goSource(`functions.Logger(ctx).Info("second")`)); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "second" || h.Generation() != 2 {
		t.Errorf("after the edit generation %d said %q, want the second", h.Generation(), got)
	}

	handlers := built()
	times := modified(t, handlers)
	if err := h.Edit("Orders/function.json", orders(3)); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "second" || h.Generation() != 3 {
		t.Errorf("after the edit of function.json generation %d said %q", h.Generation(), got)
	}
	if got := built(); fmt.Sprint(got) != fmt.Sprint(handlers) || modified(t, got) != times {
		t.Errorf("the edit of function.json built something: %q, before %q", got, handlers)
	}
}

// An app in a subfolder of its module is built anew after an edit beside it, also where
// the kit runs a developer's own folder.
func TestGoAppBelowItsModule(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	root := t.TempDir()
	files := goApp(t)
	files["apps/orders/main.go"] = strings.Replace(goSource("words.Say(ctx)"), "\n\t\"github", "\n\t\"shop/words\"\n\t\"github", 1)
	files["apps/orders/host.json"] = `{"version":"2.0"}`
	delete(files, "main.go")
	words := func(text string) string {
		return "package words\n\nimport (\n\t\"context\"\n\n\t\"github.com/redeliver/redeliver/functions\"\n)\n\n" +
			"func Say(ctx context.Context) { functions.Logger(ctx).Info(\"" + text + "\") }\n"
	}
	files["words/words.go"] = words("first")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(name, text)
	}
	h := hosttest.New(t, &hosttest.Options{Dir: filepath.Join(root, "apps", "orders")})
	said := func() string {
		t.Helper()
		h.Send("orders", "x")
		h.AwaitSettled("Orders", triggers.Deleted)
		logs := h.Select(func(r *journal.Record) bool { return r.Kind == journal.HandlerLog && r.Function == "Orders" })
		return logs[len(logs)-1].Message
	}
	if got := said(); got != "first" {
		t.Errorf("the handler said %q", got)
	}
	write("words/words.go", words("second"))
	if err := h.Reload(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "second" || h.Generation() != 2 {
		t.Errorf("after the edit generation %d said %q, want the second", h.Generation(), got)
	}
}

// A caller that hangs up ends the context of its handler. A handler that works on all
// the same, for longer than the grace of a timeout, comes to its end, and nothing happens
// to the others in its process (2.6).
func TestCallerGoesAwayFromAProcess(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	files := goApp(t)
	delete(files, "Orders/function.json")
	files["main.go"] = `package main

import (
	"net/http"
	"time"

	"github.com/redeliver/redeliver/functions"
)

func main() {
	app := functions.New()
	app.HTTP("pay", func(w http.ResponseWriter, r *http.Request) {
		functions.Logger(r.Context()).Info("begun")
		<-r.Context().Done()
		// Longer than the grace of a timeout: real time in both processes.
		time.Sleep(2500 * time.Millisecond)
	})
	functions.Main(app)
}
`
	h := hosttest.New(t, &hosttest.Options{Files: files})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan struct{})
	go func() {
		defer close(served)
		route, err := h.Match(ctx, "POST", "/api/pay")
		if err != nil {
			t.Errorf("Match: %v", err)
			return
		}
		h.Serve(ctx, route, &bindings.HTTPRequest{Method: "POST", URL: "http://localhost/api/pay"})
	}()
	for _, step := range []journal.Kind{journal.HandlerLog, journal.AttemptEnded} {
		r, err := h.Journal().Wait(t.Context(), func(r *journal.Record) bool { return r.Kind == step })
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if step == journal.AttemptEnded && r.Status != "succeeded" {
			t.Errorf("the attempt %s: %s", r.Status, r.Error)
		}
	}
	<-served
	if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.ProcessExited })); n != 0 {
		t.Error("the handler process was ended")
	}
}

func modified(t *testing.T, files []string) string {
	t.Helper()
	var out []string
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, info.ModTime().String())
	}
	return strings.Join(out, ",")
}

// --no-build uses what the last build left, and says so when there is nothing.
func TestNoBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range goApp(t) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(`{"version":"2.0"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(dir, &host.Options{NoBuild: true, Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(context.Background()); err == nil || !strings.Contains(err.Error(), "--no-build") {
		t.Errorf("Start = %v, want a hint at --no-build", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// A Go program that is no handler is built, told apart by its build information, and
// not started.
func TestGoProgramWithoutFunctions(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build with")
	}
	h := hosttest.New(t, &hosttest.Options{MayFail: true, Files: map[string]string{
		"go.mod":               "module shop\n\ngo 1.26\n",
		"main.go":              "package main\n\nimport \"net/http\"\n\nfunc main() { http.ListenAndServe(\"127.0.0.1:0\", nil) }\n",
		"Orders/function.json": orders(1),
		"local.settings.json":  `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true", "FUNCTIONS_WORKER_RUNTIME": "go"}}`,
	}})
	if h.StartError == nil || !strings.Contains(h.StartError.Error(), "does not import package") {
		t.Errorf("got %v, want an error that names the package", h.StartError)
	}
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.ProcessStarted }) {
		t.Errorf("started: %v", r)
	}
}

// A start that is called off while it builds, as by Ctrl+C, is no refusal and no host
// that started.
func TestStartCalledOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"main.go", "go.mod"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(goApp(t)[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := host.New(dir, &host.Options{Env: append(os.Environ(), "AzureWebJobsStorage=UseDevelopmentStorage=true")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Start = %v, want the context's error", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	sub := h.Journal().Subscribe(1)
	defer sub.Close()
	for {
		r, _, ok := sub.TryNext()
		if !ok {
			break
		}
		if r.Kind == journal.GenerationRefused || r.Kind == journal.HostStarted {
			t.Errorf("the journal has %v", r)
		}
	}
}
