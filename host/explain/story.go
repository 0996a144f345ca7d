package explain

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// A story is a life that is being told in words.
type story struct {
	course *Course
	life   *Life

	policy     *retrycontext.Policy
	deliveries int // to be expected; 0: not known, or no limit

	answered int64 // the latest delivery of which Event Grid has the answer; 0: none
	tables   rows
	gone     string // where the message has gone for good, in words
}

// tell tells the life from its records, and from those of the host meanwhile.
func tell(c *Course, from *sorter) *Life {
	s := &story{course: c, life: &Life{Message: c.Message, Service: c.Service, Number: c.Number, Function: c.Function, Trigger: c.Trigger, Source: c.words()}}
	s.report(&from.subject)
	s.tables = rows(from.kept)
	whole := from.whole[sort.SearchInts(from.whole, c.notes[0].at):]
	for _, n := range c.notes {
		for ; len(whole) > 0 && whole[0] < n.at; whole = whole[1:] {
			s.around(&from.kept[whole[0]])
		}
		r := &from.kept[n.at]
		if n.member == copied {
			s.entry(r, Service, "this is a copy of message %s of %s", r.MessageID, r.Source)
			continue
		}
		of := from.batches[n.at]
		s.add(of.of(r, n.member), n.member, of.size())
	}
	for _, i := range whole {
		s.around(&from.kept[i])
	}
	s.conclude(from.subject.Report)
	return s.life
}

// entry adds an entry.
func (s *story) entry(r *journal.Record, layer Layer, format string, args ...any) *Entry {
	e := Entry{Seq: r.Seq, Time: r.Time, Layer: layer, Delivery: r.Delivery, DeliveryCount: r.DeliveryCount, Text: fmt.Sprintf(format, args...)}
	s.life.Entries = append(s.life.Entries, e)
	return &s.life.Entries[len(s.life.Entries)-1]
}

// waits says what comes next, unless the message is gone: what is still in work of it then
// changes nothing. In is how long it takes; below 0: that is not known.
func (s *story) waits(r *journal.Record, in time.Duration, format string, args ...any) {
	if s.gone != "" {
		return
	}
	s.life.Over, s.life.Next, s.life.NextAt = false, fmt.Sprintf(format, args...), nil
	if in >= 0 {
		at := r.Time.Add(in)
		s.life.NextAt = &at
	}
}

// goes says that the message is gone for good.
func (s *story) goes(format string, args ...any) {
	s.gone = fmt.Sprintf(format, args...)
	s.life.Over, s.life.Next, s.life.NextAt = true, "nothing: "+s.gone, nil
}

const unknown = -1 * time.Nanosecond

// add tells a record of the message, which is one of so many.
func (s *story) add(r *journal.Record, member, of int) {
	which, last := s.which(r), s.course.ended
	d := s.course.take(r, member, of)
	if d == nil {
		s.told(r)
		return
	}
	switch r.Kind {
	case journal.Received:
		s.received(r, of, last)
	case journal.AttemptStarted:
		s.life.Attempts++
		e := s.entry(r, Handler, "%s runs", attempt(r))
		e.Attempt = r.Attempt
		d.entry = len(s.life.Entries)
		s.waits(r, unknown, "%s ends", attempt(r))
	case journal.AttemptEnded:
		s.attemptEnded(r, d)
	case journal.RetryScheduled:
		s.retryScheduled(r, d)
	case journal.RetriesExhausted:
		if r.Cause == string(retrycontext.CausePermanent) {
			s.then(d, Handler, "the failure is permanent, no further retry")
		} else {
			s.then(d, Policy, fmt.Sprintf("no retry is left of maxRetryCount %d", r.MaxRetryCount))
		}
	case journal.RetryCancelled:
		s.then(d, Host, "a stop, a reload or the caller ended the wait: no further retry")
	case journal.TableWritten:
		s.entry(r, Service, "%s", s.tables.words(r))
	case journal.Settled:
		s.settle(r, which)
	default:
		s.told(r)
	}
}

// attempt names an attempt: "attempt 2 of 5".
func attempt(r *journal.Record) string {
	if !r.HasPolicy || r.MaxRetryCount == retrycontext.Forever {
		return fmt.Sprintf("attempt %d", r.Attempt)
	}
	return fmt.Sprintf("attempt %d of %d", r.Attempt, r.MaxRetryCount+1)
}

