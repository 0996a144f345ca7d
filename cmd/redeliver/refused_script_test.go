package main

import (
	"errors"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// refused FILE runs each command line of a file, which stands behind the name that it is
// mistaken for. Each has to be refused, with that name, and to leave the state of the host
// as it was.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	state := func() string {
		if err := ts.Exec("redeliver", "state", "save", "state.saved", "--dir", "app"); err != nil {
			ts.Fatalf("state save: %v", err)
		}
		return ts.ReadFile("state.saved")
	}
	before, rows := state(), 0
	for row := range strings.Lines(ts.ReadFile(args[0])) {
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		rows++
		meant, line, _ := strings.Cut(row, " | ")
		err := ts.Exec("redeliver", strings.Fields(line)...)
		said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() <= 0 {
			ts.Fatalf("redeliver %s: %v, want a refusal\n%s", line, err, said)
		}
		if !strings.Contains(said, "did you mean") || !strings.Contains(said, meant) {
			ts.Fatalf("redeliver %s: %s\nwant the name %s", line, said, meant)
		}
		if state() != before {
			ts.Fatalf("redeliver %s: it is refused, and has changed the state", line)
		}
	}
	if rows < 40 {
		ts.Fatalf("%d rows, want 40 at least", rows)
	}
}
