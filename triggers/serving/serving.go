// Package serving is the common part of the HTTP and the Event Grid trigger:
// listeners that watch nothing, and to which the host brings requests instead. It
// says when requests are taken, and how requests in work end when the listener is
// stopped.
package serving

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Grace is how long requests in work keep their retry loop once the listener has
// been stopped (D-14; the limit of 7.3). Then a retry wait ends with the last
// failure.
const Grace = 10 * time.Second

// ErrNotRunning is the error of a request to a listener that takes no more of them:
// its generation is over. The host looks for the listener of the next one.
var ErrNotRunning = errors.New("the function takes no requests")

// Requests are the requests of one listener. Its methods may be called
// concurrently, under the clock.
type Requests struct {
	clk clock.Clock

	mu      sync.Mutex
	changed *clock.Cond
	sink    triggers.Sink // nil when none are taken
	ended   bool          // Run has been, and takes no more
	calls   []*call       // in work, in order of arrival
}

// call is a request in work.
type call struct{ cancel context.CancelFunc }

// New returns Requests. They are taken while Run runs.
func New(clk clock.Clock) *Requests {
	r := &Requests{clk: clk}
	r.changed = clock.NewCond(clk, &r.mu)
	return r
}

// Run is the method of a [triggers.Listener]. When ctx ends, Begin refuses at once.
// Requests in work go on: their token is their caller's. After [Grace] it is
// cancelled all the same, except in a drain; Run returns when the last has ended.
func (r *Requests) Run(ctx context.Context, sink triggers.Sink) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink, r.ended = sink, false
	r.changed.Broadcast()
	for ctx.Err() == nil {
		_ = r.changed.Wait(ctx) // the end of ctx is what it waits for
	}
	r.sink, r.ended = nil, true
	background := context.WithoutCancel(ctx)
	if !sink.Draining() {
		end := r.clk.Now().Add(Grace)
		for len(r.calls) > 0 && r.clk.Now().Before(end) {
			_ = r.changed.WaitUntil(background, end)
		}
		for _, c := range r.calls {
			c.cancel()
		}
	}
	for len(r.calls) > 0 {
		_ = r.changed.Wait(background)
	}
	return nil
}

// Begin takes a request, and waits for Run if that has not begun yet. The request
// is in work, for sink, until end is called, which must be. Its token within comes
// from the caller's ctx, and ends with the grace too. The errors are ErrNotRunning
// and ctx's own.
func (r *Requests) Begin(ctx context.Context) (within context.Context, sink triggers.Sink, end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.sink == nil {
		if r.ended {
			return nil, nil, nil, ErrNotRunning
		}
		if err := r.changed.Wait(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	within, cancel := r.clk.WithCancel(ctx)
	c := &call{cancel}
	r.calls = append(r.calls, c)
	return within, r.sink, func() { r.end(c) }, nil
}

func (r *Requests) end(c *call) {
	r.mu.Lock()
	r.calls = slices.DeleteFunc(r.calls, func(o *call) bool { return o == c })
	r.changed.Broadcast()
	r.mu.Unlock()
	c.cancel()
}
