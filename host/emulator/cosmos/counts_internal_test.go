package cosmos

import (
	"math/rand/v2"
	"testing"
)

// The tree counts as a list does.
func TestCounts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var c counts
	var list []bool
	for step := range 4000 {
		if i := random.IntN(len(list) + 1); random.IntN(3) > 0 || i == len(list) {
			c.push()
			list = append(list, true)
		} else if list[i] {
			c.clear(i)
			list[i] = false
		}
		if step%97 > 0 {
			continue
		}
		n := 0
		for i, one := range list {
			if got := c.before(i); got != n {
				t.Fatalf("step %d: before(%d) = %d, want %d", step, i, got, n)
			}
			if one {
				if got := c.at(n); got != i {
					t.Fatalf("step %d: at(%d) = %d, want %d", step, n, got, i)
				}
				n++
			}
		}
		if got := c.at(n); got != len(list) {
			t.Fatalf("step %d: at(%d) = %d of %d ones, want the length %d", step, n, got, n, len(list))
		}
	}
}
