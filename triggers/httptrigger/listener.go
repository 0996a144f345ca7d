package httptrigger

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/serving"
)

// Listener hands requests to one function. It implements [triggers.Listener],
// though it watches nothing: the host brings it the requests by Serve.
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

// Serve runs the function for one request, all attempts included, and answers with
// what came of the last (spec host-and-retry 9.3): the function's response, or 500.
// While the function's circuit breaker is open it answers 503, with the rest of the
// pause in Retry-After. ctx is the caller's: it ends when the caller hangs up, and with
// it a retry wait. A call that comes before Run waits for it. Several calls may run at
// once; all must be made under the clock, and ctx must be one that the clock can see.
// The request is not changed, and must not be until Serve returns.
//
// The errors are [serving.ErrNotRunning], and ctx's own for a call that has not begun.
func (l *Listener) Serve(ctx context.Context, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	ctx, sink, end, err := l.requests.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if wait, ok := sink.Gate().Try(); !ok {
		return &bindings.HTTPResponse{
			StatusCode: http.StatusServiceUnavailable,
			Header:     http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}},
		}, nil
	}
	ev := event(req)
	res := sink.Handle(ctx, ev)
	sink.Settled(ev, triggers.Settlement{Decision: triggers.Responded})
	switch {
	case res.Err != nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError}, nil
	case res.Response == nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusNoContent}, nil
	}
	return res.Response, nil
}

// Message returns what a function receives of a request: for calls that come in
// by another way than Serve, such as the admin API's.
func Message(req *bindings.HTTPRequest) triggers.Message { return event(req).Messages[0] }

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
