package store_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// spoil writes zeros over the first place in a file that has some bytes.
func spoil(t *testing.T, fs store.FileSystem, name, what string) {
	t.Helper()
	f, err := fs.Reopen(name)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	content := make([]byte, size)
	_, err = f.ReadAt(content, 0)
	must(t, err)
	at := bytes.Index(content, []byte(what))
	if at < 0 {
		t.Fatalf("%q is not in %s", what, name)
	}
	_, err = f.WriteAt(make([]byte, len(what)), int64(at))
	must(t, errors.Join(err, f.Close()))
}

// Of two batches that wait for the disk at one time a loss of power may leave the second
// alone: both are gone then. A batch that the disk had before the next was written is
// damaged instead.
func TestALaterWriteIsAloneOnTheDisk(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		fs := store.MemoryFS()
		var dead atomic.Bool
		s, err := store.OpenOn(fs, &store.Options{Sync: true, Fault: func(store.FileOp, string) error {
			if dead.Load() {
				return syscall.EIO
			}
			return nil
		}})
		must(t, err)
		must(t, set(s, "a", "1"))
		var commits []*store.Commit
		for _, key := range []string{"b", "c"} {
			b, err := s.NewBatch()
			must(t, err)
			b.Set([]byte(key), []byte("the value of "+key))
			c, err := s.Begin(b)
			must(t, err)
			if commits = append(commits, c); waits {
				must(t, c.Wait())
			}
		}
		dead.Store(true)
		spoil(t, fs, "/data/0001/log/00000001.log", "the value of b")
		after, err := store.OpenOn(fs, &store.Options{Sync: true})
		var damage *store.CorruptError
		switch {
		case waits && !errors.As(err, &damage):
			t.Errorf("with an acknowledged batch damaged: %v, want a CorruptError", err)
		case !waits && err != nil:
			t.Errorf("with a batch damaged that nobody was promised: %v", err)
		case !waits:
			expect(t, after, "a=1")
			must(t, set(after, "d", "1"))
			expect(t, after, "a=1", "d=1")
			must(t, after.Close())
		}
		for _, c := range commits {
			_ = c.Wait() // its engine ends
		}
		_ = s.Close()
	}
}
