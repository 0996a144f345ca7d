package store_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// The last reader of a file may end before the batch that releases it is durable. The file
// is there as long as the batch is not.
func TestAFileGoesWhenItsReleaseIsDurable(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"a reader", "a save"} {
		fs := store.PoweredFS()
		s, err := store.OpenOn(fs, &store.Options{Sync: true})
		must(t, err)
		id := writeFile(t, s, pattern(1000))
		must(t, apply(s, func(b *store.Batch) { b.Keep(id) }))
		f, err := s.OpenFile(id)
		must(t, err)
		b, err := s.NewBatch()
		must(t, err)
		b.Release(id)
		commit, err := s.Begin(b)
		must(t, err)
		if end == "a save" {
			must(t, s.Save(new(discard)))
		}
		must(t, f.Close())
		if _, err := readFile(s, id); err != nil {
			t.Errorf("after %s, before Wait: %v", end, err)
		}
		must(t, commit.Wait())
		if names, _ := fs.List("/data/0001/files/01"); len(names) != 0 {
			t.Errorf("after %s and Wait there is %q", end, names)
		}
		must(t, s.Close())
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }
