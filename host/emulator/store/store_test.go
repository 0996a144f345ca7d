package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// open fails the test unless the store opens, and closes it at its end.
func open(t testing.TB, dir string, opts *store.Options) *store.Store {
	t.Helper()
	var s *store.Store
	var err error
	if dir == "" {
		s, err = store.OpenMemory(opts)
	} else {
		s, err = store.Open(dir, opts)
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// apply makes one batch.
func apply(s *store.Store, f func(b *store.Batch)) error {
	b, err := s.NewBatch()
	if err != nil {
		return err
	}
	f(b)
	return s.Apply(b)
}

func set(s *store.Store, pairs ...string) error {
	return apply(s, func(b *store.Batch) {
		for i := 0; i < len(pairs); i += 2 {
			b.Set([]byte(pairs[i]), []byte(pairs[i+1]))
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dump returns all keys in order as "key=value".
func dump(t testing.TB, s *store.Store) []string {
	t.Helper()
	v, err := s.View()
	must(t, err)
	var out []string
	must(t, v.Scan([]byte{1}, nil, func(key, value []byte) error {
		out = append(out, fmt.Sprintf("%s=%s", key, value))
		return nil
	}))
	must(t, v.Close())
	return out
}

func expect(t testing.TB, s *store.Store, want ...string) {
	t.Helper()
	if diff := cmp.Diff(dump(t, s), want); diff != "" {
		t.Errorf("keys (-got +want):\n%s", diff)
	}
}

// places runs a test on every kind of store.
func places(t *testing.T, test func(t *testing.T, dir string, opts store.Options)) {
	t.Parallel()
	t.Run("Memory", func(t *testing.T) { t.Parallel(); test(t, "", store.Options{}) })
	t.Run("Disk", func(t *testing.T) { t.Parallel(); test(t, t.TempDir(), store.Options{}) })
	t.Run("Sync", func(t *testing.T) { t.Parallel(); test(t, t.TempDir(), store.Options{Sync: true}) })
}

func TestBatchesAndOrder(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		s := open(t, dir, &opts)
		must(t, set(s, "b", "2", "a", "1", "c", "3", "a", "4"))
		expect(t, s, "a=4", "b=2", "c=3")
		before, err := s.View()
		must(t, err)
		must(t, apply(s, func(b *store.Batch) {
			b.Delete([]byte("b"))
			b.Delete([]byte("missing"))
			b.Set([]byte("d"), nil)
		}))
		expect(t, s, "a=4", "c=3", "d=")
		if got, err := before.Get([]byte("b")); err != nil || string(got) != "2" {
			t.Errorf("Get in the view from before = %q, %v", got, err)
		}
		must(t, before.Close())
		must(t, apply(s, func(b *store.Batch) { b.DeleteRange([]byte("b"), []byte("d")) }))
		expect(t, s, "a=4", "d=")
		if _, err := s.Get([]byte("c")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get of a deleted key = %v, want ErrNotFound", err)
		}
		must(t, apply(s, func(b *store.Batch) {
			b.DeleteRange([]byte("a"), []byte{})
			b.DeleteRange([]byte("d"), []byte("a"))
		}))
		expect(t, s, "a=4", "d=")
	})
}

func TestIterSeeks(t *testing.T) {
	t.Parallel()
	s := open(t, "", nil)
	must(t, set(s, "a/1", "", "a/2", "", "b/1", "", "c", ""))
	v, err := s.View()
	must(t, err)
	it, err := v.Iter([]byte("a/2"), []byte("c"))
	must(t, err)
	var got []string
	for ok := it.Seek([]byte("a")); ok; ok = it.Next() {
		got = append(got, string(it.Key()))
	}
	if it.Seek([]byte("b/2")) {
		t.Errorf("Seek behind the last key found %q", it.Key())
	}
	must(t, it.Close())
	must(t, v.Close())
	if diff := cmp.Diff(got, []string{"a/2", "b/1"}); diff != "" {
		t.Errorf("keys (-got +want):\n%s", diff)
	}
}

func TestPrefixEnd(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\xff\xff": "", "q\x00": "q\x01"} {
		if got := store.PrefixEnd([]byte(prefix)); string(got) != want {
			t.Errorf("PrefixEnd(%q) = %q, want %q", prefix, got, want)
		}
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "app", ".redeliver", "data")
	for i := range 5 {
		s, err := store.Open(dir, &store.Options{Sync: i%2 == 1})
		must(t, err)
		if got := len(dump(t, s)); got != i {
			t.Errorf("opening %d finds %d keys", i, got)
		}
		must(t, set(s, fmt.Sprint("key", i), "value"))
		must(t, s.Close())
		must(t, s.Close())
		if err := set(s, "a", "b"); !errors.Is(err, store.ErrClosed) {
			t.Errorf("a batch after Close = %v, want ErrClosed", err)
		}
	}
}

func writeFile(t testing.TB, s *store.Store, content []byte) store.FileID {
	t.Helper()
	w, err := s.CreateFile()
	must(t, err)
	for chunk := range chunks(content, 10_000) {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	id, err := w.Finish()
	must(t, err)
	return id
}

func chunks(b []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			k := min(n, len(b))
			if !yield(b[:k]) {
				return
			}
			b = b[k:]
		}
	}
}

func readFile(s *store.Store, id store.FileID) ([]byte, error) {
	f, err := s.OpenFile(id)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	return b, errors.Join(err, f.Close())
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * (i>>8 + 7))
	}
	return b
}

