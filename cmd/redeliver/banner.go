package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
)

// banner is the overview of an app that runs: endpoints, functions, clock.
type banner struct {
	s         *session
	app       *app.App
	nameWidth int
	rows      [][4]string // function, trigger, attempts x deliveries, end
	idle      []string    // functions that do not run and are not in error, one line each
	services  bool        // it names the services of the start too
}

func newBanner(s *session, a *app.App) *banner {
	if s.teller == nil {
		s.teller = s
	}
	b := &banner{s: s, app: a, services: s.teller == s}
	report := served.Report(a, s.host.Env())
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
			row[1] = endpoint(s.web.URL(), a, def)
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
func (b *banner) ready() string {
	took := time.Since(b.s.begun).Round(time.Millisecond)
	text := cli.Textf("redeliver %s: ready in %d ms", cli.LongVersion(), took.Milliseconds())
	if b.s.name != "" {
		text = cli.Textf("redeliver %s: %s is ready at %s in %d ms", cli.LongVersion(), b.s.name, b.s.web.URL(), took.Milliseconds())
	}
	return b.s.out.Paint(cli.Bold, text) + "\n"
}

func (b *banner) text() string {
	var t strings.Builder
	url := b.s.web.URL()
	if !b.s.flags.servicesOnly {
		cli.Writef(&t, "  functions  %s\n", url)
	}
	cli.Writef(&t, "  admin      %s/admin/host/status\n", b.s.web.AdminURL())
	if b.services {
		t.WriteString(b.serviceLines())
	}
	t.WriteString(b.concurrency())
	if b.s.flags.enableAuth {
		t.WriteString("  keys       asked for; \"redeliver keys\" shows them\n")
	}
	if line := hushed(b.s.levelsOf(b.app), functionsOf(b.app)); line != "" && !b.s.flags.verbose && b.s.flags.output != "json" {
		cli.Writef(&t, "  lines      %s\n", line)
	}
	if list := b.app.Config.Functions; len(list) > 0 { // spec host-and-retry 6.2
		cli.Writef(&t, "  only       %s: the list of functions to run has no others\n", strings.Join(list, ", "))
	}
	t.WriteByte('\n')
	b.table(&t)
	for _, line := range b.idle {
		t.WriteString(line + "\n")
	}
	switch {
	case len(b.rows)+len(b.idle) > 0:
	case b.s.flags.servicesOnly:
		t.WriteString("services only: no functions run\n")
		if b.s.at[busPort] != "" && b.app.Switches.AutoCreateEntities != "any" {
			t.WriteString("  Service Bus entities and hubs: \"redeliver create\" makes them; with --set autoCreateEntities=any so does the first use by a client\n")
		}
	case len(b.app.Functions) > 0 || len(b.s.flags.functions) > 0 || b.app.Handler.Kind == app.Language || b.app.Handler.Kind == app.Custom:
		t.WriteString("no function runs\n")
	default:
		t.WriteString("no functions in this folder: \"redeliver init DIR --lang go\" writes an app to start from\n")
	}
	t.WriteByte('\n')
	return t.String()
}

// serviceLines say where the page and the services are, and how the clock goes.
func (b *banner) serviceLines() string {
	var t strings.Builder
	if !b.s.flags.noUI {
		cli.Writef(&t, "  page       %s\n", b.s.first().pageAddress())
	}
	if line := b.s.networkLine(); line != "" {
		cli.Writef(&t, "  network    %s\n", line)
	}
	t.WriteString(b.s.endpointLines())
	cli.Writef(&t, "  clock      %s\n", modeText(b.s.clock.Pace()))
	return t.String()
}

// concurrency says how many messages the functions have in work, kind by kind.
func (b *banner) concurrency() string {
	var t strings.Builder
	said := map[*app.Kind]bool{}
	for _, f := range b.app.Functions {
		if f.Runs() && !f.Disabled && f.Kind != nil && f.Kind.InWork != nil && !said[f.Kind] {
			said[f.Kind] = true
			cli.Writef(&t, "  messages   %s\n", f.Kind.InWork(b.app))
		}
	}
	return t.String()
}

// table writes the functions in columns.
func (b *banner) table(t *strings.Builder) {
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
		t.WriteString(b.s.out.Lay(b.s.out.Columns(), 1, cells...) + "\n")
	}
}

// since is the part of the text that is new compared with another overview, and the
// functions that ran there and do not run here.
func (b *banner) since(before *banner) string {
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
			cli.Writef(&t, "%s does not run any more\n", journal.Qualified(b.s.name, row[0]))
		}
	}
	return t.String()
}

// faults reports the functions in error, with hints, and functions that were asked
// for and do not exist. It repeats nothing that was reported before, and returns
// all faults.
func (b *banner) faults(said map[string]bool) map[string]bool {
	now := map[string]bool{}
	tell := func(kind, text, hint string) {
		if now[text] = true; !said[text] {
			b.s.out.Say(kind, b.s.ofApp(text))
			b.s.out.Hint(hint)
		}
	}
	for _, name := range b.s.flags.functions {
		if b.app.Function(name) == nil {
			tell("warning", fmt.Sprintf("--functions: the app has no function %q", name),
				fmt.Sprintf("%q lists the functions of its files; a function in code has the name of its registration", b.s.checkCommand()))
		}
	}
	for _, f := range b.app.Functions {
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
