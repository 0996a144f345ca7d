package ids_test

import (
	"regexp"
	"testing"

	"github.com/redeliver/redeliver/host/internal/ids"
)

// IDs come from the seed and counters: the same again for the same seed, and
// never twice.
func TestIdentities(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, seed := range []uint64{0, 1, 2} {
		one, two := ids.New(seed), ids.New(seed)
		for n := range 1000 {
			a, b := one.Invocation(), one.GUID()
			if a != two.Invocation() || b != two.GUID() {
				t.Fatalf("seed %d: ID %d differs between two runs", seed, n)
			}
			for _, id := range []string{a, b} {
				if !form.MatchString(id) {
					t.Fatalf("%q is no random UUID", id)
				}
				if seen[id] {
					t.Fatalf("%q was given twice", id)
				}
				seen[id] = true
			}
		}
	}
	of := ids.New(0)
	_, first := of.Delivery()
	number, second := of.Delivery()
	if first != "d1" || second != "d2" || number != 2 {
		t.Errorf("deliveries are named %s, %s; the second has number %d", first, second, number)
	}
	// Golden: what one release calls so, the next does too.
	if got, want := ids.GUID(0, 1), "58266ec7-a413-4f1d-8086-9bca8508371a"; got != want {
		t.Errorf("guid(0, 1) = %s, want %s", got, want)
	}
	x, y := ids.Jitter(7, 3), ids.Jitter(7, 3)
	for range 100 {
		if u := x(); u != y() || u < 0 || u >= 1 {
			t.Fatalf("jitter %v is not in [0, 1) or not repeatable", u)
		}
	}
}
