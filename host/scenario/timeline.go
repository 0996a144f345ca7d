package scenario

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// A timeline is what a failure shows of what happened, as lines.
type timeline func() []string

// mostLines is the length of a timeline.
const mostLines = 40

// shorten leaves out the middle of a long timeline.
func shorten(lines []string) []string {
	if n := len(lines); n > mostLines {
		cut := fmt.Sprintf("... %d lines ...", n-mostLines)
		lines = append(append(lines[:mostLines/2:mostLines/2], cut), lines[n-mostLines/2:]...)
	}
	return lines
}

// all is the life of every message.
func (r *run) all() []string { return r.lives(explain.Subject{}) }

// of is the life of the messages of a function.
func (r *run) of(function string) timeline {
	return func() []string { return r.lives(explain.Subject{Function: function}) }
}

// explain tells lives with what the services of the host know.
func (r *run) explain(about explain.Subject) []*explain.Life {
	return explain.Explain(r.journaled(func(*journal.Record) bool { return true }), r.cast.subject(about))
}

// lives are the lives of messages, with the time from the beginning of the scenario.
func (r *run) lives(about explain.Subject) (lines []string) {
	list := r.explain(about)
	for _, l := range list {
		if len(list) > 1 {
			lines = append(lines, l.Title())
		}
		lines = append(lines, l.Lines(r.begins)...)
		if !l.Over {
			lines = append(lines, "next: "+l.Next)
		}
	}
	return lines
}

// records are the lines of the journal on messages.
func (r *run) records() (lines []string) {
	for _, rec := range r.journaled(concernsMessages) {
		lines = append(lines, fmt.Sprintf("%-12s %s", "+"+explain.Span(rec.Time.Sub(r.begins)), line(&rec)))
	}
	return lines
}

// concernsMessages leaves out what is of the host as a whole.
func concernsMessages(rec *journal.Record) bool {
	switch rec.Kind {
	case journal.HostStarted, journal.HostStopped, journal.GenerationLoaded, journal.ProcessStarted, journal.ProcessExited, journal.ClockMoved:
		return false
	}
	return true
}

// line is a record for a person.
func line(rec *journal.Record) string {
	parts := []string{string(rec.Kind)}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if rec.Function != "" {
		add("%s", rec.Function)
	}
	if rec.Delivery != "" {
		add("%s", rec.Delivery)
	}
	switch {
	case rec.Attempt > 0:
		add("attempt %d", rec.Attempt)
	case rec.DeliveryCount > 0:
		add("delivery_count=%d", rec.DeliveryCount)
	}
	if rec.HasDelay || rec.Delay != 0 {
		add("delay=%s", explain.Span(rec.Delay))
	}
	for _, word := range []string{rec.Status, rec.Decision, rec.Cause} {
		if word != "" {
			add("%s", word)
		}
	}
	if rec.Target != "" {
		add("-> %s", rec.Target)
	}
	if rec.Message != "" {
		add("%s", rec.Message)
	}
	if rec.Error != "" && rec.Kind != journal.RetriesExhausted {
		first, _, _ := strings.Cut(explain.Brief(rec.Error), "\n")
		add("%s", first)
	}
	return strings.Join(parts, " ")
}

// longest is the length of a body that a failure repeats.
const longest = 200

func quote(text string) string {
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-1]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
