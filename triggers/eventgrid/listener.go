package eventgrid

import (
	"context"
	"errors"
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
var ErrNotRunning = errors.New("the function takes no events")

// Grace is how long events in work keep their retry loop once the listener has
// been stopped (D-14; the limit of 7.3). Then a retry wait ends with the last
// failure, and Event Grid delivers again.
const Grace = 10 * time.Second

// Schema is what a function's parameter can hold.
type Schema int

// The schemas.
const (
	AnySchema   Schema = iota // text or JSON: whatever comes
	EventGrid                 // events of the Event Grid schema only
	CloudEvents               // CloudEvents only
)

// Options are those of the binding. A nil *Options is the zero Options.
type Options struct {
	// Batch is cardinality many: one call for all events of a request.
	Batch bool
	// Schema is what the parameter holds. It decides which handshake is refused.
	Schema Schema
}

// Listener hands events to one function. It implements [triggers.Listener],
// though it watches nothing: the host's front brings it the requests by Serve.
type Listener struct {
	clk  clock.Clock
	opts Options

	mu      sync.Mutex
	changed *clock.Cond
	sink    triggers.Sink // nil when it takes no requests
	calls   []*call       // in work, in order of arrival
}

// call is a request in work.
type call struct{ cancel context.CancelFunc }

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener. It takes requests while Run runs.
func New(clk clock.Clock, opts *Options) *Listener {
	l := &Listener{clk: clk}
	if opts != nil {
		l.opts = *opts
	}
	l.changed = clock.NewCond(clk, &l.mu)
	return l
}

// Run implements [triggers.Listener]. When ctx ends, Serve refuses at once. Events
// in work go on; after [Grace] their token is cancelled all the same, except in a
// drain. Run returns when the last has been settled.
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

// Serve answers one request of Event Grid to the function's web hook. A
// notification runs the function, all attempts included, for every event at once,
// or once for all of them, and waits for all. ctx ends when the caller does not
// want to wait any longer. Several calls may run at once; all must be made under
// the clock. The request must not be changed until Serve returns.
//
// The only error is [ErrNotRunning].
func (l *Listener) Serve(ctx context.Context, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	resp, events := l.opts.protocol(req)
	if events == nil {
		return resp, nil
	}
	ctx, cancel := l.clk.WithCancel(ctx)
	defer cancel()
	c := &call{cancel: cancel}
	sink := l.enter(c)
	if sink == nil {
		return nil, ErrNotRunning
	}
	defer l.leave(c)
	deliveries := l.opts.deliveries(req, events)
	answer := answer(l.dispatch(ctx, sink, deliveries))
	for _, d := range deliveries { // they are answered together
		sink.Settled(d, triggers.Settlement{Decision: triggers.Responded, Status: answer.StatusCode})
	}
	return answer, nil
}

// dispatch runs deliveries side by side and returns their results in their order.
func (l *Listener) dispatch(ctx context.Context, sink triggers.Sink, deliveries []*triggers.Event) []triggers.Result {
	results := make([]triggers.Result, len(deliveries))
	run := func(i int) { results[i] = sink.Handle(ctx, deliveries[i]) }
	if len(deliveries) == 1 {
		run(0)
		return results
	}
	group := clock.NewGroup(l.clk, 0)
	for i := range deliveries {
		group.Go("event", func() { run(i) })
	}
	group.Wait()
	return results
}
