package show

import (
	"cmp"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/journal"
)

// information is the level of what is no warning, as the journal writes it.
const information = "information"

// loud reports whether a line is shown, by the levels of host.json, as in the platform's
// tool: lines of handlers, and the host's own about a function. --verbose shows all
// (spec host-and-retry 6.2).
func (p *Printer) loud(rec *journal.Record) bool {
	levels := p.Levels
	if rec.App != "" && p.LevelsOf != nil {
		levels = func() hostjson.LogLevels { return p.LevelsOf(rec.App) }
	}
	switch {
	case p.Verbose:
		return true
	case rec.Kind == journal.HandlerLog:
		return levels().Show(hostjson.HandlerCategory(rec.OwnFunction()), rec.Level)
	case rec.Function == "":
		return true
	}
	level := information
	switch p.tone {
	case cli.Yellow: // something is tried again
		level = "warning"
	case cli.Red, cli.Magenta: // something was given up
		level = "error"
	}
	return levels().Show(hostjson.FunctionCategory(rec.OwnFunction()), level)
}

// Hushed tells of the functions and their program that have lines that --verbose alone
// shows, because of host.json; empty for none.
func Hushed(levels hostjson.LogLevels, functions []string) string {
	hides := func(category string) bool { return !levels.Show(category, information) }
	var of []string
	n := 0
	for _, name := range functions {
		if hides(hostjson.FunctionCategory(name)) || hides(hostjson.HandlerCategory(name)) {
			n++
		}
	}
	if n > 0 {
		of = append(of, cli.Plural(n, "function"))
	}
	if len(functions) > 0 && hides(hostjson.HandlerCategory("")) {
		of = append(of, "the functions' program")
	}
	if len(of) == 0 {
		return ""
	}
	return "logging.logLevel hides lines of " + strings.Join(of, " and of ") + "; --verbose shows all"
}

// FunctionsOf are the names of an app's functions.
func FunctionsOf(a *app.App) (names []string) {
	for _, f := range a.Functions {
		names = append(names, f.Name)
	}
	return names
}

// handlerLine is a line of a handler's output. Its level is said where it is another than
// Information.
func (p *Printer) handlerLine(rec *journal.Record) string {
	colour := ""
	switch rec.Level {
	case "warning":
		colour = cli.Yellow
	case "error", "critical":
		colour = cli.Red
	}
	text := rec.Message
	for _, f := range rec.Fields {
		text += " " + f.Key + "=" + quoted(f.Value)
	}
	if rec.Level != "" && rec.Level != information && !saysLevel(rec) {
		text = rec.Level + ": " + text
	}
	shown := *rec
	shown.Function = cmp.Or(rec.Function, journal.Qualified(rec.App, rec.Name))
	return p.lay(&shown, cli.Cell{Text: "|", Sgr: cli.Dim}, cli.Cell{Text: text, Sgr: colour})
}

// saysLevel reports whether a line has the word of its level in it: that of a program's
// standard error was found there.
func saysLevel(rec *journal.Record) bool {
	if rec.Function != "" {
		return false
	}
	text := strings.ToLower(rec.Message)
	for _, word := range []string{"warn", "error", "fail", "severe", "panic", "unhandled exception"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
