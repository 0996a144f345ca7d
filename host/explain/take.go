package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
)

// Limits of what is told, in bytes of a text, and in lines and marks at once.
const (
	longestText = 8192
	mostLines   = 500
)

// take adds a record to a life, of one of so many messages. The delivery is nil where a
// service did something by itself.
func (c *Course) take(r *journal.Record, member, of int) *Delivery {
	c.touch(r)
	if r.Delivery == "" || r.Function == "" {
		c.mark(r)
		return nil
	}
	return c.handle(r, member, of)
}

func (c *Course) touch(r *journal.Record) {
	c.Records++
	c.Latest = r.Seq
	c.End = max(c.Start, instant(r.Time)) // a clock can be set back
}

// handle takes what happened in a delivery.
func (c *Course) handle(r *journal.Record, member, of int) *Delivery {
	d := c.delivery(r, member, of)
	switch r.Kind {
	case journal.Received:
		for _, f := range r.Fields {
			d.Inputs = append(d.Inputs, []string{f.Key, f.Value})
		}
		c.Place, c.Gone = r.Source, false
		c.say(Running, "received")
	case journal.AttemptStarted:
		c.attempt(d, r)
		if !c.Gone {
			c.say(Running, "running")
		}
	case journal.AttemptEnded:
		c.attemptEnded(d, c.attempt(d, r), r)
	case journal.RetryScheduled:
		if a := d.last; a != nil {
			a.Delay = new(span(r.Delay))
			d.tell(a)
		}
		c.End = max(c.End, instant(r.Time)+span(r.Delay))
		if !c.Gone {
			c.say(Waiting, "retry")
		}
	case journal.RetryCancelled:
		d.Cause = "cancelled"
	case journal.RetriesExhausted:
		d.Cause = cmp.Or(r.Cause, "exhausted")
	case journal.Settled:
		c.settled(d, r)
	case journal.HandlerLog:
		if len(c.Lines) >= mostLines {
			c.Lines = slices.Delete(c.Lines, 0, 1)
		}
		text := r.Message
		for _, f := range r.Fields {
			text += "  " + f.Key + "=" + f.Value
		}
		c.Lines = append(c.Lines, Line{Seq: r.Seq, Time: instant(r.Time), Delivery: d.ID, Attempt: r.Attempt, Level: r.Level, Text: cut(text)})
	default:
		c.Marks = append(c.Marks, markOf(r))
	}
	return d
}

// delivery is the one of a record. One that is received is new, whoever had its name in a run
// of the host before.
func (c *Course) delivery(r *journal.Record, member, of int) *Delivery {
	named := func(d *Delivery) bool { return d.ID == r.Delivery }
	var d *Delivery
	if r.Kind == journal.Received {
		c.inWork = slices.DeleteFunc(c.inWork, named)
	} else if i := slices.IndexFunc(c.inWork, named); i >= 0 {
		d = c.inWork[i]
	} else if c.latest != nil && named(c.latest) {
		d = c.latest
	}
	if d == nil {
		d = &Delivery{ID: r.Delivery, Count: r.DeliveryCount, Seq: r.Seq, Start: instant(r.Time), Member: member, Batch: of}
		if d.Count == 0 {
			d.Count = int64(c.deliveries) + 1
		}
		if c.deliveries++; member == 0 {
			c.Own.Deliveries++
		}
		if r.HasPolicy {
			d.Limit = new(r.MaxRetryCount)
		}
		c.inWork, c.latest = append(c.inWork, d), d
	}
	if d.Invocation == "" {
		d.Invocation = r.Invocation
	}
	if !d.told {
		d.told = true
		c.Deliveries = append(c.Deliveries, d)
	}
	return d
}

func (c *Course) attempt(d *Delivery, r *journal.Record) *Try {
	a := d.last
	if a == nil || a.Number != r.Attempt {
		a = &Try{Number: r.Attempt, Seq: r.Seq, Start: instant(r.Time), began: r.Time}
		d.last = a
		if c.Attempts++; d.Member == 0 {
			c.Own.Attempts++
		}
	}
	d.tell(a)
	return a
}

// tell has an attempt told.
func (d *Delivery) tell(a *Try) {
	if !a.told {
		a.told = true
		d.Attempts = append(d.Attempts, a)
	}
}

func (c *Course) attemptEnded(d *Delivery, a *Try, r *journal.Record) {
	a.End, a.Status = instant(r.Time), r.Status
	if r.Error != "" {
		a.Error = cut(withoutFunction(r.Error))
		c.Error = a.Error
	}
	a.Elapsed, a.Stack = r.Beside.Elapsed.Milliseconds(), cut(r.Beside.Stack)
	if r.Status == "succeeded" {
		return
	}
	if c.Failures++; d.Member == 0 {
		c.Own.Failures++
	}
}

