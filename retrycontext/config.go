package retrycontext

import (
	"errors"
	"time"
)

// A PolicyConfig is a policy as it was written: a nil field was not given.
// Policies from files, from the environment and from code all pass through it,
// so that they meet the same rules. Values that cannot be converted to the type
// of their field are the loader's to report; it leaves the field nil and drops
// the "is required" fault of that property.
//
// Only these five English names exist. A loader ignores every other key, the
// misspelt interval names of a translated page included.
type PolicyConfig struct {
	Strategy        *string
	MaxRetryCount   *int
	DelayInterval   *time.Duration
	MinimumInterval *time.Duration
	MaximumInterval *time.Duration
}

// Validate returns every fault in the order of the real host: a strategy that
// cannot be read; missing properties (maxRetryCount, strategy, then the
// intervals of the strategy, the minimum first); the range of the count; the
// ranges of the intervals. Intervals of the other strategy are not looked at,
// and without a known strategy none is.
func (c PolicyConfig) Validate() []*PropertyError {
	_, f := c.read()
	return f
}

// Policy returns the policy, or an error that joins every fault that
// [PolicyConfig.Validate] names (each a *[PropertyError], for errors.As).
func (c PolicyConfig) Policy() (*Policy, error) {
	p, f := c.read()
	if len(f) == 0 {
		return p, nil
	}
	errs := make([]error, len(f))
	for i, e := range f {
		errs[i] = e
	}
	return nil, errors.Join(errs...)
}

func (c PolicyConfig) read() (*Policy, faults) {
	var f faults
	p := &Policy{}
	if c.Strategy != nil {
		var err error
		if p.Strategy, err = ParseStrategy(*c.Strategy); err != nil {
			f.add(propStrategy, "must be %q or %q, not %q", fixedDelayName, exponentialBackoffName, *c.Strategy)
		}
	}
	if c.MaxRetryCount == nil {
		f.add(propMaxRetryCount, "is required")
	}
	if c.Strategy == nil {
		f.add(propStrategy, "is required: %q or %q", fixedDelayName, exponentialBackoffName)
	}

	// Each interval that counts, in the order in which it is checked.
	type interval struct {
		property string
		given    *time.Duration
		field    *time.Duration
	}
	var intervals []interval
	switch p.Strategy {
	case FixedDelay:
		intervals = []interval{{propDelayInterval, c.DelayInterval, &p.DelayInterval}}
	case ExponentialBackoff:
		intervals = []interval{
			{propMinimumInterval, c.MinimumInterval, &p.MinimumInterval},
			{propMaximumInterval, c.MaximumInterval, &p.MaximumInterval},
		}
	}
	for _, i := range intervals {
		if i.given == nil {
			f.add(i.property, "is required with strategy %q", p.Strategy)
		}
	}
	if c.MaxRetryCount != nil {
		p.MaxRetryCount = *c.MaxRetryCount
		f.count(p.MaxRetryCount)
	}
	for _, i := range intervals {
		if i.given != nil {
			*i.field = *i.given
			f.interval(i.property, *i.given)
		}
	}
	if p.Strategy == ExponentialBackoff && c.MinimumInterval != nil && c.MaximumInterval != nil {
		f.ordered(*c.MinimumInterval, *c.MaximumInterval)
	}
	f.longest(p)
	return p, f
}
