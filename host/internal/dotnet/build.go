package dotnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	// Project is the project file.
	Project string
	// Folder holds what builds make: the output folders, and what is made on the way. It is
	// made if need be.
	Folder string
	// Env is the environment of the build.
	Env []string
	// Only takes what was built before: nothing is built.
	Only bool
	// Tell is told what happens.
	Tell Teller
}

// A Teller is told what happens in a build. Its functions may be nil.
type Teller struct {
	// Waits is called when another process builds the project.
	Waits func()
	// Begins says why a build begins.
	Begins func(why string)
	// Ended has the time that a build took, and each of its warnings.
	Ended func(took time.Duration, warnings []string)
}

// Built is the result of a build.
type Built struct {
	// Root is the folder of the assembly.
	Root string
	// Fingerprint is that of [Sources].
	Fingerprint string
}

// environment keeps what a build says short, and its helpers from staying behind.
var environment = []string{ // read only
	"DOTNET_NOLOGO=true", "DOTNET_CLI_TELEMETRY_OPTOUT=true", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=true", "DOTNET_CLI_UI_LANGUAGE=en",
	"MSBUILDDISABLENODEREUSE=1", "MSBUILDTERMINALLOGGER=off",
}

// resultFile is what dotnet writes of the result of a build.
const resultFile = "result.json"

// began is when this process did: a build since then counts as one of its own.
var began = time.Now()

// Build builds a project, unless that was done before, into a folder of its own: a worker that runs in the folder of other sources is not disturbed (spec
// workers-dotnet-java 1.13). One build of a project is at work at a time, in all processes of
// the machine. When ctx ends the build is stopped.
func Build(ctx context.Context, opts Options) (*Built, error) {
	b := &build{opts, "dotnet build " + filepath.Base(opts.Project)}
	if built, _ := b.done(); built != nil {
		return built, nil
	}
	if opts.Only {
		return nil, ErrNotBuilt
	}
	if err := os.MkdirAll(opts.Folder, 0o700); err != nil {
		return nil, &Error{Command: b.command, Err: err}
	}
	unlock, err := lock(ctx, filepath.Join(opts.Folder, "lock"), opts.Tell.Waits)
	if err != nil {
		return nil, &Error{Command: b.command, Err: err}
	}
	defer unlock()
	built, why := b.done() // another process may have done it meanwhile
	if built != nil {
		return built, nil
	}
	if opts.Tell.Begins != nil {
		opts.Tell.Begins(why)
	}
	since := time.Now()
	built, warnings, err := b.rounds(ctx)
	if err == nil && opts.Tell.Ended != nil {
		opts.Tell.Ended(time.Since(since), warnings)
	}
	return built, err
}

// build is one Build.
type build struct {
	Options
	command string
}

// done is what was built of the sources as they are, or why a build has to be.
func (b *build) done() (built *Built, why string) {
	why = "for the first time"
	for i, r := range records(b.Folder, b.Project) {
		changes := r.changes()
		switch {
		case len(changes) > 0:
			if i == 0 {
				why = changedWords(filepath.Dir(b.Project), changes)
			}
		case b.Only:
			return b.use(r), ""
		case r.Doubt != "" && r.Built.Before(began):
			why = r.Doubt
		case r.Env != b.environmentOf(r):
			why = "its environment or the .NET SDK has changed"
		default:
			return b.use(r), ""
		}
	}
	return nil, why
}

// changedWords names what has changed.
func changedWords(dir string, changes []string) string {
	first := changes[0]
	if relative, err := filepath.Rel(dir, first); err == nil {
		first = filepath.ToSlash(relative)
	}
	if more := len(changes) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more have changed", first, more)
	}
	return first + " has changed"
}

