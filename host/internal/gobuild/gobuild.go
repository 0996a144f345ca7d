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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// Error is a build that failed. Output is the output of the go command, with
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
	return compile(ctx, dir, filepath.Dir(target), env, func(fresh string) error { return os.Rename(fresh, target) })
}

// compile builds the main package in dir and gives the program to keep, which moves it
// out of a folder that is removed then.
func compile(ctx context.Context, dir, bin string, env []string, keep func(fresh string) error) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return &Error{Dir: dir, Err: fmt.Errorf("%w: install Go, or name a prebuilt executable in host.json customHandler.description.defaultExecutablePath", ErrNoGo)}
	}
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return &Error{Dir: dir, Err: err}
	}
	desk, err := os.MkdirTemp(bin, buildPrefix)
	if err != nil {
		return &Error{Dir: dir, Err: err}
	}
	defer os.RemoveAll(desk)
	fresh := filepath.Join(desk, "program")
	cmd := exec.CommandContext(ctx, goTool, "build", "-o", fresh, ".")
	cmd.Dir, cmd.Env = dir, append(slices.Clone(env), "PWD="+dir)
	apart.Group(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &Error{Dir: dir, Output: tidy(out.String()), Err: err}
	}
	if err := keep(fresh); err != nil {
		return &Error{Dir: dir, Err: err}
	}
	return nil
}

// mostBuilds is how often a program is built whose sources change meanwhile.
const mostBuilds = 3

// ErrNotBuilt is the error of Sources.Build when it must not build.
var ErrNotBuilt = errors.New("the program has not been built")

// errMoving: the program that was built is of no sources that there ever were.
var errMoving = errors.New("the sources changed during each build: the next change builds again")

// Build returns the program of the sources as they are, and what it was built of. It
// compiles unless that was done before, and again when the sources changed meanwhile: a
// name never stands for a program of other sources. When only is set nothing is
// compiled, and a program that is missing is [ErrNotBuilt].
func (s *Sources) Build(ctx context.Context, only bool) (program, fingerprint string, err error) {
	now := s.Read(ctx)
	for range mostBuilds {
		target := filepath.Join(s.bin, Name(now.Fingerprint))
		if s.there(target) {
			return target, now.Fingerprint, nil
		}
		if only {
			return "", "", ErrNotBuilt
		}
		var confirming sync.WaitGroup
		if !now.sure {
			confirming.Go(func() { s.Read(ctx) })
		}
		settled := false
		err = compile(ctx, s.dir, s.bin, s.env, func(fresh string) error {
			confirming.Wait()
			after := s.Read(ctx)
			if settled = after.sure && after.Fingerprint == now.Fingerprint && after.stamp == now.stamp; settled {
				return os.Rename(fresh, target)
			}
			now = after
			return nil
		})
		confirming.Wait()
		switch {
		case ctx.Err() != nil:
			return "", "", ctx.Err()
		case err != nil:
			after := s.Read(ctx)
			if errors.Is(err, ErrNoGo) || after.Fingerprint == now.Fingerprint {
				return "", "", err
			}
			now = after
		case settled:
			return target, now.Fingerprint, nil
		default:
			err = &Error{Dir: s.dir, Err: errMoving}
		}
	}
	return "", "", err
}

// there reports whether a program is there, and keeps it from being pruned for a while.
func (s *Sources) there(program string) bool {
	info, err := os.Stat(program)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > unusedFor/2 {
		_ = os.Chtimes(program, now, now) // a folder that cannot be written is not pruned either
		_, err = os.Stat(program)
	}
	return err == nil
}

// The beginnings of names in the folder of programs.
const (
	programPrefix = "handler-"
	buildPrefix   = "building-"
)

// nameDigits is how much of a fingerprint a file name holds: 64 bits are enough
// for the few builds of one app, and a path stays readable.
const nameDigits = 16

// Name is the file name of a built handler with that fingerprint, of which the
// beginning is used.
func Name(fingerprint string) string {
	name := programPrefix + fingerprint[:min(nameDigits, len(fingerprint))]
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// unusedFor is how long an unused program is kept. Another process
// may be about to start it, or run it.
const unusedFor = 10 * time.Minute

// Prune removes programs that are not in keep and have not been used
// lately, and the remains of interrupted builds. A file that is still
// running stays where the system does not let it go.
func (s *Sources) Prune(keep ...string) {
	entries, err := os.ReadDir(s.bin)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), programPrefix) && !strings.HasPrefix(e.Name(), buildPrefix) {
			continue
		}
		path := filepath.Join(s.bin, e.Name())
		if info, err := e.Info(); err == nil && !slices.Contains(keep, path) && time.Since(info.ModTime()) > unusedFor {
			_ = os.RemoveAll(path)
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
