package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// breaker is the circuit breaker of one function (spec host-and-retry 14.2), an
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
	admitted int // half-open: deliveries let through and not ended yet
	passed   int // half-open: deliveries that succeeded
	round    int // counts changes of state

	waits []*admittedWait // in order of their begin
}

// admittedWait is the wait of a listener for what it was admitted to receive.
type admittedWait struct{ cancel context.CancelFunc }

// whileAdmitted returns a context that ends with ctx and when the circuit opens.
func (b *breaker) whileAdmitted(ctx context.Context) (waiting context.Context, release func()) {
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

func newBreaker(clk clock.Clock, conf *app.CircuitBreaker) *breaker {
	if conf == nil {
		return nil
	}
	b := &breaker{clk: clk, conf: *conf}
	b.changed = clock.NewCond(clk, &b.mu)
	return b
}

// admit waits until a delivery may be taken, and returns how many may be, at
// most n. Each is answered by delivered or unused. report is told of a change of
// state, with the lock held.
func (b *breaker) admit(ctx context.Context, n int, report func(journal.Kind)) (admitted int, err error) {
	if b == nil {
		return n, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if admitted, _ = b.admitLocked(n, report); admitted > 0 {
			return admitted, nil
		}
		if err := b.changed.WaitUntil(ctx, b.until); err != nil {
			return 0, err
		}
	}
}

// try is admit of one delivery for callers that do not wait (HTTP): it returns
// false and the time that is left, at least a second.
func (b *breaker) try(report func(journal.Kind)) (retryAfter time.Duration, ok bool) {
	if b == nil {
		return 0, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	admitted, left := b.admitLocked(1, report)
	return max(left, time.Second), admitted > 0
}

// admitLocked admits up to n deliveries; left is the rest of the pause.
func (b *breaker) admitLocked(n int, report func(journal.Kind)) (admitted int, left time.Duration) {
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

// isOpen reports whether no delivery could be taken now, and admits none.
func (b *breaker) isOpen() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.After(b.clk.Now())
}

// unused gives back n admissions that led to no delivery.
func (b *breaker) unused(n int) {
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

// began returns what delivered wants to know of the delivery's begin.
func (b *breaker) began() (round int) {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.round
}

// delivered counts the outcome of a delivery after its loop. One that began in
// another state than the present one says nothing about it.
func (b *breaker) delivered(round int, ok bool, report func(journal.Kind)) {
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

// cancelled gives back the admission of a delivery whose loop was ended from outside: it
// says nothing about the function.
func (b *breaker) cancelled(round int) {
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

// WhileAdmitted implements triggers.Sink.
func (f *function) WhileAdmitted(ctx context.Context) (waiting context.Context, release func()) {
	return f.breaker.whileAdmitted(ctx)
}

func (f *function) breakerChanged(kind journal.Kind) {
	rec := journal.Record{Kind: kind, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type}
	if kind == journal.CircuitOpened {
		rec.Delay = f.breaker.conf.Pause
	}
	f.gen.host.journal.Append(rec)
}
