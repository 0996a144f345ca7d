package show

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/retrycontext"
)

// Of is what a printer prints: whose journal it is.
type Of struct {
	Out     *cli.Console
	App     string // of several the one whose overview this printer shows
	JSON    bool   // records as they are
	Verbose bool

	Pace     func() clock.Pace                    // of the host's clock
	Running  func() bool                          // an app runs
	Ends     func(status string) bool             // the end of a process with that status belongs to the end of the host
	Since    uint64                               // records before it were there before anybody could measure their real time
	Day      time.Time                            // whose date needs no line
	Width    int                                  // of the column of functions, at least
	Wants    func(rec *journal.Record) bool       // what is printed; nil: everything
	Levels   func() hostjson.LogLevels            // of the running app
	LevelsOf func(name string) hostjson.LogLevels // of one of several; nil: each has a printer
	Refusals map[string]bool                      // said since the app ran last: a start is tried again and again

	// Loaded is asked when a generation was loaded, for its overview. Nil, or a nil overview:
	// none is shown.
	Loaded func() *Banner
}

// Printer writes what the journal says to the standard output: as it is, or one
// line for each attempt and settlement. One goroutine uses it.
type Printer struct {
	Of

	apps     map[string]*Printer // of the apps of a start that has several, and this one among them
	at       *columns            // shared by these
	tone     string              // colour of what the line says that was put together last
	shown    *Banner             // the last one; nil: none
	faults   map[string]bool     // of functions, as they were said last
	stacks   map[string]string   // of a function, the places that were shown last
	failing  map[string]string   // why a function's listener failed last: it is started again and again
	hinted   bool                // about message encoding
	lives    *explain.Teller
	timeline map[string]began // by the keys of lives
}

// columns is what the lines of all apps have together.
type columns struct {
	width  int    // of the function column
	counts int    // width of the column of counters: grows
	day    string // of the lines printed last
}

// Add makes p print also the records of another app, as its own printer does.
func (p *Printer) Add(q *Printer) {
	if p.apps == nil {
		p.apps = map[string]*Printer{p.App: p}
	}
	p.apps[q.App], q.at = q, p.at
}

// of is the printer for a record: of its app, or p for what is of none.
func (p *Printer) of(rec *journal.Record) *Printer {
	if q := p.apps[rec.App]; q != nil {
		return q
	}
	return p
}

// began is when a message came first, or again after its end, in both times.
type began struct {
	virtual, real time.Time // real is zero where nobody saw it
	attempts      int       // that it had before
}

// mostRecords limits what the printer remembers of messages, in records of their lives.
const mostRecords = 100_000

// New returns a printer.
func New(of Of) *Printer {
	if of.Refusals == nil {
		of.Refusals = map[string]bool{}
	}
	return &Printer{
		Of: of, at: &columns{day: of.Day.Format(time.DateOnly), width: of.Width},
		stacks: map[string]string{}, failing: map[string]string{}, timeline: map[string]began{}, lives: explain.NewTeller(mostRecords),
	}
}

// Run prints until ctx ends, and then what is still there.
func (p *Printer) Run(ctx context.Context, sub *journal.Subscription) {
	if !p.JSON && p.Running() {
		p.showBanner()
	}
	p.showAll(sub)
	for sub.Wait(ctx) == nil {
		p.showAll(sub)
		select {
		case <-ctx.Done():
		case <-time.After(together):
		}
	}
	p.showAll(sub)
}

// together is how long records gather before they are printed, after others were.
const together = 2 * time.Millisecond

// showAll shows what there is, written at once.
func (p *Printer) showAll(sub *journal.Subscription) {
	p.Out.Hold()
	defer p.Out.Release()
	for n := 1; ; n++ {
		rec, missed, ok := sub.TryNext()
		if !ok {
			return
		}
		p.of(&rec).Show(&rec, missed)
		if n%1000 == 0 {
			p.Out.Release()
			p.Out.Hold()
		}
	}
}

// Show prints a record, and says before it how many are missing.
func (p *Printer) Show(rec *journal.Record, missed uint64) {
	p.Missing(missed)
	if p.JSON {
		p.Out.Print(string(append(rec.AppendLineWithPID(nil), '\n')))
		if rec.Kind == journal.GenerationLoaded {
			p.overview()
		}
		return
	}
	p.tone = ""
	if line := p.line(rec); line != "" && p.loud(rec) {
		p.emit(rec, line)
	}
}

