package retrycontext

import (
	"fmt"
	"math"
	"time"
)

// Forever as [Policy.MaxRetryCount] retries until an attempt succeeds or the
// delivery is cancelled.
const Forever = -1

// MaxDelay is the longest wait before a retry, also of one that a handler asks for:
// about 49.7 days. The platform accepts longer intervals, and its process ends when it
// has to wait that long (observed: host 4.1037).
const MaxDelay = 4_294_967_294 * time.Millisecond

// A Policy is a complete set of retry options. It is a plain value: copy it,
// share it between goroutines, and do not change it while a delivery uses it.
// There are no defaults; [Policy.Validate] names what is missing.
//
// In configuration files a policy is the object "retry"; [PolicyConfig] reads
// one in which properties may be absent.
//
// The methods accept a nil Policy, which means that the function has no policy:
// one attempt and no delays.
type Policy struct {
	// Strategy says which of the intervals below count. The intervals of the other
	// strategy are ignored, valid or not.
	Strategy Strategy

	// MaxRetryCount is the number of retries after the original attempt, or
	// Forever. It is a 32-bit number in Azure.
	MaxRetryCount int

	// DelayInterval is the wait before every retry (FixedDelay), 0 or more. No retry may
	// have to wait longer than MaxDelay; a longer interval that no retry waits for is
	// valid.
	DelayInterval time.Duration

	// MinimumInterval and MaximumInterval are the first and the longest wait
	// (ExponentialBackoff), 0 <= minimum <= maximum, with MaxDelay as above.
	MinimumInterval time.Duration
	MaximumInterval time.Duration
}

// MaxAttempts returns how often one delivery can run: the original attempt and
// every retry. With [Forever] there is no limit and n is 0.
func (p *Policy) MaxAttempts() (n int, unbounded bool) {
	switch {
	case p == nil:
		return 1, false
	case p.MaxRetryCount == Forever:
		return 0, true
	}
	return p.MaxRetryCount + 1, false
}

// Documented returns the policy for the reading in which "maxRetryCount: N"
// promises N attempts in all (at least one) and not N retries. The published
// Service Bus example counts so: a policy of 5 and 10 deliveries make 50
// executions. [Forever] stays as it is. The receiver is not changed.
func (p *Policy) Documented() *Policy {
	if p == nil {
		return nil
	}
	q := *p
	if q.MaxRetryCount != Forever {
		q.MaxRetryCount = max(q.MaxRetryCount-1, 0)
	}
	return &q
}

// String returns the policy on one line, for listings.
func (p *Policy) String() string {
	if p == nil {
		return "none"
	}
	count := fmt.Sprint(p.MaxRetryCount)
	if p.MaxRetryCount == Forever {
		count = "forever"
	}
	if p.Strategy == FixedDelay {
		return fmt.Sprintf("%v, %s x %s", p.Strategy, count, FormatTimeSpan(p.DelayInterval))
	}
	return fmt.Sprintf("%v, %s x %s to %s", p.Strategy, count, FormatTimeSpan(p.MinimumInterval), FormatTimeSpan(p.MaximumInterval))
}

// Property names as they stand in host.json and function.json.
const (
	propStrategy        = "strategy"
	propMaxRetryCount   = "maxRetryCount"
	propDelayInterval   = "delayInterval"
	propMinimumInterval = "minimumInterval"
	propMaximumInterval = "maximumInterval"
)

// A PropertyError is one fault in a policy. Property is the name that the
// configuration files use; Reason continues the sentence: "is required", "must
// not be negative". Its text is the two in a row.
type PropertyError struct {
	Property string
	Reason   string
}

func (e *PropertyError) Error() string { return e.Property + " " + e.Reason }

// Validate returns every fault of p, or nil. The order is the order of the real
// host (Utility.ValidateRetryOptions, then the constructors of the strategies):
// the count before the intervals, the minimum before the maximum, their order
// last.
func (p *Policy) Validate() []*PropertyError {
	if p == nil {
		return nil
	}
	var f faults
	if p.Strategy != FixedDelay && p.Strategy != ExponentialBackoff {
		f.add(propStrategy, "is required: %q or %q", fixedDelayName, exponentialBackoffName)
	}
	f.count(p.MaxRetryCount)
	switch p.Strategy {
	case FixedDelay:
		f.interval(propDelayInterval, p.DelayInterval)
	case ExponentialBackoff:
		f.interval(propMinimumInterval, p.MinimumInterval)
		f.interval(propMaximumInterval, p.MaximumInterval)
		f.ordered(p.MinimumInterval, p.MaximumInterval)
	}
	f.longest(p)
	return f
}

// faults collects the faults of one policy in the order of discovery.
type faults []*PropertyError

func (f *faults) add(property, format string, args ...any) {
	*f = append(*f, &PropertyError{Property: property, Reason: fmt.Sprintf(format, args...)})
}

func (f *faults) count(n int) {
	switch {
	case n < Forever:
		f.add(propMaxRetryCount, "must be -1 (forever), 0 or more, not %d", n)
	case n > math.MaxInt32:
		f.add(propMaxRetryCount, "must be at most %d, not %d", math.MaxInt32, n)
	}
}

func (f *faults) interval(property string, d time.Duration) {
	if d < 0 {
		f.add(property, "must not be negative: %s", FormatTimeSpan(d))
	}
}

// longest looks at the wait before the last retry, which is the longest, of a policy
// without other faults.
func (f *faults) longest(p *Policy) {
	last := p.MaxRetryCount
	if last == Forever {
		last = math.MaxInt32
	}
	if len(*f) > 0 {
		return
	}
	_, longest := p.Bounds(last)
	if longest <= MaxDelay {
		return
	}
	property := propDelayInterval
	switch {
	case p.Strategy == ExponentialBackoff && p.MinimumInterval > MaxDelay:
		property = propMinimumInterval
	case p.Strategy == ExponentialBackoff:
		property = propMaximumInterval
	}
	f.add(property, "makes a retry wait longer than 49 days: the longest wait is %s, and this one can be %s", FormatTimeSpan(MaxDelay), FormatTimeSpan(longest))
}

// ordered leaves negative intervals alone: they have their fault already.
func (f *faults) ordered(minimum, maximum time.Duration) {
	if minimum >= 0 && maximum >= 0 && minimum > maximum {
		f.add(propMinimumInterval, "must not be greater than %s: %s > %s",
			propMaximumInterval, FormatTimeSpan(minimum), FormatTimeSpan(maximum))
	}
}
