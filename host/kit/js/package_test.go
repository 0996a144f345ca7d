package js_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit/js"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

// The package has the worker's library, and not its program.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := js.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"index.js": true, "index.mjs": true, "index.d.ts": true, "index.d.mts": true, "lib/host.js": true, "lib/worker/app.js": true, "lib/worker/line.js": true,
		"lib/worker/worker.js": false, "lib/worker/wire.js": false, "tests": false, "package_test.go": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// The tests of the kit, in JavaScript, against the program: the founding examples, every
// public name, what hangs, dies and fails.
func TestNode(t *testing.T) {
	t.Parallel()
	missing := func(err error) {
		t.Helper()
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing(err)
	}
	azure, err := filepath.Abs(filepath.Join(interop, "node_modules", "@azure"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(azure, "functions")); err != nil {
		missing(err)
	}
	dir := filepath.Join(t.TempDir(), "with blanks, ü")
	modules := filepath.Join(dir, "node_modules")
	if err := js.Write(filepath.Join(modules, "@redeliver", "testing")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(azure, filepath.Join(modules, "@azure")); err != nil {
		t.Skip(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "tests"), os.DirFS("tests")); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "redeliver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) //clock:outside a runner that does not end
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--test", "founding.test.mjs", "host.test.mjs", "slips.test.mjs")
	cmd.Dir, cmd.Env = filepath.Join(dir, "tests"), append(os.Environ(), "REDELIVER_BINARY="+program)
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The example of docs/kits/javascript.md is the founding test, word for word.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/kits/javascript.md")
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.ReadFile("tests/founding.test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```js\n")
	block, _, _ = strings.Cut(block, "```")
	if block == "" || !strings.Contains(string(test), block) {
		t.Errorf("the page has another test:\n%s", block)
	}
}