func (s *story) received(r *journal.Record, of int, last time.Time) {
	s.life.Deliveries++
	s.gone = ""
	text := "delivery " + r.Delivery
	if r.DeliveryCount > 0 {
		text = fmt.Sprintf("delivery %d", r.DeliveryCount)
		if s.deliveries > 0 {
			text += fmt.Sprintf(" of %d", s.deliveries)
		}
		text += " (" + r.Delivery + ")"
	}
	if gap := r.Time.Sub(last).Round(time.Millisecond); !last.IsZero() && gap > 0 {
		text += ", " + Span(gap) + " after the last"
	}
	if of > 1 {
		text += fmt.Sprintf(", in a batch of %d", of)
	}
	s.entry(r, Trigger, "%s", text)
	s.waits(r, unknown, "the first attempt begins")
}

func (s *story) attemptEnded(r *journal.Record, d *Delivery) {
	if d.entry == 0 || d.entry != len(s.life.Entries) { // its start has left the journal, or something has happened meanwhile: the entry is of the end
		if d.entry > 0 {
			s.life.Entries = slices.Delete(s.life.Entries, d.entry-1, d.entry)
			s.moved(d.entry)
		}
		s.entry(r, Handler, "").Attempt = r.Attempt
		d.entry = len(s.life.Entries)
	}
	e := &s.life.Entries[d.entry-1]
	e.Seq, e.Time = r.Seq, r.Time
	e.Text = attempt(r) + " " + strings.ReplaceAll(r.Status, "_", " ")
	if took := r.Time.Sub(d.last.began).Round(time.Millisecond); took > 0 {
		e.Text += " after " + Span(took)
	}
	e.Text += s.which(r)
	if r.Error != "" {
		e.Text += ": " + failure(r)
	}
	s.waits(r, unknown, "the trigger settles the delivery")
}

// failure is the first line of a failure, without what the line says anyway.
func failure(r *journal.Record) string {
	text, _, _ := strings.Cut(InWords(r.Error), "\n")
	return text
}

// moved corrects the places of the attempts in work, after the entry of one was removed.
func (s *story) moved(removed int) {
	for _, d := range s.course.inWork {
		if d.entry > removed {
			d.entry--
		}
	}
}

// then says what follows the latest attempt of a delivery, and who decided it.
func (s *story) then(d *Delivery, who Layer, text string) {
	if d.entry > 0 {
		e := &s.life.Entries[d.entry-1]
		e.Decided, e.Then, e.Formula = who, text, ""
	}
}

func (s *story) retryScheduled(r *journal.Record, d *Delivery) {
	wait := "retry in " + Span(r.Delay)
	if r.Delay == 0 {
		wait = "retry at once"
	}
	if r.Cause != "" {
		s.then(d, Handler, wait)
	} else {
		d.retries++
		s.then(d, Policy, wait)
		if least, most := s.policy.Bounds(d.retries); d.entry > 0 && s.policy != nil && s.policy.MaxRetryCount == r.MaxRetryCount && least <= r.Delay && r.Delay <= most {
			s.life.Entries[d.entry-1].Formula = s.policy.Formula(d.retries)
		}
	}
	s.waits(r, r.Delay, "%s", attempt(r))
}

// endings are the decisions after which the message is not delivered again.
var endings = map[triggers.Decision]string{
	triggers.Deleted:      "the function has succeeded, and the message is deleted",
	triggers.Completed:    "the function has succeeded, and the message is completed",
	triggers.Checkpointed: "the checkpoint is written, and the batch does not come again",
	triggers.Recorded:     "the schedule goes on with its next occurrence",
	triggers.Reported:     "the orchestration hears of the activity's end",
	triggers.Undecodable:  "the message cannot be decoded",
}

// returns are the decisions after which it is.
var returns = map[triggers.Decision]string{
	triggers.Released:        "the queue delivers it again",
	triggers.Abandoned:       "the entity delivers it again",
	triggers.LockLost:        "the entity delivers it again, since the lock was lost",
	triggers.NotCheckpointed: "the batch comes again from the checkpoint before",
	triggers.Dropped:         "it is delivered again when its lock ends, if it still exists",
}

