package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/functions"
)

// openApp is an app with a function that is open to every page, and one that is not.
func openApp() *functions.App {
	app := functions.New()
	app.HTTP("Open", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "open") }, functions.AuthLevel(functions.AuthAnonymous))
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error { return nil })
	return app
}

// Pages in a real browser, of unnamed origins, neither read nor change anything
// on any listener; pages of origins that CORS names can do what it allows.
// `make interop` installs what it needs.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	browser := requireBrowser(t)
	evil, friend := emptyPage(t), emptyPage(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"host.json": `{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": "open-handler"}},
			"redeliver": {"eventGrid": {"topics": [{"name": "shop", "subscriptions": [{"name": "all", "function": "OnOrder"}]}]}}}`,
		"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}}`,
		"Config.json":         `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders", "Properties": {}}]}]}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := exec.Command("redeliver", "start", dir, "--in-memory", "--no-watch", "--port", "0", "--blob-port", "0", "--queue-port", "0", "--servicebus-port", "0",
		"--servicebus-admin-port", "0", "--eventgrid-port", "0", "--servicebus-config", filepath.Join(dir, "Config.json"), "--cors", "http://127.0.0.1:"+friend)
	p := &process{changed: make(chan struct{})}
	host.Stdout, host.Stderr = outputOf{p, true}, outputOf{p, false}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Signal(os.Interrupt)
		_ = host.Wait()
	})
	late := time.After(patience)
	said, changed := p.output()
	for ; !strings.Contains(said, "ready in"); said, changed = p.output() {
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the host is not ready: %s", said)
		}
	}
	info, err := remote.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	with, err := json.Marshal(map[string]string{
		"chromium": browser, "storage": info.Storage[0], "bus": info.ServiceBus, "busAdmin": info.ServiceBusAdmin,
		"web": info.Address, "grid": info.EventGrid, "evil": evil, "friend": friend,
	})
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs("../../.interop/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, "node", filepath.Join("testdata", "browser.cjs"), string(with))
	script.Env = append(os.Environ(), "NODE_PATH="+modules)
	if out, err := script.CombinedOutput(); err != nil || string(out) != "ok\n" {
		said, _ := p.output()
		t.Errorf("browser.cjs: %v\n%s\nthe host said:\n%s", err, out, said)
	}
}

// The page of a host in a real browser: every view, every button, what others may send to
// it, and hosts that end. The tests themselves are host/web/ui/app/browser.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	browser := requireBrowser(t)
	app := filepath.Join("..", "..", "host", "web", "ui", "app")
	vitest := filepath.Join("node_modules", "vitest", "vitest.mjs")
	for _, file := range []string{vitest, filepath.Join("node_modules", "playwright-core"), filepath.Join("node_modules", "axe-core")} {
		if _, err := os.Stat(filepath.Join(app, file)); err == nil {
			continue
		} else if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skip("the packages of the page are not installed; run make interop")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "node", vitest, "run", "--config", "vitest.browser.ts", "--reporter", "dot")
	run.Dir = app
	run.Env = append(os.Environ(), "CHROMIUM="+browser, "NO_COLOR=1", "REDELIVER=redeliver")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("vitest: %v\n%s", err, out)
	}
}

// requireBrowser is a Chromium on this machine. Without one, or without the packages
// of `make interop`, the test is skipped, unless REDELIVER_INTEROP is required.
func requireBrowser(t *testing.T) string {
	t.Helper()
	missing := "no Chromium is installed"
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if _, err = os.Stat("../../.interop/node_modules/playwright-core"); err == nil {
			_, err = exec.LookPath("node")
		}
		if err == nil {
			return program
		}
		missing = err.Error()
		break
	}
	if os.Getenv("REDELIVER_INTEROP") == "required" {
		t.Fatalf("%s, and REDELIVER_INTEROP is required; run make interop", missing)
	}
	t.Skipf("%s; run make interop", missing)
	return ""
}

// emptyPage serves a page with nothing on it, and returns its port.
func emptyPage(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>page</title>")
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