// use takes what was built. The host's own file is not built for: its copy is brought up to date.
func (b *build) use(r *record) *Built {
	now := time.Now()
	_ = os.Chtimes(r.folder, now, now) // it is in use: see Prune
	root := filepath.Dir(r.assembly())
	own, err := os.ReadFile(filepath.Join(filepath.Dir(b.Project), hostFile))
	copied, missing := os.ReadFile(filepath.Join(root, hostFile))
	if err == nil && missing == nil && !bytes.Equal(own, copied) {
		_ = os.WriteFile(filepath.Join(root, hostFile), own, 0o600) // the host reads the app's
	}
	return &Built{Root: root, Fingerprint: fingerprintOf(r)}
}

// mostRounds is how often a project is built whose inputs change meanwhile.
const mostRounds = 3

// rounds builds until no input has changed meanwhile. A file that changes in each round is one that
// the build itself writes.
func (b *build) rounds(ctx context.Context) (built *Built, warnings []string, err error) {
	folder, err := os.MkdirTemp(b.Folder, "out-")
	if err != nil {
		return nil, nil, &Error{Command: b.command, Err: err}
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(folder)
		}
	}()
	r := unbuilt(b.Project)
	if known := records(b.Folder, b.Project); len(known) > 0 {
		r = known[0]
	}
	names := namesIn(contentsOf(slices.Collect(maps.Keys(r.Inputs))))
	written := map[string]int{}
	for round := 1; ; round++ {
		before, since := r.now(), time.Now()
		if warnings, err = b.run(ctx, folder, names); err != nil {
			return nil, nil, err
		}
		var t told
		if r, t, err = b.record(folder); err != nil {
			return nil, nil, err
		}
		r.moved(before, since, written)
		asked := names
		names = namesIn(contentsOf(slices.Concat(t.projects, t.imports)))
		switch again := len(written) > 0 && slices.Contains(slices.Collect(maps.Values(written)), round) || len(t.projects) > 0 && !slices.Equal(asked, names); {
		case again && round < mostRounds:
			continue
		case again:
			r.leave(written)
		}
		break
	}
	if r.Output, err = outputOf(folder); err != nil {
		return nil, nil, &Error{Command: b.command, Err: err}
	}
	for _, k := range records(b.Folder, b.Project) {
		if k.Output == r.Output && k.Assembly == r.Assembly {
			_ = os.RemoveAll(folder) // it is the same
			r.folder = k.folder
			break
		}
	}
	r.Env, r.Built = b.environmentOf(r), time.Now()
	if err := r.write(); err != nil {
		return nil, nil, &Error{Command: b.command, Err: err}
	}
	return b.use(r), warnings, nil
}

// moved counts in written the inputs that are others than before a round, or have come in it.
func (r *record) moved(before map[string]string, since time.Time, written map[string]int) {
	for path, digest := range r.Inputs {
		was, known := before[path]
		if !known && digest != "" {
			info, err := os.Stat(path)
			known = err == nil && info.ModTime().After(since)
		}
		if known && was != digest {
			written[path]++
		}
	}
}

// leave takes files that each round has written for what the build makes.
func (r *record) leave(written map[string]int) {
	for path, rounds := range written {
		if rounds == mostRounds {
			delete(r.Inputs, path)
			r.Others = append(r.Others, path)
		}
	}
	slices.Sort(r.Others)
}

// run runs dotnet.
func (b *build) run(ctx context.Context, folder string, names []string) (warnings []string, err error) {
	variables, arguments, err := writeHooks(b.Folder, names)
	if err != nil {
		return nil, &Error{Command: b.command, Err: err}
	}
	result := filepath.Join(b.Folder, inputsFolder, resultFile)
	cmd := exec.CommandContext(ctx, b.Program, slices.Concat([]string{
		"build", b.Project, "--output", folder, "--getTargetResult:Build", "--getResultOutputFile:" + result}, arguments)...)
	cmd.Dir = filepath.Dir(b.Project)
	cmd.Env = slices.Concat(b.Env, environment, variables)
	apart.Group(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &Error{Command: b.command, Output: brief(out.String(), cmd.Dir), Err: err}
	}
	return warningsIn(out.String(), cmd.Dir, b.Folder), nil
}

