package eventgrid

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/serving"
)

// Schema is the schema of events that a function's parameter can hold.
type Schema int

// The schemas.
const (
	AnySchema   Schema = iota // text or JSON, as it comes
	EventGrid                 // events of the Event Grid schema only
	CloudEvents               // CloudEvents only
)

// Options are the properties of the binding. A nil *Options is the zero Options.
type Options struct {
	// Batch is cardinality many: one call for all events of a request.
	Batch bool
	// Schema is the schema of the parameter. It decides which handshake is
	// refused.
	Schema Schema
}

// Listener hands events to one function. It implements [triggers.Listener],
// though it watches nothing: the host brings it the requests by Serve.
type Listener struct {
	clk      clock.Clock
	opts     Options
	requests *serving.Requests
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener. It takes requests while Run runs.
func New(clk clock.Clock, opts *Options) *Listener {
	l := &Listener{clk: clk, requests: serving.New(clk)}
	if opts != nil {
		l.opts = *opts
	}
	return l
}

// Run implements [triggers.Listener]. When ctx ends, Serve refuses at once. Events
// in work go on; after [serving.Grace] their token is cancelled all the same, except
// in a drain, and Event Grid delivers again. Run returns when the last has been
// settled.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	return l.requests.Run(ctx, sink)
}

// Serve answers one request of Event Grid to the function's web hook. A notification runs
// the function, all attempts included, for every event at once, or once for all of them,
// and waits for all. While the function's circuit breaker is open the answer is 503; of
// several events, a half-open circuit lets some through; the others wait until it closes,
// and do not run if it opens. Other requests are answered without the function: see the
// handshake of a subscription. ctx ends when the caller does not want to wait any longer.
// A call that comes before Run waits for it. Several calls may run at once; all must be
// made under the clock. The request must not be changed until Serve returns.
//
// The errors are [serving.ErrNotRunning], and ctx's own for a call that has not begun.
func (l *Listener) Serve(ctx context.Context, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	resp, events := l.opts.protocol(req)
	if events == nil {
		return resp, nil
	}
	ctx, sink, end, err := l.requests.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, ok := sink.Gate().Try(); !ok {
		return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}, nil
	}
	from, _ := ctx.Value(senderKey{}).(Sender)
	deliveries := l.opts.deliveries(req, events, from)
	results := l.dispatch(ctx, sink, deliveries)
	answer := answer(results)
	for _, d := range deliveries[:len(results)] { // they are answered together
		sink.Settled(d, triggers.Settlement{Decision: triggers.Responded, Status: answer.StatusCode})
	}
	if len(results) < len(deliveries) && answer.StatusCode == http.StatusAccepted {
		return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}, nil
	}
	return answer, nil
}

// dispatch runs deliveries side by side and returns the results of the ones that ran,
// in their order. The first has been admitted. The others are admitted here; a
// delivery that still waits when the circuit opens or the caller leaves does not run.
func (l *Listener) dispatch(ctx context.Context, sink triggers.Sink, deliveries []*triggers.Event) []triggers.Result {
	results := make([]triggers.Result, len(deliveries))
	run := func(i int) { results[i] = sink.Handle(ctx, deliveries[i]) }
	if len(deliveries) == 1 {
		run(0)
		return results
	}
	waiting, release := sink.Gate().WhileAdmitted(ctx)
	defer release()
	group := clock.NewGroup(l.clk, 0)
	begun := 0
	for admitted := 1; ; {
		for range admitted {
			i := begun
			group.Go("event", func() { run(i) })
			begun++
		}
		if begun == len(deliveries) {
			break
		}
		var err error
		if admitted, err = sink.Gate().Admit(waiting, len(deliveries)-begun); err != nil {
			break
		}
	}
	group.Wait()
	return results[:begun]
}
