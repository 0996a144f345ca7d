package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
)

const (
	renewalInterval    = lockDuration / 2
	minRenewalInterval = time.Minute // after failures
)

// lock keeps one message invisible to others while its function runs, and
// knows the newest receipt.
//
// Source: Shared/UpdateQueueMessageVisibilityCommand.cs,
// Shared/Timers/LinearSpeedupStrategy.cs; S-7 for what its authors meant to do
// after an error.
type lock struct {
	clk   clock.Clock
	queue queue.Messages
	ctx   context.Context // is not cancelled
	id    string
	text  string // as received: a renewal sends it again (S-5)
	told  func() // of a renewal

	mu      sync.Mutex
	idle    *clock.Cond // no renewal is on its way
	receipt string
	ends    time.Time
	wait    time.Duration
	timer   *clock.Timer
	busy    bool
	stopped bool
}

func newLock(clk clock.Clock, q queue.Messages, ctx context.Context, m *queue.Message, renewed func(*queue.Message)) *lock {
	k := &lock{clk: clk, queue: q, ctx: ctx, id: m.ID, text: m.Text, receipt: m.PopReceipt, ends: m.NextVisible, told: func() {}}
	if renewed != nil {
		k.told = func() { renewed(m) }
	}
	k.idle = clock.NewCond(clk, &k.mu)
	return k
}

// renewRegularly starts renewing, until stop.
func (k *lock) renewRegularly() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wait = renewalInterval
	k.armLocked()
}

func (k *lock) armLocked() {
	k.timer = k.clk.AfterFunc(k.wait, "renewal of message "+k.id, k.renew)
}

// renew is one renewal. The function goes on also after a failure.
func (k *lock) renew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return
	}
	k.busy = true
	receipt := k.receipt
	k.mu.Unlock()
	updated, err := k.queue.Update(k.ctx, k.id, receipt, &k.text, lockDuration)
	if err == nil {
		k.told()
	}
	k.mu.Lock()
	k.busy = false
	k.idle.Broadcast()
	switch {
	case err == nil:
		k.receipt, k.ends = updated.PopReceipt, updated.NextVisible
		k.wait = renewalInterval
	case gone(err):
		return // never again
	default:
		k.wait = max(k.wait/2, minRenewalInterval)
	}
	if !k.stopped {
		k.armLocked()
	}
}

// stop ends renewing, waits for a renewal that is on its way, and returns the
// newest receipt.
func (k *lock) stop() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	if k.timer != nil {
		k.timer.Stop()
	}
	for k.busy {
		_ = k.idle.Wait(k.ctx) // k.ctx does not end
	}
	return k.receipt
}

// gone reports whether an error means that the message is no longer ours. Such
// errors end renewals and are swallowed when a message is deleted or released.
func gone(err error) bool {
	return errors.Is(err, queue.ErrPopReceiptMismatch) || errors.Is(err, bindings.ErrMessageNotFound) ||
		errors.Is(err, bindings.ErrNotFound) || errors.Is(err, bindings.ErrBeingDeleted)
}
