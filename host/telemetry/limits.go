package telemetry

import (
	"cmp"
	"time"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/host/trace"
)

// Defaults of the specification of OpenTelemetry. The host says them itself: the SDK would
// read variables of the environment that local.settings.json may override.
const (
	defaultLimit = 128
	defaultQueue = 2048
	defaultSize  = 512
	defaultDelay = time.Second
	defaultTime  = 30 * time.Second
)

func (b Batch) queue() int { return cmp.Or(b.Queue, defaultQueue) }

func (b Batch) size() int { return min(cmp.Or(b.Size, defaultSize), b.queue()) }

// ofSpans are the options of a batch of spans. Its reader waits where the queue is full.
func (b Batch) ofSpans() []sdktrace.BatchSpanProcessorOption {
	return []sdktrace.BatchSpanProcessorOption{
		sdktrace.WithBlocking(), sdktrace.WithMaxQueueSize(b.queue()), sdktrace.WithMaxExportBatchSize(b.size()),
		sdktrace.WithBatchTimeout(cmp.Or(b.Delay, defaultDelay)), sdktrace.WithExportTimeout(cmp.Or(b.Timeout, defaultTime)),
	}
}

func (b Batch) ofLines() []sdklog.BatchProcessorOption {
	return []sdklog.BatchProcessorOption{
		sdklog.WithMaxQueueSize(b.queue()), sdklog.WithExportMaxBatchSize(b.size()),
		sdklog.WithExportInterval(cmp.Or(b.Delay, defaultDelay)), sdklog.WithExportTimeout(cmp.Or(b.Timeout, defaultTime)),
	}
}

func (l Limits) ofSpans() sdktrace.SpanLimits {
	return sdktrace.SpanLimits{
		AttributeValueLengthLimit: cmp.Or(l.ValueLength, -1), AttributeCountLimit: cmp.Or(l.Attributes, defaultLimit),
		EventCountLimit: cmp.Or(l.Events, defaultLimit), LinkCountLimit: cmp.Or(l.Links, defaultLimit),
		AttributePerEventCountLimit: cmp.Or(l.EventAttributes, defaultLimit), AttributePerLinkCountLimit: cmp.Or(l.LinkAttributes, defaultLimit),
	}
}

// sampler takes the spans that the run takes. It implements the SDK's Sampler.
type sampler struct{ run *trace.Run }

// ShouldSample implements trace.Sampler.
func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := oteltrace.SpanContextFromContext(p.ParentContext)
	sampled := parent.IsSampled() // of an attempt: as its delivery
	if !parent.IsValid() || parent.IsRemote() {
		sampled = s.run.Sampled(trace.ID(p.TraceID), trace.Parent{Trace: trace.ID(parent.TraceID()), Sampled: parent.IsSampled()})
	}
	result := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: parent.TraceState()}
	if sampled {
		result.Decision = sdktrace.RecordAndSample
	}
	return result
}

// Description implements trace.Sampler.
func (s sampler) Description() string { return "redeliver" }
