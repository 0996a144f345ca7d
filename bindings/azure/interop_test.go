package azure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// script runs a program of testdata/interop against a door.
func script(t *testing.T, connection, program, file, variable, folder string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(interop, folder))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, filepath.Join("testdata", "interop", file), connection)
	cmd.Env = append(os.Environ(), variable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%s %s: %v\n%s", program, file, err, out)
	}
}

// TestJavaScriptSDK makes the calls of the quick start of @azure/storage-queue.
func TestJavaScriptSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", "node_modules/@azure/storage-queue")
	script(t, openDoor(t, clock.System(), nil).connectionString(), "node", "queue.cjs", "NODE_PATH", "node_modules")
}

// TestPythonSDK makes the calls of the quick start of azure-storage-queue.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "python3", "python/azure/storage/queue")
	script(t, openDoor(t, clock.System(), nil).connectionString(), "python3", "queue.py", "PYTHONPATH", "python")
}

// TestJavaScriptBlobSDK makes the calls of the quick start of @azure/storage-blob.
func TestJavaScriptBlobSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", "node_modules/@azure/storage-blob")
	script(t, openBlobDoor(t, clock.System()), "node", "blob.cjs", "NODE_PATH", "node_modules")
}

// TestPythonBlobSDK makes the calls of the quick start of azure-storage-blob.
func TestPythonBlobSDK(t *testing.T) {
	t.Parallel()
	requireInterop(t, "python3", "python/azure/storage/blob")
	script(t, openBlobDoor(t, clock.System()), "python3", "blob.py", "PYTHONPATH", "python")
}
