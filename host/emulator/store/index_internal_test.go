package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// content walks over an index.
func (x *index) content() (out []string) {
	var c cursor
	for ok := c.seek(x, nil); ok; ok = c.next() {
		out = append(out, fmt.Sprint(string(c.key), " ", c.place))
	}
	return out
}

// An index is like a map that is sorted, and its copies stay as they were.
func TestIndexIsASortedMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(1, seed))
		var x index
		like := map[string]place{}
		type kept struct {
			copy index
			want []string
		}
		var copies []kept
		sorted := func() (out []string) {
			for _, key := range slices.Sorted(maps.Keys(like)) {
				out = append(out, fmt.Sprint(key, " ", like[key]))
			}
			return out
		}
		next := 0
		key := func() string {
			switch random.IntN(4) {
			case 0: // in order
				next++
				return fmt.Sprintf("queue/%08d", next)
			case 1:
				return fmt.Sprintf("queue/%08d", random.IntN(max(next, 1)))
			case 2:
				return string([]byte{byte(1 + random.IntN(255)), byte(random.IntN(256))})
			}
			return string(bytes.Repeat([]byte{'k'}, 1+random.IntN(300)))
		}
		for i := range 4000 {
			k := key()
			switch random.IntN(10) {
			case 0, 1:
				old, had := x.remove([]byte(k))
				if want, ok := like[k]; ok != had || want != old {
					t.Fatalf("seed %d, step %d: remove %q = %v, %v, want %v, %v", seed, i, k, old, had, want, ok)
				}
				delete(like, k)
			case 2:
				if random.IntN(10) > 0 {
					continue
				}
				end := k + "\xff"
				if random.IntN(5) == 0 {
					end = key()
				}
				n := 0
				x.removeRange([]byte(k), []byte(end), func(p place, size int) { n++ })
				for at := range like {
					if at >= k && at < end {
						delete(like, at)
						n--
					}
				}
				if n != 0 {
					t.Fatalf("seed %d, step %d: %d keys too many went", seed, i, n)
				}
			default:
				p := place{segment: uint64(random.IntN(300)), at: random.Int64N(1 << 33), size: random.IntN(1 << 20)}
				old, had := x.set([]byte(k), p)
				if want, ok := like[k]; ok != had || want != old {
					t.Fatalf("seed %d, step %d: set %q = %v, %v, want %v, %v", seed, i, k, old, had, want, ok)
				}
				like[k] = p
			}
			if got, ok := x.get([]byte(k)); got != like[k] || ok != (like[k] != place{}) {
				t.Fatalf("seed %d, step %d: get %q = %v, %v", seed, i, k, got, ok)
			}
			if random.IntN(300) == 0 {
				copies = append(copies, kept{x.copy(), sorted()})
			}
		}
		copies = append(copies, kept{x.copy(), sorted()})
		for i, c := range copies {
			if diff := cmp.Diff(c.want, c.copy.content()); diff != "" {
				t.Fatalf("seed %d, copy %d (-want +got):\n%s", seed, i, diff)
			}
		}
	}
}
