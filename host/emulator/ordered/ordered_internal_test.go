package ordered

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A set of runs is a sorted set, while it grows and while it shrinks.
func TestSet(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s := New(cmp.Compare[int])
	model := map[int]bool{}
	item := func() int { return random.IntN(4000) }
	for i := range 30_000 {
		x := item()
		// Phases of growing and of shrinking cut runs and empty them.
		if random.IntN(3) > 0 == (i/6000%2 == 0) {
			s.Insert(x)
			model[x] = true
		} else {
			s.Remove(x)
			delete(model, x)
		}
		if s.Len() != len(model) {
			t.Fatalf("step %d: Len = %d, want %d", i, s.Len(), len(model))
		}
		if i%997 != 0 {
			continue
		}
		var all []int
		for x := range model {
			all = append(all, x)
		}
		slices.Sort(all)
		a, b, skip := item(), item(), random.IntN(len(all)+2)
		behind := func(x int) int { n, _ := slices.BinarySearch(all, x); return n }
		if got, want := slices.Collect(s.From(a)), all[behind(a):]; !slices.Equal(got, want) {
			t.Fatalf("step %d: From(%d) = %d items, want %d", i, a, len(got), len(want))
		}
		if got, want := slices.Collect(s.Behind(skip)), all[min(skip, len(all)):]; !slices.Equal(got, want) {
			t.Fatalf("step %d: Behind(%d) = %d items, want %d", i, skip, len(got), len(want))
		}
		if got, want := s.Between(a, b), max(behind(b)-behind(a), 0); got != want {
			t.Fatalf("step %d: Between(%d, %d) = %d, want %d", i, a, b, got, want)
		}
		for _, run := range s.runs {
			if len(run) == 0 || len(run) > maxRun {
				t.Fatalf("step %d: a run of %d", i, len(run))
			}
		}
	}
}
