package explain

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
)

// A Tale is what has happened to one instance of an orchestrator, or to one entity, as far as
// the journal has it (spec durable 12.2). Replays are no lines, the pieces of a long timer and
// the extra timers of retries are one with what they belong to, and a wait shows its end when
// that is known.
type Tale struct {
	ID       string `json:"id"`
	Hub      string `json:"hub"`
	Function string `json:"function"` // the orchestrator or entity

	Lines []TaleLine `json:"lines"`

	// Over is set when the instance is finished; Next says what it waits for otherwise.
	Over bool   `json:"over"`
	Next string `json:"next,omitempty"`
}

// A TaleLine is one thing that happened.
type TaleLine struct {
	Seq     uint64     `json:"seq"` // of its first record in the journal
	Time    time.Time  `json:"time"`
	Until   *time.Time `json:"until,omitempty"` // the end of a wait, if it is known
	Who     string     `json:"who"`             // the instance, an activity with its number, "waits 1h", an event
	What    string     `json:"what"`
	Detail  string     `json:"detail,omitempty"` // an input, an error
	Finding bool       `json:"finding,omitempty"`

	what    string // of a wait: timer, retry, piece
	numbers []int
}

// Tales tells the instances that records show and whose id is id, or begins with it when none
// is; "" means all. They are in the order of their first records.
func Tales(records []journal.Record, id string) []*Tale {
	whole := map[string]*teller{}
	var order []*teller
	exact := false
	for i := range records {
		r := &records[i]
		instance, ok := instanceOf(r)
		if !ok || id != "" && !begins(instance, id) {
			continue
		}
		hub := r.Source
		if r.Trigger == activityTrigger {
			hub, _, _ = strings.Cut(r.Source, "/")
		}
		key := strings.ToLower(hub) + "/" + instance
		t := whole[key]
		if t == nil {
			if r.Service != journal.Durable {
				continue // its start is no longer kept
			}
			t = &teller{tale: &Tale{ID: instance, Hub: hub, Function: r.Function}, open: map[int]*scheduled{}}
			whole[key] = t
			order = append(order, t)
		}
		exact = exact || instance == id
		t.add(r)
	}
	var out []*Tale
	for _, t := range order {
		if !exact || t.tale.ID == id {
			out = append(out, t.end())
		}
	}
	return out
}

const activityTrigger = "activityTrigger"

