package js_test

import (
	"context"
	"fmt"
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

// lab is a folder with the packed kit, packages of others, the tests and the program.
func lab(t *testing.T, packages ...string) (dir string) {
	t.Helper()
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
	dir = filepath.Join(t.TempDir(), "with blanks, ü")
	modules := filepath.Join(dir, "node_modules")
	if err := js.Write(filepath.Join(modules, "@redeliver", "testing")); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(packages, "@azure") {
		from, err := filepath.Abs(filepath.Join(interop, "node_modules", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(from); err != nil {
			missing(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(modules, name)), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(modules, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "tests"), os.DirFS("tests")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "redeliver"), "../../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// node runs a program of Node in a folder of the tests, and returns what it has said.
func node(t *testing.T, dir, under string, args ...string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) //clock:outside a runner that does not end
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = filepath.Join(dir, "tests", under)
	cmd.Env = append(os.Environ(), "REDELIVER_BINARY="+filepath.Join(dir, "redeliver"), "NO_COLOR=1", "REDELIVER_CONFORMANCE="+conformance(t))
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// conformance is the file that all kits play.
func conformance(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../testdata/kit/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The tests of the kit, in JavaScript, against the program: the founding examples, what all
// kits play, every public name, what hangs, dies and fails.
func TestNode(t *testing.T) {
	t.Parallel()
	if out, err := node(t, lab(t), "", "--test", "founding.test.mjs", "host.test.mjs", "slips.test.mjs", "sleep.test.mjs", "conformance.test.mjs"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// jest, whose loader is told of the platform's module by the preset, with its own mocks; its
// files run side by side.
func TestJest(t *testing.T) {
	t.Parallel()
	dir := lab(t, "jest")
	if out, err := node(t, dir, "jest", filepath.Join(dir, "node_modules", "jest", "bin", "jest.js"), "--maxWorkers", "2"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// wrongNumbers are numbers of the founding tests, others in their place, and what the failure
// says then.
var wrongNumbers = []struct{ right, wrong, says string }{ // read only
	{"Times(50)", "Times(49)", "to be called 49 times, but got 50 times"},
	{"Array(10)", "Array(9)", "to deeply equal [ 5, 5, 5, 5, 5, 5, 5, 5, 5 ]"},
	{"retryCount: 4", "retryCount: 5", `"retryCount": 5`},
	{"'MaxDeliveryCountExceeded'", "'TTLExpiredException'", `"reason": "TTLExpiredException"`},
	{"[1, 1, 1, 1, 1]", "[1, 1, 1, 1]", "to deeply equal [ 1, 1, 1, 1 ]"},
	{"toEqual({ id: 7 })", "toEqual({ id: 8 })", "to deeply equal { id: 8 }"},
	{"[3, 5, 5, 5, 5]", "[2, 5, 5, 5, 5]", "to deeply equal [ 2, 5, 5, 5, 5 ]"},
	{"deadLettered('parcels')", "poisoned('Ship')", "again with REDELIVER_SEED=1 npx vitest run test/wrong7.test.ts -t '^50 attempts, then the dead-letter queue$'"},
	{"'betweenAttempts', 3", "'betweenAttempts', 2", "expected [ 2, 5, 5, 5, 5 ] to deeply equal [ 3, 5, 5, 5, 5 ]"},
}

// vitest: the founding tests in TypeScript as printed, whose types hold, and which fail with
// the right text when a number in them is wrong; the fixture; files side by side.
func TestVitest(t *testing.T) {
	t.Parallel()
	dir := lab(t, "vitest", "typescript", "@types")
	vitest := filepath.Join(dir, "node_modules", "vitest", "vitest.mjs")
	if out, err := node(t, dir, "vitest", vitest, "run"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := node(t, dir, "vitest", filepath.Join(dir, "node_modules", "typescript", "bin", "tsc"), "-p", "."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	tests := filepath.Join(dir, "tests", "vitest", "test")
	text, err := os.ReadFile(filepath.Join(tests, "founding.test.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range wrongNumbers {
		if !strings.Contains(string(text), row.right) {
			t.Fatalf("the tests have no %s", row.right)
		}
		own := strings.Replace(string(text), row.right, row.wrong, 1)
		if err := os.WriteFile(filepath.Join(tests, fmt.Sprintf("wrong%d.test.ts", i)), []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := node(t, dir, "vitest", vitest, "run", "wrong")
	if err == nil {
		t.Fatalf("wrong numbers pass:\n%s", out)
	}
	for i, row := range wrongNumbers {
		if !strings.Contains(out, row.says) || !strings.Contains(out, fmt.Sprintf("FAIL  test/wrong%d.test.ts", i)) {
			t.Errorf("%s in the place of %s does not say %q", row.wrong, row.right, row.says)
		}
	}
	if n := strings.Count(out, " FAIL "); n != len(wrongNumbers) || t.Failed() {
		t.Errorf("%d tests failed, want %d\n%s", n, len(wrongNumbers), out)
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
