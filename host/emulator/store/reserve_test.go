package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

func remove(s *store.Store, keys ...string) error {
	return write(s, func(b *store.Batch) {
		for _, key := range keys {
			b.Delete([]byte(key))
		}
	})
}

func refused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("a write that adds = %v, want ErrDiskFull", err)
	}
}

// write makes one batch, as the owners of a state do.
func write(s *store.Store, f func(b *store.Batch)) error {
	if _, err := s.Ready(); err != nil {
		return err
	}
	return apply(s, f)
}

func add(s *store.Store, key, value string) error {
	return write(s, func(b *store.Batch) { b.Set([]byte(key), []byte(value)) })
}

// addUntilFull adds keys that begin so until the store refuses them, up to a size,
// and returns how many it has added.
func addUntilFull(t *testing.T, s *store.Store, prefix string, most int) (n int) {
	t.Helper()
	for n < most/(32<<10) {
		err := add(s, fmt.Sprintf("%s%04d", prefix, n), random(32<<10))
		if err == nil {
			n++
			continue
		}
		refused(t, err)
		if errors.Is(err, store.ErrReadOnly) {
			break
		}
	}
	return n
}

// fill adds keys that begin so until the store refuses them, which it must, and returns
// how many it has added. Adds may go on for a while after a removal: the engine gives
// the room of its logs back when it comes to it.
func fill(t *testing.T, s *store.Store, prefix string) (n int) {
	t.Helper()
	const most = 32 * mib
	if n = addUntilFull(t, s, prefix, most); n >= most/(32<<10) {
		t.Errorf("%d MiB were added on a full disk", most/mib)
	}
	return n
}

// atLeast checks that a store has so many keys: all acknowledged ones, and at most
// the ones that were refused while the disk got full.
func atLeast(t *testing.T, s *store.Store, want, moments int) {
	t.Helper()
	_, err := s.Ready()
	must(t, err)
	if got := len(dump(t, s)); got < want || got > want+moments {
		t.Errorf("%d keys, want %d to %d", got, want, want+moments)
	}
}

// However much is in the log when the disk gets full, what removes something is
// taken, also by another process after the end of this one; what adds is refused,
// and all that was acknowledged can be read.
func TestRemovalsOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{16 * mib, 64 * mib} {
		for filled := 0; filled <= 12; filled += 3 {
			t.Run(fmt.Sprintf("%dMiBOf%d", filled, size/mib), func(t *testing.T) {
				t.Parallel()
				d := newSmallDisk(size)
				s, kill := onSmallDisk(t, d, store.Options{})
				must(t, set(s, "a", "1", "b", "2", "c", "3", "d", "4"))
				n := addUntilFull(t, s, "filler", filled*mib)
				d.fill(0)
				n += fill(t, s, "last")
				must(t, remove(s, "a"))
				n += fill(t, s, "more")
				must(t, write(s, func(b *store.Batch) { b.DeleteRange([]byte("b"), []byte("c")) }))
				if _, err := s.Get([]byte("a")); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("a removed key = %v", err)
				}

				kill()
				s, kill = onSmallDisk(t, d, store.Options{})
				n += fill(t, s, "again") // what the reserve gave and nobody took
				must(t, remove(s, "c"))
				n += fill(t, s, "once more")
				atLeast(t, s, n+1, 4)
				kill()
				s, _ = onSmallDisk(t, d, store.Options{})
				must(t, remove(s, "d"))
				atLeast(t, s, n, 4)
			})
		}
	}
}

// telling is the options of a store that tells when it takes writes again.
func telling() (opts store.Options, taking <-chan struct{}) {
	ended := make(chan struct{}, 100)
	opts.Refusing = func(reason error) {
		if reason == nil {
			ended <- struct{}{}
		}
	}
	return opts, ended
}

// addAgain adds a key as soon as the store says that it takes writes.
func addAgain(t *testing.T, s *store.Store, key string, taking <-chan struct{}) {
	t.Helper()
	for err := add(s, key, "1"); err != nil; err = add(s, key, "1") {
		refused(t, err)
		<-taking
	}
}

