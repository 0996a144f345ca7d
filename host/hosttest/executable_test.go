package hosttest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// Options.Executable runs functions whatever its build information says: here it has
// none, as a test binary of another module says nothing of its modules.
func TestExecutableWithoutBuildInformation(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of the shell")
	}
	opts := *process(t, "always-fails", nil)
	program := filepath.Join(t.TempDir(), "handler")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec '"+opts.Executable+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	opts.Executable = program
	h := hosttest.New(t, &opts)
	h.Send("orders", "7")
	h.AwaitSettled("Orders", triggers.Poisoned)
}
