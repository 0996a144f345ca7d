package dotnet

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// outputOf stands for what a build has written: not for what a debugger alone reads, and not
// for the host's own files.
func outputOf(folder string) (string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err == nil && relative != hostFile && relative != settingsFile && !strings.HasPrefix(relative, recordFile) && filepath.Ext(path) != ".pdb" {
			digest := digestOf(path)
			if info, err := e.Info(); err == nil && info.Size() > mostHashed {
				digest = fmt.Sprint(info.Size()) // of a package: its time is that of the copy
			}
			files[filepath.ToSlash(relative)] = digest
		}
		return err
	})
	return digestFiles(files), err
}

// wrong and warned match a line that says why a build failed, and one that warns.
var (
	wrong  = regexp.MustCompile(`\berror( [A-Z]+[0-9]+)?\s*:`)
	warned = regexp.MustCompile(`\bwarning( [A-Z]+[0-9]+)?\s*:`)
)

// inProject matches what stands behind such a line: the project.
var inProject = regexp.MustCompile(` \[[^\[\]]+\.[a-z]+proj(::[^\]]*)?\]$`)

// mostLines is how many lines of a build are told.
const mostLines = 20

// unknownSwitch is what an SDK says that cannot tell of its result.
const unknownSwitch = "MSB1001"

// brief is what a person has to read of a build that failed: each error once, in the order in
// which they came, or the end of what was said when there is none.
func brief(out, dir string) string {
	faults := linesOf(out, dir, wrong.MatchString)
	if len(faults) == 0 {
		faults = linesOf(out, dir, func(string) bool { return true })
		faults = faults[max(0, len(faults)-mostLines):]
	}
	if more := len(faults) - mostLines; more > 0 {
		faults = append(faults[:mostLines], fmt.Sprintf("and %d more errors", more))
	}
	if strings.Contains(out, unknownSwitch) {
		faults = append(faults, "the .NET SDK has to be of version 8 or later: see dotnet --list-sdks, and global.json")
	}
	return strings.Join(faults, "\n")
}

// warningsIn are the warnings of a build, but those of the project that the Functions SDK
// makes on the way.
func warningsIn(out, dir, folder string) []string {
	if relative, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(relative) {
		folder = relative
	}
	return linesOf(out, dir, func(line string) bool { return warned.MatchString(line) && !strings.HasPrefix(line, folder) })
}

// linesOf are the lines of a build that are wanted, each once.
func linesOf(out, dir string, wanted func(line string) bool) (lines []string) {
	for line := range strings.Lines(out) {
		line = inProject.ReplaceAllString(strings.TrimSpace(line), "")
		line = strings.TrimPrefix(line, dir+string(filepath.Separator))
		if line != "" && wanted(line) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
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
		if slices.Contains([]string{hooksFolder, objFolder, inputsFolder}, e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && e.IsDir() {
			outputs = append(outputs, output{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(outputs, func(a, b output) int { return b.used.Compare(a.used) })
	for i, o := range outputs {
		inUse := slices.ContainsFunc(keep, func(k string) bool { return k == o.path || below(k, o.path) })
		if i >= mostKept && !inUse && time.Since(o.used) > unusedFor {
			_ = os.RemoveAll(o.path) // a file that runs stays where the system does not let it go
		}
	}
}
