// Package serving is what the HTTP and the Event Grid trigger share: listeners that
// watch nothing, and to which the host's front brings requests instead. It says when
// requests are taken, and how those in work end when the listener is stopped.
package serving

import (
	"context"
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

// Requests are those of one listener. Its methods may be called concurrently, under
// the clock.
type Requests struct {
	clk clock.Clock

	mu      sync.Mutex
	changed *clock.Cond
	sink    triggers.Sink // nil when none are taken
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

// Run is that of a [triggers.Listener]. When ctx ends, Begin refuses at once.
// Requests in work go on: their token is their caller's. After [Grace] it is
// cancelled all the same, except in a drain; Run returns when the last has ended.
func (r *Requests) Run(ctx context.Context, sink triggers.Sink) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sink = sink
	for ctx.Err() == nil {
		_ = r.changed.Wait(ctx) // the end of ctx is what it waits for
	}
	r.sink = nil
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

// Begin takes a request: it is in work, for sink, until end is called, which must
// be. Its token within is that of the caller's ctx, and ends with the grace too. ok
// is false when none are taken; there is nothing to end then.
func (r *Requests) Begin(ctx context.Context) (within context.Context, sink triggers.Sink, end func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sink == nil {
		return nil, nil, nil, false
	}
	within, cancel := r.clk.WithCancel(ctx)
	c := &call{cancel}
	r.calls = append(r.calls, c)
	return within, r.sink, func() { r.end(c) }, true
}

func (r *Requests) end(c *call) {
	r.mu.Lock()
	r.calls = slices.DeleteFunc(r.calls, func(o *call) bool { return o == c })
	r.changed.Broadcast()
	r.mu.Unlock()
	c.cancel()
}