// Missing tells of records that could not be printed.
func (p *Printer) Missing(n uint64) {
	switch {
	case n == 0:
	case p.JSON:
		p.Out.Warn(fmt.Sprintf("the journal ran ahead: %d records are missing", n))
	default:
		p.Out.Print(p.Out.Paint(cli.Dim, fmt.Sprintf("... %d records are missing: they came faster than they were read", n)) + "\n")
	}
}

// emit prints a line, below the date when it is another one.
func (p *Printer) emit(rec *journal.Record, line string) {
	if !p.Wanted(rec) {
		return
	}
	if day := rec.Time.Local().Format(time.DateOnly); day != p.at.day {
		p.at.day = day
		line = p.Out.Paint(cli.Dim, day) + "\n" + line
	}
	p.Out.Print(line + "\n")
}

// Wanted reports whether a record is to be printed.
func (p *Printer) Wanted(rec *journal.Record) bool { return p.Wants == nil || p.Wants(rec) }

// line returns the line of a record; "" for none.
func (p *Printer) line(rec *journal.Record) string {
	lives := p.told(rec)
	switch rec.Kind {
	case journal.GenerationLoaded:
		clear(p.Refusals)
		if rec.Generation > 1 {
			p.note(rec, cli.Green, "reloaded", join(rec.App, "generation "+strconv.Itoa(rec.Generation)))
		}
		p.showBanner()
		return ""
	case journal.GenerationRefused:
		p.refused(rec)
		return ""
	case journal.EditUndone:
		p.note(rec, cli.Green, "undone", of(rec)+" is as generation "+strconv.Itoa(rec.Generation)+" again, and goes on")
		return ""
	case journal.FunctionError:
		return p.functionError(rec)
	case journal.ServiceUnreachable:
		p.note(rec, cli.Red, rec.Name+" unreachable", join(rec.Error, "is tried until it answers"))
		return ""
	case journal.ServiceBack:
		p.note(rec, cli.Green, rec.Name+" back", "after "+cli.RoundTime(rec.Delay))
		return ""
	case journal.ListenerLockLost:
		return p.format(rec, cli.Yellow, "lock lost", join(rec.Message, rec.Error))
	case journal.Received:
		delete(p.failing, rec.Function)
		p.begin(rec, lives)
		return p.verbose(rec, "received", triggerDetails(rec))
	case journal.AttemptStarted:
		if !p.Verbose {
			return ""
		}
		return p.counted(rec, cli.Dim, attemptWords(rec, "started"), counts(rec))
	case journal.AttemptEnded:
		colour := cli.Red
		if rec.Status == "succeeded" {
			colour = cli.Green
		}
		return p.counted(rec, colour, attemptWords(rec, strings.ReplaceAll(rec.Status, "_", " ")), counts(rec), cli.Cell{Text: explain.InWords(rec.Error)}) + p.stack(rec)
	case journal.RetryScheduled:
		if p.Pace() != clock.Auto && rec.Delay >= time.Second {
			return p.format(rec, cli.Dim, "waits "+cli.RoundTime(rec.Delay), "")
		}
		return p.verbose(rec, "waits "+cli.RoundTime(rec.Delay), "")
	case journal.RetryCancelled:
		return p.format(rec, cli.Yellow, "retry cancelled", explain.InWords(rec.Error))
	case journal.RetriesExhausted:
		if rec.Cause == string(retrycontext.CausePermanent) {
			return p.format(rec, cli.Yellow, "no further attempt: permanent", "")
		}
		return p.verbose(rec, "retries exhausted", rec.Cause)
	case journal.OutputRecorded:
		return p.recorded(rec)
	case journal.TableWritten:
		return p.verbose(rec, "table "+rec.Status, join(rec.Target, rec.Name, rec.Error))
	case journal.Settled:
		return p.settled(rec, lives)
	case journal.DeadLettered:
		if slices.ContainsFunc(lives, func(l explain.Part) bool { return l.Life.Buried() }) {
			return "" // the end of the delivery tells it
		}
		return p.format(rec, cli.Magenta, "dead lettered", deadLetterText(rec))
	case journal.EventAttempted:
		return p.eventAttempted(rec)
	case journal.EventDropped:
		return p.format(rec, cli.Magenta, "dropped", rec.Cause)
	case journal.LockExpired:
		return p.counted(rec, cli.Yellow, "lock expired", deliveryCount(rec), cli.Cell{Text: sessionText(rec)})
	case journal.EventDelayed:
		return p.format(rec, cli.Yellow, "event delayed", join(delay(rec), rec.MessageID, rec.Source, "its endpoint is on probation"))
	case journal.HandlerLog:
		return p.handlerLine(rec)
	case journal.ProcessStarted:
		return p.processStart(rec)
	case journal.ProcessExited:
		return p.processExit(rec)
	case journal.ClockMoved:
		if rec.Cause == "mode" {
			return p.format(rec, cli.Dim, "clock", ModeText(clock.Pace(rec.Name)))
		}
		return p.verbose(rec, "clock", join(rec.Cause, rec.Beside.Detail, delay(rec)))
	case journal.FaultInjected, journal.CircuitOpened, journal.CircuitHalfOpened, journal.CircuitClosed:
		return p.format(rec, cli.Yellow, words(rec.Kind), join(delay(rec), rec.Cause, rec.Message, rec.Name, rec.Error))
	}
	return p.verbose(rec, words(rec.Kind), join(rec.Source, rec.Name, rec.Error))
}

