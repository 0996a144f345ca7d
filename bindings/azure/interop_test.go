package azure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// script runs a program of testdata/interop against a door of its own.
func script(t *testing.T, program, file, variable, folder string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(interop, folder))
	if err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, clock.System(), nil)
	cmd := exec.CommandContext(t.Context(), program, filepath.Join("testdata", "interop", file), d.connectionString())
	cmd.Env = append(os.Environ(), variable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%s %s: %v\n%s", program, file, err, out)
	}
}

// TestJavaScriptSDK makes the calls of the quick start of @azure/storage-queue.
func TestJavaScriptSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", "node_modules/@azure/storage-queue")
	script(t, "node", "queue.cjs", "NODE_PATH", "node_modules")
}

// TestPythonSDK makes the calls of the quick start of azure-storage-queue.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "python3", "python/azure/storage/queue")
	script(t, "python3", "queue.py", "PYTHONPATH", "python")
}
