package retrycontext

import "fmt"

// Formula says how the wait before retry n of a delivery (1 is the first) comes about, for
// a person. It is empty without a policy and for n below 1. See [Policy.Delay].
func (p *Policy) Formula(n int) string {
	if p == nil || n < 1 {
		return ""
	}
	if p.Strategy == FixedDelay {
		return "delayInterval"
	}
	low, span, capped := p.increment(n)
	switch {
	case capped:
		return "maximumInterval"
	case low+span == 0:
		return "minimumInterval"
	}
	least, most := p.Bounds(n)
	return fmt.Sprintf("minimumInterval × (1 + 2^%d × 0.8 to 1.2), at most maximumInterval: %v to %v", n-2, least, most)
}
