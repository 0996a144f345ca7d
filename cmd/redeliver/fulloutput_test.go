package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("no space left on device")}
}

// An answer that could not be written is not a success, by any way of writing.
func TestOutputCannotBeWritten(t *testing.T) {
	t.Parallel()
	app := t.TempDir()
	if err := os.WriteFile(filepath.Join(app, "host.json"), []byte(`{"version": "2.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"version"}, {"--version"}, {"help"}, {"check", app}, {"check", app, "--output", "json"}, {"completion", "bash"}} {
		var stderr strings.Builder
		code := execute(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: full{}, Err: &stderr})
		want := "redeliver: error: cannot write the standard output: no space left on device\n"
		if code != cli.ExitFailure || stderr.String() != want {
			t.Errorf("%q: exit code %d and %q, want %d and %q", args, code, stderr.String(), cli.ExitFailure, want)
		}
	}
}
