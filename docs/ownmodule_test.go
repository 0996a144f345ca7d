package docs_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ownTest is the test of README.md, in a module of the user's own.
const ownTest = `package shop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

func TestPoison(t *testing.T) {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 15*time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "7")
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantAttempts("ProcessOrder", 25)
}
`

// require names a version of the module that the replacement then stands for.
const require = "-require=github.com/redeliver/redeliver@v0.0.0"

// exclude is a further line that a workspace needs.
const exclude = "-exclude=google.golang.org/genproto@v0.0.0-20230410155749-daa745c078e1"

// The commands of testing.md give a module the kit from a clone, also in a workspace.
func TestOwnModule(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	clone, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// This proxy refuses a module that it does not have, as company proxies do; others
	// answer that there is none.
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer proxy.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop_test.go"), []byte(ownTest), 0o644); err != nil {
		t.Fatal(err)
	}
	goes := func(work string, args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PWD="+dir, "GOPROXY="+proxy.URL, "GOSUMDB=off", "GOFLAGS=", "GOWORK="+work)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	goes("off", "mod", "init", "example.com/shop")
	// With a network there is nothing to copy: the go command asks the checksum
	// database.
	sums, err := os.ReadFile(filepath.Join(clone, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile("testing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"mod", "edit", require, "-replace=github.com/redeliver/redeliver=../redeliver"},
		{"get", "-t", "./..."},
		{"test", "./..."},
		{"mod", "edit", exclude},
	} {
		if line := "go " + strings.Join(command, " "); !strings.Contains(string(text), line) {
			t.Errorf("testing.md does not say %q", line)
		}
	}
	replace := "-replace=github.com/redeliver/redeliver=" + clone
	goes("off", "mod", "edit", require, replace)
	goes("off", "get", "-t", "./...")
	if out := goes("off", "test", "./..."); !strings.HasPrefix(out, "ok") {
		t.Errorf("go test says %q", out)
	}

	goes("", "work", "init", ".")
	goes("", "mod", "edit", exclude)
	if out := goes("", "test", "./..."); !strings.HasPrefix(out, "ok") {
		t.Errorf("in a workspace go test says %q", out)
	}
}
