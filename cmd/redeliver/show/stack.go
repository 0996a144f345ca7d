package show

import (
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// mostPlaces is the number of lines of a stack that are shown.
const mostPlaces = 6

// stack returns the places in the app's code where an attempt has failed, below its line.
// A function that keeps failing at the same places shows them once.
func (p *Printer) stack(rec *journal.Record) string {
	places := strings.Join(placesOf(rec.Beside.Stack, explain.Brief(rec.Error)), "\n")
	if places == "" || p.stacks[rec.Function] == places {
		return ""
	}
	p.stacks[rec.Function] = places
	indent := strings.Repeat(" ", len(clockLayout)+2)
	return "\n" + p.Out.Paint(cli.Dim, indent+string(cli.Block(places, indent)))
}

// placesOf returns the lines of a stack that name the app's code: without the error's own
// text, and without the calls of a runtime, of a language worker and of package functions.
func placesOf(stack, message string) []string {
	if strings.HasPrefix(stack, "goroutine ") {
		return goPlaces(stack)
	}
	if i := strings.Index(stack, message); i >= 0 && message != "" {
		head := stack[:max(strings.LastIndexByte(stack[:i], '\n'), 0)] // the rest is the name of the error
		stack = head + stack[i+len(message):]
	}
	var places []string
	for line := range strings.Lines(strings.ReplaceAll(stack, "\r\n", "\n")) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) != "" && !notOfTheApp(line) {
			places = append(places, line)
		}
	}
	return places[:min(len(places), mostPlaces)]
}

// notOfTheApp reports whether a line names a call of Node.js or the runtime of .NET, of a worker,
// or of the platform's packages.
func notOfTheApp(line string) bool {
	line = strings.ReplaceAll(line, `\`, "/")
	for _, part := range []string{"(node:", "at node:", "(<anonymous>)", "/node_modules/@azure/functions/",
		"at Microsoft.Azure.Functions.Worker.", "DirectFunctionExecutor.ExecuteAsync(", "at System.Runtime.", "at System.Threading.", "--- End of "} {
		if strings.Contains(line, part) {
			return true
		}
	}
	return ownWorker.MatchString(line)
}

// ownWorker matches a file of a worker that the program brings along.
var ownWorker = regexp.MustCompile(`/redeliver(-\d+)?/workers/[a-z]+-[0-9a-f]{16}/`)

// goPlaces are the calls between a panic and package functions, without the values of
// their arguments, which differ each time.
func goPlaces(stack string) []string {
	_, stack, found := strings.Cut(stack, "\npanic(")
	if !found {
		return nil
	}
	lines := strings.Split(stack, "\n")
	var places []string
	for i := 2; i+1 < len(lines) && len(places) < mostPlaces; i += 2 { // a line for the function, one for its file
		call := lines[i]
		switch {
		case strings.HasPrefix(call, "github.com/redeliver/redeliver/functions."):
			return places
		case strings.HasPrefix(call, "runtime."): // a nil pointer, an index out of range
		default:
			file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
			places = append(places, "    at "+call[:max(strings.LastIndexByte(call, '('), 0)]+" ("+file+")")
		}
	}
	return places
}
