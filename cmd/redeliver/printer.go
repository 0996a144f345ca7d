package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// printer writes what the journal says to the standard output: as it is, or one
// line for each attempt and settlement. One goroutine uses it.
type printer struct {
	s    *session
	out  *console
	json bool

	width    int             // of the function column
	banner   string          // the last one printed
	refusals map[string]bool // said since the app ran last: a start is tried again and again
	hinted   bool            // about message encoding
	timeline map[string]began
}

// began is when something began, in both times.
type began struct {
	virtual, real time.Time
	attempts      int
}

// maxTimelines limits what the printer remembers of messages that never end.
const maxTimelines = 50_000

func newPrinter(s *session) *printer {
	return &printer{s: s, out: s.out, json: s.flags.output == "json", refusals: s.explained, timeline: map[string]began{}}
}

// run prints until ctx ends, and then what is still there.
func (p *printer) run(ctx context.Context, sub *journal.Subscription) {
	if !p.json && p.s.host.App() != nil {
		p.showBanner()
	}
	for {
		rec, missed, err := sub.Next(ctx)
		if err != nil {
			break
		}
		p.show(&rec, missed)
	}
	for {
		rec, missed, ok := sub.TryNext()
		if !ok {
			return
		}
		p.show(&rec, missed)
	}
}

func (p *printer) show(rec *journal.Record, missed uint64) {
	if p.json {
		if missed > 0 {
			p.out.warn(fmt.Sprintf("the journal ran ahead: %d records are missing", missed))
		}
		p.out.print(string(append(rec.AppendLine(nil), '\n')))
		if rec.Kind == journal.GenerationLoaded {
			p.ensureKeys()
		}
		return
	}
	if missed > 0 {
		p.out.print(p.out.paint(dim, fmt.Sprintf("... %d records are missing: they came faster than they were read", missed)) + "\n")
	}
	if line := p.line(rec); line != "" {
		p.out.print(line + "\n")
	}
}

// line returns what is printed for a record; "" for nothing.
func (p *printer) line(rec *journal.Record) string {
	switch rec.Kind {
	case journal.GenerationLoaded:
		clear(p.refusals)
		if rec.Generation > 1 {
			p.note(rec, p.out.paint(green, "reloaded"), "generation "+strconv.Itoa(rec.Generation))
		}
		p.showBanner()
		return ""
	case journal.GenerationRefused:
		p.refused(rec)
		return ""
	case journal.FunctionError:
		if rec.HasDelay { // a listener; what is wrong in files is in the banner
			return p.format(rec, p.out.paint(red, "listener failed"), join(rec.Error, "again in "+roundTime(rec.Delay)))
		}
		return ""
	case journal.Received:
		p.begin(rec)
		return p.verbose(rec, "received", "")
	case journal.AttemptStarted:
		return p.verbose(rec, attemptWords(rec, "started"), counts(rec))
	case journal.AttemptEnded:
		p.attempted(rec)
		return p.format(rec, p.attemptText(rec), join(counts(rec), failure(rec)))
	case journal.RetryScheduled:
		if p.s.flags.clock == "real" && rec.Delay >= time.Second {
			return p.format(rec, p.out.paint(dim, pad("waits "+roundTime(rec.Delay))), "")
		}
		return p.verbose(rec, "waits "+roundTime(rec.Delay), "")
	case journal.RetryCancelled:
		return p.format(rec, p.out.paint(yellow, pad("retry cancelled")), failure(rec))
	case journal.RetriesExhausted:
		return p.verbose(rec, "retries exhausted", rec.Cause)
	case journal.Settled:
		return p.settled(rec)
	case journal.HandlerLog:
		return p.handlerLine(rec)
	case journal.ProcessExited:
		return p.processExit(rec)
	case journal.ClockMoved:
		return p.verbose(rec, "clock", join(rec.Cause, rec.Beside.Detail, delay(rec)))
	case journal.FaultInjected, journal.CircuitOpened, journal.CircuitHalfOpened, journal.CircuitClosed:
		return p.format(rec, p.out.paint(yellow, pad(words(rec.Kind))), join(delay(rec), rec.Cause, rec.Message))
	}
	return p.verbose(rec, words(rec.Kind), join(rec.Source, rec.Name, rec.Error))
}

