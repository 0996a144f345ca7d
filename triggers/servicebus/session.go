package servicebus

import (
	"context"
	"errors"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// sessions works on sessions, several at once, until ctx ends or one cannot be
// accepted or received from. Then it accepts no more. Sessions with deliveries in work
// are kept until the deliveries have ended, beside the sessions of the next start.
func (r *run) sessions(ctx context.Context) error {
	p := &period{}
	p.changed = clock.NewCond(r.clk, &p.mu)
	slots := clock.NewGroup(r.clk, 0)
	defer slots.Wait()
	working, stop := r.clk.WithCancel(ctx) // ends when no period follows
	defer stop()
	for range r.opts.MaxConcurrentSessions {
		slots.Go("sessions of "+r.source, func() {
			for {
				taking, err := p.next(working)
				if err != nil {
					return
				}
				if err := r.acceptInTurn(ctx, taking, p); err != nil {
					p.fail(taking, err)
				}
			}
		})
	}
	for {
		err := p.begin(r.clk, ctx)
		if !r.beginAgain(ctx, err) {
			return err
		}
	}
}

// A period is the time from a start of the listener to its failure. Its slots take
// sessions until its context ends, and sessions with deliveries in work come later to
// the next period.
type period struct {
	mu      sync.Mutex
	changed *clock.Cond
	taking  context.Context // nil: there is none now
	stop    context.CancelFunc
	err     error
}

// begin begins one and waits for its end. It returns the failure; nil when ctx ended it.
func (p *period) begin(clk clock.Clock, ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taking, p.stop = clk.WithCancel(ctx)
	defer p.stop()
	p.err = nil
	p.changed.Broadcast()
	for p.err == nil {
		if p.changed.Wait(ctx) != nil {
			return nil
		}
	}
	return p.err
}

// next returns the context of the present period, or of the next, or ctx's error when
// ctx ends first.
func (p *period) next(ctx context.Context) (taking context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.taking == nil && ctx.Err() == nil {
		if err := p.changed.Wait(ctx); err != nil {
			return nil, err
		}
	}
	return p.taking, ctx.Err()
}

// fail ends the period of that context, unless it has ended.
func (p *period) fail(taking context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if taking.Err() != nil {
		return
	}
	p.err, p.taking = err, nil
	p.stop()
	p.changed.Broadcast()
}

// acceptInTurn accepts one session after the other until taking ends. Messages in
// work go on until ctx ends.
func (r *run) acceptInTurn(ctx, taking context.Context, p *period) error {
	var out outage
	for {
		s, err := r.ns.AcceptSession(taking, r.source, &servicebus.SessionOptions{Wait: messaging.Forever})
		switch {
		case taking.Err() != nil:
			if err == nil {
				_ = s.Close(context.WithoutCancel(ctx))
			}
			return nil
		case errors.Is(err, messaging.ErrTimeout):
			continue
		case err == nil:
			err = r.work(ctx, taking, p, s)
		}
		if !out.wait(taking, r, err) && err != nil {
			return unlessEnded(taking, err)
		}
	}
}

// work takes the messages of one session until none has come for the idle time,
// or its lock is lost.
func (r *run) work(ctx, taking context.Context, p *period, s servicebus.Session) error {
	held := r.newLock(context.WithoutCancel(ctx), "lock of session "+s.SessionID(), s.LockedUntil(), s.RenewSession)
	if !r.opts.Batch {
		held.keep(r.opts.MaxAutoLockRenewal)
	}
	of := r.newPump(s, held, newLoad(r.clk, r.all))
	inSession, release := r.clk.WithCancel(taking)
	defer release()
	of.release = release
	err := of.take(inSession, r.opts.MaxConcurrentCallsPerSession, r.opts.SessionIdleTimeout)
	if errors.Is(err, messaging.ErrSessionLockLost) || errors.Is(err, messaging.ErrSessionLocked) {
		err = nil // another receiver, or this one again, takes the rest of it
	}
	if err != nil && !errors.Is(err, bindings.ErrUnreachable) {
		p.fail(taking, err) // the others need not wait for the deliveries in work here
	}
	of.finish(ctx)
	return err
}
