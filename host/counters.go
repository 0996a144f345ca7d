package host

import "sync/atomic"

// counters hold what the drain status reports (spec host-and-retry 2.6): outstanding
// invocations are attempts that run, outstanding retries deliveries in a retry
// loop, from their first failure to their end. A delivery that waits for its next
// attempt is a retry only.
type counters struct {
	invocations atomic.Int64
	retries     atomic.Int64
}

// busy reports whether a delivery is in work or waits for its next attempt.
func (c *counters) busy() bool { return c.invocations.Load() != 0 || c.retries.Load() != 0 }

// counted is the part that one delivery has in the counters. At each moment until
// its end it is in one of them, so that no drain is complete between two attempts.
type counted struct {
	in       *counters
	running  bool
	retrying bool
}

// begun: an attempt begins.
func (c *counted) begun() {
	if !c.running {
		c.running = true
		c.in.invocations.Add(1)
	}
}

// failed: the attempt has failed, and another follows.
func (c *counted) failed() {
	if !c.retrying {
		c.retrying = true
		c.in.retries.Add(1)
	}
	c.waits()
}

// waits: no attempt runs.
func (c *counted) waits() {
	if c.running {
		c.running = false
		c.in.invocations.Add(-1)
	}
}

// over: the delivery has come to its end.
func (c *counted) over() {
	if c.retrying {
		c.retrying = false
		c.in.retries.Add(-1)
	}
	c.waits()
}
