package hostlock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
)

// Held is a lock while this host has it, as Hold gives it to what runs under it. Its
// methods may be called concurrently.
type Held struct {
	l  *Lock
	id string

	mu      sync.Mutex
	ends    time.Time // of the lease, at the latest
	over    bool
	changed *clock.Cond
}

func (l *Lock) held(id string, ends time.Time) *Held {
	h := &Held{l: l, id: id, ends: ends}
	h.changed = clock.NewCond(l.clk, &h.mu)
	return h
}

// Sure waits until the lock is this host's beyond doubt, and fails with ctx's error, or
// with storage.ErrLeaseLost when it is not. It returns at once unless the end of the
// lease has passed by this host's clock, as after a sleep of the machine: then it
// waits for the renewal that is due.
func (h *Held) Sure(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.over && !h.l.clk.Now().Before(h.ends) {
		if err := h.changed.Wait(ctx); err != nil {
			return err
		}
	}
	if h.over {
		return storage.ErrLeaseLost
	}
	return ctx.Err()
}

// Confirm asks the service whether the lock is this host's, which renews it: what is
// written at once is written by its holder. It fails as a renewal does.
func (h *Held) Confirm(ctx context.Context) error {
	now := h.l.clk.Now()
	if _, err := h.l.blob.RenewLease(ctx, h.id, nil); err != nil {
		return fmt.Errorf("lock %q: %w", h.l.name, err)
	}
	h.extend(now.Add(h.l.opts.Lease))
	return nil
}

func (h *Held) extend(ends time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ends.After(h.ends) {
		h.ends = ends
	}
	h.changed.Broadcast()
}

// left is how long the lease lasts.
func (h *Held) left() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ends.Sub(h.l.clk.Now())
}

// end tells all waits that the lock is lost.
func (h *Held) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.changed.Broadcast()
}
