package store_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// A batch writes its values from a frame that batches before it have had: it allocates less
// than one value of 4 KiB. Under the race detector a pool forgets a quarter of what it is given.
// It is not parallel: it counts what the process allocates.
func TestBatchAllocatesLittle(t *testing.T) {
	const batches, most = 400, 3500 // 192 alone, 5,312 with a frame of its own for each
	s := open(t, t.TempDir(), &store.Options{})
	value := bytes.Repeat([]byte("x"), 4<<10)
	write := func(n int) {
		for i := range n {
			b, err := s.NewBatch()
			if err != nil {
				t.Fatal(err)
			}
			b.Set(fmt.Append(nil, "body", i%16), value)
			b.Set([]byte("blob"), value[:200])
			b.Set([]byte("account"), value[:100])
			if err := s.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(50)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	write(batches)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / batches; got > most {
		t.Errorf("a batch allocates %d bytes, want %d at the most", got, most)
	}
}
