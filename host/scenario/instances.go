package scenario

import (
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// scales reports whether the app runs in several instances.
func (s *Scenario) scales() bool {
	return slices.ContainsFunc(s.When, func(st step) bool { return st.ScaleOut })
}

// scaleOut starts another instance beside those that run.
func (r *run) scaleOut() { r.others = append(r.others, r.h.ScaleOut()) }

// instance is the instance of a number, from 1; 0 is the first.
func (r *run) instance(n int) *hosttest.Host {
	switch {
	case n <= 1:
		return r.h
	case n > len(r.others)+1:
		r.Fatalf("there is no instance %d: scaleOut starts another one", n)
	}
	return r.others[n-2]
}

// scaleIn stops an instance as the platform does: what waits for a retry is given back.
func (r *run) scaleIn(n int) {
	if err := r.instance(n).Close(); err != nil {
		r.Fatalf("%v", err)
	}
}

// journaled are the records of all instances, in the order of their times. Of several
// instances the records have new numbers, and deliveries new names: the number of their
// instance and of its run stands before them.
func (r *run) journaled(match func(*journal.Record) bool) []journal.Record {
	if len(r.others) == 0 {
		return r.h.Select(match)
	}
	var all []journal.Record
	for n := range len(r.others) + 1 {
		starts, last := 0, uint64(0)
		for _, rec := range r.instance(n + 1).Select(func(*journal.Record) bool { return true }) {
			if rec.Seq <= last {
				starts++
			}
			last = rec.Seq
			if n > 0 && (ofService(rec.Kind) || rec.Kind == journal.HostStarted && starts == 0) {
				continue // the first instance has them; and another instance is no other start
			}
			if rec.Delivery != "" && n+starts > 0 {
				rec.Delivery = fmt.Sprintf("%d.%d/%s", n+1, starts+1, rec.Delivery)
			}
			all = append(all, rec)
		}
	}
	slices.SortStableFunc(all, func(a, b journal.Record) int { return a.Time.Compare(b.Time) })
	var matched []journal.Record
	for i := range all {
		if all[i].Seq = uint64(i + 1); match(&all[i]) {
			matched = append(matched, all[i])
		}
	}
	return matched
}

// ofService reports whether a service makes records of a kind by itself.
func ofService(kind journal.Kind) bool {
	switch kind {
	case journal.Enqueued, journal.Expired, journal.LockExpired, journal.DeadLettered, journal.Forwarded,
		journal.EventAttempted, journal.EventDelayed, journal.EventDropped, journal.TransactionEnded, journal.ClockMoved:
		return true
	}
	return false
}
