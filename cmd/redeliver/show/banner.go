package show

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// Loaded is an app that was loaded, and what its overview says of the host.
type Loaded struct {
	App  *app.App
	Env  *kinds.Env
	Name string // among several
	Out  *cli.Console

	Begun         time.Time // the start
	URL, AdminURL string
	Services      func() string // lines that say where page and services are, and how the clock goes; nil: another app's overview has them
	Levels        hostjson.LogLevels
	Auth, Wordy   bool                     // keys are asked for; no line is hidden
	ServicesOnly  bool                     // no functions run
	OpenBus       bool                     // Service Bus has a port
	Functions     []string                 // those asked for
	Check         string                   // the command that checks the app
	Keep          func(text string) string // says which app of several a text is about
}

// Banner is the overview of an app that runs: endpoints, functions, clock.
type Banner struct {
	Loaded
	nameWidth int
	rows      [][4]string // function, trigger, attempts x deliveries, end
	idle      []string    // functions that do not run and are not in error, one line each
}

// NewBanner returns the overview of an app.
func NewBanner(of Loaded) *Banner {
	a := of.App
	b := &Banner{Loaded: of}
	report := served.Report(a, of.Env)
	var others [][4]string
	var reasons []string
	without := map[string][]string{} // functions that are not served, by the reason
	for i := range report.Functions {
		f := &report.Functions[i]
		def := a.Function(f.Name)
		b.nameWidth = max(b.nameWidth, len([]rune(f.Name)))
		switch {
		case def == nil:
			continue
		case f.NotServed != "":
			if without[f.NotServed] == nil {
				reasons = append(reasons, f.NotServed)
			}
			without[f.NotServed] = append(without[f.NotServed], f.Name)
			continue
		case def.InError() || f.InError:
			continue
		case f.Disabled != "":
			b.idle = append(b.idle, cli.Textf("%s is disabled (%s)", f.Name, f.Disabled))
			continue
		}
		row := [4]string{f.Name, f.Trigger + " " + f.Source, product(f), f.End}
		if f.Unloaded != "" {
			row[3] = "not loaded: every attempt fails, see below"
		}
		if def.Routed() {
			row[1] = endpoint(of.URL, a, def)
			b.rows = append(b.rows, row) // HTTP functions come first (spec host-and-retry 12.2)
			continue
		}
		others = append(others, row)
	}
	b.rows = append(b.rows, others...)
	for _, reason := range reasons {
		verb := "does"
		if len(without[reason]) > 1 {
			verb = "do"
		}
		b.idle = append(b.idle, cli.Textf("%s %s not run: %s", strings.Join(without[reason], ", "), verb, reason))
	}
	return b
}

// endpoint is where an HTTP function answers: "[GET,POST] http://...", without
// methods when it takes all.
func endpoint(base string, a *app.App, f *app.Function) string {
	url := base + "/" + strings.TrimPrefix(app.RouteTemplate(a, f), "/")
	list, _ := f.Trigger.Value("methods").([]any)
	var methods []string
	for _, m := range list {
		if name, ok := m.(string); ok {
			methods = append(methods, strings.ToUpper(name))
		}
	}
	if len(methods) == 0 {
		return url
	}
	return "[" + strings.Join(methods, ",") + "] " + url
}

// product says how often a message that always fails runs: attempts in one
// delivery, deliveries, both together.
func product(f *app.FunctionReport) string {
	number := func(n int, unbounded bool) string {
		if unbounded {
			return "unlimited"
		}
		return strconv.Itoa(n)
	}
	text := number(f.Attempts, f.AttemptsUnbounded) + " x " + number(f.Deliveries, f.DeliveriesUnbounded)
	if f.TotalUnbounded {
		return text
	}
	return text + " = " + strconv.Itoa(f.Total)
}

// ready is the line that announces the running host.
func (b *Banner) ready() string {
	took := time.Since(b.Begun).Round(time.Millisecond)
	text := cli.Textf("redeliver %s: ready in %d ms", cli.LongVersion(), took.Milliseconds())
	if b.Name != "" {
		text = cli.Textf("redeliver %s: %s is ready at %s in %d ms", cli.LongVersion(), b.Name, b.URL, took.Milliseconds())
	}
	return b.Out.Paint(cli.Bold, text) + "\n"
}

