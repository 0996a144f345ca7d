package services

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/journal"
)

// reach is whether the account that a setting names can be reached, as the calls to
// it find. An outage is told twice, when it begins and when it ends, for all its
// callers together.
type reach struct {
	of      *Connections
	setting string

	mu    sync.Mutex
	since time.Time            // the outage began; zero: there is none
	lost  map[string]bool      // services of the account that are not reached
	last  map[string]time.Time // a call to that service was answered
}

// TellsOutage reports whether an error is one of which the journal is told once for all
// functions, as an outage of an account.
func (c *Connections) TellsOutage(err error) bool {
	return c.opts.Instead == nil && errors.Is(err, bindings.ErrUnreachable)
}

func (c *Connections) reachLocked(setting string) *reach {
	r := c.reach[setting]
	if r == nil {
		r = &reach{of: c, setting: setting, lost: map[string]bool{}, last: map[string]time.Time{}}
		c.reach[setting] = r
	}
	return r
}

// note takes note of a call to a service that began at a time, and of its error. A
// failure says nothing if the call began before another one was answered. A call
// says nothing either if its context has ended, or if it did not ask the service
// (messaging.ErrClosed).
func (r *reach) note(ctx context.Context, service string, begun time.Time, err error) {
	if errors.Is(err, messaging.ErrClosed) {
		return
	}
	unreachable := errors.Is(err, bindings.ErrUnreachable)
	if err != nil && !unreachable && ctx.Err() != nil {
		return
	}
	now := r.of.clk.Now()
	r.mu.Lock()
	if !unreachable {
		r.last[service] = now
	}
	rec := journal.Record{Name: r.setting}
	switch {
	case unreachable && !r.lost[service] && !r.last[service].After(begun):
		r.lost[service] = true
		if r.since.IsZero() {
			r.since = begun
			rec.Kind, rec.Error = journal.ServiceUnreachable, err.Error()
		}
	case !unreachable && r.lost[service]:
		delete(r.lost, service)
		if len(r.lost) == 0 {
			rec.Kind, rec.Delay, rec.HasDelay = journal.ServiceBack, now.Sub(r.since), true
			r.since = time.Time{}
		}
	}
	r.mu.Unlock()
	if rec.Kind != "" {
		r.of.opts.Journal.Append(rec)
	}
	if rec.Kind == journal.ServiceBack {
		r.of.opts.Back() // wakes waiting listeners
	}
}
