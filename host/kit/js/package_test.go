package js_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kit/js"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

// The tarball is the same each time, says its version, and has the worker's library, and not
// its program.
func TestTarball(t *testing.T) {
	t.Parallel()
	var one, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&one, &again} {
		if err := js.Tarball(w, "1.2.3"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), again.Bytes()) {
		t.Error("two tarballs differ")
	}
	z, err := gzip.NewReader(&one)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(h.Name, "package/"))
		text, err := io.ReadAll(r)
		if err != nil || h.Name == "package/package.json" && !bytes.Contains(text, []byte(`"version": "1.2.3"`)) {
			t.Errorf("%s: %v\n%s", h.Name, err, text)
		}
	}
	for _, name := range []string{"index.js", "index.mjs", "index.d.ts", "index.d.mts", "lib/host.js", "lib/worker/app.js", "lib/worker/line.js"} {
		if !slices.Contains(names, name) {
			t.Errorf("the tarball has no %s", name)
		}
	}
	for _, name := range []string{"lib/worker/worker.js", "lib/worker/wire.js", "tests/host.test.mjs"} {
		if slices.Contains(names, name) {
			t.Errorf("the tarball has %s", name)
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
	dir := t.TempDir()
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
