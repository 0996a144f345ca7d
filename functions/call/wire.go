package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// RequestToProto returns the wire form of r.
func RequestToProto(r *Request) *functionpb.Request {
	p := &functionpb.Request{
		InvocationId:  text(r.InvocationID),
		Function:      text(r.Function),
		Metadata:      namedToProto(r.Metadata),
		HttpOutput:    text(r.HTTPOutput),
		DeliveryCount: r.DeliveryCount,
		MessageId:     text(r.MessageID),
		Deadline:      timeToProto(r.Deadline),
		Now:           timeToProto(r.Now),
		TraceParent:   text(r.TraceParent),
		TraceState:    text(r.TraceState),
	}
	for _, in := range r.Inputs {
		p.Inputs = append(p.Inputs, &functionpb.NamedValue{Name: text(in.Name), Value: ValueToProto(in.Value)})
	}
	if len(r.Outputs) > 0 {
		p.Outputs = make([]string, len(r.Outputs))
	}
	for i, name := range r.Outputs {
		p.Outputs[i] = text(name)
	}
	if c := r.Retry; c != nil {
		p.Retry = &functionpb.RetryContext{RetryCount: int64(c.RetryCount), MaxRetryCount: int64(c.MaxRetryCount)}
		if e := c.Exception; e != nil {
			p.Retry.Exception = &functionpb.Exception{
				Type: text(e.Type), Message: text(e.Message), Source: text(e.Source), StackTrace: text(e.StackTrace),
			}
		}
	}
	return p
}

// RequestFromProto is the inverse of [RequestToProto].
func RequestFromProto(p *functionpb.Request) (*Request, error) {
	r := &Request{
		InvocationID:  p.GetInvocationId(),
		Function:      p.GetFunction(),
		Outputs:       p.GetOutputs(),
		HTTPOutput:    p.GetHttpOutput(),
		DeliveryCount: p.GetDeliveryCount(),
		MessageID:     p.GetMessageId(),
		Deadline:      timeFromProto(p.GetDeadline()),
		Now:           timeFromProto(p.GetNow()),
		TraceParent:   p.GetTraceParent(),
		TraceState:    p.GetTraceState(),
	}
	for _, in := range p.GetInputs() {
		v, err := ValueFromProto(in.GetValue())
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", in.GetName(), err)
		}
		r.Inputs = append(r.Inputs, Input{Name: in.GetName(), Value: v})
	}
	var err error
	if r.Metadata, err = namedFromProto(p.GetMetadata()); err != nil {
		return nil, fmt.Errorf("metadata %w", err)
	}
	if c := p.GetRetry(); c != nil {
		r.Retry = &retrycontext.Context{RetryCount: int(c.GetRetryCount()), MaxRetryCount: int(c.GetMaxRetryCount())}
		if e := c.GetException(); e != nil {
			r.Retry.Exception = &retrycontext.Exception{
				Type: e.GetType(), Message: e.GetMessage(), Source: e.GetSource(), StackTrace: e.GetStackTrace(),
			}
		}
	}
	return r, nil
}

// ResponseToProto returns the wire form of r.
func ResponseToProto(r *Response) *functionpb.Result {
	p := &functionpb.Result{Outputs: namedToProto(r.Outputs)}
	switch r.Status {
	case Succeeded:
		p.Status = functionpb.Result_STATUS_SUCCEEDED
	case Cancelled:
		p.Status = functionpb.Result_STATUS_CANCELLED
	}
	if r.Return != nil {
		p.ReturnValue = ValueToProto(*r.Return)
	}
	if a := r.Asked; a != (Settlement{}) {
		p.Asked = &functionpb.Settlement{Decision: text(a.Decision), Reason: text(a.Reason), Description: text(a.Description)}
	}
	if e := r.Error; e != nil {
		p.Error = &functionpb.Error{Type: text(e.Type), Message: text(e.Message), Stack: text(e.Stack), Panic: e.Panic}
		if d := e.Declared; d.Kind != 0 {
			p.Error.Declared = &functionpb.Declared{Kind: functionpb.Declared_Kind(d.Kind), Delay: durationpb.New(d.Delay)}
		}
	}
	return p
}

