package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// pageCommand is a command of a page, with the output that the page shows.
type pageCommand struct {
	line   int
	text   string
	wait   string // what the host has to print before
	output []string
}

// pageCommands reads the console blocks of a page. One below a comment "no run: REASON" is
// left out; before the last command of one below "wait: REGEXP" the host has to print that.
func pageCommands(text string) (out []pageCommand) {
	inside, skip, wait := false, false, ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "<!-- no run: "):
			skip = true
		case strings.HasPrefix(line, "<!-- wait: "):
			wait = strings.TrimSuffix(strings.TrimPrefix(line, "<!-- wait: "), " -->")
		case line == "```console":
			inside = !skip
			skip = false
		case strings.HasPrefix(line, "```"):
			if inside && wait != "" {
				out[len(out)-1].wait = wait
			}
			inside, wait = false, ""
		case inside && strings.HasPrefix(line, "$ "):
			out = append(out, pageCommand{line: i + 1, text: strings.TrimPrefix(line, "$ ")})
		case inside && len(out) > 0:
			out[len(out)-1].output = append(out[len(out)-1].output, line)
		}
	}
	return out
}

// run-page FILE runs the console blocks of a page of the repository, one after the other in one
// folder, and compares what they print: times, ports and identities by their form, with "..."
// for lines that are left out. A host goes on in the background, at any free ports.
func runPage(ts *testscript.TestScript, neg bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(args[0])))
	ts.Check(err)
	commands := pageCommands(string(text))
	if len(commands) == 0 {
		ts.Fatalf("%s has no command", args[0])
	}
	for _, c := range commands {
		if c.wait != "" {
			waitFor(ts, false, []string{"host", c.wait})
		}
		c.run(ts, args[0])
	}
}

func (c pageCommand) run(ts *testscript.TestScript, file string) {
	words := strings.Fields(c.text)
	if words[0] == "cd" {
		ts.Check(ts.Chdir(words[1]))
		return
	}
	var got string
	if strings.HasPrefix(c.text, "redeliver start") {
		background(ts, false, append(append([]string{"host"}, words...), "--ports", "any", "--output", "plain"))
		waitFor(ts, false, []string{"host", "ready in"})
		waitFor(ts, false, []string{"host", `^ProcessOrder +queueTrigger`})
		got, _ = named(ts, "host").output()
	} else {
		cmd := exec.Command("sh", "-c", c.text)
		cmd.Dir, cmd.Env = ts.MkAbs("."), ts.Value(processesKey{}).(*processes).env
		out, _ := cmd.Output() // the page says what a command that fails prints
		got = string(out)
	}
	if missing := shows(got, c.output); missing != "" {
		ts.Fatalf("%s:%d: %s: the page shows %q, and the output is\n%s", file, c.line, c.text, missing, got)
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
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?(\d+(\.\d+)?(s|ms))\b|\b\d+m\b`), "TIME"},
	{regexp.MustCompile(`localhost:\d+`), "localhost:PORT"},
	{regexp.MustCompile(` +`), " "},
}

func formOf(line string) string {
	line = strings.TrimRight(line, " ")
	for _, f := range forms {
		line = f.of.ReplaceAllString(line, f.form)
	}
	return line
}
