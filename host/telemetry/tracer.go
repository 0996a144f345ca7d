package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/trace"
)

// tracer makes spans of records: one for each delivery, and below it one for each attempt.
// One goroutine uses it.
type tracer struct {
	to    oteltrace.Tracer
	opts  Options
	open  map[string]*delivery             // in work, by name
	seen  map[string]oteltrace.SpanContext // the latest delivery of a message, by function and message
	moved map[string]oteltrace.SpanContext // the delivery that has put a message elsewhere, by its new identity
	time  *times
}

// times says of what kind of time records are.
type times struct {
	clk     clock.Clock
	taken   int  // records, until
	virtual bool // is looked at again: the host needs its clock more than this
}

// lookAfter is how many records are taken to be of the same kind of time.
const lookAfter = 256

// look counts a record.
func (t *times) look() {
	if t.taken--; t.taken < 0 {
		t.taken, t.virtual = lookAfter, virtual(t.clk)
	}
}

// delivery is a delivery in work.
type delivery struct {
	context context.Context
	span    oteltrace.Span

	about          []attribute.KeyValue // the message, on attempts too
	failure        string               // of the last attempt
	attempt        oteltrace.Span       // nil: none runs
	attemptContext context.Context
}

// mostSeen limits what is remembered of messages that may come again.
const mostSeen = 20_000

func newTracer(to oteltrace.Tracer, opts Options, time *times) *tracer {
	t := &tracer{to: to, opts: opts, time: time}
	t.forget()
	return t
}

// forget lets go what is in work: its end was missed, or never comes.
func (t *tracer) forget() {
	t.open, t.seen, t.moved = map[string]*delivery{}, map[string]oteltrace.SpanContext{}, map[string]oteltrace.SpanContext{}
}

// context is the context of the span of a record; t may be nil.
func (t *tracer) context(r *journal.Record) context.Context {
	if t != nil {
		if d := t.open[r.Delivery]; d != nil {
			if d.attempt != nil {
				return d.attemptContext
			}
			return d.context
		}
	}
	return context.Background()
}

// take makes what a record tells.
func (t *tracer) take(r *journal.Record) {
	if r.Kind == journal.Forwarded { // redriven: it came from where the poison message did
		t.rename(r, t.moved[r.MessageID])
		return
	}
	if r.Function == "" || r.Delivery == "" {
		return
	}
	if r.Kind == journal.Received {
		t.begin(r)
		return
	}
	d := t.open[r.Delivery]
	if d == nil {
		return
	}
	at := oteltrace.WithTimestamp(r.Time)
	switch r.Kind {
	case journal.AttemptStarted:
		t.attempt(d, r)
	case journal.AttemptEnded:
		if d.attempt == nil {
			return
		}
		d.failure = r.Error
		if r.Status != "succeeded" {
			fail(d.attempt, r, at)
		}
		d.attempt.SetAttributes(attribute.String("redeliver.status", r.Status))
		d.attempt.SetAttributes(workersOwn(r)...)
		d.attempt.End(at)
		d.attempt = nil
	case journal.RetryScheduled:
		d.span.AddEvent("retry_scheduled", at, oteltrace.WithAttributes(
			attribute.Int("redeliver.attempt", r.Attempt), attribute.Float64("redeliver.delay_seconds", r.Delay.Seconds())))
	case journal.RetriesExhausted, journal.RetryCancelled:
		d.span.AddEvent(string(r.Kind), at, oteltrace.WithAttributes(
			attribute.Int("redeliver.attempt", r.Attempt), attribute.String("redeliver.cause", r.Cause)))
	case journal.Settled:
		t.end(d, r)
	}
}

// fail marks the span of an attempt as failed.
func fail(span oteltrace.Span, r *journal.Record, at oteltrace.SpanEventOption) {
	kind := "error"
	if r.Status == "timed_out" {
		kind = "timeout"
	}
	details := []attribute.KeyValue{attribute.String("exception.type", kind), attribute.String("exception.message", r.Error)}
	if r.Beside.Stack != "" {
		details = append(details, attribute.String("exception.stacktrace", r.Beside.Stack))
	}
	span.AddEvent("exception", at, oteltrace.WithAttributes(details...))
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, r.Error)
}

// workersOwn are the attributes that a language worker adds to the span of an attempt
// (spec drift-2026 C-18).
func workersOwn(r *journal.Record) (list []attribute.KeyValue) {
	if r.Beside.Span == "" || len(r.Beside.Span) > mostOfText {
		return nil
	}
	var own map[string]string
	_ = json.Unmarshal([]byte(r.Beside.Span), &own) // the host wrote it
	for _, name := range slices.Sorted(maps.Keys(own)) {
		list = append(list, attribute.String(name, own[name]))
	}
	return list
}