// ResponseFromProto is the inverse of [ResponseToProto]. It trusts nothing: an
// outcome that this version does not know is an error, and a failure always
// carries an Error.
func ResponseFromProto(p *functionpb.Result) (*Response, error) {
	if p == nil {
		return nil, errors.New("empty result")
	}
	r := &Response{}
	switch p.GetStatus() {
	case functionpb.Result_STATUS_FAILED:
	case functionpb.Result_STATUS_SUCCEEDED:
		r.Status = Succeeded
	case functionpb.Result_STATUS_CANCELLED:
		r.Status = Cancelled
	default:
		return nil, fmt.Errorf("unknown status %d", p.GetStatus())
	}
	var err error
	if r.Outputs, err = namedFromProto(p.GetOutputs()); err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	if p.ReturnValue != nil {
		v, err := ValueFromProto(p.ReturnValue)
		if err != nil {
			return nil, fmt.Errorf("return value: %w", err)
		}
		r.Return = &v
	}
	if a := p.GetAsked(); a != nil {
		r.Asked = Settlement{Decision: a.GetDecision(), Reason: a.GetReason(), Description: a.GetDescription()}
	}
	if r.Status == Succeeded {
		return r, nil
	}
	e := p.GetError()
	if e == nil {
		r.Error = &Error{Message: "the handler gave no error"}
		return r, nil
	}
	r.Error = &Error{Type: e.GetType(), Message: e.GetMessage(), Stack: e.GetStack(), Panic: e.GetPanic()}
	if d := e.GetDeclared(); d != nil {
		kind := d.GetKind()
		if kind < functionpb.Declared_KIND_PERMANENT || kind > functionpb.Declared_KIND_RETRY_AFTER {
			return nil, fmt.Errorf("unknown declared outcome %d", kind)
		}
		r.Error.Declared = retrycontext.Declared{Kind: retrycontext.DeclaredKind(kind)}
		if kind == functionpb.Declared_KIND_RETRY_AFTER {
			r.Error.Declared.Delay = min(max(d.GetDelay().AsDuration(), 0), retrycontext.MaxDelay)
		}
	}
	return r, nil
}

// LogToProto returns the wire form of l.
func LogToProto(l Log) *functionpb.Log {
	p := &functionpb.Log{Level: int32(l.Level), Message: text(l.Message)}
	for _, f := range l.Fields {
		p.Fields = append(p.Fields, &functionpb.Field{Key: text(f.Key), Value: text(f.Value)})
	}
	return p
}

// LogFromProto is the inverse of [LogToProto]; levels outside the range become
// the nearest one.
func LogFromProto(p *functionpb.Log) Log {
	l := Log{Level: Level(min(max(p.GetLevel(), int32(Trace)), int32(Critical))), Message: p.GetMessage()}
	for _, f := range p.GetFields() {
		l.Fields = append(l.Fields, Field{Key: f.GetKey(), Value: f.GetValue()})
	}
	return l
}

// DeclarationToProto returns the wire form of d.
func DeclarationToProto(d Declaration) *functionpb.Declaration {
	p := &functionpb.Declaration{Name: text(d.Name), Disabled: d.Disabled}
	for _, b := range d.Bindings {
		p.Bindings = append(p.Bindings, text(string(b)))
	}
	if c := d.Retry; c != nil {
		p.Retry = &functionpb.RetryOptions{
			DelayInterval:   durationToProto(c.DelayInterval),
			MinimumInterval: durationToProto(c.MinimumInterval),
			MaximumInterval: durationToProto(c.MaximumInterval),
		}
		if c.Strategy != nil {
			s := text(*c.Strategy)
			p.Retry.Strategy = &s
		}
		if c.MaxRetryCount != nil {
			n := int64(*c.MaxRetryCount)
			p.Retry.MaxRetryCount = &n
		}
	}
	if b := d.CircuitBreaker; b != nil {
		p.CircuitBreaker = &functionpb.CircuitBreaker{Failures: int64(b.Failures), Pause: durationpb.New(b.Pause), Probes: int64(b.Probes)}
	}
	return p
}

// DeclarationFromProto is the inverse of [DeclarationToProto]. Bindings that
// are not JSON objects are an error; what is in them is checked where
// function.json is.
func DeclarationFromProto(p *functionpb.Declaration) (Declaration, error) {
	d := Declaration{Name: p.GetName(), Disabled: p.GetDisabled()}
	for i, b := range p.GetBindings() {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(b), &object); err != nil || object == nil {
			return Declaration{}, fmt.Errorf("function %q: binding %d is not a JSON object", d.Name, i)
		}
		d.Bindings = append(d.Bindings, json.RawMessage(b))
	}
	if r := p.GetRetry(); r != nil {
		d.Retry = &retrycontext.PolicyConfig{
			Strategy:        r.Strategy,
			DelayInterval:   durationFromProto(r.GetDelayInterval()),
			MinimumInterval: durationFromProto(r.GetMinimumInterval()),
			MaximumInterval: durationFromProto(r.GetMaximumInterval()),
		}
		if r.MaxRetryCount != nil {
			n := int(*r.MaxRetryCount)
			d.Retry.MaxRetryCount = &n
		}
	}
	if b := p.GetCircuitBreaker(); b != nil {
		d.CircuitBreaker = &CircuitBreaker{Failures: int(b.GetFailures()), Pause: b.GetPause().AsDuration(), Probes: int(b.GetProbes())}
	}
	return d, nil
}

func timeToProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeFromProto(p *timestamppb.Timestamp) time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.AsTime()
}

func durationToProto(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

func durationFromProto(p *durationpb.Duration) *time.Duration {
	if p == nil {
		return nil
	}
	d := p.AsDuration()
	return &d
}