// instanceOf is the instance that a record is of, if it is of one.
func instanceOf(r *journal.Record) (id string, ok bool) {
	switch {
	case r.Service == journal.Durable:
		return r.MessageID, r.MessageID != ""
	case r.Trigger == activityTrigger && r.MessageID != "":
		id, _, ok = cutLast(r.MessageID, '#')
		return id, ok
	}
	return "", false
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// A teller tells one instance.
type teller struct {
	tale  *Tale
	start time.Time
	open  map[int]*scheduled
	fired *scheduled // the piece of a timer that has fired last, and when
	at    time.Time

	activities int
	next       string
}

// scheduled is what has a number that has not ended.
type scheduled struct {
	name, what, attempt string
	line                int // of a wait; -1: none
}

func (t *teller) line(r *journal.Record, who, what, detail string) *TaleLine {
	t.tale.Lines = append(t.tale.Lines, TaleLine{Seq: r.Seq, Time: r.Time, Who: who, What: what, Detail: detail})
	return &t.tale.Lines[len(t.tale.Lines)-1]
}

func (t *teller) add(r *journal.Record) {
	if t.start.IsZero() {
		t.start = r.Time
	}
	id, number := t.tale.ID, atoi(field(r, "number"))
	switch r.Kind {
	case journal.InstanceStarted:
		t.started(r)
	case journal.TaskScheduled:
		t.scheduled(r, number)
	case journal.TaskEnded:
		t.ended(r, number)
	case journal.AttemptEnded:
		t.attempt(r)
	case journal.EventRaised:
		t.line(r, "event "+r.Name, r.Status+" by "+cmp.Or(field(r, "by"), "a client"), "")
	case journal.InstanceControlled:
		t.line(r, id, r.Status+" by "+cmp.Or(r.Cause, "a client"), r.Error)
	case journal.OrchestrationTurn:
		t.next = field(r, "open")
		if r.Status == "aborted" {
			t.line(r, id, "turn "+field(r, "turn")+" aborted, again in "+Roughly(r.Delay), r.Error)
		}
	case journal.EntityBatch:
		t.batch(r)
	case journal.InstanceEnded:
		t.over(r)
	case journal.DurableFinding:
		t.line(r, "! "+r.Name, r.Message, "").Finding = true
	}
}

func (t *teller) started(r *journal.Record) {
	by := "by " + r.Cause
	switch r.Cause {
	case "parent":
		by = "by " + field(r, "parent") + " #" + field(r, "number")
	case "continueAsNew":
		by = "as new: its history is empty"
	case "restart":
		by = "anew"
	}
	t.tale.Over = false
	t.open, t.fired = map[int]*scheduled{}, nil
	t.line(r, t.tale.ID, r.Function+" started "+by, field(r, "input"))
}

func (t *teller) scheduled(r *journal.Record, number int) {
	s := &scheduled{name: r.Name, what: field(r, "what"), attempt: field(r, "attemptOf"), line: -1}
	t.open[number] = s
	switch s.what {
	case "activity":
		t.activities++
	case "extra": // part of the retries that have ended
	case "timer", "retry", "piece":
		t.wait(r, s, number)
	case "child":
		t.line(r, numbered(s.name, number), "child "+field(r, "instance")+" started", "")
	case "signal", "call":
		t.line(r, s.name, map[string]string{"signal": "signalled", "call": "called"}[s.what]+", #"+strconv.Itoa(number), "")
	case "http":
		t.line(r, numbered(s.name, number), "request sent", "")
	}
}

// wait is the line of a timer. A piece goes on with the line of the piece before it, which has
// fired in the same turn: at a pace of its own the clock is a little later than the piece was due.
func (t *teller) wait(r *journal.Record, s *scheduled, number int) {
	until := r.Time.Add(r.Delay)
	if f := t.fired; s.what == "piece" && f != nil && t.at.Equal(r.Time) {
		s.line, t.fired = f.line, nil
		l := &t.tale.Lines[f.line]
		l.Until, l.numbers = &until, append(l.numbers, number)
		l.tell()
		return
	}
	s.line = len(t.tale.Lines)
	l := t.line(r, "", "", "")
	l.Until, l.what, l.numbers = &until, s.what, []int{number}
	l.tell()
}

// tell puts a wait into words.
func (l *TaleLine) tell() {
	l.Who = "waits " + Roughly(l.Until.Sub(l.Time))
	names := make([]string, len(l.numbers))
	for i, n := range l.numbers {
		names[i] = "#" + strconv.Itoa(n)
	}
	l.What = "timer " + strings.Join(names, ", ")
	switch {
	case l.what == "retry":
		l.What = "retry, " + l.What
	case len(names) > 1:
		l.What += " (pieces of 3 days)"
	}
}

func (t *teller) ended(r *journal.Record, number int) {
	s := t.open[number]
	if s == nil {
		s = &scheduled{name: r.Name, what: field(r, "what"), line: -1}
	}
	delete(t.open, number)
	switch s.what {
	case "timer", "retry", "piece":
		if r.Status == "fired" && s.what == "piece" && s.line >= 0 {
			t.fired, t.at = s, r.Time
		}
		if r.Status == "cancelled" && s.line >= 0 {
			l := &t.tale.Lines[s.line]
			at := r.Time
			l.Until = &at
			l.tell()
			l.What += ", cancelled"
		}
		return
	case "extra":
		return
	}
	outcome := map[string]string{"succeeded": "ok"}[r.Status]
	if outcome = cmp.Or(outcome, r.Status); s.attempt != "" {
		k, n, _ := strings.Cut(s.attempt, "/")
		outcome = "attempt " + k + " of " + n + " " + outcome
	}
	if r.Status == "ignored" {
		outcome = "its end is heard by nobody"
	}
	t.line(r, numbered(s.name, number), outcome, reason(r.Error))
}

// reason is the text of a failure without the words that all have in front.
func reason(text string) string {
	if _, rest, found := strings.Cut(text, "' failed: "); found && (strings.HasPrefix(text, "Activity function '") || strings.HasPrefix(text, "Orchestrator function '")) {
		return strings.TrimSpace(rest)
	}
	return text
}

// attempt tells what a policy of the host tries again inside one delivery.
func (t *teller) attempt(r *journal.Record) {
	if !r.HasPolicy || r.Status == "succeeded" {
		return
	}
	_, number, _ := cutLast(r.MessageID, '#')
	t.line(r, r.OwnFunction()+" #"+number, fmt.Sprintf("attempt %d of one delivery %s", r.Attempt, strings.ReplaceAll(r.Status, "_", " ")), r.Error)
}

func (t *teller) batch(r *journal.Record) {
	if r.Status == "aborted" {
		t.line(r, t.tale.ID, "batch aborted, again in "+Roughly(r.Delay), r.Error)
		return
	}
	detail := ""
	if failed := field(r, "failed"); atoi(failed) > 0 {
		detail = failed + " failed"
	}
	if field(r, "exists") == "false" {
		detail = strings.TrimPrefix(detail+", it does not exist now", ", ")
	}
	t.line(r, t.tale.ID, field(r, "operations"), detail)
}

func (t *teller) over(r *journal.Record) {
	words := []string{Roughly(r.Delay)}
	for _, n := range []struct {
		count int
		what  string
	}{{t.activities, "activity"}, {atoi(field(r, "turns")), "turn"}} {
		if n.count != 0 {
			words = append(words, counted(n.count, n.what))
		}
	}
	detail := reason(r.Error)
	if detail == "" {
		detail = field(r, "output")
	}
	t.line(r, t.tale.ID, r.Status+" after "+strings.Join(words, ", "), detail)
	t.tale.Over = true
}

// end completes the tale: what has not ended, and what comes next.
func (t *teller) end() *Tale {
	if !t.tale.Over && t.next != "" {
		t.tale.Next = "waits for " + t.next
	}
	return t.tale
}

func numbered(name string, number int) string { return name + " #" + strconv.Itoa(number) }

func atoi(text string) int {
	n, _ := strconv.Atoi(text) // 0 for what is none
	return n
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Text is the whole tale for a person, with a line feed at its end. Times are those of the day
// of the first line; from the second day on they count from it.
func (t *Tale) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "orchestration %s of %s, function %s\n", t.ID, t.Hub, t.Function)
	if strings.HasPrefix(t.ID, "@") {
		b.Reset()
		fmt.Fprintf(&b, "entity %s of %s\n", t.ID, t.Hub)
	}
	width, middle := 0, 0
	for i := range t.Lines {
		width = max(width, min(len([]rune(t.Lines[i].Who)), 24))
		if t.Lines[i].Detail != "" {
			middle = max(middle, min(len([]rune(t.Lines[i].What)), 40))
		}
	}
	for i := range t.Lines {
		l := &t.Lines[i]
		line := fmt.Sprintf("  %-10s %-*s  %-*s  %s", t.at(l.Time), width, l.Who, middle, l.What, oneLine(l.Detail))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if t.Next != "" {
		fmt.Fprintf(&b, "  %-10s %s\n", "next", t.Next)
	}
	return b.String()
}

// at is the time of a line.
func (t *Tale) at(now time.Time) string {
	if since := now.Sub(t.Lines[0].Time); since >= 24*time.Hour {
		return "+" + Span(since.Round(time.Minute))
	}
	return now.UTC().Format(time.TimeOnly)
}

// oneLine is the beginning of a text of several lines.
func oneLine(text string) string {
	const most = 120
	text, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(text); len(r) > most {
		text, more = string(r[:most]), true
	}
	if more {
		text += "…"
	}
	return text
}