// functionError tells a function that cannot run; "" where the banner says so.
func (p *Printer) functionError(rec *journal.Record) string {
	switch { // what is wrong in files is in the banner
	case rec.Function == "" && rec.Source != "":
		return p.format(rec, cli.Red, "not subscribed", join(rec.Error, "is tried again"))
	case rec.HasDelay && p.failing[rec.Function] == rec.Error:
		return p.verbose(rec, "listener failed", "again in "+cli.RoundTime(rec.Delay))
	case rec.HasDelay:
		p.failing[rec.Function] = rec.Error
		again := "is started again until it runs"
		if kind := served.Of(rec.Trigger); kind != nil && kind.Remedy != nil {
			again = strings.TrimSuffix(again+"; "+kind.Remedy(rec.Error), "; ")
		}
		return p.format(rec, cli.Red, "listener failed", join(rec.Error, again))
	case strings.HasPrefix(rec.Message, "function could not be loaded"): // its files are in order
		return p.format(rec, cli.Red, "not loaded", rec.Error)
	case rec.Source != "": // of one partition or range
		return p.format(rec, cli.Red, "in trouble", join(rec.Source, rec.Message, rec.Error))
	}
	return ""
}

// refused says why an edit changes nothing, or why the app still does not run.
func (p *Printer) refused(rec *journal.Record) {
	runs := p.Running()
	if !runs && p.Refusals[rec.Error] || !p.Wanted(rec) {
		return
	}
	p.Refusals[rec.Error] = true
	p.note(rec, cli.Red, "refused", join(rec.App, rec.Error))
	for _, f := range rec.Fields {
		if f.Key == "hint" {
			p.Out.Hint(f.Value)
		}
	}
	if !runs && rec.App != "" && !OfProcess(rec.Name) {
		p.Out.Hint(fmt.Sprintf("the app %q waits in state Error, and the others go on: fix this and it is loaded again", rec.App))
	}
	if runs {
		p.Out.Hint("the running app goes on unchanged; fix this and the app is loaded again")
	}
}

// The columns of a line: time, function, delivery, what happened, counters, more.
const (
	deliveryWidth = 5
	whatWidth     = 20 // "attempt 10 succeeded"
	mostWidened   = 24 // of the function column, for names that are not a function's
)

// format puts a line together that counts nothing.
func (p *Printer) format(rec *journal.Record, sgr, what, more string) string {
	p.tone = sgr
	return p.lay(rec, cli.Cell{Text: what, Sgr: sgr, Width: whatWidth}, cli.Cell{Text: more})
}

// counted puts a line together with the column of counters.
func (p *Printer) counted(rec *journal.Record, sgr, what, counts string, more ...cli.Cell) string {
	p.tone, p.at.counts = sgr, max(p.at.counts, len(counts))
	return p.lay(rec, append([]cli.Cell{{Text: what, Sgr: sgr, Width: whatWidth}, {Text: counts, Width: p.at.counts}}, more...)...)
}

// lay puts cells behind the first cells of every line. The rest of a line too
// long for the terminal goes on below the function.
func (p *Printer) lay(rec *journal.Record, cells ...cli.Cell) string {
	name := rec.Function
	if name == "" {
		name = rec.Source
		if strings.Contains(name, "/") && len(name) <= mostWidened {
			p.at.width = max(p.at.width, len(name)) // an event subscription
		}
	}
	first := []cli.Cell{{Text: p.clock(rec), Sgr: cli.Dim}, {Text: name, Width: p.at.width}, {Text: rec.Delivery, Width: deliveryWidth}}
	return p.Out.Lay(p.Out.Columns(), 1, append(first, cells...)...)
}

// verbose is format for what only --verbose shows.
func (p *Printer) verbose(rec *journal.Record, what, more string) string {
	if !p.Verbose {
		return ""
	}
	return p.format(rec, cli.Dim, what, more)
}