// withoutFunction is a failure without the function's name before it.
func withoutFunction(text string) string {
	if after, ok := strings.CutPrefix(text, `function "`); ok {
		if name, rest, ok := strings.Cut(after, `": `); ok && !strings.Contains(name, `"`) {
			return rest
		}
	}
	return text
}

// settled takes the end of a delivery.
func (c *Course) settled(d *Delivery, r *journal.Record) {
	d.End, d.Decision, d.Target, d.Remark, d.Answer = instant(r.Time), r.Decision, r.Target, cut(r.Message), field(r, "http_status")
	c.inWork = slices.DeleteFunc(c.inWork, func(o *Delivery) bool { return o == d })
	c.ended = r.Time
	if c.buried != nil && (len(c.inWork) == 0 || c.now == r.Delivery) { // only the latest can have made the message a dead letter
		d.Dead, c.buried = c.buried, nil
	}
	c.copied(r)
	c.conclude(r, d.last != nil && d.last.Status != "succeeded", d.Answer)
}

// copied notes that the message has gone on under another identity.
func (c *Course) copied(r *journal.Record) {
	if id := copyOf(r); id != "" {
		c.Copy = id
	}
}

// conclude says how a life stands after a settlement.
func (c *Course) conclude(r *journal.Record, failed bool, answer string) {
	if c.Gone { // its service, or another delivery, was faster
		return
	}
	decision := triggers.Decision(r.Decision)
	switch _, back := returns[decision]; {
	case decision == triggers.Poisoned, decision == triggers.DeadLettered, decision == triggers.Dropped, decision == triggers.Undecodable:
		c.bury(r, decision != triggers.Dropped && r.Error == "")
	case back, decision == triggers.Deferred:
		if len(c.inWork) > 0 { // what the handler has settled itself may be in work again
			c.say(Running, "running")
		} else {
			c.say(Waiting, inWords(r.Decision))
		}
	default:
		_, ends := endings[decision]
		if r.Error == "" && (ends || decision == triggers.Responded && r.MessageID == "") || r.Message == eventhubs.NoteOff {
			c.Gone, c.Place = true, ""
		}
		state := inWords(r.Decision)
		if answer != "" {
			state += " " + answer
		}
		if failed {
			c.say(Failed, state)
		} else {
			c.say(Succeeded, state)
		}
	}
}

// bury says that the message was given up, for good unless it is left where it is.
func (c *Course) bury(r *journal.Record, gone bool) {
	state := inWords(cmp.Or(r.Decision, string(r.Kind)))
	if r.Target != "" {
		c.Grave = r.Target
		state += ": " + r.Target
	}
	c.say(Dead, state)
	if c.Gone = gone; !gone {
		return
	}
	switch {
	case r.Kind == journal.DeadLettered:
		c.Place = r.Target
	case triggers.Decision(r.Decision) == triggers.DeadLettered:
		c.Place += "/$DeadLetterQueue"
	default:
		c.Place = ""
	}
}

// mark takes what a service did by itself.
func (c *Course) mark(r *journal.Record) {
	c.Marks = append(c.Marks, markOf(r))
	c.marks++
	c.copied(r)
	if r.HasDelay {
		c.End = max(c.End, instant(r.Time)+span(r.Delay))
	}
	if r.Error != "" && c.Error == "" {
		c.Error = cut(r.Error)
	}
	switch r.Kind {
	case journal.Enqueued:
		c.enqueued(r)
	case journal.DeadLettered, journal.EventDropped, journal.Expired:
		if r.Kind == journal.DeadLettered && len(c.inWork) > 0 {
			c.buried = new(*r)
		}
		c.bury(r, true)
	case journal.Forwarded:
		c.forwarded(r)
	case journal.LockExpired:
		if !c.Gone {
			c.say(Waiting, "lock expired")
		}
	case journal.EventAttempted:
		if delivered(r) {
			c.Place = ""
		}
		if r.Delay > 0 {
			c.say(Waiting, "next delivery")
		} else if c.Function == "" {
			c.say(Succeeded, r.Status)
		}
	case journal.Settled:
		c.conclude(r, false, field(r, "http_status"))
	}
}

func (c *Course) enqueued(r *journal.Record) {
	if r.Status == "duplicate" {
		if c.marks == 1 && c.deliveries == 0 {
			c.say(Dead, "a duplicate")
		}
		return
	}
	c.Place, c.Gone = r.Source, false
	if c.Outcome == Running {
		return
	}
	in := "in "
	if r.Status == "scheduled" {
		in = "scheduled "
	}
	if c.say(Queued, in+r.Source); r.Delay > 0 {
		c.Due = instant(r.Time) + span(r.Delay)
	}
}

func (c *Course) forwarded(r *journal.Record) {
	c.Place = r.Target
	if c.Gone = copyOf(r) != "" || c.leaves(r); c.Gone {
		c.Place = ""
	}
	switch r.Cause {
	case "by hand":
		c.Grave, c.Gone = cmp.Or(r.Target, c.Grave), true
		c.say(Dead, "given up by hand: "+r.Target)
	case "redrive":
		c.say(Queued, "in "+r.Target)
	default:
		c.say(Waiting, "in "+r.Target)
	}
}

