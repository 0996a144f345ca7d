package servicebus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// Renewal comes this long before a lock's end: half of the rest, and at most
// maxRenewalBuffer.
//
// Source: Azure.Messaging.ServiceBus, src/Processor/ReceiverManager.cs
// CalculateRenewDelay.
const (
	maxRenewalBuffer = 10 * time.Second
	// minRenewalDelay keeps a renewal that fails for a passing reason from being
	// repeated without end just before the lock's end.
	minRenewalDelay = 400 * time.Millisecond
)

// lock keeps a message or a session ours while its function runs, for no longer
// than the renewal budget.
type lock struct {
	clk   clock.Clock
	ctx   context.Context // is not cancelled
	name  string
	renew func(ctx context.Context) (time.Time, error)
	until time.Time // when the budget ends; zero: it does not

	mu      sync.Mutex
	idle    *clock.Cond // no renewal is on its way
	ends    time.Time
	timer   *clock.Timer
	busy    bool
	stopped bool
	lost    bool
}

// lockOf is the lock of a message, renewed until stop.
func (p *pump) lockOf(ctx context.Context, m *servicebus.Received) *lock {
	own := *m // Renew writes to it
	k := p.newLock(ctx, "lock of message "+m.MessageID, m.LockedUntil, func(ctx context.Context) (time.Time, error) {
		return p.receiver.Renew(ctx, &own)
	})
	k.keep(p.opts.MaxAutoLockRenewal)
	return k
}

func (r *run) newLock(ctx context.Context, name string, ends time.Time, renew func(ctx context.Context) (time.Time, error)) *lock {
	k := &lock{clk: r.clk, ctx: ctx, name: name, renew: renew, ends: ends}
	k.idle = clock.NewCond(r.clk, &k.mu)
	return k
}

// keep renews the lock for the time of the budget; a negative one has no end.
func (k *lock) keep(budget time.Duration) {
	if budget == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if budget > 0 {
		k.until = k.clk.Now().Add(budget)
	}
	k.armLocked()
}

// armLocked sets the next renewal, if the budget reaches that far.
func (k *lock) armLocked() {
	now := k.clk.Now()
	left := k.ends.Sub(now)
	delay := max(left-min(left/2, maxRenewalBuffer), minRenewalDelay)
	if !k.until.IsZero() && !now.Add(delay).Before(k.until) {
		return
	}
	k.timer = k.clk.AfterFunc(delay, "renewal: "+k.name, k.renewNow)
}

// renewNow is one renewal. The function goes on also after a failure (spec
// messaging 2.4).
func (k *lock) renewNow() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	k.busy = true
	k.mu.Unlock()
	ends, err := k.renew(k.ctx)
	k.mu.Lock()
	k.busy = false
	k.idle.Broadcast()
	switch {
	case err == nil:
		k.ends = ends
	case !errors.Is(err, bindings.ErrUnavailable):
		k.lost = isLost(err)
		return // never again
	}
	if !k.stopped {
		k.armLocked()
	}
}

// stop ends renewing and waits for a renewal that is on its way.
func (k *lock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	if k.timer != nil {
		k.timer.Stop()
	}
	for k.busy {
		_ = k.idle.Wait(k.ctx) // k.ctx does not end
	}
}

// isKnownLost reports whether a renewal was told that the lock has ended.
func (k *lock) isKnownLost() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost
}

// isLost reports whether an error means that the message is no longer ours.
func isLost(err error) bool {
	return errors.Is(err, messaging.ErrLockLost) || errors.Is(err, messaging.ErrSessionLockLost) ||
		errors.Is(err, bindings.ErrMessageNotFound) || errors.Is(err, bindings.ErrNotFound)
}