func (b *Banner) text() string {
	var t strings.Builder
	if !b.ServicesOnly {
		cli.Writef(&t, "  functions  %s\n", b.URL)
	}
	cli.Writef(&t, "  admin      %s/admin/host/status\n", b.AdminURL)
	if b.Services != nil {
		t.WriteString(b.Services())
	}
	t.WriteString(b.concurrency())
	if b.Auth {
		t.WriteString("  keys       asked for; \"redeliver keys\" shows them\n")
	}
	if line := Hushed(b.Levels, FunctionsOf(b.App)); line != "" && !b.Wordy {
		cli.Writef(&t, "  lines      %s\n", line)
	}
	if list := b.App.Config.Functions; len(list) > 0 { // spec host-and-retry 6.2
		cli.Writef(&t, "  only       %s: the list of functions to run has no others\n", strings.Join(list, ", "))
	}
	t.WriteByte('\n')
	b.table(&t)
	for _, line := range b.idle {
		t.WriteString(line + "\n")
	}
	switch {
	case len(b.rows)+len(b.idle) > 0:
	case b.ServicesOnly:
		t.WriteString("services only: no functions run\n")
		if b.OpenBus && b.App.Switches.AutoCreateEntities != "any" {
			t.WriteString("  Service Bus entities and hubs: \"redeliver create\" makes them; with --set autoCreateEntities=any so does the first use by a client\n")
		}
	case len(b.App.Functions) > 0 || len(b.Functions) > 0 || b.App.Handler.Kind == app.Language || b.App.Handler.Kind == app.Custom:
		t.WriteString("no function runs\n")
	default:
		t.WriteString("no functions in this folder: \"redeliver init DIR --lang go\" writes an app to start from\n")
	}
	t.WriteByte('\n')
	return t.String()
}

// concurrency says how many messages the functions have in work, kind by kind.
func (b *Banner) concurrency() string {
	var t strings.Builder
	said := map[*app.Kind]bool{}
	for _, f := range b.App.Functions {
		if f.Runs() && !f.Disabled && f.Kind != nil && f.Kind.InWork != nil && !said[f.Kind] {
			said[f.Kind] = true
			cli.Writef(&t, "  messages   %s\n", f.Kind.InWork(b.App))
		}
	}
	return t.String()
}

// table writes the functions in columns.
func (b *Banner) table(t *strings.Builder) {
	if len(b.rows) == 0 {
		return
	}
	rows := append([][4]string{{"FUNCTION", "TRIGGER", "ATTEMPTS x DELIVERIES", "END"}}, b.rows...)
	var width [4]int
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for n, row := range rows {
		cells := make([]cli.Cell, len(row))
		for i, text := range row {
			cells[i] = cli.Cell{Text: text, Width: width[i]}
			if n == 0 {
				cells[i].Sgr = cli.Dim
			}
		}
		t.WriteString(b.Out.Lay(b.Out.Columns(), 1, cells...) + "\n")
	}
}

// since is the part of the text that is new compared with another overview, and the
// functions that ran there and do not run here.
func (b *Banner) since(before *Banner) string {
	plain := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	said := map[string]bool{"": true}
	for line := range strings.Lines(before.text()) {
		said[plain(line)] = true
	}
	var t strings.Builder
	for line := range strings.Lines(b.text()) {
		if !said[plain(line)] {
			t.WriteString(line)
		}
	}
	for _, row := range before.rows {
		if !slices.ContainsFunc(b.rows, func(r [4]string) bool { return r[0] == row[0] }) {
			cli.Writef(&t, "%s does not run any more\n", journal.Qualified(b.Name, row[0]))
		}
	}
	return t.String()
}

// faults reports the functions in error, with hints, and functions that were asked
// for and do not exist. It repeats nothing that was reported before, and returns
// all faults.
func (b *Banner) faults(said map[string]bool) map[string]bool {
	now := map[string]bool{}
	tell := func(kind, text, hint string) {
		if now[text] = true; !said[text] {
			b.Out.Say(kind, b.Keep(text))
			b.Out.Hint(hint)
		}
	}
	for _, name := range b.Functions {
		if b.App.Function(name) == nil {
			tell("warning", fmt.Sprintf("--functions: the app has no function %q", name),
				fmt.Sprintf("%q lists the functions of its files; a function in code has the name of its registration", b.Check))
		}
	}
	for _, f := range b.App.Functions {
		if f.NotServed != "" {
			continue // which is among the functions
		}
		for _, fault := range f.Faults {
			if !f.Repeats(fault) {
				tell("error", fmt.Sprintf("function %q does not run: %s", f.Name, fault.Error()), fault.Hint)
			}
		}
	}
	return now
}
