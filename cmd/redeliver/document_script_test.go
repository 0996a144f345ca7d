package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/host/kit/js"
	"github.com/redeliver/redeliver/host/kit/python"
)

// pageStep is what a reader does who follows a page: writes a file, or types a command and
// sees what the page shows.
type pageStep struct {
	line   int
	file   string // the name of a file, whose lines are output
	text   string
	wait   string // what the host has to print before
	output []string
}

// pageOrder is a comment of a page that says how its next block is run: "no run: REASON",
// "wait: REGEXP", before whose last command the host has to print that, or "run: needs NAME",
// a program without which the rest of the page is left out.
var pageOrder = regexp.MustCompile(`^<!-- (no run|wait|run): (.+) -->$`)

// titled is the first line of a block that is a file: its title is the name, from the folder in
// which the page begins.
var titled = regexp.MustCompile("^```[a-z]+ title=\"([^\"]+)\"$")

// pageSteps reads the console blocks and the files of a page.
func pageSteps(text string) (out []pageStep) {
	var order [2]string // of the block to come
	fence, at := "", 0  // the kind of the block in which a line is, and its first step
	for i, line := range strings.Split(text, "\n") {
		name := titled.FindStringSubmatch(line)
		said := pageOrder.FindStringSubmatch(line)
		switch {
		case fence == "" && said != nil:
			order = [2]string{said[1], said[2]}
			if order[0] == "run" {
				out = append(out, pageStep{line: i + 1, text: said[2]})
			}
		case fence == "" && order[0] == "no run" && strings.HasPrefix(line, "```"):
			fence, order = "other", [2]string{}
		case fence == "" && name != nil:
			fence, out = "file", append(out, pageStep{line: i + 1, file: name[1]})
		case fence == "" && line == "```console":
			fence, at = "console", len(out)
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = "other"
		case line == "```":
			if fence == "console" && order[0] == "wait" && len(out) > at {
				out[len(out)-1].wait = order[1]
				order = [2]string{}
			}
			fence = ""
		case fence == "console" && strings.HasPrefix(line, "$ "):
			command, _, _ := strings.Cut(strings.TrimPrefix(line, "$ "), "   #")
			out = append(out, pageStep{line: i + 1, text: command})
		case fence == "file", fence == "console" && len(out) > at:
			out[len(out)-1].output = append(out[len(out)-1].output, line)
		}
	}
	return out
}

// run-page FILE does what a page of the repository says, one step after the other in one
// folder, and compares what commands print: times, ports and identities by their form, with
// "..." for lines that are left out. A host goes on in the background, at any free ports.
func runPage(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(args[0])))
	ts.Check(err)
	steps := pageSteps(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if len(steps) == 0 {
		ts.Fatalf("%s has no command", args[0])
	}
	hosts := 0
	for _, s := range steps {
		if name, ok := strings.CutPrefix(s.text, "needs "); ok && s.output == nil {
			if missing := pageNeeds(name); missing != "" {
				ts.Logf("%s:%d: the rest is left out: %s", args[0], s.line, missing)
				break
			}
			continue
		}
		if s.wait != "" {
			waitFor(ts, false, []string{"host", s.wait})
		}
		if s.run(ts, args[0]) {
			hosts++
		}
	}
	if hosts > 0 {
		interrupt(ts, false, []string{"host", "."})
		ends(ts, false, []string{"host", "0"})
	}
}