// inWork names a delivery that is in work: the latest, if that is.
func (s *story) inWork() string {
	name := s.course.inWork[0].ID
	for _, d := range s.course.inWork {
		if d.ID == s.course.now {
			return d.ID
		}
		name = min(name, d.ID)
	}
	return name
}

// which names the delivery of a record where more than one is in work.
func (s *story) which(r *journal.Record) string {
	if len(s.course.inWork) < 2 {
		return ""
	}
	return " (" + r.Delivery + ")"
}

func (s *story) settle(r *journal.Record, which string) {
	decision := triggers.Decision(r.Decision)
	text := strings.ReplaceAll(r.Decision, "_", "-") + which
	back := returns[decision]
	if len(s.course.inWork) > 0 { // it is there already: the handler has settled the delivery itself
		back = ""
	}
	if back != "" && s.gone == "" && r.Message == "" && r.Error == "" {
		text += ": " + back
	}
	if r.Target != "" {
		text += " to " + r.Target
	}
	if status := field(r, "http_status"); status != "" {
		text += " with " + status
	}
	for _, more := range []string{r.Message, r.Error} {
		if more != "" {
			text += ": " + more
		}
	}
	s.entry(r, Trigger, "%s", text)
	if s.gone != "" || s.answered > 0 && r.DeliveryCount <= s.answered {
		return // the service was faster
	}
	switch ending := endings[decision]; {
	case back == "" && returns[decision] != "":
		s.waits(r, unknown, "delivery %s ends", s.inWork())
	case r.Error != "":
		s.waits(r, unknown, "the settlement has failed: the message may come again")
	case r.Message == eventhubs.NoteOff:
		s.goes("the batch is done for this process, and a restart reads it again")
	case decision == triggers.Completed && strings.HasPrefix(r.Message, servicebus.NoteSettled):
		s.goes("the handler has completed the message")
	case ending != "":
		s.goes("%s", ending)
	case back != "":
		s.waits(r, unknown, "%s", back)
	case decision == triggers.Poisoned:
		s.goes("the message is poison, in %s", r.Target)
	case decision == triggers.DeadLettered:
		s.goes("the message is a dead letter")
	case decision == triggers.Deferred:
		s.waits(r, unknown, "the message stays deferred until a receiver asks for its sequence number")
	case decision == triggers.Responded && r.MessageID == "":
		s.goes("the caller has its answer")
	default:
		s.waits(r, unknown, "the service decides by the answer")
	}
}

// told adds what a service tells of the message.
func (s *story) told(r *journal.Record) {
	switch r.Kind {
	case journal.Enqueued:
		s.enqueued(r)
	case journal.LockRenewed:
		s.entry(r, Trigger, "lock renewed")
	case journal.LockExpired:
		s.entry(r, Service, "the lock has expired")
		s.waits(r, unknown, "the message is delivered again")
	case journal.Expired:
		s.entry(r, Service, "the time to live is over")
		s.goes("the message has expired")
	case journal.DeadLettered:
		text := "dead-lettered to " + r.Target + ": " + r.Cause
		if r.Error != "" {
			text += ": " + r.Error
		}
		s.entry(r, Service, "%s", text)
		s.goes("the message is a dead letter, in %s", r.Target)
	case journal.Forwarded:
		s.forwarded(r)
	case journal.EventAttempted:
		s.attempted(r)
	case journal.EventDelayed:
		s.entry(r, Service, "Event Grid spares the endpoint: %s", r.Status)
		s.waits(r, r.Delay, "the next delivery")
	case journal.EventDropped:
		s.entry(r, Service, "dropped: %s", r.Cause)
		s.goes("the event is dropped")
	case journal.FaultInjected:
		s.entry(r, Host, "a fault that was asked for: %s", r.Error)
	}
}

// forwarded tells where a message has gone on to.
func (s *story) forwarded(r *journal.Record) {
	cause := r.Cause
	if cause != "" {
		cause = " by " + cause
	}
	s.entry(r, Service, "forwarded to %s%s", r.Target, cause)
	switch id := copyOf(r); {
	case id != "":
		s.goes("it is message %s of %s now", id, r.Target)
	case s.course.leaves(r):
		s.goes("the message is in %s now", r.Target)
	default:
		s.gone, s.answered = "", 0
		s.waits(r, unknown, "a listener of %s receives it", r.Target)
	}
}