// note prints a line about the app as a whole. Several lines, a compiler's, stay
// as they are.
func (p *Printer) note(rec *journal.Record, sgr, what, more string) {
	more = cli.PrintableLines(more)
	limit := p.Out.Columns()
	if strings.Contains(more, "\n") {
		limit = 0
	}
	line := p.Out.Lay(limit, 1, cli.Cell{Text: p.clock(rec), Sgr: cli.Dim}, cli.Cell{Text: what, Sgr: sgr})
	p.emit(rec, line+cli.Gap+cli.Wrap(more, cli.Visible(line)+len(cli.Gap), len(clockLayout)+len(cli.Gap), limit))
}

// clock shows the clock's time of a record.
func (p *Printer) clock(rec *journal.Record) string { return rec.Time.Local().Format(clockLayout) }

// clockLayout is the clock's time of day.
const clockLayout = "15:04:05.000"

func attemptWords(rec *journal.Record, status string) string {
	return "attempt " + strconv.Itoa(rec.Attempt) + " " + status
}

// counts are the two counters, which never move together: the count of the service,
// and the count of the loop inside a delivery.
func counts(rec *journal.Record) string {
	text := "retry_count=" + strconv.Itoa(rec.RetryCount())
	switch {
	case rec.HasPolicy && rec.MaxRetryCount < 0:
		text += "/unlimited"
	case rec.HasPolicy:
		text += "/" + strconv.Itoa(rec.MaxRetryCount)
	}
	if count := deliveryCount(rec); count != "" {
		text = count + " " + text
	}
	return text
}

// deliveryCount is empty where the source does not count.
func deliveryCount(rec *journal.Record) string {
	if rec.DeliveryCount <= 0 {
		return ""
	}
	return "delivery_count=" + strconv.FormatInt(rec.DeliveryCount, 10)
}

// settled prints the end of a delivery, and how long its message took when it is
// the message's end too.
func (p *Printer) settled(rec *journal.Record, lives []explain.Part) string {
	colour, last := cli.Green, true
	switch rec.Decision {
	case "released", "abandoned":
		colour, last = cli.Yellow, false
	case "poisoned", "dead_lettered", "undecodable", "dropped", "lock_lost", "not_checkpointed":
		colour = cli.Magenta
	}
	text, refused := Answered(rec)
	if refused {
		colour, last = cli.Yellow, false
	}
	if rec.Target != "" {
		text = "to " + strconv.Quote(rec.Target)
	}
	note := rec.Message
	if rec.Target != "" && strings.Contains(note, "'"+rec.Target+"'") && !p.Verbose {
		note = "" // the platform's sentence, which says the same
	}
	if dead := deadLetter(lives); dead != nil {
		colour, last, text = cli.Magenta, true, deadLetterText(dead)
		if rec.Decision != "dead_lettered" {
			text = "dead-lettered " + text
		}
	}
	text = join(text, note, explain.InWords(rec.Error))
	took := ""
	if last {
		took = p.ended(rec, lives)
	}
	line := p.counted(rec, colour, words(journal.Kind(rec.Decision)), deliveryCount(rec), cli.Cell{Text: text}, cli.Cell{Text: took, Sgr: cli.Dim})
	if rec.Decision == "undecodable" && !p.hinted && p.Wanted(rec) {
		p.hinted = true
		p.Out.Hint(`a body is not base64: send it as base64, or set extensions.queues.messageEncoding to "none" in host.json (current SDKs send plain text)`)
	}
	return line
}

// recorded says that an output was set which goes nowhere. The value is for --verbose,
// and for peek output.
func (p *Printer) recorded(rec *journal.Record) string {
	text := "as " + strconv.Quote(rec.Name) + " for " + rec.Target
	for _, f := range rec.Fields {
		switch {
		case f.Key == "bytes":
			text = join(text, f.Value+" bytes")
		case f.Key == "value" && p.Verbose:
			text = join(text, f.Value)
		}
	}
	return p.format(rec, cli.Green, "recorded", text)
}

// triggerDetails is the platform's line about a message of a trigger for which it
// has more to say than ID and delivery count.
func triggerDetails(rec *journal.Record) string {
	fields := slices.DeleteFunc(slices.Clone(rec.Fields), func(f journal.Field) bool { return trace.IsField(f.Key) })
	if len(fields) == 0 || fields[0].Key == "messages" {
		return ""
	}
	count := "DeliveryCount"
	if kind := served.Of(rec.Trigger); kind != nil {
		count = cmp.Or(kind.CountName, count)
	}
	parts := []string{"MessageId: " + rec.MessageID, count + ": " + strconv.FormatInt(rec.DeliveryCount, 10)}
	for _, f := range fields {
		parts = append(parts, f.Key+": "+f.Value)
	}
	return "Trigger Details: " + strings.Join(parts, ", ")
}

