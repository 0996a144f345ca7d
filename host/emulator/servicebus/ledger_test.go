package servicebus

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The ledger against a map: messages come in any order, are freed, taken and
// removed.
func TestLedgerAgainstAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	l := newLedger()
	there, free := map[int64]*message{}, map[int64]bool{}
	next := int64(0)
	pick := func() *message {
		keys := slices.Sorted(maps.Keys(there))
		return there[keys[random.IntN(len(keys))]]
	}
	for range 3_000 {
		switch op := random.IntN(6); {
		case op < 2 || len(there) == 0:
			next += int64(1 + random.IntN(100))
			seq := next
			if random.IntN(4) == 0 { // behind, as in a dead-letter queue
				if seq = random.Int64N(next); there[seq] != nil {
					continue
				}
			}
			m := &message{seq: seq}
			there[seq] = m
			l.add(m)
		case op == 2:
			m := pick()
			l.remove(m)
			delete(there, m.seq)
			delete(free, m.seq)
		default:
			m := pick()
			on := random.IntN(2) == 0
			l.setFree(m, on)
			if delete(free, m.seq); on {
				free[m.seq] = true
			}
		}
		var want *message
		if keys := slices.Sorted(maps.Keys(free)); len(keys) > 0 {
			want = there[keys[0]]
		}
		if got := l.first(); got != want {
			t.Fatalf("first = %+v, want %+v", got, want)
		}
		if random.IntN(50) > 0 {
			continue
		}
		from := random.Int64N(next + 1)
		var got []int64
		l.from(from, func(m *message) bool { got = append(got, m.seq); return true })
		keys := slices.Sorted(maps.Keys(there))
		keys = slices.DeleteFunc(keys, func(k int64) bool { return k < from })
		if !slices.Equal(got, keys) || l.n != len(there) {
			t.Fatalf("from(%d) = %v of %d, want %v of %d", from, got, l.n, keys, len(there))
		}
		if m := l.find(from); m != there[from] {
			t.Fatalf("find(%d) = %v, want %v", from, m, there[from])
		}
	}
}
