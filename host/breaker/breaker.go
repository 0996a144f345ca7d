// Package breaker is the circuit breaker of a function, an extension that acts only where
// function.json configures one (spec host-and-retry 14.2).
package breaker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Breaker counts consecutive failed deliveries of one function; while it is open the
// function's listener takes nothing. Its state is in memory and survives a reload of the
// same function. A nil Breaker admits everything. Its methods may be called concurrently.
type Breaker struct {
	clk     clock.Clock
	conf    app.CircuitBreaker
	changed *clock.Cond

	mu       sync.Mutex
	failures int       // consecutive, while closed
	until    time.Time // open until then; zero: not open
	half     bool
	admitted int // half-open: deliveries let through and not ended yet
	passed   int // half-open: deliveries that succeeded
	round    int // counts changes of state

	waits []*admittedWait // in order of their begin
}

// admittedWait is the wait of a listener for what it was admitted to receive.
type admittedWait struct{ cancel context.CancelFunc }

// WhileAdmitted implements triggers.Gate.
func (g gate) WhileAdmitted(ctx context.Context) (waiting context.Context, release func()) {
	b := g.Breaker
	if b == nil {
		return ctx, func() {}
	}
	waiting, cancel := b.clk.WithCancel(ctx)
	w := &admittedWait{cancel}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = append(b.waits, w)
	if !b.until.IsZero() {
		cancel()
	}
	return waiting, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.waits = slices.DeleteFunc(b.waits, func(o *admittedWait) bool { return o == w })
		cancel()
	}
}

// New returns a breaker; nil without a configuration.
func New(clk clock.Clock, conf *app.CircuitBreaker) *Breaker {
	if conf == nil {
		return nil
	}
	b := &Breaker{clk: clk, conf: *conf}
	b.changed = clock.NewCond(clk, &b.mu)
	return b
}

// gate is the breaker of a function as its listener sees it. Each delivery that it
// admits is answered by Delivered, Cancelled or Unused.
type gate struct {
	*Breaker
	report func(journal.Kind) // is told of a change of state, with the lock held
}

// Gate is the breaker as the function's listener sees it. report is told of a change of
// state, and must not ask the breaker.
func (b *Breaker) Gate(report func(journal.Kind)) triggers.Gate { return gate{b, report} }

// Is reports whether the breaker is configured so: then it goes on after a reload.
func (b *Breaker) Is(conf *app.CircuitBreaker) bool {
	return b != nil && conf != nil && b.conf == *conf
}

// Pause is how long the circuit stays open.
func (b *Breaker) Pause() time.Duration { return b.conf.Pause }

// Admit implements triggers.Gate.
func (g gate) Admit(ctx context.Context, n int) (admitted int, err error) {
	b := g.Breaker
	if b == nil {
		return n, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if admitted, _ = b.admitLocked(n, g.report); admitted > 0 {
			return admitted, nil
		}
		if err := b.changed.WaitUntil(ctx, b.until); err != nil {
			return 0, err
		}
	}
}

// Try implements triggers.Gate.
func (g gate) Try() (retryAfter time.Duration, ok bool) {
	b := g.Breaker
	if b == nil {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	admitted, left := b.admitLocked(1, g.report)
	return max(left, time.Second), admitted > 0
}

// admitLocked admits up to n deliveries; left is the rest of the pause.
func (b *Breaker) admitLocked(n int, report func(journal.Kind)) (admitted int, left time.Duration) {
	if !b.until.IsZero() {
		if left := b.until.Sub(b.clk.Now()); left > 0 {
			return 0, left
		}
		b.until, b.half, b.admitted, b.passed = time.Time{}, true, 0, 0
		b.round++
		report(journal.CircuitHalfOpened)
	}
	if b.half {
		n = min(n, b.conf.Probes-b.passed-b.admitted)
		b.admitted += n
	}
	return n, 0
}

// Unused implements triggers.Gate.
func (g gate) Unused(n int) {
	b := g.Breaker
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.half {
		b.admitted = max(b.admitted-n, 0)
		b.changed.Broadcast()
	}
}

// Began returns what Delivered wants to know of the delivery's begin.
func (b *Breaker) Began() (round int) {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.round
}

// Delivered counts the outcome of a delivery after its loop. One that began in
// another state than the present one says nothing about it.
func (b *Breaker) Delivered(round int, ok bool, report func(journal.Kind)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if round != b.round || !b.until.IsZero() {
		return
	}
	switch {
	case ok && b.half:
		b.admitted = max(b.admitted-1, 0)
		if b.passed++; b.passed >= b.conf.Probes {
			b.half, b.failures = false, 0
			b.round++
			report(journal.CircuitClosed)
		}
	case ok:
		b.failures = 0
	default:
		if b.failures++; b.half || b.failures >= b.conf.Failures {
			b.half, b.failures = false, 0
			b.until = b.clk.Now().Add(b.conf.Pause)
			b.round++
			report(journal.CircuitOpened)
			for _, w := range b.waits {
				w.cancel()
			}
		}
	}
	b.changed.Broadcast()
}

// Cancelled gives back the admission of a delivery whose loop was cancelled: it
// says nothing about the function.
func (b *Breaker) Cancelled(round int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if round == b.round && b.half {
		b.admitted = max(b.admitted-1, 0)
		b.changed.Broadcast()
	}
}
