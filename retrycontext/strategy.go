package retrycontext

import (
	"fmt"
	"strings"
)

// Strategy says how the delays of a policy grow. The zero value is no strategy
// and is invalid: the platform silently takes it for exponential back-off, which
// hides a forgotten property, so it must be named here.
type Strategy uint8

const (
	// FixedDelay waits [Policy.DelayInterval] before every retry.
	FixedDelay Strategy = iota + 1
	// ExponentialBackoff starts at [Policy.MinimumInterval] and about doubles up
	// to [Policy.MaximumInterval].
	ExponentialBackoff
)

// The spelling of host.json and function.json.
const (
	fixedDelayName         = "fixedDelay"
	exponentialBackoffName = "exponentialBackoff"
)

// String returns the spelling of the configuration files, "fixedDelay" or
// "exponentialBackoff".
func (s Strategy) String() string {
	switch s {
	case FixedDelay:
		return fixedDelayName
	case ExponentialBackoff:
		return exponentialBackoffName
	}
	return fmt.Sprintf("Strategy(%d)", uint8(s))
}

// ParseStrategy reads a strategy in any letter case. Numbers, which the platform
// takes for its internal enumeration values, are refused.
func ParseStrategy(s string) (Strategy, error) {
	for _, known := range [...]Strategy{FixedDelay, ExponentialBackoff} {
		if strings.EqualFold(s, known.String()) {
			return known, nil
		}
	}
	return 0, fmt.Errorf("unknown retry strategy %q: want %q or %q", s, fixedDelayName, exponentialBackoffName)
}
