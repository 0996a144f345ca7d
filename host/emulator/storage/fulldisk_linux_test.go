package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// smallDisk is a directory on a file system of its own. Only root may mount one; the
// faults of the store's own tests stand in for it elsewhere.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no file system of %s can be mounted: %v", size, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// resident is the memory of the process in MiB, without what the runtime could give
// back.
func resident() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int((m.HeapInuse + m.StackInuse) >> 20)
}

// Producers, pollers and readers go on while the disk is full: memory stays, what was
// acknowledged can be read all the time, and with room again writes go on by
// themselves, with nothing lost. REDELIVER_FULL_DISK makes it as long as it says; it
// is real time because the disk is real. Not parallel: it measures the process.
func TestFullDiskUnderLoad(t *testing.T) {
	long := 2 * time.Second
	if text := os.Getenv("REDELIVER_FULL_DISK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	disk := smallDisk(t, "24m")
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var told atomic.Int64
	db := openStore(t, filepath.Join(disk, "data"), &store.Options{Refusing: func(error) { told.Add(1) }})
	clk := clock.System()
	s := openAccount(t, clk, db, nil)
	bus, err := servicebus.Open(clk, db.Space("bus"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	q := s.Queue("orders")
	if err := q.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := bus.CreateQueue(ctx, servicebusapi.Queue{Name: "bus"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Container("files").Create(ctx, nil); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	acked := map[string]bool{}
	var refused, reads atomic.Int64
	full := func() bool { return refused.Load() > 100 }
	load, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	keepOn := func(f func(i int) error) {
		group.Go(func() {
			for i := 0; load.Err() == nil; i++ {
				if err := f(i); errors.Is(err, store.ErrDiskFull) {
					refused.Add(1)
				} else if err != nil && load.Err() == nil && !errors.Is(err, bindings.ErrUnavailable) { // a body that came just before the outage
					t.Errorf("refused for another reason: %v", err)
					return
				}
			}
		})
	}
	for w := range 4 {
		keepOn(func(i int) error {
			text := fmt.Sprintf("%d-%d %s", w, i, strings.Repeat("x", 8<<10))
			_, err := q.Put(ctx, text, nil)
			if err == nil {
				mu.Lock()
				acked[text] = true
				mu.Unlock()
			}
			return err
		})
		keepOn(func(i int) error {
			return bus.Send(ctx, "bus", &servicebusapi.Message{MessageID: fmt.Sprintf("%d-%d", w, i), Body: make([]byte, 1<<10)})
		})
	}
	keepOn(func(i int) error {
		_, err := s.Container("files").Blob(fmt.Sprint(i)).Put(ctx, strings.NewReader(strings.Repeat("b", 200<<10)), nil)
		return err
	})
	keepOn(func(int) error {
		ms, err := q.Peek(ctx, 32)
		if err == nil && full() && len(ms) == 0 {
			return errors.New("nothing is left to read")
		}
		reads.Add(1)
		return err
	})

	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !full() {
		<-tick.C
	}
	before := resident()
	files := openFiles(t)
	most := before
	for end := time.Now().Add(long); time.Now().Before(end); {
		<-tick.C
		most = max(most, resident())
	}
	refusedThen, readsThen := refused.Load(), reads.Load()
	stop()
	group.Wait()
	after := resident()
	t.Logf("%v of a full disk: %d writes refused, %d reads; %d MiB before, %d at most, %d after; %d files open before, %d after",
		long, refusedThen, readsThen, before, most, after, files, openFiles(t))
	if after > before+before/5 {
		t.Errorf("memory went from %d to %d MiB", before, after)
	}
	if n := openFiles(t); n > files+10 {
		t.Errorf("%d files are open, %d before", n, files)
	}
	if readsThen == 0 {
		t.Error("nothing could be read")
	}

	if n := told.Load(); n != 1 {
		t.Errorf("beginnings and ends of outages were told %d times, want one beginning", n)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Put(ctx, "after", nil); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if n, _, err := drain(ctx, q, acked); err != nil || n > 0 {
		t.Errorf("%d of %d acknowledged messages are lost, %v", n, len(acked), err)
	}
}

// drain receives everything and returns how many of the wanted texts are not there.
func drain(ctx context.Context, q queue.Queue, want map[string]bool) (missing, got int, err error) {
	for {
		ms, err := q.Receive(ctx, queue.MaxReceive, time.Hour)
		if err != nil || len(ms) == 0 {
			return len(want), got, err
		}
		for _, m := range ms {
			delete(want, m.Text)
			got++
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// fillDisk takes all that is free on a disk, until it is told to give it back.
func fillDisk(t *testing.T, name string) (empty func()) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 1<<9; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// soon waits for what the store tells of the disk, which is real.
func soon(t *testing.T, what string, told <-chan struct{}) {
	t.Helper()
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Fatalf("the store has not said that it %s", what)
	}
}

// On a disk without any room messages can be taken out, queues cleared and blobs
// deleted, while what adds is refused; a store on such a disk can be opened; and with
// room again all is taken.
func TestRoomIsMadeOnAFullDisk(t *testing.T) {
	disk := smallDisk(t, "48m")
	ctx := t.Context()
	clk := clock.System()
	refusing, taking := make(chan struct{}, 10), make(chan struct{}, 10)
	opts := &store.Options{Refusing: func(err error) {
		if err != nil {
			refusing <- struct{}{}
		} else {
			taking <- struct{}{}
		}
	}}
	open := func() (*store.Store, *storage.Storage) {
		db, err := store.Open(filepath.Join(disk, "data"), opts)
		if err != nil {
			t.Fatal(err)
		}
		return db, openAccount(t, clk, db, nil)
	}
	db, s := open()
	q, blob := s.Queue("orders"), s.Container("files").Blob("a")
	if err := errors.Join(q.Create(ctx), s.Queue("others").Create(ctx)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Container("files").Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Put(ctx, strings.NewReader(strings.Repeat("b", 1<<20)), nil); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		for _, to := range []string{"orders", "others"} {
			if _, err := s.Queue(to).Put(ctx, fmt.Sprint(i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	ms, err := q.Receive(ctx, 2, time.Hour)
	if err != nil || len(ms) != 2 {
		t.Fatalf("%d messages, %v", len(ms), err)
	}
	empty := fillDisk(t, filepath.Join(disk, "filler"))
	puts := func(want error) {
		t.Helper()
		if _, err := q.Put(ctx, strings.Repeat("x", 40<<10), nil); !errors.Is(err, want) {
			t.Errorf("a put: %v, want %v", err, want)
		}
	}
	for range 200 { // until the log has no room left
		if _, err := q.Put(ctx, strings.Repeat("x", 40<<10), nil); err != nil {
			break
		}
	}
	soon(t, "refuses", refusing)
	puts(store.ErrDiskFull)
	if err := q.Delete(ctx, ms[0].ID, ms[0].PopReceipt); err != nil {
		t.Errorf("delete a message: %v", err)
	}
	puts(store.ErrDiskFull)
	if err := s.Queue("others").Clear(ctx); err != nil {
		t.Errorf("clear a queue: %v", err)
	}
	empty()
	soon(t, "takes writes", taking)
	puts(nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	empty = fillDisk(t, filepath.Join(disk, "filler"))
	db, s = open()
	defer db.Close()
	soon(t, "refuses", refusing)
	q, blob = s.Queue("orders"), s.Container("files").Blob("a")
	if err := q.Delete(ctx, ms[1].ID, ms[1].PopReceipt); err != nil {
		t.Errorf("delete a message after another start: %v", err)
	}
	puts(store.ErrDiskFull)
	if got, err := s.Queue("others").Peek(ctx, 1); err != nil || len(got) != 0 {
		t.Errorf("%d messages in the queue that was cleared, %v", len(got), err)
	}
	if err := blob.Delete(ctx, nil); err != nil {
		t.Errorf("delete a blob: %v", err)
	}
	empty()
	soon(t, "takes writes", taking)
	puts(nil)
	if _, err := os.Stat(filepath.Join(disk, "data", "RESERVE")); err != nil {
		t.Errorf("the reserve is not there again: %v", err)
	}
}

// A queue of any length can be purged on a disk without any room.
func TestALongQueueIsPurgedOnAFullDisk(t *testing.T) {
	disk := smallDisk(t, "192m")
	ctx := t.Context()
	refusing := make(chan struct{}, 10)
	db := openStore(t, filepath.Join(disk, "data"), &store.Options{Refusing: func(err error) {
		if err != nil {
			refusing <- struct{}{}
		}
	}})
	bus, err := servicebus.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.CreateQueue(ctx, servicebusapi.Queue{Name: "q"}); err != nil {
		t.Fatal(err)
	}
	const many, atOnce = 300_000, 1000
	ms := make([]*servicebusapi.Message, atOnce)
	for i := range ms {
		ms[i] = &servicebusapi.Message{MessageID: fmt.Sprint(i)}
	}
	for range many / atOnce {
		if err := bus.Send(ctx, "q", ms...); err != nil {
			t.Fatal(err)
		}
	}
	fillDisk(t, filepath.Join(disk, "filler"))
	for i := 0; i < 1000 && err == nil; i++ {
		err = bus.Send(ctx, "q", &servicebusapi.Message{Body: make([]byte, 40<<10)})
	}
	soon(t, "refuses", refusing)
	if n, err := bus.Purge(ctx, "q"); err != nil || n < many {
		t.Errorf("%d of %d messages were purged, %v", n, many, err)
	}
}
