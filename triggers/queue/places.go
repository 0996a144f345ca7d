package queue

import (
	"context"
	"sync"

	"github.com/redeliver/redeliver/host/clock"
)

// places counts the deliveries that keep a listener from taking more.
type places struct {
	mu    sync.Mutex
	freed *clock.Cond
	taken int
}

func newPlaces(clk clock.Clock) *places {
	p := &places{}
	p.freed = clock.NewCond(clk, &p.mu)
	return p
}

// take takes n places; a negative n gives them back.
func (p *places) take(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken += n; n < 0 {
		p.freed.Broadcast()
	}
}

// below waits until fewer than n places are taken, or ctx ends, and returns ctx's
// error then.
func (p *places) below(ctx context.Context, n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for p.taken >= n {
		if err := p.freed.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
