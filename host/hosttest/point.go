package hosttest

import (
	"sync/atomic"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
)

// A Point is a moment in the life of a delivery at which a host can be killed.
type Point = faults.Point

// The points, in their order within a delivery: see package faults.
const (
	AfterReceive    = faults.AfterReceive
	BeforeHandler   = faults.BeforeHandler
	AfterHandler    = faults.AfterHandler
	BetweenAttempts = faults.BetweenAttempts
	BeforeSettle    = faults.BeforeSettle
	AfterCheckpoint = faults.AfterCheckpoint
	AfterSettle     = faults.AfterSettle
)

// Points are all of them.
func Points() []Point { return faults.Points() }

// A killPoint is where a host is killed, and the record with which it was.
type killPoint struct {
	what, function string

	match func(*journal.Record) bool
	seq   atomic.Uint64 // of the record; 0: not yet
}

// reached reports whether the host is to be killed with a record.
func (k *killPoint) reached(r *journal.Record) bool {
	if k.seq.Load() != 0 || !k.match(r) {
		return false
	}
	k.seq.Store(r.Seq)
	return true
}

// KillAt lets the host be killed at a point of a delivery of a function, as
// [Host.Kill] kills it: at this point and not an instant later, so nothing that follows
// it has happened. nth says which time the point is reached, from 1; 0 means the first.
// Call it before what starts the delivery, then [Host.AwaitKilled].
func (h *Host) KillAt(function string, at Point, nth int) {
	h.tb.Helper()
	function = h.mustKnow(function)
	of := h
	if _, hosts := hostsOf(h, function); len(hosts) == 1 {
		of = hosts[0] // of another app
	}
	if other := of.killAt.Load(); other != nil {
		h.tb.Fatalf("hosttest: KillAt: the %s is still to come, and a host dies once: AwaitKilled waits for it", other.what)
	}
	crash := &faults.Crash{}
	if err := crash.Set(function, at, nth); err != nil {
		h.tb.Fatalf("hosttest: KillAt: %v", err)
	}
	of.killAt.Store(&killPoint{
		what: "delivery of " + function + " at point " + string(at), function: function,
		match: crash.Reached,
	})
}

// AwaitKilled moves time until the host is killed at the point that KillAt has named.
// The test fails when that can no longer come.
func (h *Host) AwaitKilled() {
	h.tb.Helper()
	point := h.killAt.Load()
	for _, a := range appsOf(h) {
		if k := a.killAt.Load(); point == nil && k != nil {
			a.AwaitKilled() // of another app
			return
		}
	}
	if point == nil || h.down {
		h.tb.Fatalf("hosttest: AwaitKilled: no point at which the host is to be killed: call KillAt before")
	}
	if point.seq.Load() == 0 {
		h.await(&wanted{
			what: point.what, function: point.function,
			match: func(r *journal.Record) bool { n := point.seq.Load(); return n != 0 && r.Seq == n },
		})
	}
	h.killAt.Store(nil)
	h.kill(point.seq.Load())
}

// until are the records of a host that was killed with record number seq: of later ones
// only those of the services, which live on.
func until(seq uint64, records []journal.Record) []journal.Record {
	var kept []journal.Record
	for _, r := range records {
		if r.Seq <= seq || r.Function == "" {
			kept = append(kept, r)
		}
	}
	return kept
}
