package azure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// javaScript runs a program of testdata/interop with Node and the packages below
// .interop; it has to print ok.
func javaScript(t *testing.T, file string, args ...string) {
	t.Helper()
	requireInterop(t, "node", "node_modules/@azure/storage-queue", "node_modules/@azure/storage-blob", "node_modules/@azure/service-bus")
	modules, err := filepath.Abs(filepath.Join(interop, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	script(t, "NODE_PATH="+modules, "node", file, args)
}

// pythonScript is javaScript for Python. The interpreter is one that knows where
// the packages are.
func pythonScript(t *testing.T, file string, args ...string) {
	t.Helper()
	requireInterop(t, "python3", "python3")
	interpreter, err := filepath.Abs(filepath.Join(interop, "python3"))
	if err != nil {
		t.Fatal(err)
	}
	script(t, "PYTHONDONTWRITEBYTECODE=1", interpreter, file, args)
}

func script(t *testing.T, env, program, file string, args []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{filepath.Join("testdata", "interop", file)}, args...)...)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%s: %v\n%s", file, err, out)
	}
}

// TestJavaScriptSDK makes the calls of the quick start of @azure/storage-queue.
func TestJavaScriptSDK(t *testing.T) {
	t.Parallel()
	javaScript(t, "queue.cjs", openServer(t, clock.System(), nil).connectionString())
}

// TestPythonSDK makes the calls of the quick start of azure-storage-queue.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	pythonScript(t, "storagequeue.py", openServer(t, clock.System(), nil).connectionString())
}

// TestJavaScriptBlobSDK makes the calls of the quick start of @azure/storage-blob.
func TestJavaScriptBlobSDK(t *testing.T) {
	t.Parallel()
	javaScript(t, "blob.cjs", openBlobServer(t, clock.System()))
}

// TestPythonBlobSDK makes the calls of the quick start of azure-storage-blob.
func TestPythonBlobSDK(t *testing.T) {
	t.Parallel()
	pythonScript(t, "blob.py", openBlobServer(t, clock.System()))
}