func TestFiles(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		s := open(t, dir, &opts)
		for _, size := range []int{0, 1, 32 << 10, 32<<10 + 1, 1 << 20} {
			content := pattern(size)
			id := writeFile(t, s, content)
			got, err := readFile(s, id)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("file of %d bytes: read %d, %v", size, len(got), err)
			}
			f, err := s.OpenFile(id)
			must(t, err)
			if size > 100 {
				part := make([]byte, 100)
				if _, err := f.ReadAt(part, int64(size-100)); err != nil || !bytes.Equal(part, content[size-100:]) {
					t.Errorf("file of %d bytes: its end cannot be read: %v", size, err)
				}
			}
			if n, err := f.ReadAt(make([]byte, 10), int64(size)); n != 0 || err != io.EOF {
				t.Errorf("ReadAt at the end = %d, %v, want EOF", n, err)
			}
			must(t, f.Close())
		}
	})
}

func TestReferencesKeepFiles(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		s := open(t, dir, &opts)
		id := writeFile(t, s, []byte("body"))
		keep := func(n int) error {
			return apply(s, func(b *store.Batch) {
				for range n {
					b.Keep(id)
				}
				for range -n {
					b.Release(id)
				}
			})
		}
		must(t, keep(2))
		must(t, keep(-1))
		if _, err := readFile(s, id); err != nil {
			t.Errorf("with one reference: %v", err)
		}
		reader, err := s.OpenFile(id)
		must(t, err)
		must(t, keep(-1))
		if err := keep(1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Keep of a file that has gone = %v, want ErrNotFound", err)
		}
		part := make([]byte, 4)
		if _, err := reader.ReadAt(part, 0); err != nil || string(part) != "body" {
			t.Errorf("a reader from before reads %q, %v", part, err)
		}
		must(t, reader.Close())
		if _, err := readFile(s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("with no reference = %v, want ErrNotFound", err)
		}
	})
}

func TestFilesThatNobodyKeepsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(dir, nil)
	must(t, err)
	kept, lost := writeFile(t, s, []byte("kept")), writeFile(t, s, []byte("lost"))
	discarded := writeFile(t, s, []byte("discarded"))
	must(t, apply(s, func(b *store.Batch) { b.Keep(kept) }))
	s.DiscardFile(discarded)
	s.DiscardFile(kept) // has a reference
	w, err := s.CreateFile()
	must(t, err)
	_, _ = w.Write([]byte("aborted"))
	w.Abort()
	must(t, s.Close())
	s = open(t, dir, nil)
	if got, err := readFile(s, kept); err != nil || string(got) != "kept" {
		t.Errorf("the kept file = %q, %v", got, err)
	}
	for _, id := range []store.FileID{lost, discarded} {
		if _, err := readFile(s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("file %d = %v, want ErrNotFound", id, err)
		}
	}
	if names := bodies(t, dir); len(names) != 1 {
		t.Errorf("files on disk = %q, want one", names)
	}
}

