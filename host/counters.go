package host

import "sync/atomic"

// counters hold what the drain status reports (host-and-retry 2.6):
// outstanding retries are deliveries in a retry loop, from their first failure
// to their end, not attempts.
type counters struct {
	invocations atomic.Int64
	retries     atomic.Int64
}

func (c *counters) began()           { c.invocations.Add(1) }
func (c *counters) ended()           { c.invocations.Add(-1) }
func (c *counters) retrying(n int64) { c.retries.Add(n) }
