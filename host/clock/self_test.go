package clock_test

import (
	"sync"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
)

// A goroutine is the same to the clock as long as it lives, also when its stack has moved,
// and no two that live at once are.
func TestSelf(t *testing.T) {
	t.Parallel()
	const n = 200
	var ready, all sync.WaitGroup
	ready.Add(n)
	var mu sync.Mutex
	seen := map[uintptr]uint64{}
	for range n {
		all.Go(func() {
			before := clock.Self()
			grow(200)
			if now := clock.Self(); now != before || now == 0 {
				t.Errorf("%x has become %x", before, now)
			}
			mu.Lock()
			other, known := seen[before]
			seen[before] = clock.Goid()
			mu.Unlock()
			if known {
				t.Errorf("goroutines %d and %d are both %x", other, clock.Goid(), before)
			}
			ready.Done()
			ready.Wait() // all live at once
		})
	}
	all.Wait()
}

// grow makes the stack grow, and so move.
func grow(depth int) byte {
	var frame [256]byte
	if depth > 0 {
		frame[depth%256] = grow(depth - 1)
	}
	return frame[depth%256]
}