// told are the lives that a record is of.
func (p *Printer) told(rec *journal.Record) []explain.Part {
	for _, key := range p.lives.Changes().Dropped {
		delete(p.timeline, key)
	}
	p.lives.Flush()
	return p.lives.Add(rec)
}

// begin notes when a function first had a message. Clients of a listener make no
// attempts: their messages have no end to report.
func (p *Printer) begin(rec *journal.Record, lives []explain.Part) {
	if rec.Function == "" || len(lives) == 0 {
		return
	}
	life := lives[0].Life
	if _, known := p.timeline[life.Key]; !known {
		b := began{virtual: rec.Time, attempts: life.Ended()}
		if rec.Seq >= p.Since {
			b.real = time.Now()
		}
		p.timeline[life.Key] = b
	}
}

// ended says how long the message took: in the clock's time, and where that does not
// follow the wall also in real time, as seen from here.
func (p *Printer) ended(rec *journal.Record, lives []explain.Part) string {
	if len(lives) == 0 {
		return ""
	}
	life := lives[0].Life
	t, ok := p.timeline[life.Key]
	if !ok {
		return ""
	}
	delete(p.timeline, life.Key)
	took := cli.RoundTime(rec.Time.Sub(t.virtual))
	switch {
	case p.Pace() == clock.Real:
	case t.real.IsZero():
		took += " virtual"
	default:
		took += " virtual, " + cli.RoundTime(time.Since(t.real)) + " real"
	}
	return "(" + cli.Plural(life.Ended()-t.attempts, "attempt") + ", " + took + ")"
}

// quoted quotes a value that would not read as one word.
func quoted(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"=") {
		return strconv.Quote(s)
	}
	return s
}

// processStart names the process of a language worker, for debuggers.
func (p *Printer) processStart(rec *journal.Record) string {
	shown := *rec
	shown.Function = journal.Qualified(rec.App, rec.Name)
	pid := ""
	if rec.Beside.PID != 0 {
		pid = "pid " + strconv.Itoa(rec.Beside.PID)
	}
	if len(languages.Of(rec.Name).Interpreters) > 0 {
		return p.format(&shown, cli.Dim, "process started", pid)
	}
	return p.verbose(&shown, "process started", pid)
}

// processExit says that a handler process has ended, unless the host is ending.
func (p *Printer) processExit(rec *journal.Record) string {
	if p.Ends(rec.Status) {
		return ""
	}
	shown := *rec
	shown.Function = journal.Qualified(rec.App, rec.Name)
	if rec.Error == "" && !rec.HasDelay {
		return p.verbose(&shown, "process ended", join(rec.Status, rec.Cause))
	}
	again := ""
	if rec.HasDelay {
		again = "again at once"
		if rec.Delay > 0 {
			again = "again in " + cli.RoundTime(rec.Delay)
		}
	}
	return p.format(&shown, cli.Red, "process ended", join(rec.Status, rec.Error, again, rec.Beside.Detail))
}

func (p *Printer) overview() *Banner {
	if p.Loaded == nil {
		return nil
	}
	return p.Loaded()
}

// showBanner prints the running app; after a reload, only the differences from the
// last banner.
func (p *Printer) showBanner() {
	b := p.overview()
	if b == nil {
		return
	}
	if p.App == "" {
		p.at.width = b.nameWidth
	} else {
		p.at.width = max(p.at.width, len([]rune(p.App+"/"))+b.nameWidth)
	}
	if p.shown == nil {
		p.Out.Print(b.ready() + b.text())
	} else if news := b.since(p.shown); news != "" {
		p.Out.Print(news)
	}
	p.faults = b.faults(p.faults)
	p.shown = b
}

// OfProcess reports whether a file, or what stands for one, is read once per process.
func OfProcess(file string) bool { return file == "--set" || file == "local.settings.json" }

// words turns a name of the journal into words.
func words(k journal.Kind) string { return strings.ReplaceAll(string(k), "_", " ") }

func delay(rec *journal.Record) string {
	if !rec.HasDelay {
		return ""
	}
	return "for " + cli.RoundTime(rec.Delay)
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

// of names the app of a record among several.
func of(rec *journal.Record) string {
	if rec.App == "" {
		return "the app"
	}
	return fmt.Sprintf("the app %q", rec.App)
}
