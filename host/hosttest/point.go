package hosttest

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redeliver/redeliver/host/journal"
)

// A Point is a moment in the life of a delivery at which a host can be killed.
type Point string

// The points, in their order within a delivery.
const (
	AfterReceive    Point = "afterReceive"    // the delivery is taken, no attempt has begun
	BeforeHandler   Point = "beforeHandler"   // an attempt has begun, the handler is not called
	AfterHandler    Point = "afterHandler"    // the attempt has ended
	BetweenAttempts Point = "betweenAttempts" // a retry is scheduled, its wait begins
	BeforeSettle    Point = "beforeSettle"    // no further attempt will come, nothing is settled
	AfterCheckpoint Point = "afterCheckpoint" // a checkpoint is written, and the host has done nothing since
	AfterSettle     Point = "afterSettle"     // the service has settled the delivery
)

// Points are all of them.
func Points() []Point {
	return []Point{AfterReceive, BeforeHandler, AfterHandler, BetweenAttempts, BeforeSettle, AfterCheckpoint, AfterSettle}
}

// Is reports whether a record of the journal is written at the point.
func (p Point) Is(r *journal.Record) bool {
	switch p {
	case AfterReceive:
		return r.Kind == journal.Received
	case BeforeHandler:
		return r.Kind == journal.AttemptStarted
	case AfterHandler:
		return r.Kind == journal.AttemptEnded
	case BetweenAttempts:
		return r.Kind == journal.RetryScheduled
	case BeforeSettle:
		return r.Kind == journal.RetriesExhausted || r.Kind == journal.AttemptEnded && (r.Status == "succeeded" || !r.HasPolicy)
	case AfterCheckpoint:
		return r.Kind == journal.CheckpointWritten
	case AfterSettle:
		return r.Kind == journal.Settled
	}
	return false
}

// A killPoint is where a host is killed, and the record with which it was.
type killPoint struct {
	what, function string

	mu    sync.Mutex
	match func(*journal.Record) bool // under mu
	seq   atomic.Uint64              // of the record; 0: not yet
}

// reached reports whether the host is to be killed with a record.
func (k *killPoint) reached(r *journal.Record) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
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
	h.mustKnow(function)
	left := max(nth, 1)
	h.killAt.Store(&killPoint{
		what: "delivery of " + function + " at point " + string(at), function: function,
		match: func(r *journal.Record) bool {
			if strings.EqualFold(r.Function, function) && at.Is(r) {
				left--
			}
			return left == 0
		},
	})
}

// AwaitKilled moves time until the host is killed at the point that KillAt has named.
// The test fails when that can no longer come.
func (h *Host) AwaitKilled() {
	h.tb.Helper()
	point := h.killAt.Load()
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
