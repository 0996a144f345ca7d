package storage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// A state can be replaced at any moment: by Load, Restore and Reset, and by
// Recover after a write that failed. These tests are about callers who had
// begun something before.

// openInbox opens an account with an empty container named inbox.
func openInbox(t *testing.T, o *store.Options) (*emulator.Storage, *store.Store) {
	t.Helper()
	db := openStore(t, t.TempDir(), o)
	s := openAccount(t, clock.System(), db, nil)
	createInbox(t, s)
	return s, db
}

func createInbox(t *testing.T, s *emulator.Storage) {
	t.Helper()
	if _, err := s.Container("inbox").Create(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
}

// sizes of a body that the store keeps as a value, and of one that it keeps as a
// file.
var bodySizes = map[string]int{"small": 4, "large": 100_000}

// put writes a blob that is one letter all over.
func put(t *testing.T, s *emulator.Storage, name, letter string, size int) {
	t.Helper()
	if _, err := s.Container("inbox").Blob(name).Put(context.Background(), strings.NewReader(strings.Repeat(letter, size)), nil); err != nil {
		t.Fatal(err)
	}
}

// letter reads a blob and returns its first byte, after having read all.
func letter(s *emulator.Storage, name string) (string, error) {
	d, err := s.Container("inbox").Blob(name).Get(context.Background(), nil)
	if err != nil {
		return "", err
	}
	defer d.Body.Close()
	b, err := io.ReadAll(d.Body)
	if err != nil {
		return "", err
	}
	return string(b[:1]), nil
}

// expectLetter wants a blob to be what put wrote.
func expectLetter(t *testing.T, s *emulator.Storage, name, want string) {
	t.Helper()
	if got, err := letter(s, name); err != nil || got != want {
		t.Errorf("blob %q is %q, %v, want %q", name, got, err, want)
	}
}

func archiveOf(t *testing.T, s *emulator.Storage) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := s.Save(&archive); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// A body that was staged before a Load or a Restore is never mistaken for one of
// the new state, nor the other way round.
func TestStagedBodyOutlivesItsState(t *testing.T) {
	t.Parallel()
	for form, size := range bodySizes {
		replacers := map[string]func(t *testing.T, a, b *emulator.Storage){
			"Load": func(t *testing.T, a, b *emulator.Storage) {
				if err := b.Load(bytes.NewReader(archiveOf(t, a))); err != nil {
					t.Fatal(err)
				}
			},
			"Restore": func(t *testing.T, a, b *emulator.Storage) {
				snap, err := a.Snapshot()
				if err == nil {
					err = b.Restore(snap)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
		}
		kinds := map[string]func(t *testing.T) *emulator.Storage{
			"durable": func(t *testing.T) *emulator.Storage { s, _ := openInbox(t, nil); return s },
			"memory": func(t *testing.T) *emulator.Storage {
				s := emulator.New(clock.System(), nil)
				createInbox(t, s)
				return s
			},
		}
		for how, replace := range replacers {
			for kind, open := range kinds {
				t.Run(form+"/"+how+"/"+kind, func(t *testing.T) {
					t.Parallel()
					ctx := context.Background()
					a, b := open(t), open(t)
					put(t, a, "x", "A", size)
					staged, err := b.StageBody(strings.NewReader(strings.Repeat("B", size)), 0, 1<<20)
					if err != nil {
						t.Fatal(err)
					}
					replace(t, a, b)
					expectLetter(t, b, "x", "A")
					_, err = b.Container("inbox").Blob("y").Put(ctx, staged, nil)
					switch {
					case err == nil:
						expectLetter(t, b, "y", "B")
					case !errors.Is(err, bindings.ErrUnavailable):
						t.Errorf("Put of a body from before = %v, want ErrUnavailable", err)
					}
					staged.Discard()
					expectLetter(t, b, "x", "A")
				})
			}
		}
	}
}

func TestStagedBodyAcrossReset(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, db := openInbox(t, nil)
	staged, err := b.StageBody(strings.NewReader(strings.Repeat("B", 100_000)), 0, 1<<20)
	if err == nil {
		err = db.Reset()
	}
	if err != nil {
		t.Fatal(err)
	}
	createInbox(t, b)
	blob := b.Container("inbox").Blob("y")
	if _, err := blob.Put(ctx, staged, nil); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Put of a body that is gone = %v, want ErrUnavailable", err)
	}
	if _, err := blob.Properties(ctx, nil); storage.CodeOf(err) != storage.CodeBlobNotFound {
		t.Errorf("Properties after a Put that failed = %v, want BlobNotFound", err)
	}
}

// A download from before a Load fails; it never gives what another blob has.
func TestDownloadAcrossLoad(t *testing.T) {
	t.Parallel()
	for form, size := range bodySizes {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			a, _ := openInbox(t, nil)
			b, _ := openInbox(t, nil)
			put(t, a, "x", "A", size)
			put(t, b, "y", "B", size)
			d, err := b.Container("inbox").Blob("y").Get(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Load(bytes.NewReader(archiveOf(t, a))); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(d.Body); !errors.Is(err, bindings.ErrUnavailable) || len(got) > 0 {
				t.Errorf("the download read %d bytes, %v, want ErrUnavailable", len(got), err)
			}
			_ = d.Body.Close()
			expectLetter(t, b, "x", "A")
		})
	}
}

// After a write that failed, a large body is the first thing to come.
func TestLargeBodyAfterFailure(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	b, _ := openInbox(t, &store.Options{Fault: func(op store.FileOp, _ string) error {
		if full.Load() && op == store.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	}})
	full.Store(true)
	if _, err := b.Container("inbox").Blob("s").Put(context.Background(), strings.NewReader("small"), nil); err == nil {
		t.Error("Put on a full disk succeeded")
	}
	full.Store(false)
	put(t, b, "l", "L", 100_000)
	expectLetter(t, b, "l", "L")
}

// A sound archive whose records cannot be read changes nothing, in any account of
// the store.
func TestRefusedArchiveChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	records := map[string]struct{ key, value string }{
		"a queue of the future": {"q\x00orders", "\x09"},
		"a blob of the future":  {"b\x00inbox\x00", "\x09"},
		"no time":               {"time", "?"},
	}
	for name, record := range records {
		for _, space := range []string{"", "second"} {
			t.Run(name+" in "+space, func(t *testing.T) {
				t.Parallel()
				bad := openStore(t, "", nil)
				w, err := bad.Space(space).NewBatch()
				if err != nil {
					t.Fatal(err)
				}
				w.Set([]byte(record.key), []byte(record.value))
				if err := bad.Apply(w); err != nil {
					t.Fatal(err)
				}
				var archive bytes.Buffer
				if err := bad.Save(&archive); err != nil {
					t.Fatal(err)
				}
				b, db := openInbox(t, nil)
				openAccount(t, clock.System(), db.Space("second"), nil)
				_ = b.Queue("mine").Create(ctx)
				put(t, b, "x", "X", 4)
				var corrupt *store.CorruptError
				if err := b.Load(&archive); !errors.As(err, &corrupt) {
					t.Errorf("Load = %v, want a CorruptError", err)
				}
				if names, err := b.Queues(ctx); err != nil || !cmp.Equal(names, []string{"mine"}) {
					t.Errorf("queues after a refused Load = %q, %v", names, err)
				}
				expectLetter(t, b, "x", "X")
			})
		}
	}
}

