package servicebus

import (
	"context"
	"errors"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
)

// sessions works on sessions, several at once, until ctx ends or one cannot be
// accepted.
func (r *run) sessions(ctx context.Context) error {
	ctx, cancel := r.clk.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		first error
	)
	slots := clock.NewGroup(r.clk, 0)
	for range r.opts.MaxConcurrentSessions {
		slots.Go("sessions of "+r.source, func() {
			if err := r.acceptInTurn(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = err
				}
				cancel()
			}
		})
	}
	slots.Wait()
	mu.Lock()
	defer mu.Unlock()
	return first
}

// acceptInTurn accepts one session after the other.
func (r *run) acceptInTurn(ctx context.Context) error {
	var out outage
	for {
		s, err := r.ns.AcceptSession(ctx, r.source, &bindings.ServiceBusSessionOptions{Wait: bindings.ServiceBusForever})
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = s.Close(context.WithoutCancel(ctx))
			}
			return nil
		case errors.Is(err, bindings.ErrTimeout):
			continue
		case err == nil:
			err = r.work(ctx, s)
		}
		if !out.wait(ctx, r, err) && err != nil {
			return unlessEnded(ctx, err)
		}
	}
}

// work takes the messages of one session until none has come for the idle time,
// or its lock is lost.
func (r *run) work(ctx context.Context, s bindings.ServiceBusSession) error {
	held := r.newLock(context.WithoutCancel(ctx), "lock of session "+s.SessionID(), s.LockedUntil(), s.RenewSession)
	if !r.opts.Batch {
		held.keep(r.opts.MaxAutoLockRenewal)
	}
	in := r.newIntake(s, held)
	err := in.take(ctx, r.opts.MaxConcurrentCallsPerSession, r.opts.SessionIdleTimeout)
	in.finish(ctx)
	if errors.Is(err, bindings.ErrSessionLockLost) || errors.Is(err, bindings.ErrSessionLocked) {
		return nil // somebody else, or we again, take what is left of it
	}
	return err
}
