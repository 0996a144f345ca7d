package dotnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/internal/apart"
)

// Error is a build that failed.
type Error struct {
	// Command is what was run, for a person.
	Command string
	// Output are the lines that say why, with paths relative to the project.
	Output string
	Err    error
}

func (e *Error) Error() string {
	if e.Output == "" {
		return fmt.Sprintf("%s: %v", e.Command, e.Err)
	}
	return e.Command + ":\n" + e.Output
}

func (e *Error) Unwrap() error { return e.Err }

// ErrNotBuilt is what Build returns when it must not build.
var ErrNotBuilt = errors.New("the project has not been built")

// Options say what is built, and where.
type Options struct {
	// Program is dotnet.
	Program string
	// Project is the project file, Fingerprint that of its sources.
	Project, Fingerprint string
	// Folder holds the output folders, one for each fingerprint. It is made if need be.
	Folder string
	// Env is the environment of the build.
	Env []string
	// Only takes what was built before: nothing is built.
	Only bool
}

// environment keeps what a build says short, and its helpers from staying behind.
var environment = []string{ // read only
	"DOTNET_NOLOGO=true", "DOTNET_CLI_TELEMETRY_OPTOUT=true", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=true", "DOTNET_CLI_UI_LANGUAGE=en",
	"MSBUILDDISABLENODEREUSE=1", "MSBUILDTERMINALLOGGER=off",
}

// The build's own files in an output folder.
const (
	resultFile = ".redeliver-build.json"
	freshFile  = ".redeliver-building.json"
)

// digits of a fingerprint that the name of an output folder holds.
const digits = 16

// Build builds a project, unless that was done before, and returns the folder that holds
// its assembly: a worker that runs in the folder of other sources is not disturbed (spec
// workers-dotnet-java 1.13). When ctx ends the build is stopped.
func Build(ctx context.Context, opts Options) (root string, err error) {
	folder := filepath.Join(opts.Folder, opts.Fingerprint[:min(digits, len(opts.Fingerprint))])
	done, fresh := filepath.Join(folder, resultFile), filepath.Join(folder, freshFile)
	if root, err := assembly(done); err == nil {
		now := time.Now()
		_ = os.Chtimes(folder, now, now) // it is in use: see Prune
		return root, nil
	}
	if opts.Only {
		return "", ErrNotBuilt
	}
	command := "dotnet build " + filepath.Base(opts.Project)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", &Error{Command: command, Err: err}
	}
	cmd := exec.CommandContext(ctx, opts.Program, "build", opts.Project, "--output", folder,
		"--getTargetResult:Build", "--getResultOutputFile:"+fresh)
	cmd.Dir = filepath.Dir(opts.Project)
	cmd.Env = append(slices.Clone(opts.Env), environment...)
	apart.Group(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", &Error{Command: command, Output: brief(out.String(), cmd.Dir), Err: err}
	}
	if root, err = assembly(fresh); err != nil {
		return "", &Error{Command: command, Err: fmt.Errorf("its result names no assembly, a .NET SDK of version 8 or later is needed: %w", err)}
	}
	if err := os.Rename(fresh, done); err != nil {
		return "", &Error{Command: command, Err: err}
	}
	return root, nil
}

// assembly is the folder of the assembly that the result of a build names.
func assembly(result string) (root string, err error) {
	raw, err := os.ReadFile(result)
	if err != nil {
		return "", err
	}
	var r struct {
		TargetResults struct {
			Build struct{ Items []struct{ FullPath string } }
		}
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", err
	}
	items := r.TargetResults.Build.Items
	if len(items) == 0 || !isFile(items[0].FullPath) {
		return "", errors.New("the assembly is missing")
	}
	return filepath.Dir(items[0].FullPath), nil
}

// wrong matches a line that says why a build failed.
var wrong = regexp.MustCompile(`\berror( [A-Z]+[0-9]+)?\s*:`)

// inProject matches what stands behind such a line: the project.
var inProject = regexp.MustCompile(` \[[^\[\]]+\.[a-z]+proj(::[^\]]*)?\]$`)

// mostLines is how many lines of a build are told.
const mostLines = 20

// brief is what a person has to read of a build that failed: each error once, or the end
// of what was said when there is none.
func brief(out, dir string) string {
	var faults, rest []string
	for line := range strings.Lines(out) {
		line = inProject.ReplaceAllString(strings.TrimSpace(line), "")
		line = strings.TrimPrefix(line, dir+string(filepath.Separator))
		switch {
		case line == "":
		case wrong.MatchString(line) && !slices.Contains(faults, line):
			faults = append(faults, line)
		default:
			rest = append(rest, line)
		}
	}
	if len(faults) == 0 {
		faults = rest[max(0, len(rest)-mostLines):]
	}
	if more := len(faults) - mostLines; more > 0 {
		faults = append(faults[:mostLines], fmt.Sprintf("and %d more errors", more))
	}
	return strings.Join(faults, "\n")
}

// Output folders that are not in use are kept while they are among the newest, or were
// used lately: another host may be about to start there.
const (
	mostKept  = 2
	unusedFor = 10 * time.Minute
)

// Prune removes output folders that are not needed any more. keep are folders in use.
func Prune(folder string, keep ...string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	type output struct {
		path string
		used time.Time
	}
	var outputs []output
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() {
			outputs = append(outputs, output{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(outputs, func(a, b output) int { return b.used.Compare(a.used) })
	for i, o := range outputs {
		inUse := slices.ContainsFunc(keep, func(k string) bool { return k == o.path || strings.HasPrefix(k, o.path+string(filepath.Separator)) })
		if i >= mostKept && !inUse && time.Since(o.used) > unusedFor {
			_ = os.RemoveAll(o.path) // a file that runs stays where the system does not let it go
		}
	}
}
