package explain

import (
	"fmt"
	"strings"
	"time"
)

// A Layer is who decided what an entry says.
type Layer string

// The layers, from the outside to the inside.
const (
	Service Layer = "service" // the queue, the entity, Event Grid by itself
	Host    Layer = "host"    // starts, reloads, the circuit breaker, faults that were asked for
	Trigger Layer = "trigger" // the listener: it takes deliveries and settles them
	Policy  Layer = "policy"  // the retry policy, in one delivery
	Handler Layer = "handler" // the function's code, and what it declared
)

// A Life is what has happened to one message for one function, as far as the journal
// has it. Each message of a batch has its own. A request, a tick and a call by hand count
// as messages.
type Life struct {
	// Message is the message's identity at its service; a request and a tick have none.
	Message  string `json:"message,omitempty"`
	Service  string `json:"service,omitempty"`  // whose message it is, as in journal.Record
	Number   int64  `json:"number,omitempty"`   // at its entity: tells messages of one identity apart; 0: its service does not count
	Function string `json:"function,omitempty"` // empty: no function has received it
	Trigger  string `json:"trigger,omitempty"`
	Source   string `json:"source,omitempty"`

	// Policy is the function's retry policy in words, Expected how often a message runs
	// that always fails, and where it ends: the words of "redeliver check". They are those of
	// the app that runs now; empty: it has no such function.
	Policy   string `json:"policy,omitempty"`
	Expected string `json:"expected,omitempty"`

	// Deliveries and Attempts are how many the journal has.
	Deliveries int `json:"deliveries"`
	Attempts   int `json:"attempts"`

	// Entries are what happened, in order.
	Entries []Entry `json:"entries"`

	// Over is set when nothing more will happen to the message by itself.
	Over bool `json:"over"`
	// Next says what comes next, or why nothing does. NextAt is when; nil: at once, or the
	// journal does not say it.
	Next   string     `json:"next"`
	NextAt *time.Time `json:"nextAt,omitempty"`

	twin bool // another life has the same name
}

// An Entry is one thing that happened.
type Entry struct {
	Seq   uint64    `json:"seq"` // of the record in the journal
	Time  time.Time `json:"time"`
	Layer Layer     `json:"layer"`

	Delivery      string `json:"delivery,omitempty"`
	DeliveryCount int64  `json:"deliveryCount,omitempty"`
	Attempt       int    `json:"attempt,omitempty"`

	Text string `json:"text"`

	// Decided is the layer that decided what follows an attempt, and Then what that is.
	Decided Layer  `json:"decided,omitempty"`
	Then    string `json:"then,omitempty"`
	// Formula is how a wait came about, where the policy gave it.
	Formula string `json:"formula,omitempty"`
}

// Lines are the entries, one a line, with the time since from.
func (l *Life) Lines(from time.Time) []string {
	lines := make([]string, len(l.Entries))
	for i := range l.Entries {
		lines[i] = l.Entries[i].line(from)
	}
	return lines
}

func (e *Entry) line(from time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s ", "+"+Span(e.Time.Sub(from)))
	if e.Attempt > 0 {
		b.WriteString("  ")
	}
	b.WriteString(e.Text)
	if e.Then != "" {
		fmt.Fprintf(&b, "; %s: %s", e.Decided, e.Then)
	}
	if e.Formula != "" {
		fmt.Fprintf(&b, " (%s)", e.Formula)
	}
	return b.String()
}

// Text is the whole life for a person, with a line feed at its end. Times count from the
// first entry.
func (l *Life) Text() string {
	var b strings.Builder
	b.WriteString(l.Title() + "\n")
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", name, text)
		}
	}
	fact("retry", l.Policy)
	fact("expected", l.Expected)
	var from time.Time
	if len(l.Entries) > 0 {
		from = l.Entries[0].Time
		fact("begins", from.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	}
	for _, line := range l.Lines(from) {
		b.WriteString("  " + line + "\n")
	}
	next := l.Next
	if l.NextAt != nil {
		next += fmt.Sprintf(" at +%s (%s)", Span(l.NextAt.Sub(from)), l.NextAt.UTC().Format("15:04:05.000 UTC"))
	}
	fact("next", next)
	return b.String()
}

// Title names the message and its function.
func (l *Life) Title() string {
	what := "delivery"
	switch {
	case l.Message != "":
		what = "message " + l.Message
		if l.twin {
			what += fmt.Sprintf(" (number %d)", l.Number)
		}
	case len(l.Entries) > 0 && l.Entries[0].Delivery != "":
		what = "delivery " + l.Entries[0].Delivery
	}
	if l.Source != "" {
		what += " of " + l.Source
	}
	if l.Function != "" {
		what += ", function " + l.Function
	}
	if l.Trigger != "" {
		what += " (" + l.Trigger + ")"
	}
	return what
}

// Roughly is Span in whole seconds, for lengths of a minute or more that nobody counts in
// milliseconds.
func Roughly(d time.Duration) string {
	if d >= time.Minute {
		d = d.Round(time.Second)
	}
	return Span(d)
}

// Span writes a length of time as Go does, without needless units, with days.
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
