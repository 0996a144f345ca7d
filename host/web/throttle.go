//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"sync"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// throttle limits the requests of an app by extensions.http of host.json. A
// reload that changes the limits starts a fresh count; a request leaves the
// count that it entered.
type throttle struct {
	clk clock.Clock

	mu                      sync.Mutex
	limiter                 *httptrigger.Throttle // nil before the first limited request
	concurrent, outstanding int
}

// enter admits a request to the app, waiting for its turn. Its error is
// httptrigger.ErrThrottled when there are too many, or the error of a caller that
// has gone meanwhile. After nil the caller owes leave.
func (t *throttle) enter(ctx context.Context, a *app.App) (leave func(), err error) {
	l := t.limits(a)
	if l == nil {
		return func() {}, nil
	}
	t.clk.Inside("request waits", func() {
		token, cancel := t.clk.WithCancel(context.Background())
		defer cancel()
		defer context.AfterFunc(ctx, func() { t.clk.Inside("caller gone", cancel) })()
		err = l.Acquire(token)
	})
	return func() { t.clk.Inside("request leaves", l.Release) }, err
}

// limits returns what limits requests to a, or nil.
func (t *throttle) limits(a *app.App) *httptrigger.Throttle {
	if a == nil || a.Config.HTTP.MaxConcurrentRequests < 1 && a.Config.HTTP.MaxOutstandingRequests < 1 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := a.Config.HTTP; t.limiter == nil || h.MaxConcurrentRequests != t.concurrent || h.MaxOutstandingRequests != t.outstanding {
		t.concurrent, t.outstanding = h.MaxConcurrentRequests, h.MaxOutstandingRequests
		t.limiter = httptrigger.NewThrottle(t.clk, t.concurrent, t.outstanding)
	}
	return t.limiter
}
