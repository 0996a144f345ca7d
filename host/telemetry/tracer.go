package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/trace"
)

// tracer makes spans of records: one for each delivery, and below it one for each attempt.
// One goroutine uses it.
type tracer struct {
	to    oteltrace.Tracer
	opts  Options
	open  map[string]*delivery             // in work, by name
	spans map[string]oteltrace.SpanContext // of deliveries that lives may lead back to
	lives *explain.Teller
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
	failed         string               // how
	attempt        oteltrace.Span       // nil: none runs
	attemptContext context.Context
}

// Limits of what is remembered of messages that may come again: spans, and records of lives.
const (
	mostSpans   = 20_000
	mostRecords = 5 * mostSpans
)

func newTracer(to oteltrace.Tracer, opts Options, time *times) *tracer {
	t := &tracer{to: to, opts: opts, time: time}
	t.forget()
	return t
}

// forget lets go what is in work: its end was missed, or never comes.
func (t *tracer) forget() {
	t.open, t.spans, t.lives = map[string]*delivery{}, map[string]oteltrace.SpanContext{}, explain.NewTeller(mostRecords)
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
	t.lives.Flush()
	lives := t.lives.Add(r)
	if r.Function == "" || r.Delivery == "" {
		return
	}
	if r.Kind == journal.Received {
		t.begin(r, lives)
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
		if d.failed = ""; r.Status != "succeeded" {
			d.failed = fail(d.attempt, r, at)
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

// fail marks the span of an attempt as failed, and says how.
func fail(span oteltrace.Span, r *journal.Record, at oteltrace.SpanEventOption) (kind string) {
	kind = "error"
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
	return kind
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
func (t *tracer) begin(r *journal.Record, lives []explain.Part) {
	sender, links := trace.Senders(r)
	list := about(r)
	id, span := t.opts.Run.Delivery(r.Delivery, sender)
	ctx := context.WithValue(context.Background(), namesKey{}, names{id, span})
	if sender.Trace != (trace.ID{}) {
		ctx = oteltrace.ContextWithRemoteSpanContext(ctx, spanContext(sender))
	}
	options := []oteltrace.SpanStartOption{
		oteltrace.WithTimestamp(r.Time), oteltrace.WithSpanKind(kindOf(r.Trigger)), oteltrace.WithAttributes(t.common(r)...), oteltrace.WithAttributes(list...),
	}
	for _, l := range links {
		options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: spanContext(l)}))
	}
	if kindOf(r.Trigger) == oteltrace.SpanKindServer {
		options = append(options, oteltrace.WithAttributes(request(r)...))
	}
	options = append(options, t.before(lives)...)
	d := &delivery{about: list}
	d.context, d.span = t.to.Start(ctx, spanName(r), options...)
	t.open[r.Delivery] = d
	if len(t.spans) >= mostSpans {
		clear(t.spans)
	}
	t.spans[r.Delivery] = d.span.SpanContext()
}

// before are the links to the deliveries before of the messages of a delivery, each once.
func (t *tracer) before(lives []explain.Part) (options []oteltrace.SpanStartOption) {
	linked := map[string]bool{}
	link := func(name, delivery string) {
		if to := t.spans[delivery]; to.IsValid() && !linked[delivery] {
			linked[delivery] = true
			options = append(options, oteltrace.WithLinks(oteltrace.Link{SpanContext: to, Attributes: []attribute.KeyValue{attribute.String("redeliver.link", name)}}))
		}
	}
	for _, l := range lives {
		link("previous_delivery", l.Life.Before)
		link("moved_by", l.Life.Moved)
	}
	return options
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
	status := 0
	for _, f := range r.Fields {
		if n, err := strconv.Atoi(f.Value); f.Key == "http_status" && err == nil {
			status = n
			d.span.SetAttributes(attribute.Int("http.response.status_code", n))
		}
	}
	failed, failure := d.outcome(r, status)
	switch {
	case failed != "":
		d.span.SetAttributes(attribute.String("error.type", failed))
		d.span.SetStatus(codes.Error, failure)
	case kindOf(r.Trigger) != oteltrace.SpanKindServer: // the conventions leave that of a request unset
		d.span.SetStatus(codes.Ok, "")
	}
	d.span.End(oteltrace.WithTimestamp(r.Time))
	delete(t.open, r.Delivery)
}

// outcome is the type of what went wrong, empty where nothing did, and its text.
func (d *delivery) outcome(r *journal.Record, status int) (failed, text string) {
	switch r.Decision {
	case "deleted", "completed", "checkpointed", "recorded", "reported", "deferred", "responded":
		// The sender of an event, a checkpoint and a schedule go on after a failure too.
		switch {
		case r.Error != "":
			return "error", r.Error
		case d.failure != "":
			return cmp.Or(d.failed, "error"), d.failure
		case status >= http.StatusInternalServerError:
			return strconv.Itoa(status), ""
		}
		return "", ""
	}
	return cmp.Or(d.failed, r.Decision), strings.TrimSpace(r.Decision + " " + r.Message)
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
