package app

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/retrycontext"
)

// Write writes the report as text for people, without colour: first what will
// happen to a message that always fails, function by function, then the errors,
// warnings and lints, each with its place. It contains no absolute path.
func (r *Report) Write(w io.Writer) error {
	t := &textReport{w: bufio.NewWriter(w)}
	t.functions(r)
	t.problems("Errors", r.Errors)
	t.problems("Warnings", r.Warnings)
	t.lints(r)
	if len(r.WithoutEffect) > 0 {
		t.line("Without effect here: %s", strings.Join(r.WithoutEffect, ", "))
		t.line("")
	}
	t.summary(r)
	return t.w.Flush()
}

// textReport writes a report. Write errors stay in the bufio.Writer until Flush.
type textReport struct{ w *bufio.Writer }

func (t *textReport) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	t.w.WriteString(text + "\n")
}

func (t *textReport) functions(r *Report) {
	verdict := ""
	if r.Blocked {
		verdict = "; the app DOES NOT START, see the errors below"
	}
	t.line("%s: %s%s", filepath.Base(r.App), counted(len(r.Functions), "function"), verdict)
	t.line("")
	wide := 0
	for _, f := range r.Functions {
		wide = max(wide, utf8.RuneCountInString(f.Name))
	}
	for _, f := range r.Functions {
		t.function(f, wide)
	}
}

func (t *textReport) function(f FunctionReport, wide int) {
	head := fmt.Sprintf("%-*s  %s", wide, f.Name, f.Trigger)
	if f.Trigger == "" {
		head = fmt.Sprintf("%-*s  no trigger", wide, f.Name)
	}
	if f.Source != "" {
		head += "  " + f.Source
	}
	t.line("  %s", head)
	fact := func(name, text string) { t.line("    %-9s %s", name, text) }
	if f.InError {
		fact("ERROR", "does not run; see below")
		t.line("")
		return
	}
	if f.NotServed != "" {
		fact("not run", f.NotServed)
		if f.Deliveries == 0 && !f.DeliveriesUnbounded { // its trigger is of no kind that is served
			t.line("")
			return
		}
	}
	if f.Disabled != "" {
		fact("disabled", "by "+f.Disabled+"; it is loaded but does not listen")
	}
	switch {
	case f.Policy != nil:
		fact("retry", policyWords(f.Policy))
		fact("", "from "+originWords(f.Policy))
	case f.IgnoredPolicy != nil:
		fact("retry", `none: retryTriggers "ga" ignores the policy of `+originWords(f.IgnoredPolicy))
	default:
		fact("retry", "none")
	}
	fact("attempts", attemptsWords(f))
	if f.Policy != nil {
		fact("waiting", waitingWords(f))
	}
	if f.End != "" {
		fact("ends", f.End)
	}
	t.line("")
}

func policyWords(p *PolicyReport) string {
	retries := counted(p.MaxRetryCount, "retry")
	if p.MaxRetryCount == retrycontext.Forever {
		retries = "retries for ever"
	}
	text := fmt.Sprintf("%s, %s", p.Strategy, retries)
	switch {
	case p.MaxRetryCount == 0:
	case p.DelayInterval != "":
		text += ", " + spanOf(p.DelayInterval) + " apart"
	case p.MinimumInterval == p.MaximumInterval:
		text += ", " + spanOf(p.MinimumInterval) + " apart"
	default:
		text += ", " + spanOf(p.MinimumInterval) + " growing to " + spanOf(p.MaximumInterval)
	}
	if p.Configured != nil {
		text += fmt.Sprintf(" (maxRetryCount %d, counted as attempts)", *p.Configured)
	}
	return text
}

func originWords(p *PolicyReport) string {
	place := p.File
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	switch p.Source {
	case FromFunction:
		return "the function (" + place + ")"
	case FromApp:
		return "the app (" + place + ")"
	case FromEnvironment:
		return "the app, with values from the environment (" + place + ")"
	}
	return "code"
}

func attemptsWords(f FunctionReport) string {
	attempts, deliveries, total := fmt.Sprint(f.Attempts), fmt.Sprint(f.Deliveries), fmt.Sprint(f.Total)
	if f.AttemptsUnbounded {
		attempts = "endless"
	}
	if f.DeliveriesUnbounded {
		deliveries = "endless"
	}
	if f.TotalUnbounded {
		total = "no limit"
	}
	noun := "deliveries"
	if f.Deliveries == 1 {
		noun = "delivery"
	}
	return fmt.Sprintf("%s per delivery × %s %s = %s", attempts, deliveries, noun, total)
}