// pageNeeds says what is missing of what a page needs: a program, "java" with its libraries,
// "sdk", or packages of others, "package NAME".
func pageNeeds(name string) string {
	need, err := name, error(nil)
	switch of, of2, _ := strings.Cut(name, " "); of {
	case "package":
		_, err = os.Stat(filepath.Join("..", "..", ".interop", filepath.FromSlash(of2)))
		if err != nil && os.Getenv("REDELIVER_INTEROP") == "required" {
			panic(err)
		}
	case "java", "sdk":
		var there bool
		if there, err = condition(of); err == nil && !there {
			return name + " is missing"
		}
	default:
		_, err = exec.LookPath(need)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// run does a step, and reports whether it has started a host.
func (s pageStep) run(ts *testscript.TestScript, page string) bool {
	if s.file != "" {
		file := filepath.Join(ts.Getenv("WORK"), filepath.FromSlash(s.file))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
		ts.Check(os.WriteFile(file, []byte(strings.Join(s.output, "\n")+"\n"), 0o600))
		return false
	}
	words := strings.Fields(s.text)
	var got string
	started := false
	switch {
	case words[0] == "cd":
		ts.Check(ts.Chdir(words[1]))
		return false
	case strings.HasPrefix(s.text, "npm install"):
		npmInstall(ts)
		return false
	case s.text == "mvn package":
		mvnPackage(ts, false, []string{"."})
		return false
	case startOfHost.MatchString(s.text):
		background(ts, false, append(append([]string{"host"}, words...), "--ports", "any", "--output", "plain"))
		waitFor(ts, false, []string{"host", "ready in", "5m"})
		got, _ = named(ts, "host").await(patience, func(text string) bool { return shows(text, s.output) == "" })
		started = true
	default:
		cmd := exec.Command("sh", "-c", s.text)
		cmd.Dir, cmd.Env = ts.MkAbs("."), append(pageEnvironment(ts), "PWD="+ts.MkAbs("."))
		out, _ := cmd.Output() // the page says what a command that fails prints
		got = string(out)
	}
	if missing := shows(got, s.output); missing != "" {
		ts.Fatalf("%s:%d: %s: the page shows %q, and the output is\n%s", page, s.line, s.text, missing, got)
	}
	return started
}

// startOfHost is a command that goes on in the background.
var startOfHost = regexp.MustCompile(`^(?:[A-Za-z_]+=\S+ )*redeliver start\b`)

// pageEnvironment is the environment of a page's commands: where Python finds the kit and the
// packages of others, as after "pip install".
func pageEnvironment(ts *testscript.TestScript) []string {
	env := append([]string(nil), ts.Value(processesKey{}).(*processes).env...)
	kit := filepath.Join(ts.Getenv("WORK"), ".kit")
	if _, err := os.Stat(kit); err != nil {
		ts.Check(python.Write(kit))
	}
	folders := []string{kit}
	for _, name := range []string{"kit", "functions"} {
		folder, err := filepath.Abs(filepath.Join("..", "..", ".interop", name))
		ts.Check(err)
		folders = append(folders, folder)
	}
	return append(env, "PYTHONPATH="+strings.Join(folders, string(os.PathListSeparator)), "PYTEST_PLUGINS=redeliver_testing.plugin", "PYTHONDONTWRITEBYTECODE=1")
}

// npmInstall stands for "npm install": it puts the kit and links to the packages of others into
// the folder.
func npmInstall(ts *testscript.TestScript) {
	modules := ts.MkAbs("node_modules")
	if _, err := os.Stat(modules); err == nil {
		return
	}
	ts.Check(js.Write(filepath.Join(modules, "@redeliver", "testing")))
	ts.Check(os.MkdirAll(filepath.Join(modules, ".bin"), 0o700))
	for from, to := range map[string]string{"@azure": "@azure", "@types": "@types", "typescript": "typescript", "typescript/bin/tsc": ".bin/tsc"} {
		ts.Check(os.Symlink(filepath.Join(ts.Getenv("MODULES"), filepath.FromSlash(from)), filepath.Join(modules, filepath.FromSlash(to))))
	}
}

// shows reports the first line of a page that an output does not have in its place; empty if
// it has all.
func shows(output string, want []string) string {
	got := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(want) == 0 {
		return ""
	}
	at, gap := 0, false
	for _, line := range want {
		if line == "..." {
			gap = true
			continue
		}
		for gap && at < len(got) && formOf(got[at]) != formOf(line) {
			at++
		}
		if at >= len(got) || formOf(got[at]) != formOf(line) {
			return line
		}
		at, gap = at+1, false
	}
	if !gap && at < len(got) {
		return fmt.Sprintf("the end, before %s", got[at])
	}
	return ""
}

// forms are what differs in each run.
var forms = []struct {
	of   *regexp.Regexp
	form string
}{ // read only
	{regexp.MustCompile(`failed after [0-9.hms]+:`), "failed:"}, // said from a millisecond on
	{regexp.MustCompile(`succeeded after [0-9.]+m?s`), "succeeded"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?(\d+(\.\d+)?(s|ms))\b|\b\d+m\b`), "TIME"},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\.\d{3}\b`), "CLOCK"},
	{regexp.MustCompile(`\(d\d+\)`), "(DELIVERY)"}, // which number it is, is for timers that come between
	{regexp.MustCompile(`seed \d{6,}`), "seed CHANCE"},
	{regexp.MustCompile(` +`), " "},
}

func formOf(line string) string {
	line = strings.TrimRight(line, " ")
	for _, f := range forms {
		line = f.of.ReplaceAllString(line, f.form)
	}
	return line
}