// refused says why an edit changes nothing, or why the app still does not run.
func (p *printer) refused(rec *journal.Record) {
	runs := p.s.host.App() != nil
	if !runs && p.refusals[rec.Error] {
		return
	}
	p.refusals[rec.Error] = true
	p.note(rec, p.out.paint(red, "refused"), rec.Error)
	if runs {
		p.out.hint("what runs goes on unchanged; fix this and the app is loaded again")
	}
}

// format puts a line together: time, function, delivery, what happened, more.
func (p *printer) format(rec *journal.Record, what, more string) string {
	name := rec.Function
	if name == "" {
		name = rec.Source
	}
	line := fmt.Sprintf("%s  %s  %-5s  %s", p.clock(rec.Time), padTo(name, p.width), rec.Delivery, what)
	if more != "" {
		line += "  " + strings.ReplaceAll(more, "\n", "\n    ")
	}
	return strings.TrimRight(line, " ")
}

// verbose is format for what only --verbose shows.
func (p *printer) verbose(rec *journal.Record, what, more string) string {
	if !p.s.flags.verbose {
		return ""
	}
	return p.format(rec, p.out.paint(dim, pad(what)), more)
}

// note prints a line about the app as a whole.
func (p *printer) note(rec *journal.Record, what, more string) {
	p.out.print(strings.TrimRight(p.clock(rec.Time)+"  "+what+"  "+more, " ") + "\n")
}

// clock shows the clock's time, with the day when it may be another one.
func (p *printer) clock(t time.Time) string {
	t = t.Local()
	if p.s.flags.clock == "auto" {
		return p.out.paint(dim, t.Format("01-02 15:04:05.000"))
	}
	return p.out.paint(dim, t.Format("15:04:05.000"))
}

// whatWidth is the width of the column that says what happened.
const whatWidth = 20

func pad(s string) string { return padTo(s, whatWidth) }

