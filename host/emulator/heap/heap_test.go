package heap_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/heap"
)

type item struct {
	key, number int
	place       int
}

func compare(a, b *item) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
}

// After every change the first item is the first of a sorted list, and each item
// knows its place.
func TestHeap(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	h := heap.New(func(a, b *item) bool { return compare(a, b) < 0 }, func(i *item) *int { return &i.place })
	var in, out []*item
	for n := range 64 {
		out = append(out, &item{number: n})
	}
	take := func(list *[]*item) *item {
		i := rng.IntN(len(*list))
		x := (*list)[i]
		*list = slices.Delete(*list, i, i+1)
		return x
	}
	for range 20_000 {
		switch n := rng.IntN(4); {
		case n < 2 && len(out) > 0:
			x := take(&out)
			x.key = rng.IntN(20)
			h.Push(x)
			in = append(in, x)
		case n == 2 && len(in) > 0:
			x := take(&in)
			h.Remove(x)
			out = append(out, x)
		case n == 3 && len(in) > 0:
			x := in[rng.IntN(len(in))]
			x.key = rng.IntN(20)
			h.Fix(x)
		}
		first, ok := h.Min()
		if ok != (len(in) > 0) || ok && first != slices.MinFunc(in, compare) {
			t.Fatalf("with %d items Min = %v, %t", len(in), first, ok)
		}
		if h.Len() != len(in) || len(h.All()) != len(in) {
			t.Fatalf("Len = %d and All has %d, want %d", h.Len(), len(h.All()), len(in))
		}
		for i, x := range h.All() {
			if x.place != i+1 {
				t.Fatalf("item %d says %d", i+1, x.place)
			}
		}
		for _, x := range out {
			if x.place != 0 {
				t.Fatalf("item %d that is not in says %d", x.number, x.place)
			}
		}
	}
}

// Removing an item that is not in the heap leaves the others alone.
func TestNotIn(t *testing.T) {
	t.Parallel()
	h := heap.New(func(a, b *item) bool { return compare(a, b) < 0 }, func(i *item) *int { return &i.place })
	in, never := &item{key: 1}, &item{}
	h.Push(in)
	h.Fix(never)
	h.Remove(never)
	if first, _ := h.Min(); first != in || h.Len() != 1 || never.place != 0 {
		t.Errorf("Min = %v of %d, the other one says %d", first, h.Len(), never.place)
	}
	h.Remove(in)
	if _, ok := h.Min(); ok {
		t.Error("Min of an empty heap")
	}
}
