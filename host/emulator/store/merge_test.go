package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// rounds returns what writes the same 256 KiB anew, a table's worth.
func rounds(t *testing.T, s *store.Store) (round func()) {
	return func() {
		t.Helper()
		for i := range 32 {
			must(t, set(s, fmt.Sprintf("key%02d", i), random(8<<10)))
		}
	}
}

// On a disk without room to merge tables the engine tries that once and not over and
// over, until there is room again; what is written meanwhile is taken.
func TestMergingWithoutRoomRests(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	var tables atomic.Int64
	opts := store.Options{Fault: func(op store.FileOp, path string) error {
		if op == store.OpCreate && strings.HasSuffix(path, ".sst") {
			tables.Add(1)
		}
		return nil
	}}
	s, _ := onSmallDisk(t, d, *opts.WithMemTable(256 << 10))
	round := rounds(t, s)
	round()
	d.fill(1900 << 10)
	for range 4 {
		tables.Store(0)
		round()
	}
	if n := tables.Load(); n > 4 {
		t.Errorf("%d tables were begun in a round that fills one", n)
	}
	d.grow(1 << 30)
	for range 60 {
		round()
	}
	if used := d.usedBy(".sst"); used > 8*mib {
		t.Errorf("with room again tables have %d KiB, of 256 KiB that are stored", used>>10)
	}
}

// quota is a disk that has room for everything but merged tables, and does not say how
// much: as one whose user has used up a quota.
type quota struct {
	vfs.FS
	refused atomic.Int64
}

func (q *quota) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := q.FS.Create(name, category)
	if err == nil && category == "pebble-compaction" {
		f = &overQuota{f, q}
	}
	return f, err
}

type overQuota struct {
	vfs.File
	q *quota
}

func (f *overQuota) Write([]byte) (int, error) {
	f.q.refused.Add(1)
	return 0, syscall.ENOSPC
}

// A disk that refuses a merge of tables for want of room refuses no more than that.
func TestARefusedMergeRefusesNoWrite(t *testing.T) {
	t.Parallel()
	q := &quota{FS: vfs.NewMem()}
	s, err := store.OpenOn(q, new(store.Options).WithMemTable(256<<10))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	round := rounds(t, s)
	for range 20 {
		round()
	}
	if q.refused.Load() == 0 {
		t.Error("no table was merged")
	}
}

// A table that the disk did not take to its end gives its room to later writes: nobody
// reads it.
func TestLeftoversGiveTheirRoom(t *testing.T) {
	t.Parallel()
	d := newSmallDisk(1 << 40)
	var full atomic.Bool
	s, _ := onSmallDisk(t, d, store.Options{Fault: func(op store.FileOp, path string) error {
		if full.Load() && op == store.OpSync && strings.HasSuffix(path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}})
	full.Store(true)
	n := 0
	for ; n < 1000 && set(s, fmt.Sprintf("key%03d", n), random(32<<10)) == nil; n++ {
	}
	_, err := s.Ready()
	must(t, err)
	full.Store(false)
	left := d.usedBy(".sst")
	if left < mib {
		t.Fatalf("%d KiB are left of tables", left>>10)
	}
	const opening = 3 * mib / 2 // room for an opening and for additions, beside the logs
	d.fill(d.usedBy(".log") + opening - left/2)
	must(t, s.Recover())
	atLeast(t, s, n, 1)
}
