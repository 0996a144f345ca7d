package faults

import (
	"fmt"
	"slices"
	"strings"
	"sync"

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

// A Crash is where a host is to be killed. The zero value is nowhere. Its methods may be
// called concurrently.
type Crash struct {
	mu       sync.Mutex // guards:
	function string
	point    Point
	left     int // how often the point is still reached; 0: nowhere
}

// Set chooses a point of a delivery of a function, in any case; nth says which time it is
// reached, from 1, and 0 means the first. It replaces what was chosen before.
func (c *Crash) Set(function string, at Point, nth int) error {
	if !slices.Contains(Points(), at) {
		names := make([]string, len(Points()))
		for i, p := range Points() {
			names[i] = string(p)
		}
		return fmt.Errorf("there is no point %q: want one of %s%s", string(at), strings.Join(names, ", "), orMeant(string(at), names))
	}
	if nth < 0 {
		return fmt.Errorf("found %d: a point is reached from the first time on", nth)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.function, c.point, c.left = function, at, max(nth, 1)
	return nil
}

// Pending reports whether a point is chosen that is still to be reached.
func (c *Crash) Pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left > 0
}

// Reached reports, once, whether a record is the one with which the host is to be killed.
func (c *Crash) Reached(r *journal.Record) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 || !strings.EqualFold(r.Function, c.function) || !c.point.Is(r) {
		return false
	}
	c.left--
	return c.left == 0
}
