package retrycontext

import (
	"math"
	"time"
)

// Delay returns the wait before retry n of a delivery (1 is the first). It is a
// pure function: u, from [0, 1), stands for the jitter and is stretched to
// [0.8, 1.2). Values of u outside are moved to the nearest end. n below 1 gives
// 0: nothing precedes the original attempt.
//
// A fixed policy waits DelayInterval every time, before the last retry too. (The
// SDK skipped that one wait until 28 May 2021.)
//
// An exponential policy with minimum m and maximum M waits m before retry 1,
// without jitter, and m + u·2^(n-2)·m before retry n. The cap comes after the
// jitter: if the sum is M or more, the wait is exactly M. The mean series is therefore 1, 2, 3, 5, 9, 17 times m; it
// is not m·2^n. From RandomizedExponentialBackoffStrategy.GetNextDelay of the
// WebJobs SDK. Delays below the cap strictly increase, because the lower bound
// at n+1 is above the upper bound at n; so a capped retry is followed by capped
// ones only. With m = 0 every delay is 0.
//
// The policy must be valid.
func (p *Policy) Delay(n int, u float64) time.Duration {
	if p == nil || n < 1 {
		return 0
	}
	if p.Strategy == FixedDelay {
		return p.DelayInterval
	}
	low, span, capped := p.increment(n)
	if capped {
		return p.MaximumInterval
	}
	// span < 2^53 for valid policies, so the product is exact enough; the last
	// nanosecond of the span belongs to the excluded end.
	jitter := uint64(0)
	if u >= 1 {
		u = math.Nextafter(1, 0)
	}
	if u > 0 && span > 0 {
		jitter = min(uint64(u*float64(span)), span-1)
	}
	if low+jitter >= uint64(p.MaximumInterval-p.MinimumInterval) {
		return p.MaximumInterval
	}
	return p.MinimumInterval + time.Duration(low+jitter)
}

// Bounds returns the shortest and the longest wait before retry n after the cap.
// Without jitter (fixed policies, retry 1, at the cap) they are equal; else the
// delay lies in [min, max), and max itself is reached only when it is the cap.
func (p *Policy) Bounds(n int) (min, max time.Duration) {
	if p == nil || n < 1 {
		return 0, 0
	}
	if p.Strategy == FixedDelay {
		return p.DelayInterval, p.DelayInterval
	}
	low, span, capped := p.increment(n)
	if capped {
		return p.MaximumInterval, p.MaximumInterval
	}
	min = p.MinimumInterval + time.Duration(low)
	if low+span >= uint64(p.MaximumInterval-p.MinimumInterval) {
		return min, p.MaximumInterval
	}
	return min, p.MinimumInterval + time.Duration(low+span)
}

// increment returns what retry n adds to the minimum interval: at least low
// nanoseconds and less than low+span, in whole nanoseconds; span is 0 where there
// is no jitter. It reports capped when even low reaches the maximum interval.
//
// Everything is whole numbers, so that a bound is a bound: with d = 2^(n-2)·m
// the increment lies in [ceil(0.8d), ceil(1.2d)), which always contains d.
// Nothing overflows: d is formed only when it is at most twice the maximum.
func (p *Policy) increment(n int) (low, span uint64, capped bool) {
	m, maximum := p.MinimumInterval, p.MaximumInterval
	switch {
	case m >= maximum:
		return 0, 0, true
	case m <= 0 || n == 1:
		return 0, 0, false
	}
	shift := uint(n - 2)
	if shift > 63 || uint64(m) > 2*uint64(maximum)>>shift {
		return 0, 0, true
	}
	d := uint64(m) << shift
	low = d - d/5
	if low >= uint64(maximum-m) {
		return 0, 0, true
	}
	high := d + (d+4)/5
	return low, high - low, false
}

// TotalWait returns the shortest and the longest sum of all delays of a delivery
// whose attempts all fail and declare nothing. It counts delays only, not the
// attempts between them. Sums beyond the range of time.Duration stay at its end,
// where also both are when the policy is unbounded.
func (p *Policy) TotalWait() (min, max time.Duration, unbounded bool) {
	if p == nil {
		return 0, 0, false
	}
	if p.MaxRetryCount == Forever {
		return math.MaxInt64, math.MaxInt64, true
	}
	for n := 1; n <= p.MaxRetryCount; n++ {
		low, high := p.Bounds(n)
		times := 1
		if n > 1 && low == high { // constant from here on
			times = p.MaxRetryCount - n + 1
		}
		min = addTimes(min, low, times)
		max = addTimes(max, high, times)
		if times > 1 {
			break
		}
	}
	return min, max, false
}

// addTimes returns sum + n·d, or the longest duration where that is beyond it.
func addTimes(sum, d time.Duration, n int) time.Duration {
	if d > 0 && time.Duration(n) > (math.MaxInt64-sum)/d {
		return math.MaxInt64
	}
	return sum + time.Duration(n)*d
}

// A Series yields the delays of one delivery, one after the other. Its state
// belongs to the delivery, so two deliveries under one policy never influence
// each other. It is not safe for concurrent use.
type Series struct {
	policy *Policy
	jitter func() float64
	n      int // retries asked for so far
	capped bool
}

// NewSeries starts a series at the first retry of p. jitter returns uniform
// numbers from [0, 1); it is asked once for each delay that has jitter, and not
// for the others.
func NewSeries(p *Policy, jitter func() float64) *Series {
	return &Series{policy: p, jitter: jitter}
}

// Next returns the delay before the next retry. Once the maximum interval is
// reached every further delay is exactly that. (The formula implies it; keeping
// the flag saves the arithmetic and the draw of long series.)
func (s *Series) Next() time.Duration {
	p := s.policy
	switch {
	case p == nil:
		return 0
	case p.Strategy == FixedDelay:
		return p.DelayInterval
	case s.capped:
		return p.MaximumInterval
	case s.n < math.MaxInt32:
		s.n++
	}
	u := 0.0
	if s.n > 1 && p.MinimumInterval > 0 {
		if _, span, capped := p.increment(s.n); span > 0 && !capped {
			u = s.jitter()
		}
	}
	d := p.Delay(s.n, u)
	s.capped = d == p.MaximumInterval
	return d
}