func padTo(s string, width int) string {
	if n := width - len([]rune(s)); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func attemptWords(rec *journal.Record, status string) string {
	return "attempt " + strconv.Itoa(rec.Attempt) + " " + status
}

func (p *printer) attemptText(rec *journal.Record) string {
	text := pad(attemptWords(rec, strings.ReplaceAll(rec.Status, "_", " ")))
	if rec.Status == "succeeded" {
		return p.out.paint(green, text)
	}
	return p.out.paint(red, text)
}

// counts are the two counters, which never move together: the service's and
// that of the loop inside a delivery.
func counts(rec *journal.Record) string {
	text := "retry_count=" + strconv.Itoa(rec.RetryCount())
	switch {
	case rec.HasPolicy && rec.MaxRetryCount < 0:
		text += "/unlimited"
	case rec.HasPolicy:
		text += "/" + strconv.Itoa(rec.MaxRetryCount)
	}
	if rec.DeliveryCount > 0 {
		text = "delivery_count=" + strconv.FormatInt(rec.DeliveryCount, 10) + " " + text
	}
	return text
}

// settled prints the end of a delivery, and how long its message took when it is
// the message's end too.
func (p *printer) settled(rec *journal.Record) string {
	colour, last := green, true
	switch rec.Decision {
	case "released", "abandoned":
		colour, last = yellow, false
	case "poisoned", "dead_lettered", "undecodable", "dropped", "lock_lost", "not_checkpointed":
		colour = magenta
	}
	var count string
	if rec.DeliveryCount > 0 {
		count = "delivery_count=" + strconv.FormatInt(rec.DeliveryCount, 10)
	}
	text := join(count, rec.Message, failure(rec))
	if rec.Target != "" {
		text = join("to "+strconv.Quote(rec.Target), text)
	}
	if last {
		text = join(text, p.ended(rec))
	}
	line := p.format(rec, p.out.paint(colour, pad(words(journal.Kind(rec.Decision)))), text)
	if rec.Decision == "undecodable" && !p.hinted {
		p.hinted = true
		p.out.hint(`a body is not base64: send it as base64, or set extensions.queues.messageEncoding to "none" in host.json (current SDKs send plain text)`)
	}
	return line
}

// key names a message, or a delivery where messages have no ID.
func key(rec *journal.Record) string {
	if rec.MessageID != "" {
		return rec.Function + "\x00" + rec.MessageID
	}
	return rec.Delivery
}

func (p *printer) begin(rec *journal.Record) {
	if _, known := p.timeline[key(rec)]; !known && len(p.timeline) < maxTimelines {
		p.timeline[key(rec)] = began{virtual: rec.Time, real: time.Now()}
	}
}

func (p *printer) attempted(rec *journal.Record) {
	if t, ok := p.timeline[key(rec)]; ok {
		t.attempts++
		p.timeline[key(rec)] = t
	}
}

// ended says how long the message took: in the clock's time, and in real time as
// seen from here.
func (p *printer) ended(rec *journal.Record) string {
	t, ok := p.timeline[key(rec)]
	if !ok {
		return ""
	}
	delete(p.timeline, key(rec))
	text := fmt.Sprintf("%s, %s virtual, %s real", plural(t.attempts, "attempt"), roundTime(rec.Time.Sub(t.virtual)), roundTime(time.Since(t.real)))
	return p.out.paint(dim, "("+text+")")
}

// handlerLine is a line of a handler's output.
func (p *printer) handlerLine(rec *journal.Record) string {
	if (rec.Level == "trace" || rec.Level == "debug") && !p.s.flags.verbose {
		return ""
	}
	colour := ""
	switch rec.Level {
	case "warning":
		colour = yellow
	case "error", "critical":
		colour = red
	}
	text := rec.Message
	for _, f := range rec.Fields {
		text += " " + f.Key + "=" + quoted(f.Value)
	}
	if colour != "" {
		text = p.out.paint(colour, text)
	}
	shown := *rec
	if shown.Function == "" {
		shown.Function = rec.Name
	}
	return p.format(&shown, p.out.paint(dim, "|"), text)
}

// quoted quotes a value that would not read as one word.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"=") {
		return strconv.Quote(s)
	}
	return s
}

func (p *printer) processExit(rec *journal.Record) string {
	shown := *rec
	shown.Function = rec.Name
	if rec.Error == "" && !rec.HasDelay {
		return p.verbose(&shown, "process ended", join(rec.Status, rec.Cause))
	}
	again := ""
	if rec.HasDelay {
		again = "again at once"
		if rec.Delay > 0 {
			again = "again in " + roundTime(rec.Delay)
		}
	}
	return p.format(&shown, p.out.paint(red, pad("process ended")), join(rec.Status, rec.Error, again, rec.Beside.Detail))
}

func (p *printer) ensureKeys() {
	if err := p.s.web.EnsureKeys(); err != nil {
		p.out.warn(err.Error())
	}
}

// showBanner prints what runs, when it differs from what was printed last.
func (p *printer) showBanner() {
	p.ensureKeys()
	a := p.s.host.App()
	if a == nil {
		return
	}
	b := newBanner(p.s, a)
	p.width = b.nameWidth
	text := b.text()
	if text == p.banner {
		return
	}
	shown := text
	if p.banner == "" {
		shown = b.ready() + text
	}
	p.banner = text
	p.out.print(shown)
	b.faults()
}

// failure is a record's error without the function's name, which has a column of
// its own.
func failure(rec *journal.Record) string {
	return strings.TrimPrefix(rec.Error, fmt.Sprintf("function %q: ", rec.Function))
}

// words turns a name of the journal into words.
func words(k journal.Kind) string { return strings.ReplaceAll(string(k), "_", " ") }

func delay(rec *journal.Record) string {
	if !rec.HasDelay {
		return ""
	}
	return "for " + roundTime(rec.Delay)
}

// join puts the parts that are not empty into one text.
func join(parts ...string) string {
	var some []string
	for _, s := range parts {
		if s != "" {
			some = append(some, s)
		}
	}
	return strings.Join(some, "  ")
}

// roundTime shows a duration with as many digits as anybody reads.
func roundTime(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}
