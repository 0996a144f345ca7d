package docs_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/triggers"
)

func processOrder(ctx context.Context, _ functions.QueueMessage) error {
	inv := functions.FromContext(ctx)
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": inv.TraceParent, "tracestate": inv.TraceState})
	ctx, span := otel.Tracer("shop").Start(ctx, "charge the card")
	defer span.End()
	return charge(ctx)
}

// charged is the span in which the card was charged last.
var charged oteltrace.SpanContext

func charge(ctx context.Context) error {
	charged = oteltrace.SpanContextFromContext(ctx)
	return nil
}

// A handler's span is in the trace of its attempt (telemetry.md).
func TestSpanOfAHandler(t *testing.T) {
	run := trace.NewRun("docs", 0, hosttest.Start)
	app := functions.New()
	app.Queue("ProcessOrder", "orders", processOrder)
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Trace: run})
	h.Send("orders", "7")
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	if id, _ := run.Delivery("d1", trace.Parent{}); charged.TraceID() != oteltrace.TraceID(id) {
		t.Errorf("the span is in the trace %s, want %x", charged.TraceID(), id)
	}
}
