package host

import (
	"context"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// breaker is the circuit breaker of one function (host-and-retry 14.2), an
// extension that acts only where function.json configures one. It counts
// consecutive failed deliveries; while it is open the function's listener takes
// nothing. Its state is in memory and survives a reload of the same function.
// A nil breaker admits everything.
type breaker struct {
	clk     clock.Clock
	conf    app.CircuitBreaker
	changed *clock.Cond

	mu       sync.Mutex
	failures int       // consecutive, while closed
	until    time.Time // open until then; zero: not open
	half     bool
	probes   int // half-open: deliveries still to let through
	passed   int // half-open: deliveries that succeeded
}

func newBreaker(clk clock.Clock, conf *app.CircuitBreaker) *breaker {
	if conf == nil {
		return nil
	}
	b := &breaker{clk: clk, conf: *conf}
	b.changed = clock.NewCond(clk, &b.mu)
	return b
}

// admit waits until a delivery may be taken. report is told of a change of
// state, with the lock held.
func (b *breaker) admit(ctx context.Context, report func(journal.Kind)) error {
	if b == nil {
		return ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, ok := b.tryLocked(report); ok {
			return nil
		}
		if err := b.changed.WaitUntil(ctx, b.until); err != nil {
			return err
		}
	}
}

// try is admit for callers that do not wait (HTTP, timer): it returns false and
// the time that is left, at least a second.
func (b *breaker) try(report func(journal.Kind)) (retryAfter time.Duration, ok bool) {
	if b == nil {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tryLocked(report)
}

func (b *breaker) tryLocked(report func(journal.Kind)) (retryAfter time.Duration, ok bool) {
	if !b.until.IsZero() {
		if left := b.until.Sub(b.clk.Now()); left > 0 {
			return max(left, time.Second), false
		}
		b.until, b.half, b.probes, b.passed = time.Time{}, true, b.conf.Probes, 0
		report(journal.CircuitHalfOpened)
	}
	if b.half {
		if b.probes == 0 {
			return time.Second, false
		}
		b.probes--
	}
	return 0, true
}

// peek reports whether a delivery could be taken now, and takes no admission.
func (b *breaker) peek() (retryAfter time.Duration, ok bool) {
	if b == nil {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := b.until.Sub(b.clk.Now()); !b.until.IsZero() && left > 0 {
		return left, false
	}
	return 0, true
}

// unused gives back an admission that led to no delivery.
func (b *breaker) unused() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.half {
		b.probes = min(b.probes+1, b.conf.Probes-b.passed)
		b.changed.Broadcast()
	}
}

// delivered counts the outcome of a delivery after its loop.
func (b *breaker) delivered(ok bool, report func(journal.Kind)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.until.IsZero(): // a delivery from before it opened
	case ok && b.half:
		if b.passed++; b.passed >= b.conf.Probes {
			b.half, b.failures = false, 0
			report(journal.CircuitClosed)
		}
	case ok:
		b.failures = 0
	default:
		if b.failures++; b.half || b.failures >= b.conf.Failures {
			b.half, b.failures = false, 0
			b.until = b.clk.Now().Add(b.conf.Pause)
			report(journal.CircuitOpened)
		}
	}
	b.changed.Broadcast()
}

func (f *function) breakerChanged(kind journal.Kind) {
	rec := journal.Record{Kind: kind, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type}
	if kind == journal.CircuitOpened {
		rec.Delay = f.breaker.conf.Pause
	}
	f.gen.host.journal.Append(rec)
}
