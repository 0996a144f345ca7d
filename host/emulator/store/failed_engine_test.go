package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// The engine fails in the midst of a cleaning, and a view keeps it. It leaves the log to the
// one that takes its place.
func TestAFailedEngineWritesNoMore(t *testing.T) {
	t.Parallel()
	fs := store.PoweredFS()
	var stop, fail atomic.Bool
	cleans, goOn := make(chan struct{}), make(chan struct{})
	opts := store.Options{Sync: true, Fault: func(op store.FileOp, path string) error {
		switch {
		case op == store.OpRead && stop.CompareAndSwap(true, false): // of the oldest segment, by the cleaner
			close(cleans)
			<-goOn
		case op == store.OpSync && fail.CompareAndSwap(true, false):
			return syscall.EIO
		}
		return nil
	}}
	s, err := store.OpenOn(fs, opts.WithSegment(4<<10))
	must(t, err)
	for i := range 6 {
		must(t, set(s, fmt.Sprint("kept", i), strings.Repeat("k", 200)))
	}
	v, err := s.View()
	must(t, err)
	stop.Store(true)
	for n := 0; stop.Load(); n++ {
		must(t, set(s, "a", strings.Repeat("a", 500)))
	}
	<-cleans
	fail.Store(true)
	if err := set(s, "b", "refused"); err == nil {
		t.Fatal("a sync that failed was acknowledged")
	}
	must(t, s.Recover())
	must(t, set(s, "c", strings.Repeat("c", 100)))
	close(goOn)
	v.Cleaned()
	must(t, v.Close())
	must(t, set(s, "d", "1"))
	want := dump(t, s)
	after, err := store.OpenOn(fs.Lost(), nil)
	must(t, err)
	defer after.Close()
	expect(t, after, want...)
	must(t, s.Close())
}

// A sync fails after a cleaning, or after the first one of an opening has. What a cleaning
// wrote anew and what an opening found is there all the same.
func TestAFailedSyncGoesNotTooFarBack(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"a cleaning", "an opening"} {
		fs := store.MemoryFS()
		var stop atomic.Bool
		var fail atomic.Int64
		goOn := make(chan struct{})
		opts := store.Options{Sync: true, Fault: func(op store.FileOp, path string) error {
			switch {
			case op == store.OpRead && stop.CompareAndSwap(true, false): // of the oldest segment, by the cleaner
				<-goOn
			case op == store.OpSync && strings.HasSuffix(path, ".log") && fail.Add(-1) >= 0:
				return syscall.EIO
			}
			return nil
		}}
		s, err := store.OpenOn(fs, opts.WithSegment(4<<10))
		must(t, err)
		must(t, set(s, "kept", strings.Repeat("k", 200)))
		if before == "a cleaning" {
			stop.Store(true)
			for stop.Load() {
				must(t, set(s, "a", strings.Repeat("a", 500)))
			}
			v, err := s.View()
			must(t, err)
			close(goOn)
			v.Cleaned()
			must(t, v.Close())
			fail.Store(1)
		} else {
			fail.Store(2)
			s, err = store.OpenOn(fs, &opts) // the process before was killed
			must(t, err)
		}
		want := dump(t, s)
		if err := set(s, "b", "refused"); err == nil {
			t.Fatal("a sync that failed was acknowledged")
		}
		if err := s.Recover(); err != nil {
			t.Fatalf("after %s: %v", before, err)
		}
		expect(t, s, want...)
		must(t, s.Close())
	}
}
