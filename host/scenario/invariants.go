package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
)

// invariants checks what holds in every run, whatever the handlers do: the attempts of a
// delivery follow its policy, delivery counts grow, time does not go back, and each
// message is in one place.
func (r inspection) invariants(at string) {
	c := &checker{cast: r.cast, run: map[string]int{}, deliveries: map[string]*observed{}, counts: map[owned]int64{}, runs: map[owned]int{}, kept: newKept()}
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
	members []explain.Identity
}

// A checker reads a journal and says what is wrong in it.
type checker struct {
	cast       cast           // whose policies gave the waits
	run        map[string]int // by app: its host was started so often
	last       time.Time
	deliveries map[string]*observed // by run and name
	counts     map[owned]int64      // the last delivery count
	runs       map[owned]int        // and the run that has seen it
	kept       *keptMessages
}

// owned is a message as a function has it.
type owned struct {
	function string
	message  explain.Identity
}

// look returns what is wrong about a record; empty: nothing is.
func (c *checker) look(r *journal.Record) string {
	if r.Time.Before(c.last) {
		return "time goes back"
	}
	c.last = r.Time
	if r.Kind == journal.HostStarted {
		c.run[r.App]++
	}
	if r.Delivery == "" {
		c.kept.byService(r)
		return ""
	}
	name := fmt.Sprint(c.run[r.App], r.Function, r.Delivery)
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
		d.members = explain.Members(r)
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
		c.kept.settled(r, d.members)
	}
	return ""
}

// allows reports whether the policy of the app that runs can give the wait before its
// n-th retry. Another policy, of an app before, is not judged.
func (c *checker) allows(r *journal.Record, n int) bool {
	f := c.cast.defined(r.Function)
	if f == nil || f.Policy == nil || f.Policy.MaxRetryCount != r.MaxRetryCount {
		return true
	}
	least, most := f.Policy.Bounds(n)
	return least <= r.Delay && r.Delay <= most
}

// takesEvents reports whether a function gets what event subscriptions deliver.
func (c *checker) takesEvents(function string) bool {
	f := c.cast.defined(function)
	return f != nil && f.TakesEvents()
}

func (c *checker) received(r *journal.Record) string {
	if r.MessageID == "" || r.DeliveryCount == 0 {
		return ""
	}
	of := owned{r.Function, explain.IdentityOf(r)}
	least := c.counts[of] + 1
	if strings.Contains(r.Source, "/$") {
		least-- // nothing counts in a dead-letter queue (spec messaging 1.3)
	}
	if c.runs[of] < c.run[r.App] && c.takesEvents(r.Function) {
		least-- // what a killed host has not answered is delivered again under its number
	}
	if r.DeliveryCount < least {
		return "a delivery count does not grow"
	}
	c.runs[of] = c.run[r.App]
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
