//go:build !race

package growth_test

import "time"

const (
	many    = 50_000
	allowed = 25 * time.Microsecond
)