// attempted tells what Event Grid makes of an answer.
func (s *story) attempted(r *journal.Record) {
	text := "Event Grid has the answer " + r.Status
	if status := field(r, "http_status"); status != "" {
		text += ", " + status
	}
	s.entry(r, Service, "%s", text)
	s.answered = r.DeliveryCount
	switch {
	case r.Delay > 0:
		e := &s.life.Entries[len(s.life.Entries)-1]
		e.Decided, e.Then, e.Formula = Service, "next delivery in "+Span(r.Delay), "the schedule"
		s.waits(r, r.Delay, "delivery %d", r.DeliveryCount+1)
	case delivered(r):
		s.goes("the event is delivered")
	default:
		s.waits(r, unknown, "the event becomes a dead letter, or is dropped")
	}
}

// enqueued tells that a queue or an entity has the message, and from when on.
func (s *story) enqueued(r *journal.Record) {
	text, next := "enqueued in "+r.Source, "a listener receives it"
	switch {
	case r.Status == "duplicate":
		s.entry(r, Service, "a duplicate came to %s, which discards it", r.Source)
		if len(s.life.Entries) == 1 {
			s.goes("the message was sent before")
		}
		return
	case r.Status == "scheduled":
		text, next = "scheduled in "+r.Source+", active in "+Span(r.Delay), "the message becomes active"
	case r.Delay > 0:
		text += ", visible in " + Span(r.Delay)
	}
	s.entry(r, Service, "%s", text)
	s.gone = ""
	wait := r.Delay
	if wait == 0 {
		wait = unknown
	}
	s.waits(r, wait, "%s", next)
}

// delivered reports whether an answer ends the life of an event well.
func delivered(r *journal.Record) bool { return r.Status == "Delivered" || r.Status == "Success" }

// around adds what happened to the host, the function, or all messages of a place while the
// life went on.
func (s *story) around(r *journal.Record) {
	switch r.Kind {
	case journal.Purged:
		if c := s.course; c.Place != "" && r.Service == c.Service && strings.EqualFold(r.Source, c.Place) {
			c.Place = ""
			s.entry(r, Service, "purged by hand")
			s.goes("the message was purged")
		}
		return
	case journal.StateLoaded:
		if s.course.Place != "" {
			s.course.Place = ""
			s.entry(r, Host, "another state of the services took the place of this one")
			s.goes("the message went with its state, or is another one now")
		}
		return
	}
	text, told := hostText(r)
	if !told || s.life.Over || r.Function != "" && !strings.EqualFold(r.Function, s.life.Function) {
		return
	}
	s.entry(r, Host, "%s", text)
	if r.Kind == journal.HostStarted && len(s.course.inWork) > 0 {
		s.course.inWork = nil
		s.life.Entries[len(s.life.Entries)-1].Text += "; the delivery in work is lost, and its count with it"
		s.waits(r, unknown, "the message comes again when its lock ends, where its source redelivers")
	}
}

// hostText is what a record of the host or of a function as a whole says, if it is told.
func hostText(r *journal.Record) (text string, told bool) {
	switch r.Kind {
	case journal.HostStarted:
		return "the host has started again", true
	case journal.HostStopped:
		return "the host has stopped", true
	case journal.GenerationLoaded:
		if r.Generation == 1 {
			return "", false // of a host that has started, which was told
		}
		return fmt.Sprintf("generation %d of the app took over", r.Generation), true
	case journal.ProcessExited:
		return "the process " + r.Name + " has ended", true
	case journal.CircuitOpened:
		return "the circuit breaker opened: nothing is received for " + Span(r.Delay), true
	case journal.CircuitHalfOpened:
		return "the circuit breaker lets a few deliveries through", true
	case journal.CircuitClosed:
		return "the circuit breaker closed", true
	}
	return "", false
}

// conclude completes the life with what the app tells of it.
func (s *story) conclude(report *app.Report) {
	l := s.life
	if l.Function != "" || l.Over || report == nil || len(l.Entries) == 0 {
		return
	}
	at := strings.ToLower(cmp.Or(s.course.Place, l.Source))
	if !slices.ContainsFunc(report.Functions, func(f app.FunctionReport) bool {
		from := strings.ToLower(f.Source)
		return from == at || strings.HasPrefix(from, at+"/") // a subscription of the topic
	}) {
		s.goes("no function receives from %s", cmp.Or(s.course.Place, l.Source))
	}
}
