package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/kit/python"
)

// interop is where the packages of others are installed; see make interop.
const interop = "../../../.interop"

// need skips a test where a package of Python is missing, and returns the folders in which
// Python looks for packages: the kit, made of its sources, pytest and azure-functions.
func need(t *testing.T, packages ...string) (pythonPath string) {
	t.Helper()
	missing := func(err error) {
		t.Helper()
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		missing(err)
	}
	kit := t.TempDir()
	if err := python.Write(kit); err != nil {
		t.Fatal(err)
	}
	folders := []string{kit}
	for _, name := range packages {
		folder, err := filepath.Abs(filepath.Join(interop, filepath.FromSlash(filepath.Dir(name))))
		if err == nil {
			_, err = os.Stat(filepath.Join(folder, filepath.Base(name)))
		}
		if err != nil {
			missing(err)
		}
		folders = append(folders, folder)
	}
	return strings.Join(folders, string(os.PathListSeparator))
}

// run runs a module of Python.
func run(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "python3", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "PYTHONDONTWRITEBYTECODE=1")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("python3 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// The tests of the kit, in Python, against the program: the founding examples as printed, and
// with a wrong number in each place; every public name; what dies, hangs and is debugged.
func TestPytest(t *testing.T) {
	t.Parallel()
	path := need(t, "kit/pytest", "kit/xdist", "functions/azure")
	program := filepath.Join(t.TempDir(), "redeliver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/redeliver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(t, "tests", []string{"PYTHONPATH=" + path, "REDELIVER_BINARY=" + program}, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", t.TempDir())
}

// The types of the package hold under the strict checks of mypy.
func TestTypes(t *testing.T) {
	t.Parallel()
	path := need(t, "kit/mypy", "kit/pytest")
	config := filepath.Join(t.TempDir(), "mypy.ini")
	text := "[mypy]\nstrict = True\n[mypy-redeliver_testing._worker.*]\nfollow_imports = skip\nignore_errors = True\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kit, _, _ := strings.Cut(path, string(os.PathListSeparator))
	var args []string
	for _, name := range []string{"", ".aio", ".plugin", "._attached", "._limit", "._options", "._process", "._session", "._timeline", "._types", "._host", "._aio_host"} {
		args = append(args, "-m", "redeliver_testing"+name)
	}
	run(t, kit, []string{"PYTHONPATH=" + path, "MYPYPATH=" + kit}, append([]string{"-m", "mypy", "--config-file", config, "--cache-dir", os.DevNull}, args...)...)
}
