package httptrigger

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/redeliver/redeliver/host/clock"
)

// ErrThrottled is the error of a request above the limit; its answer is 429.
var ErrThrottled = errors.New("too many requests")

// Throttle limits the requests of a whole app, as extensions.http of host.json
// says: so many run at once, further ones wait in order of arrival, and what
// would make more than so many in all is refused (ext: HttpRequestManager.cs,
// whose bounded queue counts the running ones too). Its methods are called under
// the clock and may be called by several goroutines.
type Throttle struct {
	clk                     clock.Clock
	concurrent, outstanding int

	mu      sync.Mutex
	running int
	waiting []*place
}

// place is a place in the queue.
type place struct {
	granted bool
	changed *clock.Cond
}

// NewThrottle returns a throttle for maxConcurrentRequests and
// maxOutstandingRequests. A number below 1 is no limit; the platform writes -1.
func NewThrottle(clk clock.Clock, concurrent, outstanding int) *Throttle {
	return &Throttle{clk: clk, concurrent: concurrent, outstanding: outstanding}
}

// Acquire waits until one more request may run. It returns [ErrThrottled] at
// once when too many are outstanding, and ctx's error when ctx ends first. After
// nil, and only then, the caller owes one Release.
func (t *Throttle) Acquire(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outstanding > 0 && t.running+len(t.waiting) >= t.outstanding {
		return ErrThrottled
	}
	if t.concurrent < 1 || t.running < t.concurrent {
		t.running++
		return nil
	}
	p := &place{changed: clock.NewCond(t.clk, &t.mu)}
	t.waiting = append(t.waiting, p)
	for !p.granted {
		if err := p.changed.Wait(ctx); err != nil && !p.granted {
			t.waiting = slices.DeleteFunc(t.waiting, func(o *place) bool { return o == p })
			return err
		}
	}
	return nil
}

// Release lets the next request run. Its place is handed over, so that no later
// caller can take it.
func (t *Throttle) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == 0 {
		panic("httptrigger: Release without Acquire")
	}
	if len(t.waiting) == 0 {
		t.running--
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	next.granted = true
	next.changed.Signal()
}
