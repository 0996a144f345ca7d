package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	begin = "<!-- names: figures, written by make compare -->\n"
	end   = "<!-- /names -->"

	ours, theirs = "Redeliver", "Azurite"
	undriven     = "make compare does not drive it"
)

// machine is what was measured, and where.
type machine struct {
	Date          time.Time
	Processors    int
	Before, After string // load; empty: unknown
	Go, Program   string
	Azurite, Node string // versions; empty: not here
	Absent        []rival
	Rates         []pair
	Starts        map[string]time.Duration
	Size          int64 // of the program, in bytes
}

// pair is an operation, and how often each server did it in a second, data kept.
type pair struct{ Operation, Ours, Theirs string }

// rival is a program that could not be run here.
type rival struct{ Name, Why string }

// absent are those that this command does not drive. Runs tells whether a command ends well here.
func absent(runs func(command string, args ...string) bool) []rival {
	tools, engine := "there are no Core Tools", "there is no Docker engine"
	if runs("func", "--version") {
		tools = undriven
	}
	if runs("docker", "info") {
		engine = undriven
	}
	return []rival{
		{"func (Core Tools)", tools},
		{"Service Bus emulator", engine},
		{"Event Hubs emulator", engine},
		{"Cosmos DB emulator", engine},
		{"LocalStack for Azure, OpenServiceBus", engine},
	}
}

// measured is a row of the benchmark's table: operation, callers, floor, memory, durable, Azurite.
var measured = regexp.MustCompile(`(?m)^\| ([a-z][^|]*?) \| 16 \| \d+ \| \d+ \| (\d+) \| (\d+) \| \d+ \| \d+ % \|`) // read only

// rates reads what the benchmark prints.
func rates(output string) ([]pair, error) {
	var out []pair
	for _, m := range measured.FindAllStringSubmatch(output, -1) {
		p := pair{m[1], m[2], m[3]}
		if p.Theirs == "0" {
			p.Theirs = ""
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the benchmark has printed no row")
	}
	return out, nil
}

// text is the part of the page.
func (m machine) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `make compare` on %s: %s; %d processors, load %s before and %s after, %s", m.Date.Format(time.DateOnly), m.Program, m.Processors, known(m.Before), known(m.After), m.Go)
	if m.Azurite != "" {
		fmt.Fprintf(&b, "; Azurite %s on Node.js %s", m.Azurite, strings.TrimPrefix(m.Node, "v"))
	}
	b.WriteString(".\n\n| | " + ours + " | " + theirs + " |\n| --- | --- | --- |\n")
	for _, p := range m.Rates {
		fmt.Fprintf(&b, "| %s, 16 at once, a second | %s | %s |\n", p.Operation, p.Ours, here(p.Theirs))
	}
	azurite := ""
	if d, ok := m.Starts[theirs]; ok {
		azurite = milliseconds(d)
	}
	fmt.Fprintf(&b, "| Start of the services, to the first answer | %s | %s |\n", milliseconds(m.Starts[ours]), here(azurite))
	fmt.Fprintf(&b, "| Size on disk | %.1f MB, one file | not measured |\n", float64(m.Size)/1e6)
	b.WriteString("\nNot run here, so without figures:\n\n")
	for _, r := range m.Absent {
		fmt.Fprintf(&b, "- %s: %s.\n", r.Name, r.Why)
	}
	return b.String()
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

func here(figure string) string {
	if figure == "" {
		return "**not run here**"
	}
	return figure
}

func known(load string) string {
	if load == "" {
		return "unknown"
	}
	return load
}

// replaced puts a text between the marks of a page.
func replaced(page, text string) (string, error) {
	head, rest, ok := strings.Cut(page, begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		return "", fmt.Errorf("the page has no %q with %q after it", strings.TrimSpace(begin), end)
	}
	return head + begin + text + end + tail, nil
}
