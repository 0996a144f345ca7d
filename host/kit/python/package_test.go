package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/kit/python"
)

// The package has the worker's library, and not its program.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := python.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"py.typed": true, "plugin.py": true, "_worker/answers.py": true, "standin/azure/functions/__init__.py": true,
		"_worker/serve.py": false, "_worker/link.py": false, "worker.py": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, "redeliver_testing", filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
}

// The host without "await" is the other one without it.
func TestWrittenHost(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "python3", "unasync.py", "--check").CombinedOutput()
	if _, missing := exec.LookPath("python3"); missing != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required", missing)
		}
		t.Skip("there is no python3 here")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
