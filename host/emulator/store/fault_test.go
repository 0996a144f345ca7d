package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestDiskFull(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		var full atomic.Bool
		opts.Fault = func(op store.FileOp, path string) error {
			if full.Load() && (op == store.OpWrite || op == store.OpCreate) {
				return syscall.ENOSPC
			}
			return nil
		}
		s := open(t, dir, &opts)
		must(t, set(s, "a", "1"))
		before, _ := s.Opening()
		full.Store(true)
		if err := set(s, "b", "2"); !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("a batch = %v, want ErrDiskFull", err)
		}
		if err := set(s, "c", "3"); !errors.Is(err, store.ErrFailed) || !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("the next batch = %v, want ErrFailed for ErrDiskFull", err)
		}
		if err := s.Recover(); !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("Recover while the disk is full = %v, want ErrDiskFull", err)
		}
		if _, err := s.CreateFile(); !errors.Is(err, store.ErrFailed) {
			t.Errorf("CreateFile = %v, want ErrFailed", err)
		}
		expect(t, s, "a=1") // old keys can be read all the same
		full.Store(false)
		must(t, s.Recover())
		if after, err := s.Opening(); err != nil || after != before {
			t.Errorf("Opening = %d, %v, before %d: a write that is refused changes nothing", after, err, before)
		}
		must(t, set(s, "d", "4"))
		expect(t, s, "a=1", "d=4")

		w, err := s.CreateFile()
		must(t, err)
		full.Store(true)
		_, err = w.Write(pattern(300_000)) // more than waits in memory
		if !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("Write to a file = %v, want ErrDiskFull", err)
		}
		if _, err := w.Finish(); !errors.Is(err, store.ErrDiskFull) {
			t.Errorf("Finish = %v, want ErrDiskFull", err)
		}
		full.Store(false)
		must(t, set(s, "e", "5")) // a file that cannot be written ends nothing else
	})
}

// One after the other, each operation on a file fails once. After each, all
// acknowledged writes are there, and perhaps the refused one.
func TestEachFileOperationFails(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		seen := 0
		for k := 1; ; k++ {
			var n atomic.Int64
			var failed atomic.Pointer[string]
			opts := &store.Options{Sync: sync, Fault: func(op store.FileOp, path string) error {
				if op != store.OpRead && n.Add(1) == int64(k) {
					what := fmt.Sprintf("%s %s", op, path)
					failed.Store(&what)
					return syscall.EIO
				}
				return nil
			}}
			opts.WithSegment(64 << 10)
			refused := workThrough(t, opts, func() string {
				if p := failed.Load(); p != nil {
					return *p
				}
				return ""
			})
			if failed.Load() == nil {
				break
			}
			if refused {
				seen++
			}
		}
		if seen < 5 {
			t.Errorf("sync %v: only %d faults were met", sync, seen)
		}
	}
}

// workThrough commits batches that fill the engine's memory, saves, resets and
// opens again. It reports whether anything was refused.
func workThrough(t *testing.T, opts *store.Options, fault func() string) (refused bool) {
	t.Helper()
	fs := store.MemoryFS()
	s, err := store.OpenOn(fs, opts)
	if err != nil {
		refused = true
		if s, err = store.OpenOn(fs, opts); err != nil {
			t.Fatalf("after %q: the second open: %v", fault(), err)
		}
	}
	var acked, tried []string
	big := strings.Repeat("x", 10<<10)
	for i := range 15 {
		key := fmt.Sprintf("key%02d", i)
		tried = append(tried, key)
		switch err := set(s, key, big); {
		case err == nil:
			acked = append(acked, key)
		default:
			refused = true
			if err := s.Recover(); err != nil {
				t.Fatalf("after %q: Recover: %v", fault(), err)
			}
		}
	}
	for range 2 {
		if err := s.Recover(); err != nil { // a flush may have failed behind our back
			t.Fatalf("after %q: Recover: %v", fault(), err)
		}
		got, err := keysOf(s)
		if errors.Is(err, store.ErrFailed) { // a merge did, in the midst of the reading
			must(t, s.Recover())
			got, err = keysOf(s)
		}
		must(t, err)
		for _, key := range acked {
			if !slices.Contains(got, key) {
				t.Errorf("after %q: %s was acknowledged and is gone", fault(), key)
			}
		}
		for _, key := range got {
			if !slices.Contains(tried, key) {
				t.Errorf("after %q: %s came from nowhere", fault(), key)
			}
		}
		if err := s.Close(); err != nil && fault() == "" {
			t.Errorf("Close: %v", err)
		}
		if s, err = store.OpenOn(fs, opts); err != nil {
			refused = true
			if s, err = store.OpenOn(fs, opts); err != nil {
				t.Fatalf("after %q: open again: %v", fault(), err)
			}
		}
	}
	_ = s.Close() // may be what fails
	return refused
}

func keysOf(s *store.Store) (keys []string, err error) {
	v, err := s.View()
	if err != nil {
		return nil, err
	}
	err = v.Scan([]byte{1}, nil, func(key, _ []byte) error { keys = append(keys, string(key)); return nil })
	return keys, errors.Join(err, v.Close())
}

// Power goes at any moment: with Sync, everything acknowledged is there; without,
// a beginning of it, and the store is whole.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{true, false} {
		t.Run(fmt.Sprintf("Sync=%v", sync), func(t *testing.T) {
			t.Parallel()
			fs := store.PoweredFS()
			opts := &store.Options{Sync: sync}
			s, err := store.OpenOn(fs, opts.WithSegment(64<<10))
			must(t, err)
			defer s.Close()
			big := strings.Repeat("x", 10<<10)
			for i := range 40 {
				id := writeFile(t, s, pattern(50_000))
				must(t, apply(s, func(b *store.Batch) {
					b.Keep(id)
					b.Set(fmt.Appendf(nil, "key%02d", i), []byte(big))
				}))
				after, err := store.OpenOn(fs.Lost(), nil)
				if err != nil && !sync && i < 20 {
					continue // nothing had reached the disk yet
				}
				if err != nil {
					t.Fatalf("after the loss of power at %d: %v", i, err)
				}
				keys := dump(t, after)
				if sync && len(keys) != i+1 {
					t.Errorf("at %d: %d keys are left", i, len(keys))
				}
				for j, key := range keys {
					if want := fmt.Sprintf("key%02d=", j); !strings.HasPrefix(key, want) {
						t.Errorf("at %d: key %d is %.10q", i, j, key)
					}
				}
				if sync {
					if _, err := readFile(after, id); err != nil {
						t.Errorf("at %d: %v", i, err)
					}
				}
				must(t, after.Close())
			}
		})
	}
}

func TestConcurrentBatches(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		s := open(t, dir, &opts)
		id := writeFile(t, s, []byte("shared"))
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for i := range 20 {
					err := apply(s, func(b *store.Batch) {
						b.Set(fmt.Appendf(nil, "%02d-%02d", w, i), nil)
						b.Keep(id)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := len(dump(t, s)); n != 320 {
			t.Errorf("%d keys, want 320", n)
		}
		must(t, apply(s, func(b *store.Batch) {
			for range 319 {
				b.Release(id)
			}
		}))
		if _, err := readFile(s, id); err != nil {
			t.Errorf("with one reference left: %v", err)
		}
		must(t, apply(s, func(b *store.Batch) { b.Release(id) }))
		if _, err := readFile(s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("with none left = %v, want ErrNotFound", err)
		}
	})
}
