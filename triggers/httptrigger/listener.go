package httptrigger

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	streamed := &statusOf{HTTPStream: req.Stream}
	if req.Stream != nil {
		with := *req
		with.Stream = streamed
		req = &with
	}
	ev := event(req)
	resp := answer(sink.Handle(ctx, ev))
	sink.Settled(ev, triggers.Settlement{Decision: triggers.Responded, Status: cmp.Or(streamed.status, resp.StatusCode, http.StatusOK)})
	return resp, nil
}

// answer is what came of the last attempt.
func answer(res triggers.Result) *bindings.HTTPResponse {
	switch {
	case res.Err != nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError}
	case res.Response == nil:
		return &bindings.HTTPResponse{StatusCode: http.StatusNoContent}
	}
	return res.Response
}

// statusOf keeps the status of an answer that went out as it came.
type statusOf struct {
	bindings.HTTPStream
	status int
}

func (s *statusOf) Answer(status int, header http.Header) bindings.HTTPAnswer {
	s.status = status
	return s.HTTPStream.Answer(status, header)
}

// Message returns what a function receives of a request: for calls that come in
// by another way than Serve, such as the admin API's.
func Message(req *bindings.HTTPRequest) triggers.Message { return event(req).Messages[0] }

// escapedPath is the path of an address; the whole of what is none.
func escapedPath(address string) string {
	// Nearly all are so plain that url.Parse can be spared.
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		path := strings.TrimLeft(rest, letters+digits+"-.") // behind the name of the host
		if port, ok := strings.CutPrefix(path, ":"); ok {
			path = strings.TrimLeft(port, digits)
		}
		if strings.HasPrefix(path, "/") && strings.Trim(path, letters+digits+"-._~/") == "" {
			return path
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.EscapedPath()
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// event makes the delivery of one request.
func event(req *bindings.HTTPRequest) *triggers.Event {
	return &triggers.Event{
		Source: req.Method + " " + escapedPath(req.URL),
		Messages: []triggers.Message{{
			Value:    bindings.Value{Kind: bindings.Request, HTTP: req},
			Metadata: bindingData(req),
		}},
		CallerWaits: true,
	}
}
