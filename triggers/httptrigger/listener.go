package httptrigger

import (
	"context"
	"errors"
	"net/url"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/serving"
)

// ErrNotRunning is the error of a call to a listener that has not begun to run,
// or takes no more requests. The front looks for the listener of the generation
// that took over.
var ErrNotRunning = errors.New("the function takes no requests")

// Listener hands requests to one function. It implements [triggers.Listener],
// though it watches nothing: the host's front brings it the requests by Serve.
type Listener struct{ requests *serving.Requests }

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener. It takes requests while Run runs.
func New(clk clock.Clock) *Listener { return &Listener{serving.New(clk)} }

// Run implements [triggers.Listener]. When ctx ends, Serve refuses at once. Calls
// in work go on: their token is their caller's. After [serving.Grace] it is
// cancelled all the same, except in a drain; Run returns when the last has been
// settled.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	return l.requests.Run(ctx, sink)
}

// Serve runs the function for one request, all attempts included, and returns
// what came of the last; the front makes the response of it. ctx is the caller's:
// it ends when the caller hangs up, and with it a retry wait. Several calls may
// run at once; all must be made under the clock, and ctx must be one that the
// clock can see. The request is not changed, and must not be until Serve returns.
//
// The only error is [ErrNotRunning].
func (l *Listener) Serve(ctx context.Context, req *bindings.HTTPRequest) (triggers.Result, error) {
	ctx, sink, end, ok := l.requests.Begin(ctx)
	if !ok {
		return triggers.Result{}, ErrNotRunning
	}
	defer end()
	ev := event(req)
	res := sink.Handle(ctx, ev)
	sink.Settled(ev, triggers.Settlement{Decision: triggers.Responded})
	return res, nil
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
