package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// rounds returns what writes the same 256 KiB anew.
func rounds(t *testing.T, s *store.Store) (round func()) {
	return func() {
		t.Helper()
		for i := range 32 {
			must(t, set(s, fmt.Sprintf("key%02d", i), random(8<<10)))
		}
	}
}

// However long the same keys are written, the size on the disk stays a small
// multiple of the store's content.
func TestOldValuesAreCollected(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	s, _ := onSmallDisk(t, d, *new(store.Options).WithSegment(256 << 10))
	round, most := rounds(t, s), int64(0)
	for n := range 200 {
		if round(); n > 20 {
			most = max(most, d.usedBy(".log"))
		}
	}
	t.Logf("at most %d KiB in the log for 256 KiB", most>>10)
	if most > 8*mib {
		t.Errorf("the log has up to %d KiB, of 256 KiB that are stored", most>>10)
	}
}

// On a disk without room for the cleaning of the log it is tried once and not over and
// over, until there is room again; what is written meanwhile is taken.
func TestCleaningWithoutRoomRests(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	var segments atomic.Int64
	opts := store.Options{Fault: func(op store.FileOp, path string) error {
		if op == store.OpCreate && strings.HasSuffix(path, ".log") {
			segments.Add(1)
		}
		return nil
	}}
	s, _ := onSmallDisk(t, d, *opts.WithSegment(256 << 10))
	round := rounds(t, s)
	round()
	d.fill(900 << 10)
	for range 3 {
		segments.Store(0)
		round()
	}
	if n := segments.Load(); n > 4 {
		t.Errorf("%d segments were begun in a round that fills one", n)
	}
	d.grow(1 << 30)
	for range 60 {
		round()
	}
	if used := d.usedBy(".log"); used > 8*mib {
		t.Errorf("with room again the log has %d KiB, of 256 KiB that are stored", used>>10)
	}
}

// Whatever was written, removed and written anew, over cleanings, kills and closings: each
// opening finds the same as a map.
func TestLogIsLikeAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(7, seed))
		d := newSmallDisk(1 << 40)
		opts := *new(store.Options).WithSegment(8 << 10)
		s, kill := onSmallDisk(t, d, opts)
		like := map[string]string{}
		key := func() string { return fmt.Sprintf("k%03d", random.IntN(400)) }
		for step := range 2000 {
			must(t, write(s, func(b *store.Batch) {
				for range 1 + random.IntN(4) {
					switch k := key(); random.IntN(12) {
					case 0, 1, 2:
						b.Delete([]byte(k))
						delete(like, k)
					case 3:
						end := fmt.Sprintf("k%03d", random.IntN(400))
						if random.IntN(3) > 0 {
							end = k + "\x00"
						}
						b.DeleteRange([]byte(k), []byte(end))
						maps.DeleteFunc(like, func(at, _ string) bool { return at >= k && at < end })
					default:
						like[k] = fmt.Sprint(step, strings.Repeat("v", random.IntN(200)))
						b.Set([]byte(k), []byte(like[k]))
					}
				}
			}))
			if random.IntN(150) > 0 {
				continue
			}
			switch random.IntN(3) {
			case 0:
				kill()
				s, kill = onSmallDisk(t, d, opts)
			case 1:
				must(t, s.Close())
				s, kill = onSmallDisk(t, d, opts)
			}
			var want []string
			for _, k := range slices.Sorted(maps.Keys(like)) {
				want = append(want, k+"="+like[k])
			}
			if diff := cmp.Diff(want, dump(t, s)); diff != "" {
				t.Fatalf("seed %d, step %d (-want +got):\n%s", seed, step, diff)
			}
		}
	}
}

// A view that was opened before a cleaning reads what was there then.
func TestViewsOutliveCleaning(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	s, _ := onSmallDisk(t, d, *new(store.Options).WithSegment(256 << 10))
	must(t, set(s, "a", "1"))
	v, err := s.View()
	must(t, err)
	round := rounds(t, s)
	for range 10 {
		round()
	}
	must(t, set(s, "a", "2"))
	if got, err := v.Get([]byte("a")); err != nil || string(got) != "1" {
		t.Errorf("the view reads %q, %v", got, err)
	}
	must(t, v.Close())
	for range 10 {
		round()
	}
	if used := d.usedBy(".log"); used > 3*mib {
		t.Errorf("the log still has %d KiB after the view", used>>10)
	}
}