// Queues and blobs are replaced together or not at all.
func TestRestoreIsOneBatch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	var writes atomic.Int64
	writes.Store(1 << 30)
	db := openStore(t, dir, &store.Options{Fault: func(op store.FileOp, _ string) error {
		if op == store.OpWrite && writes.Add(-1) < 0 {
			return syscall.ENOSPC
		}
		return nil
	}})
	s := openAccount(t, clock.System(), db, nil)
	state := func() (out [2]bool) {
		names, err := s.Queues(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Container("inbox").Properties(ctx, nil)
		return [2]bool{len(names) > 0, err == nil}
	}
	for n := range int64(4) {
		_ = s.Queue("orders").Create(ctx)
		_, _ = s.Container("inbox").Create(ctx, nil)
		writes.Store(n)
		err := s.Reset()
		writes.Store(1 << 30)
		if got := state(); got[0] != got[1] || got[0] != (err != nil) {
			t.Errorf("after Reset with %d writes = %v: queues, blobs there = %v", n, err, got)
		}
	}
}

// With Sync no answer shows a change that a loss of power could take back: here
// the disk refuses the change, after others have had all the time to see it.
func TestReadsWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var held atomic.Bool
	reached, release := make(chan struct{}, 16), make(chan struct{})
	s, _ := openInbox(t, &store.Options{Sync: true, Fault: func(op store.FileOp, path string) error {
		if op != store.OpSync || !held.Load() || !strings.HasSuffix(path, ".log") {
			return nil
		}
		reached <- struct{}{}
		<-release
		return syscall.EIO
	}})
	reads := map[string]func() (seen bool){
		"Queues": func() bool { names, err := s.Queues(ctx); return err == nil && len(names) > 0 },
		"Exists": func() bool { there, err := s.Queue("orders").Exists(ctx); return err == nil && there },
	}
	held.Store(true)
	written := make(chan error, 1)
	go func() { written <- s.Queue("orders").Create(ctx) }()
	<-reached
	type answer struct {
		name string
		seen bool
	}
	began, answers := make(chan struct{}), make(chan answer)
	for name, read := range reads {
		go func() {
			began <- struct{}{}
			answers <- answer{name, read()}
		}()
		<-began
	}
	for range 300_000 {
		runtime.Gosched()
	}
	held.Store(false)
	close(release)
	for range reads {
		if got := <-answers; got.seen {
			t.Errorf("%s told of a queue that is not there", got.name)
		}
	}
	if err := <-written; !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Create = %v, want ErrUnavailable", err)
	}
}

// What cannot be copied says once what was to be copied.
func TestSnapshotOfAClosedStore(t *testing.T) {
	t.Parallel()
	s, db := openInbox(t, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(); err == nil || strings.Count(err.Error(), "snapshot of") != 1 {
		t.Errorf("the snapshot of a closed store: %v", err)
	}
}
