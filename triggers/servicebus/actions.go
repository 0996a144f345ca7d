package servicebus

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// actions are what the handler of one delivery may do to its messages and their session.
// It implements [bindings.Actions] from the delivery's begin to its end.
type actions struct {
	pump *pump
	ctx  context.Context // is not cancelled

	mu   sync.Mutex
	idle *clock.Cond         // a call has ended
	busy int                 // calls on their way
	over bool                // the delivery has ended
	held map[string]*holding // by lock token
}

// holding is a message in the hands of a handler.
type holding struct {
	message *servicebus.Received
	renewal *lock             // nil: there is none
	busy    bool              // a call about it is on its way
	settled triggers.Decision // by the handler; empty: it has not
}

var _ bindings.Actions = (*actions)(nil)

// actionsOn are those for the messages of a delivery. A renewal, of a single message,
// ends with its settlement.
func (p *pump) actionsOn(ctx context.Context, renewal *lock, messages ...*servicebus.Received) *actions {
	a := &actions{pump: p, ctx: ctx, held: make(map[string]*holding, len(messages))}
	a.idle = clock.NewCond(p.clk, &a.mu)
	for _, m := range messages {
		a.held[m.LockToken.String()] = &holding{message: m, renewal: renewal}
	}
	return a
}

// end waits for the calls on their way. Later ones are refused.
func (a *actions) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for a.busy > 0 {
		_ = a.idle.Wait(a.ctx) // a.ctx does not end
	}
}

// settled is the decision of the handler about a message, empty when it took none.
func (a *actions) settled(m *servicebus.Received) triggers.Decision {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held[m.LockToken.String()].settled
}

// on makes a call about a message, after those about it that are on their way. What f
// settles it to is kept.
func (a *actions) on(token string, f func(h *holding) (triggers.Decision, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.held[strings.ToLower(token)]
	for h != nil && h.busy {
		_ = a.idle.Wait(a.ctx) // a.ctx does not end
	}
	if h == nil || h.settled != "" {
		return bindings.ErrNotHeld
	}
	h.busy = true
	defer func() { h.busy = false }()
	return a.callLocked(func() error {
		settled, err := f(h)
		if err == nil {
			h.settled = settled // h is ours while it is busy
		}
		return err
	})
}

// inSession makes a call about the session.
func (a *actions) inSession(session string, f func(s servicebus.Session) error) error {
	s, ok := a.pump.receiver.(servicebus.Session)
	if !ok || s.SessionID() != session {
		return bindings.ErrNotHeld
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.callLocked(func() error { return f(s) })
}

// callLocked is called with a.mu, and calls f without.
func (a *actions) callLocked(f func() error) error {
	if a.over {
		return bindings.ErrNotHeld
	}
	a.busy++
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.busy--
		a.idle.Broadcast()
	}()
	return f()
}

// Settle implements [bindings.Actions].
func (a *actions) Settle(ctx context.Context, token string, how bindings.Disposition) error {
	return a.on(token, func(h *holding) (triggers.Decision, error) {
		decision := triggers.Decision(how.Decision)
		switch decision {
		case triggers.Completed, triggers.Abandoned, triggers.Deferred, triggers.DeadLettered:
		default:
			return "", fmt.Errorf("a message of Service Bus cannot be %s", how.Decision)
		}
		if err := a.pump.carryOut(ctx, h.message, decision, &how); err != nil {
			return "", err
		}
		if h.renewal != nil {
			h.renewal.stop()
		}
		return decision, nil
	})
}

// Renew implements [bindings.Actions].
func (a *actions) Renew(ctx context.Context, token string) error {
	return a.on(token, func(h *holding) (triggers.Decision, error) {
		own := *h.message // Renew writes to it
		_, err := a.pump.receiver.Renew(ctx, &own)
		return "", err
	})
}

// SessionState implements [bindings.Actions].
func (a *actions) SessionState(ctx context.Context, session string) (state []byte, err error) {
	err = a.inSession(session, func(s servicebus.Session) error {
		state, err = s.State(ctx)
		return err
	})
	return state, err
}

// SetSessionState implements [bindings.Actions].
func (a *actions) SetSessionState(ctx context.Context, session string, state []byte) error {
	return a.inSession(session, func(s servicebus.Session) error { return s.SetState(ctx, state) })
}

// RenewSession implements [bindings.Actions].
func (a *actions) RenewSession(ctx context.Context, session string) (ends time.Time, err error) {
	err = a.inSession(session, func(s servicebus.Session) error {
		ends, err = s.RenewSession(ctx)
		return err
	})
	return ends, err
}

// ReleaseSession implements [bindings.Actions].
func (a *actions) ReleaseSession(_ context.Context, session string) error {
	return a.inSession(session, func(servicebus.Session) error {
		a.pump.released.Store(true)
		a.pump.release()
		return nil
	})
}