// record makes the record of a build that has just ended.
func (b *build) record(folder string) (*record, told, error) {
	t := readHooks(b.Folder)
	assembly, err := assemblyIn(filepath.Join(b.Folder, inputsFolder, resultFile))
	if err == nil {
		assembly, err = filepath.Rel(folder, assembly)
	}
	if err == nil && !filepath.IsLocal(assembly) {
		err = fmt.Errorf("it has put the assembly elsewhere, to %s", assembly)
	}
	if err != nil {
		return nil, t, &Error{Command: b.command, Err: err}
	}
	r := &record{Project: b.Project, Assembly: assembly, Inputs: map[string]string{}, folder: folder}
	projects := t.projects
	if len(projects) == 0 { // it tells nothing of itself: all may count
		projects = slices.Collect(maps.Keys(unbuilt(b.Project).Inputs))
		projects = slices.DeleteFunc(projects, func(path string) bool { return !strings.HasSuffix(path, "proj") })
		r.Wild = true
	}
	for _, project := range projects {
		if dir := filepath.Dir(project); !slices.Contains(r.Roots, dir) {
			r.Roots = append(r.Roots, dir)
		}
	}
	slices.Sort(r.Roots)
	for _, path := range slices.Concat(projects, t.imports, t.inputs) {
		if !r.hosts(path) && isFile(path) {
			r.Inputs[path] = digestOf(path)
		}
	}
	for _, root := range r.Roots {
		for _, path := range above(root) {
			r.Inputs[path] = digestOf(path)
		}
	}
	r.doubts(contentsOf(slices.Concat(projects, t.imports)))
	r.Wild = r.Wild || r.Doubt != ""
	for _, path := range r.files() {
		if _, input := r.Inputs[path]; input {
			continue
		}
		if len(t.projects) == 0 || r.Doubt == runsCommands {
			r.Inputs[path] = digestOf(path)
		} else {
			r.Others = append(r.Others, path)
		}
	}
	slices.Sort(r.Others)
	r.beside = nil
	return r, t, nil
}

// assemblyIn is the assembly that the result of a build names.
func assemblyIn(result string) (path string, err error) {
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
		return "", fmt.Errorf("its result cannot be read: %w", err)
	}
	items := r.TargetResults.Build.Items
	if len(items) == 0 {
		return "", errors.New("its result names no assembly")
	}
	if !isFile(items[0].FullPath) {
		return "", fmt.Errorf("the assembly %s is missing", items[0].FullPath)
	}
	return items[0].FullPath, nil
}

// Why the inputs of a build may be more than MSBuild knows.
const (
	runsCommands = "the project has targets of its own, which may read more than MSBuild knows"
	floats       = "the project takes the newest version of a package"
)

var (
	ownTarget = regexp.MustCompile(`<(Target|UsingTask)\s`)
	floating  = regexp.MustCompile(`\bVersion(?:Override)?\s*=\s*"[^"]*\*|<Version>[^<]*\*`)
	pattern   = regexp.MustCompile(`\b(?:Include|Update)\s*=\s*"[^"]*\*`)
)

// doubts looks into the project files for what no list of inputs can say.
func (r *record) doubts(projects []string) {
	for _, text := range projects {
		switch {
		case ownTarget.MatchString(text):
			r.Doubt = runsCommands
		case floating.MatchString(text) && r.Doubt == "":
			r.Doubt = floats
		}
		r.Wild = r.Wild || pattern.MatchString(text)
	}
}

func contentsOf(paths []string) (texts []string) {
	for _, path := range paths {
		if slices.Contains(projectEnds, strings.ToLower(filepath.Ext(path))) {
			texts = append(texts, contentOf(path))
		}
	}
	return texts
}
