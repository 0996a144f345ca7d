package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// mostLines is the length of a timeline.
const mostLines = 40

// timeline shows the records that concern, with the time from the beginning of the
// scenario. Of a long one the middle is left out.
func (r *run) timeline(concerns func(*journal.Record) bool) []string {
	if concerns == nil || r.h == nil {
		return nil
	}
	var lines []string
	for _, rec := range r.h.Select(concerns) {
		if rec.Kind == journal.AttemptStarted {
			continue // its end says as much
		}
		lines = append(lines, fmt.Sprintf("%-12s %s", "+"+Span(rec.Time.Sub(r.begins)), line(&rec)))
	}
	if n := len(lines); n > mostLines {
		cut := fmt.Sprintf("... %d lines ...", n-mostLines)
		lines = append(append(lines[:mostLines/2:mostLines/2], cut), lines[n-mostLines/2:]...)
	}
	return lines
}

// all concerns everything that happened to messages.
func (r *run) all(rec *journal.Record) bool {
	switch rec.Kind {
	case journal.HostStarted, journal.HostStopped, journal.GenerationLoaded, journal.ProcessStarted, journal.ProcessExited, journal.ClockMoved:
		return false
	}
	return true
}

// of concerns a function, or the message or entity of one.
func (r *run) of(function string) func(*journal.Record) bool {
	messages := map[string]bool{}
	for _, rec := range r.h.Select(func(rec *journal.Record) bool {
		return strings.EqualFold(rec.Function, function) && rec.MessageID != ""
	}) {
		messages[rec.MessageID] = true
	}
	return func(rec *journal.Record) bool {
		return strings.EqualFold(rec.Function, function) || messages[rec.MessageID] && rec.Function == ""
	}
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
		add("delay=%s", Span(rec.Delay))
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
		first, _, _ := strings.Cut(rec.Error, "\n")
		first = strings.TrimPrefix(first, fmt.Sprintf("function %q: ", rec.Function))
		add("%s", strings.TrimPrefix(first, "*errors.errorString: "))
	}
	return strings.Join(parts, " ")
}

// Span writes a length of time without needless units, with days.
func Span(d time.Duration) string {
	d = d.Round(time.Millisecond)
	text := ""
	if whole := d / (24 * time.Hour); whole > 0 {
		text, d = fmt.Sprintf("%dd", whole), d%(24*time.Hour)
		if d == 0 {
			return text
		}
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return text + s
}

// longest is the length of a body that a failure repeats.
const longest = 200

func quote(text string) string {
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-1]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