func bodies(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "0*", "files", "*", "*"))
	must(t, err)
	return names
}

func TestSaveLoadReset(t *testing.T) {
	places(t, func(t *testing.T, dir string, opts store.Options) {
		s := open(t, dir, &opts)
		body := pattern(100_000)
		id := writeFile(t, s, body)
		must(t, apply(s, func(b *store.Batch) {
			b.Keep(id)
			b.Keep(id)
			for i := range 2000 {
				b.Set(fmt.Appendf(nil, "key%04d", i), pattern(1000))
			}
		}))
		want := dump(t, s)
		var archive bytes.Buffer
		must(t, s.Save(&archive))

		must(t, s.Reset())
		expect(t, s)
		if _, err := readFile(s, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("file after Reset = %v, want ErrNotFound", err)
		}
		must(t, set(s, "other", "value"))
		must(t, s.Load(bytes.NewReader(archive.Bytes())))
		expect(t, s, want...)
		if got, err := readFile(s, id); err != nil || !bytes.Equal(got, body) {
			t.Errorf("file after Load = %d bytes, %v", len(got), err)
		}
		must(t, apply(s, func(b *store.Batch) { b.Release(id) }))
		if _, err := readFile(s, id); err != nil {
			t.Errorf("file with one of two references: %v", err)
		}
		if other := writeFile(t, s, nil); other == id {
			t.Errorf("id %d was given twice", id)
		}
		must(t, s.Load(bytes.NewReader(archive.Bytes())))
		must(t, s.Close())
		if dir != "" {
			again := open(t, dir, &opts)
			expect(t, again, want...)
		}
	})
}

// Not parallel: it measures what damage makes it allocate.
func TestLoadIsAllOrNothing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	id := writeFile(t, s, pattern(5000))
	must(t, apply(s, func(b *store.Batch) { b.Keep(id); b.Set([]byte("old"), pattern(300)) }))
	var saved bytes.Buffer
	must(t, s.Save(&saved))
	must(t, s.Reset())
	must(t, set(s, "now", "here"))
	refuse := func(what string, archive []byte) {
		t.Helper()
		err := s.Load(bytes.NewReader(archive))
		var damage *store.CorruptError
		var version *store.VersionError
		if !errors.As(err, &damage) && !errors.As(err, &version) {
			t.Errorf("Load of an archive %s = %v, want CorruptError", what, err)
		}
		expect(t, s, "now=here")
	}
	good := saved.Bytes()
	for n := 0; n < len(good); n += 1 + n/3 {
		refuse(fmt.Sprintf("cut at %d", n), good[:n])
	}
	for i := 0; i < len(good); i += 1 + len(good)/40 {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		refuse(fmt.Sprintf("changed at %d", i), bad)
	}
	for what, record := range map[string][]byte{
		"with a key without end":   {'K', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"with a key of 60 MB":      binary.AppendUvarint([]byte{'K'}, 60<<20),
		"with a number too long":   slices.Concat([]byte{'K'}, bytes.Repeat([]byte{0xff}, 20)),
		"with a file without end":  {'F', 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"with a file of all bytes": slices.Concat([]byte{'F', 1, 1}, bytes.Repeat([]byte{0xff}, 9), []byte{1}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		refuse(what, append([]byte("redeliver state 2\n"), record...))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
			t.Errorf("an archive %s took %d MiB", what, used>>20)
		}
	}
	must(t, s.Load(bytes.NewReader(good)))
}

// A path that is not a directory is reported as such, and not as in use.
func TestOpenOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "data")
	must(t, os.WriteFile(file, nil, 0o644))
	for _, path := range []string{file, filepath.Join(file, "below")} {
		var inUse *store.InUseError
		if _, err := store.Open(path, nil); err == nil || errors.As(err, &inUse) {
			t.Errorf("Open(%q): %v", path, err)
		}
	}
}
