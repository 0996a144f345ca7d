//go:build race

package growth_test

import "time"

// The race detector makes filling slow, and walks too.
const (
	many    = 6_000
	allowed = 60 * time.Microsecond
)
