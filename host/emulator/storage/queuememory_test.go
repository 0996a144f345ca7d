package storage_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// TestQueuedMessageTakesLittleMemory is not parallel: it looks at the process's heap.
func TestQueuedMessageTakesLittleMemory(t *testing.T) {
	const messages, size, most = 100_000, 190, 430
	clk := clock.NewVirtual(start, nil)
	s := storage.New(clk, nil)
	q := s.Queue("deep")
	before := heap()
	clk.Do("fill", func() {
		if err := q.Create(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range messages {
			if _, err := q.Put(context.Background(), strings.Repeat("x", size), nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got := (heap() - before) / messages; got > most {
		t.Errorf("a message of %d bytes takes %d bytes in memory, want %d at the most", size, got, most)
	} else {
		t.Logf("a message of %d bytes takes %d bytes in memory", size, got)
	}
	runtime.KeepAlive(s)
}

// heap is how much of the heap is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
