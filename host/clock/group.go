package clock

import (
	"context"
	"sync"
)

// A Group starts goroutines and waits for them. It is the only way to start one
// under the clock, and with Below or a limit it is the semaphore too. Its
// methods may be called by several goroutines at once.
type Group struct {
	clk   Clock
	limit int

	mu      sync.Mutex
	n       int // running
	changed *Cond
}

// NewGroup returns a Group in which at most limit goroutines run at once; zero
// is no limit.
func NewGroup(clk Clock, limit int) *Group {
	g := &Group{clk: clk, limit: limit}
	g.changed = NewCond(clk, &g.mu)
	return g
}

// Go runs f in a new goroutine of the clock; on a Virtual it has its first turn
// after every goroutine that is ready by now. When the group is full, Go waits
// for a free place. The name appears in diagnostics.
func (g *Group) Go(name string, f func()) {
	g.mu.Lock()
	for g.limit > 0 && g.n >= g.limit {
		_ = g.changed.Wait(context.Background()) // cannot fail: background does not end
	}
	g.n++
	g.mu.Unlock()
	g.clk.start(name, func() {
		defer g.ended()
		f()
	})
}

func (g *Group) ended() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	g.changed.Broadcast()
}

// Below waits until fewer than n goroutines of the group run. It returns ctx's
// error when ctx ends first.
func (g *Group) Below(ctx context.Context, n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for g.n >= n {
		if err := g.changed.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits until all goroutines of the group have ended.
func (g *Group) Wait() { _ = g.Below(context.Background(), 1) }

// Len returns the number of goroutines that run or wait for their first turn.
func (g *Group) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}