// After the use of the reserve, writes that add are taken again when a few MiB
// are free: no room for the whole reserve is needed. Writes that remove go on
// when these are used up.
func TestAddsGoOnWithALittleRoom(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(64 * mib)
	opts, taking := telling()
	s, _ := onSmallDisk(t, d, opts)
	n := addUntilFull(t, s, "filler", 8*mib)
	d.fill(0)
	n += addUntilFull(t, s, "last", 16*mib)
	for i := range 3 {
		must(t, remove(s, "again"))
		n += fill(t, s, fmt.Sprint("before", i))
		d.grow(4 * mib)
		addAgain(t, s, "again", taking)
		more := addUntilFull(t, s, fmt.Sprint(i), 16*mib)
		if more < 32 {
			t.Errorf("with 4 MiB of room %d KiB were added", more*32)
		}
		n += more
	}
	must(t, remove(s, "again"))
	atLeast(t, s, n, 8)
}

// When many keys are removed at once on a full disk, their room is used for what is
// added afterwards, without anybody's help.
func TestAddsGoOnInTheRoomOfRemovedKeys(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(32 * mib)
	opts, taking := telling()
	s, _ := onSmallDisk(t, d, opts)
	must(t, set(s, "a", "1", "z", "1"))
	n := addUntilFull(t, s, "filler", 64*mib)
	if n < 10*32 {
		t.Errorf("%d KiB fit on the disk", n*32)
	}
	must(t, write(s, func(b *store.Batch) { b.DeleteRange([]byte("filler"), []byte("fillers")) }))
	addAgain(t, s, "again", taking)
	if again := addUntilFull(t, s, "filler", 16*mib); again < 6*32 {
		t.Errorf("%d KiB were added in the room of %d", again*32, n*32)
	}
}

// A removal that fails in the room of the reserve leaves it given up, and the state
// readable; the next removal that finds the room is taken.
func TestRemovalInTheReserveFails(t *testing.T) {
	t.Parallel()
	for _, opened := range []bool{false, true} {
		d := newSmallDisk(64 * mib)
		var fails atomic.Bool
		opts := store.Options{Fault: func(op store.FileOp, path string) error {
			if fails.Load() && op == store.OpWrite && strings.HasSuffix(path, ".log") {
				return syscall.ENOSPC
			}
			return nil
		}}
		s, kill := onSmallDisk(t, d, opts)
		n := addUntilFull(t, s, "filler", 2*mib)
		d.fill(0)
		n += addUntilFull(t, s, "last", 16*mib)
		fails.Store(true)
		if opened {
			kill()
			s, kill = onSmallDisk(t, d, opts)
		}
		for range 3 {
			if err := remove(s, "filler0000"); !errors.Is(err, store.ErrDiskFull) {
				t.Errorf("a removal while nothing can be written = %v, want ErrDiskFull", err)
			}
		}
		if d.usedBy("RESERVE") != 0 {
			t.Error("the reserve is there although it was given up")
		}
		atLeast(t, s, n, 2)
		fails.Store(false)
		must(t, remove(s, "filler0000"))
		fill(t, s, "more")
		kill()
		s, _ = onSmallDisk(t, d, opts)
		must(t, remove(s, "filler0001"))
	}
}

// A removal is taken however many keys it removes, as long as there is room for it;
// when there is not, it is refused and nothing else happens.
func TestLargeRemovals(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(64 * mib)
	s, _ := onSmallDisk(t, d, store.Options{})
	const n = 100_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%06d", i)
	}
	must(t, apply(s, func(b *store.Batch) {
		for _, key := range keys {
			b.Set([]byte(key), nil)
		}
	}))
	d.fill(0)
	addUntilFull(t, s, "last", 16*mib)
	must(t, remove(s, keys[:n/10]...))
	opening, err := s.Ready()
	must(t, err)
	long := strings.Repeat("x", 1000)
	err = write(s, func(b *store.Batch) {
		for _, key := range keys {
			b.Delete([]byte(key + long))
		}
	})
	if !errors.Is(err, store.ErrReadOnly) || !errors.Is(err, store.ErrDiskFull) {
		t.Errorf("a removal for which there is no room = %v, want ErrReadOnly for ErrDiskFull", err)
	}
	if now, err := s.Opening(); err != nil || now != opening {
		t.Errorf("Opening = %d, %v, want %d", now, err, opening)
	}
	must(t, remove(s, keys[n/10:n/5]...))
	must(t, write(s, func(b *store.Batch) { b.DeleteRange([]byte("key"), []byte("kez")) }))
}
