package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// payload holds the data that all attempts of one delivery share.
type payload struct {
	inputs   []call.Input
	metadata map[string]bindings.Value
	data     map[string]any // binding data, for expressions
	err      error          // a conversion failure: every attempt ends with it
	decoded  any            // what handlers in this process have read from it
}

// run is one attempt, inside its pair of records: inputs, handler, outputs. Any
// failure among them is the attempt's (sdk: FunctionExecutor.cs
// TryExecuteAsync).
func (d *delivery) run(rc *retrycontext.Context) error {
	f := d.f
	h := f.gen.host
	d.asked, d.returned = triggers.Request{}, nil // what an earlier attempt asked for is over
	if h.life.Over() {
		return errKilled
	}
	if d.payload == nil {
		d.payload = f.payload(d.ev)
	}
	if err := d.payload.err; err != nil {
		return d.failed(err)
	}
	if err := d.bind(); err != nil {
		return d.failed(err)
	}
	req := d.request(rc)
	// Only the handler's call is timed, and each attempt by itself (sdk:
	// FunctionExecutor.cs ExecuteWithWatchersAsync).
	d.limit.Begin(h.clk, f.gen.app.Config.FunctionTimeout)
	defer d.limit.End()
	resp, err := services.Within(h.opts.Fault, services.FaultPoint{Service: "handler", Op: "Invoke", Entity: journal.Qualified(h.opts.App, f.def.Name), MessageID: req.MessageID},
		func() (*call.Response, error) {
			if err := d.limit.Arm(req); err != nil {
				return nil, err
			}
			return f.gen.invoker.Invoke(f.gen.attempts, req, d.logs)
		})
	if h.life.Over() {
		return errKilled
	}
	if resp != nil && len(resp.Span) > 0 {
		text, _ := json.Marshal(resp.Span) // texts
		d.span = string(text)
	}

	// A handler that ends within the grace has still timed out, and what it
	// returned is discarded (spec host-and-retry 8).
	if d.limit.Exceeded() && f.gen.attempts.Err() == nil {
		return &TimeoutError{Function: f.def.Name, Limit: f.gen.app.Config.FunctionTimeout}
	}
	if err != nil {
		return d.failed(err)
	}
	d.asked = triggers.Request{
		Decision: triggers.Decision(resp.Asked.Decision), Reason: resp.Asked.Reason, Description: resp.Asked.Description,
	}
	if resp.Status != call.Succeeded {
		return d.handlerFailure(resp)
	}
	// Also without the caller: the handler has succeeded, and a caller that has
	// hung up changes nothing of that.
	if err := d.writeOutputs(f.gen.attempts, resp); err != nil {
		return d.failed(err)
	}
	d.returned = resp.Return
	return nil
}

// request is what the handler is given.
func (d *delivery) request(rc *retrycontext.Context) *call.Request {
	f, h := d.f, d.f.gen.host
	req := &call.Request{
		InvocationID:  d.base.Invocation,
		Function:      f.def.Name,
		Inputs:        d.inputs,
		Metadata:      d.payload.metadata,
		Decoded:       &d.payload.decoded,
		Outputs:       f.outputNames,
		HTTPOutput:    f.httpOutput,
		Retry:         rc,
		DeliveryCount: d.ev.DeliveryCount,
		Now:           h.clk.Now(),
		Actions:       d.ev.Actions,
	}

	if d.ev.Delivery != "" { // else it has no place in a trace
		req.TraceParent, req.TraceState = h.opts.Trace.HandlerContext(d.ev, d.attempts)
	}
	if !d.ev.Batch {
		req.MessageID = d.base.MessageID
	}
	if d.ev.Recall != nil {
		req.OnRecall = d.ev.Recall.Running
	}

	// A running attempt outlives the end of its delivery's token. When a waiting caller has
	// gone, the handler's context ends too, and nothing more: the handler decides what to do
	// then.
	if d.caller != nil && d.ev.CallerWaits {
		req.OnRecall = d.caller.handlers.Running
	}
	return req
}

// failed wraps a failure outside the handler's own code.
func (d *delivery) failed(err error) error {
	return &invocationError{function: d.f.def.Name, err: err}
}

// handlerFailure turns a failed response into the attempt's error, with the
// outcome that the handler declared.
func (d *delivery) handlerFailure(resp *call.Response) error {
	failure := resp.Error
	switch {
	case failure != nil:
	case resp.Status == call.Cancelled:
		failure = &call.Error{Type: "cancelled", Message: "the handler was cancelled"}
	default:
		failure = &call.Error{Type: "unknown", Message: "the handler failed and gave no reason"}
	}
	return d.last.of(d.f.def.Name, d.base.Invocation, failure)
}

// payload makes the handler's inputs of an event. The trigger's value comes
// first.
func (f *function) payload(ev *triggers.Event) *payload {
	p := &payload{}
	if len(ev.Messages) == 0 {
		p.err = errors.New("delivery without a message")
		return p
	}
	first := ev.Messages[0]
	p.data = first.Metadata
	values := make([]bindings.Value, len(ev.Messages))
	for i, m := range ev.Messages {
		if m.Err != nil {
			p.err = m.Err
			return p
		}
		values[i] = m.Value
	}
	value := first.Value
	if ev.Batch {
		value = bindings.Batch(values)
	}
	p.inputs = []call.Input{{Name: f.def.Trigger.Name, Value: value}}
	p.metadata = metadataValues(first.Metadata)
	return p
}

// metadataValues gives trigger metadata the form that handlers receive: text
// as text, everything else as JSON (spec workers 6.2).
func metadataValues(data map[string]any) map[string]bindings.Value {
	if len(data) == 0 {
		return nil
	}
	out := make(map[string]bindings.Value, len(data))
	for name, v := range data {
		switch v := v.(type) {
		case nil:
		case string:
			out[name] = bindings.StringValue(v)
		case json.RawMessage:
			out[name] = bindings.JSONValue(v)
		case []string:
			out[name] = bindings.StringsValue(v)
		case bindings.Parameters:
			raw, _ := v.MarshalJSON() // texts have a JSON form
			out[name] = bindings.JSONValue(raw)
		case time.Time:
			out[name] = bindings.JSONValue(bindings.PlainTimeJSON(v))
		case interface{ JSON() string }:
			out[name] = bindings.Value{Kind: bindings.JSON, Text: v.JSON()}
		case int64:
			out[name] = bindings.JSONValue(strconv.AppendInt(nil, v, 10))
		case int:
			out[name] = bindings.JSONValue(strconv.AppendInt(nil, int64(v), 10))
		case bool:
			out[name] = bindings.JSONValue(strconv.AppendBool(nil, v))
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				raw, _ = json.Marshal(fmt.Sprint(v))
			}
			out[name] = bindings.JSONValue(raw)
		}
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
