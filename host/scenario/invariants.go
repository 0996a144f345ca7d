package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// invariants checks what holds in every run, whatever the handlers do: the attempts of a
// delivery follow its policy, delivery counts grow, time does not go back, and each
// message is in one place.
func (r *run) invariants(at string) {
	c := &checker{app: r.h.App(), deliveries: map[string]*observed{}, counts: map[string]int64{}, runs: map[string]int{}, ended: map[string]int{}, failed: map[string]bool{}}
	for _, rec := range r.journaled(func(*journal.Record) bool { return true }) {
		if wrong := c.look(&rec); wrong != "" {
			r.mismatch(at, wrong, "no such record", rec.String(), func() []string { return r.lives(explain.Subject{Message: rec.MessageID, Function: rec.Function}) })
			return
		}
	}
	r.conserved(at, c)
}

// observed is a delivery as the journal tells it.
type observed struct {
	attempt int // the last that began
	running bool
	retries int       // whose wait came from the policy
	due     time.Time // of the next attempt; zero: none is scheduled
	over    bool      // no further attempt may come
	settled bool
}

// A checker reads a journal and says what is wrong in it.
type checker struct {
	app        *app.App // whose policies gave the waits
	run        int      // the host was started so often
	last       time.Time
	deliveries map[string]*observed // by run and name
	counts     map[string]int64     // the last delivery count, by function and message
	runs       map[string]int       // and the run that has seen it
	ended      map[string]int       // settlements that remove a message, by its identity
	failed     map[string]bool      // those that have failed, perhaps after their effect
}

// look returns what is wrong about a record; empty: nothing is.
func (c *checker) look(r *journal.Record) string {
	if r.Time.Before(c.last) {
		return "time goes back"
	}
	c.last = r.Time
	if r.Kind == journal.HostStarted {
		c.run++
	}
	if r.Delivery == "" {
		return ""
	}
	name := fmt.Sprint(c.run, r.Function, r.Delivery)
	d := c.deliveries[name]
	if d == nil {
		d = &observed{}
		c.deliveries[name] = d
		if r.Kind != journal.Received {
			return "a delivery begins without being received"
		}
	}
	switch r.Kind {
	case journal.Received:
		return c.received(r)
	case journal.AttemptStarted:
		return d.started(r)
	case journal.AttemptEnded:
		return d.ended(r)
	case journal.RetryScheduled:
		if d.over || d.running {
			return "a retry is scheduled that may not come"
		}
		if d.due = r.Time.Add(r.Delay); r.Cause == "" {
			if d.retries++; !c.allows(r, d.retries) {
				return "a wait is outside the bounds of its policy"
			}
		}
	case journal.RetriesExhausted:
		if r.Cause != string(retrycontext.CausePermanent) && d.attempt != r.MaxRetryCount+1 {
			return "retries are exhausted before the policy's number of attempts"
		}
		d.over = true
	case journal.RetryCancelled:
		d.over = true
	case journal.Settled:
		if d.settled || d.running {
			return "a delivery is settled twice, or while an attempt runs"
		}
		d.settled, d.over = true, true
		if removes(triggers.Decision(r.Decision)) {
			if r.Error == "" {
				c.ended[r.MessageID]++
			} else {
				c.failed[r.MessageID] = true
			}
		}
	}
	return ""
}

// allows reports whether the policy of the app that runs can give the wait before its
// n-th retry. Another policy, of an app before, is not judged.
func (c *checker) allows(r *journal.Record, n int) bool {
	if c.app == nil {
		return true
	}
	f := c.app.Function(r.Function)
	if f == nil || f.Policy == nil || f.Policy.MaxRetryCount != r.MaxRetryCount {
		return true
	}
	least, most := f.Policy.Bounds(n)
	return least <= r.Delay && r.Delay <= most
}

// removes reports whether a settlement takes the message away for good.
func removes(d triggers.Decision) bool {
	return d == triggers.Deleted || d == triggers.Poisoned || d == triggers.Completed || d == triggers.Undecodable
}

// takesEvents reports whether a function gets what event subscriptions deliver.
func (c *checker) takesEvents(function string) bool {
	if c.app == nil {
		return false
	}
	f := c.app.Function(function)
	return f != nil && f.TakesEvents()
}

func (c *checker) received(r *journal.Record) string {
	if r.MessageID == "" || r.DeliveryCount == 0 {
		return ""
	}
	of := r.Function + " " + r.MessageID
	least := c.counts[of] + 1
	if c.runs[of] < c.run && c.takesEvents(r.Function) {
		least-- // what a killed host has not answered is delivered again under its number
	}
	if r.DeliveryCount < least {
		return "a delivery count does not grow"
	}
	c.runs[of] = c.run
	c.counts[of] = r.DeliveryCount
	return ""
}

func (d *observed) started(r *journal.Record) string {
	switch {
	case d.running || d.over || d.settled:
		return "an attempt begins that may not come"
	case r.Attempt != d.attempt+1:
		return "attempts are not counted one by one"
	case !r.HasPolicy && r.Attempt > 1:
		return "a retry without a policy"
	case r.HasPolicy && r.MaxRetryCount != retrycontext.Forever && r.Attempt > r.MaxRetryCount+1:
		return "more attempts than the policy allows"
	case r.Attempt > 1 && (d.due.IsZero() || r.Time.Before(d.due)):
		return "a retry begins before its wait is over"
	}
	d.attempt, d.running, d.due = r.Attempt, true, time.Time{}
	return ""
}

func (d *observed) ended(r *journal.Record) string {
	if !d.running || r.Attempt != d.attempt {
		return "an attempt ends that does not run"
	}
	d.running = false
	d.over = r.Status == "succeeded" || !r.HasPolicy
	return ""
}

// conserved checks that each message of a queue is in one place: gone by one settlement,
// or still there once. A fault or a crash may have brought it a second time, never taken
// it away.
func (r *run) conserved(at string, c *checker) {
	there := map[string]int{}
	for _, queue := range r.h.Queues() {
		for _, m := range append(r.h.Messages(queue), r.h.Hidden(queue)...) {
			there[m.ID]++
		}
	}
	for _, path := range r.busPaths() {
		for _, m := range r.h.ServiceBusMessages(path) {
			there[m.MessageID]++
		}
	}
	disturbed := c.run > 1 || r.h.Faults().Taken() > 0
	for _, rec := range r.journaled(func(rec *journal.Record) bool {
		return rec.Kind == journal.Enqueued && rec.MessageID != "" && !strings.Contains(rec.Source, "/")
	}) {
		n := there[rec.MessageID] + c.ended[rec.MessageID]
		if n == 0 && !c.failed[rec.MessageID] || n > 1 && !disturbed {
			r.mismatch(at, "message "+rec.MessageID+" of "+rec.Source+" is not in one place", "1", fmt.Sprint(n),
				func() []string { return r.lives(explain.Subject{Message: rec.MessageID}) })
			return
		}
	}
}
