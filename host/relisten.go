package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// failedListeners is where listeners that failed wait for their next start. When a
// missing entity or container is made meanwhile, they start at once.
type failedListeners struct {
	mu   sync.Mutex
	made *clock.Cond
}

func newFailedListeners(clk clock.Clock) *failedListeners {
	f := &failedListeners{}
	f.made = clock.NewCond(clk, &f.mu)
	return f
}

// wait returns at a time, or when something was made, nil; or ctx's error. Time
// does not jump for the listener.
func (f *failedListeners) wait(ctx context.Context, until time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made.IdleUntil(ctx, until)
}

// start wakes the waiting listeners, when a service has something new.
func (f *failedListeners) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made.Broadcast()
}

// errListenerEnded is the fault of a listener that ended before it was to.
var errListenerEnded = errors.New("the listener has ended without an error")

// ListenerError says why the listener of a function does not run at the moment: it
// failed, and will start again. It is nil when the listener runs, and for
// functions without a listener.
func (h *Host) ListenerError(function string) error {
	if f := h.current.Load().function(function); f != nil {
		if err := f.failing.Load(); err != nil {
			return *err
		}
	}
	return nil
}
