package httptrigger

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// ErrNotRunning is the error of a call to a listener that has not begun to run,
// or takes no more requests. The front looks for the listener of the generation
// that took over.
var ErrNotRunning = errors.New("the function takes no requests")

// Grace is how long calls in work keep their retry loop once the listener has
// been stopped (D-14; the limit of 7.3). Then a retry wait ends with the last
// failure.
const Grace = 10 * time.Second

// Listener hands requests to one function. It implements [triggers.Listener],
// though it watches nothing: the host's front brings it the requests by Serve.
type Listener struct {
	clk clock.Clock

	mu      sync.Mutex
	changed *clock.Cond
	sink    triggers.Sink // nil when it takes no requests
	calls   []*call       // in work, in order of arrival
}

// call is a request in work.
type call struct {
	cancel context.CancelFunc
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener. It takes requests while Run runs.
func New(clk clock.Clock) *Listener {
	l := &Listener{clk: clk}
	l.changed = clock.NewCond(clk, &l.mu)
	return l
}

// Run implements [triggers.Listener]. When ctx ends, Serve refuses at once. Calls
// in work go on: their token is their caller's. After [Grace] it is cancelled
// all the same, except in a drain; Run returns when the last has been settled.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sink = sink
	for ctx.Err() == nil {
		_ = l.changed.Wait(ctx) // the end of ctx is what it waits for
	}
	l.sink = nil
	background := context.WithoutCancel(ctx)
	if !sink.Draining() {
		end := l.clk.Now().Add(Grace)
		for len(l.calls) > 0 && l.clk.Now().Before(end) {
			_ = l.changed.WaitUntil(background, end)
		}
		for _, c := range l.calls {
			c.cancel()
		}
	}
	for len(l.calls) > 0 {
		_ = l.changed.Wait(background)
	}
	return nil
}

// Serve runs the function for one request, all attempts included, and returns
// what came of the last; the front makes the response of it. ctx is the caller's:
// it ends when the caller hangs up, and with it a retry wait. Several calls may
// run at once; all must be made under the clock, and ctx must be one that the
// clock can see. The request is not changed, and must not be until Serve returns.
//
// The only error is [ErrNotRunning].
func (l *Listener) Serve(ctx context.Context, req *bindings.HTTPRequest) (triggers.Result, error) {
	ctx, cancel := l.clk.WithCancel(ctx)
	defer cancel()
	c := &call{cancel: cancel}
	sink := l.enter(c)
	if sink == nil {
		return triggers.Result{}, ErrNotRunning
	}
	defer l.leave(c)
	ev := event(req)
	res := sink.Handle(ctx, ev)
	sink.Settled(ev, triggers.Settlement{Decision: triggers.Responded})
	return res, nil
}

func (l *Listener) enter(c *call) triggers.Sink {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sink != nil {
		l.calls = append(l.calls, c)
	}
	return l.sink
}

func (l *Listener) leave(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = slices.DeleteFunc(l.calls, func(o *call) bool { return o == c })
	l.changed.Broadcast()
}

// event makes the delivery of one request.
func event(req *bindings.HTTPRequest) *triggers.Event {
	source := req.Method + " " + req.URL
	if u, err := url.Parse(req.URL); err == nil {
		source = req.Method + " " + u.EscapedPath()
	}
	return &triggers.Event{
		Source: source,
		Messages: []triggers.Message{{
			Value:    bindings.Value{Kind: bindings.Request, HTTP: req},
			Metadata: bindingData(req),
		}},
		CallerWaits: true,
	}
}
