package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		all = append(all, r.own(n)...)
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

// own are the records of one of several instances, of which the first has number 0, in all its
// runs.
func (r *run) own(n int) (list []journal.Record) {
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
		list = append(list, rec)
	}
	return list
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

// A Reading is how far a reader of records has come, in the journal of each instance. That of
// an instance which has started since is unread.
type Reading map[any]uint64 // by run of an instance

// From is the reading of who has read the records up to a number.
func (p *Session) From(seq uint64) (Reading, error) {
	if seq > 0 && len(p.others) > 0 {
		return nil, errors.New("each of several instances has numbers of its own")
	}
	return Reading{p.h.Host: seq}, nil
}

// Find looks for the first record that is not read and matches, of all instances, and returns
// the reading behind it.
func (p *Session) Find(from Reading, match func(*journal.Record) bool) (found journal.Record, behind Reading, ok bool) {
	type unread struct {
		journal.Record
		instance int
	}
	var all []unread
	behind = Reading{}
	for n, h := range p.instances() {
		behind[h.Host] = from[h.Host]
		for _, rec := range h.Journal().Since(from[h.Host] + 1) {
			if n == 0 || !ofService(rec.Kind) {
				all = append(all, unread{rec, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b unread) int { return a.Time.Compare(b.Time) })
	for _, rec := range all {
		behind[p.instance(rec.instance+1).Host] = rec.Seq
		if match(&rec.Record) {
			return p.named(rec.instance, rec.Record), behind, true
		}
	}
	return found, behind, false
}

// named is a record with the name of its delivery among several instances.
func (p *Session) named(instance int, rec journal.Record) journal.Record {
	if own := p.own(instance); len(p.others) > 0 {
		for i := len(own) - 1; i >= 0; i-- { // the last run has it
			if own[i].Seq == rec.Seq {
				return own[i]
			}
		}
	}
	return rec
}

// instances are all of them, the first one first.
func (r *run) instances() []*hosttest.Host { return append([]*hosttest.Host{r.h}, r.others...) }

// Lives reports whether the instance that has made a delivery runs, and in the run in which it
// has made it; see [run.journaled] for names.
func (p *Session) Lives(delivery string) bool {
	if len(p.others) == 0 {
		return !p.h.Killed()
	}
	n, run := 1, 1
	if before, _, ok := strings.Cut(delivery, "/"); ok {
		first, second, _ := strings.Cut(before, ".")
		n, _ = strconv.Atoi(first)
		run, _ = strconv.Atoi(second)
	}
	if h := p.instance(n); h.Killed() {
		return false
	}
	starts, last := 1, uint64(0)
	for _, rec := range p.instance(n).Select(func(*journal.Record) bool { return true }) {
		if rec.Seq <= last {
			starts++
		}
		last = rec.Seq
	}
	return run == starts
}