func waitingWords(f FunctionReport) string {
	if f.Wait.Unbounded {
		return "for ever"
	}
	text := rangeWords(f.Wait)
	switch {
	case f.Wait.Maximum == "00:00:00":
		return "none"
	case f.WaitTotal.Unbounded:
		return text + " per delivery, for ever in all"
	case f.Deliveries > 1:
		return text + " per delivery, " + rangeWords(f.WaitTotal) + " in all"
	}
	return text
}

func rangeWords(w WaitReport) string {
	if w.Minimum == w.Maximum {
		return spanOf(w.Maximum)
	}
	return spanOf(w.Minimum) + " to " + spanOf(w.Maximum)
}

// spanOf puts a formatted time span into words.
func spanOf(text string) string {
	d, err := retrycontext.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	return spanWords(d)
}

// spanWords says a duration with its two largest units: "1 h 30 min", "2.5 s".
func spanWords(d time.Duration) string {
	units := [...]struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		small, name := time.Second, "s"
		if i+1 < len(units) {
			small, name = units[i+1].size, units[i+1].name
		}
		text := fmt.Sprintf("%d %s", d/u.size, u.name)
		if rest := d % u.size / small; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, name)
		}
		return text
	}
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.4g s", d.Seconds())
}

// problems lists faults; that a kind is not served is said once for all functions.
func (t *textReport) problems(title string, list []Problem) {
	if len(list) == 0 {
		return
	}
	t.line("%s (%d)", title, len(list))
	t.line("")
	type said struct{ Function, File, Path, Found, Reason, Allowed string }
	firsts, functions := gathered(list, func(p Problem) (said, string) {
		key := said{p.Function, p.File, p.Path, p.Found, p.Reason, p.Allowed}
		if strings.Contains(p.Reason, unserved) {
			key.Function, key.File, key.Path = "", "", ""
		}
		return key, p.Function
	})
	for i, p := range firsts {
		t.line("  %s", strings.TrimRight(place(p.File, p.Line, p.Column)+"  "+p.Path, " "))
		text := p.Reason
		if p.Found != "" && !quotes(p.Reason, p.Found) {
			text += "; found " + p.Found
		}
		if p.Allowed != "" {
			text += "; allowed: " + p.Allowed
		}
		if p.First {
			text += " [the platform reports this one: " + p.Kind + "]"
		}
		if len(functions[i]) > 1 {
			text += alsoText(functions[i][1:])
		}
		t.line("    %s", text)
		if p.Hint != "" {
			t.line("    hint: %s", p.Hint)
		}
	}
	t.line("")
}

// quotes reports whether a sentence quotes what was found already.
func quotes(reason, found string) bool {
	return strings.HasPrefix(found, `"`) && strings.Contains(reason, found)
}

func place(file string, line, column int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

func (t *textReport) lints(r *Report) {
	if len(r.Lints) > 0 {
		t.line("Lints (%d)", len(r.Lints))
		t.line("")
		lints, functions := gathered(r.Lints, func(l Lint) (Lint, string) {
			name := l.Function
			if !strings.HasPrefix(l.File, name+"/") {
				l.Function = "" // one place, such as a policy in host.json, for all functions
			}
			return l, name
		})
		for i, l := range lints {
			head := fmt.Sprintf("  %-4s  %s", l.ID, place(l.File, l.Line, l.Column))
			if l.Path != "" {
				head += "  " + l.Path
			}
			if names := functions[i]; len(names) > 0 && !strings.HasPrefix(l.File, l.Function+"/") {
				head += "  (" + strings.Join(names, ", ") + ")"
			}
			t.line("%s", head)
			t.line("        %s", l.Message)
		}
		t.line("")
	}
	if len(r.Ignored) > 0 {
		t.line("Lints switched off: %s", strings.Join(r.Ignored, ", "))
		t.line("")
	}
}

func (t *textReport) summary(r *Report) {
	if len(r.Errors)+len(r.Warnings)+len(r.Lints) == 0 {
		t.line("no faults")
		return
	}
	t.line("%s, %s, %s", counted(len(r.Errors), "error"), counted(len(r.Warnings), "warning"), counted(len(r.Lints), "lint"))
}

// counted says "1 error", "2 errors".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
