package queue

import (
	"math"
	"time"
)

// minPollingInterval is the wait after a pass that found messages, and the unit
// of the series.
const minPollingInterval = 100 * time.Millisecond

// backoff is the series of waits between polls. Its cap sticks until a pass
// finds messages.
//
// Source: Shared/Timers/RandomizedExponentialBackoffStrategy.cs.
type backoff struct {
	max      time.Duration
	rand     func() float64 // uniform in [0, 1)
	exponent int
	current  time.Duration
}

// next returns the wait after a pass: found says whether it had messages.
func (b *backoff) next(found bool) time.Duration {
	switch {
	case found:
		b.current = min(minPollingInterval, b.max)
		b.exponent = 1
	case b.current != b.max:
		wait := minPollingInterval
		if b.exponent > 0 {
			factor := 0.8 + 0.4*b.rand()
			// The exponent stops growing at the cap, of 2^63 ns or less, so the
			// product stays far inside a float64; a Duration may be too small.
			more := factor * math.Ldexp(float64(minPollingInterval), b.exponent-1)
			if more >= float64(math.MaxInt64-minPollingInterval) {
				wait = b.max
			} else {
				wait += time.Duration(more)
			}
		}
		if wait >= b.max {
			b.current = b.max
		} else {
			b.current = wait
			b.exponent++
		}
	}
	return b.current
}
