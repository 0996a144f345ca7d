// Package gobuild compiles the Go program of an app folder with the developer's
// own go command and its build cache. Errors come back as the compiler wrote
// them, file:line first.
//
// It runs a child process in real time and knows no clock; callers go through
// clock.Clock.Outside.
package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Error is a build that failed. Output is what the go command printed, with
// paths relative to the app folder.
type Error struct {
	Dir    string
	Output string
	Err    error
}

func (e *Error) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("go build: %v", e.Err)
	}
	return "go build:\n" + e.Output
}

func (e *Error) Unwrap() error { return e.Err }

// ErrNoGo is wrapped when there is no go command to build with.
var ErrNoGo = errors.New("the go command is not on the PATH")

// Build compiles the main package in dir to the file target, whose folder is
// made when it is missing. It replaces target in one step, so that a process
// that runs the old file is not disturbed. env is the environment of the go
// command. When ctx ends the build is stopped.
func Build(ctx context.Context, dir, target string, env []string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return &Error{Dir: dir, Err: fmt.Errorf("%w: install Go, or name a prebuilt executable in host.json customHandler.description.defaultExecutablePath", ErrNoGo)}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return &Error{Dir: dir, Err: err}
	}
	fresh := target + ".new"
	cmd := exec.CommandContext(ctx, goTool, "build", "-o", fresh, ".")
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		_ = os.Remove(fresh)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &Error{Dir: dir, Output: tidy(out.String()), Err: err}
	}
	if err := os.Rename(fresh, target); err != nil {
		return &Error{Dir: dir, Err: err}
	}
	return nil
}

// nameDigits is how much of a fingerprint a file name holds: 64 bits are enough
// for the few builds of one app, and a path stays readable.
const nameDigits = 16

// Name is the file name of a built handler with that fingerprint, of which the
// beginning is used.
func Name(fingerprint string) string {
	name := "handler-" + fingerprint[:min(nameDigits, len(fingerprint))]
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// Prune removes the handlers below dir that are none of keep. A file that is
// still running stays where the system does not let it go.
func Prune(dir string, keep ...string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "handler-") {
			continue
		}
		kept := false
		for _, k := range keep {
			kept = kept || filepath.Base(k) == e.Name()
		}
		if !kept {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// tidy drops the "# package" headers of the go command and blank lines.
func tidy(out string) string {
	var lines []string
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		lines = append(lines, strings.TrimPrefix(line, "./"))
	}
	return strings.Join(lines, "\n")
}
