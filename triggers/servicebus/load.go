package servicebus

import (
	"context"
	"sync"

	"github.com/redeliver/redeliver/host/clock"
)

// A load is the number of deliveries in work that a limit is about. Its methods may be
// called concurrently.
type load struct {
	of *load // of which it is a part; nil: of none

	mu      sync.Mutex
	n       int
	changed *clock.Cond
}

func newLoad(clk clock.Clock, of *load) *load {
	l := &load{of: of}
	l.changed = clock.NewCond(clk, &l.mu)
	return l
}

func (l *load) add(n int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.n += n
	l.changed.Broadcast()
	l.mu.Unlock()
	l.of.add(n)
}

func (l *load) now() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// below waits until there are fewer than n, or ctx ends, and returns ctx's error then.
func (l *load) below(ctx context.Context, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.n >= n {
		if err := l.changed.Wait(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}