// leaves reports whether a message that is forwarded leaves this life: another entity begins one.
func (c *Course) leaves(r *journal.Record) bool {
	return r.Service == journal.ServiceBus && entity(r.Source) != entity(r.Target) && c.Function != ""
}

// hosts takes what is about the host, or about all messages of a place.
func (t *Teller) hosts(r *journal.Record) {
	switch r.Kind {
	case journal.Purged:
		for _, c := range t.order {
			if c.Place != "" && c.Service == r.Service && strings.EqualFold(c.Place, r.Source) {
				t.removed(c, r, "purged")
			}
		}
	case journal.StateLoaded:
		for _, c := range t.order {
			if c.Place != "" && c.Message != "" {
				t.removed(c, r, "gone with its state")
			}
		}
	}
	if text := markOfHost(r); text != "" {
		t.changes.Host = append(t.changes.Host, Mark{Seq: r.Seq, Time: instant(r.Time), Kind: string(r.Kind), Text: text, Delay: span(r.Delay)})
	}
}

// removed says that the message was removed by hand.
func (t *Teller) removed(c *Course, r *journal.Record, state string) {
	c.touch(r)
	t.records++
	c.Marks = append(c.Marks, markOf(r))
	c.Grave, c.Place, c.Gone = "", "", true
	c.say(Dead, state)
	t.changed(c)
}

// changed has a life told at the next Flush.
func (t *Teller) changed(c *Course) {
	if !c.told {
		c.told = true
		t.changes.Lives = append(t.changes.Lives, c)
	}
}

// Changes are what has changed since the last Flush.
func (t *Teller) Changes() Changes { return t.changes }

// Flush says that the changes were told, and keeps of them only what is needed to go on.
func (t *Teller) Flush() {
	for i, c := range t.changes.Lives {
		for _, d := range c.Deliveries {
			for _, a := range d.Attempts {
				a.told = false
			}
			d.told, d.Attempts, d.Inputs = false, nil, nil
		}
		c.told, c.Deliveries, c.Marks, c.Lines = false, nil, nil, nil
		t.changes.Lives[i] = nil
	}
	t.changes.Lives, t.changes.Dropped, t.changes.Host = t.changes.Lives[:0], t.changes.Dropped[:0], t.changes.Host[:0]
}

func markOf(r *journal.Record) Mark {
	return Mark{Seq: r.Seq, Time: instant(r.Time), Kind: string(r.Kind), Text: cut(markText(r)), Delay: span(r.Delay)}
}

func markText(r *journal.Record) string {
	kind := inWords(string(r.Kind))
	if r.Cause != "" {
		kind += " (" + r.Cause + ")"
	}
	switch r.Kind {
	case journal.Enqueued:
		return cmp.Or(r.Status, "enqueued") + " in " + r.Source
	case journal.Forwarded, journal.DeadLettered:
		text := inWords(string(r.Kind)) + " to " + r.Target + strings.TrimPrefix(kind, inWords(string(r.Kind)))
		return joined(text, r.Error)
	case journal.TableWritten:
		return joined("table "+r.Target, r.Status, r.Error)
	case journal.EventAttempted:
		return strings.TrimRight("Event Grid has the answer "+r.Status+" "+field(r, "http_status"), " ")
	}
	return joined(kind, r.Status, r.Message, r.Error)
}

// markOfHost is what the axis of time says of the host; empty for what is of a partition or
// a session.
func markOfHost(r *journal.Record) string {
	switch r.Kind {
	case journal.ClockMoved:
		if r.Cause == "advance" {
			return "clock moved by " + retrycontext.FormatTimeSpan(r.Delay)
		}
		return strings.TrimRight("clock: "+r.Cause+" "+r.Name, " ")
	case journal.HostStarted:
		return "the host started"
	case journal.HostStopped:
		return "the host stopped"
	case journal.GenerationLoaded:
		return fmt.Sprintf("generation %d loaded", r.Generation)
	case journal.GenerationRefused:
		return "an edit was refused: " + r.Error
	case journal.EditUndone, journal.FunctionError, journal.ProcessExited, journal.ServiceUnreachable, journal.ServiceBack,
		journal.ListenerLockLost, journal.FaultInjected, journal.CircuitOpened, journal.CircuitHalfOpened, journal.CircuitClosed:
		return joined(r.Function, inWords(string(r.Kind)), r.Name, r.Error)
	}
	return ""
}

// joined joins the texts that are not empty.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), ": ")
}

// inWords is a kind or a decision in words.
func inWords(name string) string {
	return strings.ReplaceAll(strings.Replace(name, "dead_lettered", "dead-lettered", 1), "_", " ")
}

// cut is a text as far as it is told.
func cut(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}