// begin begins the span of a delivery: a root, or a child of the sender's span.
func (t *tracer) begin(r *journal.Record) {
	sender, links := trace.Senders(r)
	about := messaging(r)
	id, span := t.opts.Run.Delivery(r.Delivery, sender)
	ctx := context.WithValue(context.Background(), namesKey{}, names{id, span})
	if sender.Trace != (trace.ID{}) {
		ctx = oteltrace.ContextWithRemoteSpanContext(ctx, spanContext(sender))
	}
	options := []oteltrace.SpanStartOption{
		oteltrace.WithTimestamp(r.Time), oteltrace.WithSpanKind(kindOf(r.Trigger)), oteltrace.WithAttributes(t.common(r)...), oteltrace.WithAttributes(about...),
	}
	for _, l := range links {
		options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: spanContext(l)}))
	}
	for _, before := range []struct {
		name string
		span oteltrace.SpanContext
	}{{"previous_delivery", t.seen[message(r)]}, {"moved_by", t.moved[r.MessageID]}} {
		if before.span.IsValid() {
			options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: before.span, Attributes: []attribute.KeyValue{attribute.String("redeliver.link", before.name)}}))
		}
	}
	d := &delivery{about: about}
	d.context, d.span = t.to.Start(ctx, spanName(r), options...)
	t.open[r.Delivery] = d
	remember(t.seen, message(r), r.MessageID, d.span.SpanContext())
}

// attempt begins the span of an attempt.
func (t *tracer) attempt(d *delivery, r *journal.Record) {
	ctx := context.WithValue(d.context, namesKey{}, names{span: t.opts.Run.Attempt(r.Delivery, r.Attempt)})
	list := append(t.common(r), d.about...)
	list = append(list,
		attribute.String("faas.trigger", faasTrigger(r.Trigger)),
		attribute.String("faas.invocation_id", r.Invocation),
		attribute.Int("redeliver.attempt", r.Attempt),
		attribute.Int("redeliver.retry_count", r.RetryCount()),
	)
	if r.HasPolicy {
		list = append(list, attribute.Int("redeliver.max_retry_count", r.MaxRetryCount))
	}
	d.attemptContext, d.attempt = t.to.Start(ctx, r.Function, oteltrace.WithTimestamp(r.Time), oteltrace.WithAttributes(list...))
}

// end ends the span of a delivery with its settlement.
func (t *tracer) end(d *delivery, r *journal.Record) {
	d.span.SetAttributes(attribute.String("redeliver.decision", r.Decision))
	if r.Target != "" {
		d.span.SetAttributes(attribute.String("redeliver.target", r.Target))
	}
	for _, f := range r.Fields {
		if status, err := strconv.Atoi(f.Value); f.Key == "http_status" && err == nil {
			d.span.SetAttributes(attribute.Int("http.response.status_code", status))
		}
	}
	t.rename(r, d.span.SpanContext())
	switch r.Decision {
	case "deleted", "completed", "checkpointed", "recorded", "deferred", "responded":
		// The sender of an event, a checkpoint and a schedule go on after a failure too.
		if failure := cmp.Or(r.Error, d.failure); failure != "" {
			d.span.SetStatus(codes.Error, failure)
		} else {
			d.span.SetStatus(codes.Ok, "")
		}
	default:
		d.span.SetStatus(codes.Error, strings.TrimSpace(r.Decision+" "+r.Message))
	}
	d.span.End(oteltrace.WithTimestamp(r.Time))
	delete(t.open, r.Delivery)
}

// rename remembers the span of a message that has another identity where it is now.
func (t *tracer) rename(r *journal.Record, span oteltrace.SpanContext) {
	for _, f := range r.Fields {
		if f.Key == "new_message_id" && span.IsValid() {
			remember(t.moved, f.Value, f.Value, span)
		}
	}
}

// common are the attributes of both kinds of span.
func (t *tracer) common(r *journal.Record) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("redeliver.delivery", r.Delivery), attribute.Int("redeliver.generation", r.Generation)}
	if r.DeliveryCount > 0 {
		list = append(list, attribute.Int64("redeliver.delivery_count", r.DeliveryCount))
	}
	if t.time.virtual {
		list = append(list, virtualTime)
	}
	return list
}

// virtualTime marks a span or a log record whose time may not be that of the wall.
var virtualTime = attribute.Bool("redeliver.virtual_time", true) // read only

// virtual reports whether the clock does not follow the wall, or is at another time.
func virtual(c clock.Clock) bool {
	if v, ok := c.(*clock.Virtual); ok && v.Pace() != clock.Real {
		return true
	}
	return time.Until(c.Now()).Abs() > time.Second //clock:outside compares both times
}

// message names a message for a function, which may get it again.
func message(r *journal.Record) string { return r.Function + "\x00" + r.MessageID }

// remember keeps the span of a message, if it has an identity.
func remember(in map[string]oteltrace.SpanContext, key, id string, span oteltrace.SpanContext) {
	if id == "" {
		return
	}
	if len(in) >= mostSeen {
		clear(in)
	}
	in[key] = span
}

func spanContext(p trace.Parent) oteltrace.SpanContext {
	state, _ := oteltrace.ParseTraceState(p.State) // a wrong one is none
	flags := oteltrace.TraceFlags(0)
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: oteltrace.TraceID(p.Trace), SpanID: oteltrace.SpanID(p.Span), TraceFlags: flags.WithSampled(p.Sampled), TraceState: state, Remote: true,
	})
}

// names are what the next span is called.
type names struct {
	trace trace.ID
	span  trace.SpanID
}

type namesKey struct{}

// named gives spans the names that the context has. It implements the SDK's IDGenerator.
type named struct{}

// NewIDs implements trace.IDGenerator.
func (named) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	n, _ := ctx.Value(namesKey{}).(names)
	return oteltrace.TraceID(n.trace), oteltrace.SpanID(n.span)
}

// NewSpanID implements trace.IDGenerator.
func (g named) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	_, span := g.NewIDs(ctx)
	return span
}
