package blobs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
)

// A list of pieces in runs is the list without them, whatever is written or cleared.
func TestPageList(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const pages = 3000
	var flat []segment
	list := newPageList(nil)
	for i := range 20_000 {
		at, n := random.Int64N(pages), 1+random.Int64N(3)
		if random.IntN(50) == 0 {
			n = 1 + random.Int64N(pages/2)
		}
		span := blobapi.Range{Offset: at, Count: n}
		var put []segment
		if random.IntN(4) > 0 {
			put = []segment{{Body: bodyID(rune('a' + i%26)), At: at, Size: n}}
		}
		before := list.n
		old, instead, _ := list.replace(span, put)
		flat = overlay(flat, span, put)
		if list.n != len(flat) || list.n != before-len(old)+len(instead) {
			t.Fatalf("step %d: %d pieces, want %d", i, list.n, len(flat))
		}
		if i%500 == 0 {
			if diff := cmp.Diff(flat, list.all(), cmp.AllowUnexported(segment{})); diff != "" && len(flat) > 0 {
				t.Fatalf("step %d (-want +got):\n%s", i, diff)
			}
		}
		for _, r := range list.runs {
			if len(r) == 0 || len(r) > maxPageRun {
				t.Fatalf("step %d: a run of %d", i, len(r))
			}
		}
		from := random.Int64N(pages)
		want := slices.DeleteFunc(slices.Clone(flat), func(s segment) bool { return s.end() <= from })
		if i%100 == 0 && !slices.Equal(slices.Collect(list.from(from)), want) {
			t.Fatalf("step %d: other pieces from %d on", i, from)
		}
	}
}
