//clock:outside telemetry follows the journal in real time

package telemetry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	promotel "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/trace"
)

// Options of an export.
type Options struct {
	Run     *trace.Run          // the one that the host has
	App     string              // the app, where the journal has several: records of others are left out
	Clock   clock.Clock         // of the host
	Metrics prometheus.Gatherer // the series; nil: none
	Version string              // of the host
	Logger  zerolog.Logger      // is told what was lost, once
}

// Export sends what a journal tells to collectors, until Close.
//
// Batches wait in queues of the SDK, which are bounded. When one is full the reader of the
// journal waits, and nobody else: the journal goes on without it, and what it has let go by
// then is lost and counted.
type Export struct {
	opts   Options
	sub    *journal.Subscription
	losses losses
	time   times
	cancel context.CancelFunc // ends the reading
	kill   context.CancelFunc // ends what is under way
	done   chan struct{}

	spans   *tracer // nil: none
	lines   *logger // nil: none
	closers []func(context.Context) error
}

// The most that Close waits for collectors: less, when one has failed already.
const (
	closePatience  = 2 * time.Second
	failedPatience = 200 * time.Millisecond
)

// scope names the instrumentation.
const scope = "github.com/redeliver/redeliver"

// Start begins to export a journal from its first record on. It reaches no collector yet.
func Start(j *journal.Journal, c *Config, opts Options) (*Export, error) {
	e := &Export{opts: opts, done: make(chan struct{})}
	e.losses.log, e.time.clk = opts.Logger, opts.Clock
	e.losses.life, e.kill = context.WithCancel(context.Background())
	if err := e.open(c); err != nil {
		e.kill()
		return nil, errors.Join(err, e.shutDown())
	}
	e.sub = j.Subscribe(1)
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.Background())
	go e.follow(ctx)
	return e, nil
}

// open makes the exporters.
func (e *Export) open(c *Config) error {
	ctx := e.losses.life
	res := resource.NewSchemaless(e.resource(c)...)
	if c.Traces.Endpoint != "" {
		exporter, err := spanExporter(ctx, c.Traces)
		if err != nil {
			return err
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithIDGenerator(named{}), sdktrace.WithSampler(sampler{e.opts.Run}),
			sdktrace.WithRawSpanLimits(c.Limits.ofSpans()), sdktrace.WithBatcher(spans{exporter, c.Traces, &e.losses}, c.Spans.ofSpans()...))
		e.closers = append(e.closers, provider.Shutdown)
		e.spans = newTracer(provider.Tracer(scope), e.opts, &e.time)
	}
	if c.Logs.Endpoint != "" {
		exporter, err := logExporter(ctx, c.Logs)
		if err != nil {
			return err
		}
		provider := sdklog.NewLoggerProvider(sdklog.WithResource(res),
			sdklog.WithAttributeCountLimit(cmp.Or(c.Limits.Attributes, defaultLimit)), sdklog.WithAttributeValueLengthLimit(cmp.Or(c.Limits.ValueLength, -1)),
			sdklog.WithProcessor(sdklog.NewBatchProcessor(lines{exporter, c.Logs, &e.losses}, c.Lines.ofLines()...)))
		e.closers = append(e.closers, provider.Shutdown)
		e.lines = &logger{to: provider.Logger(scope), flush: provider.ForceFlush, time: &e.time, most: max(c.Lines.queue()/2, 1)}
	}
	if c.Metrics.Endpoint != "" && e.opts.Metrics != nil {
		exporter, err := metricExporter(ctx, c.Metrics)
		if err != nil {
			return err
		}
		reader := sdkmetric.NewPeriodicReader(series{exporter, c.Metrics, &e.losses},
			sdkmetric.WithInterval(cmp.Or(c.Interval, time.Minute)),
			sdkmetric.WithProducer(promotel.NewMetricProducer(promotel.WithGatherer(e.opts.Metrics))))
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader))
		e.closers = append(e.closers, provider.Shutdown)
	}
	return nil
}

// resource describes the host.
func (e *Export) resource(c *Config) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("service.name", c.Service),
		attribute.String("cloud.provider", "azure"),
		attribute.String("cloud.platform", "azure.functions"),
		attribute.String("telemetry.sdk.name", "opentelemetry"),
		attribute.String("telemetry.sdk.language", "go"),
		attribute.String("telemetry.sdk.version", sdk.Version()),
		attribute.String("redeliver.version", e.opts.Version),
	}
	for name, value := range c.Resource {
		out = append(out, attribute.String(name, value))
	}
	return out
}

// follow reads the journal until ctx ends, and then what is still there.
func (e *Export) follow(ctx context.Context) {
	defer close(e.done)
	for e.catchUp(); e.sub.Wait(ctx) == nil && pause(ctx, breath); {
		e.catchUp()
	}
	e.catchUp()
}

func (e *Export) catchUp() {
	for {
		rec, missed, ok := e.sub.TryNext()
		if !ok {
			e.time.taken = 0 // time may pass before the next
			return
		}
		if missed > 0 {
			e.losses.miss(missed)
			if e.spans != nil {
				e.spans.forget()
			}
		}
		if rec.App != e.opts.App && rec.App != "" {
			continue
		}
		rec.Function = rec.OwnFunction()
		clean(&rec)
		e.time.look()
		if rec.Kind == journal.HandlerLog && e.lines != nil {
			e.lines.write(e.losses.life, &rec, e.spans)
		}
		if e.spans != nil {
			e.spans.take(&rec)
		}
	}
}

// Close exports what the journal has, waits for collectors for a limited time, and says
// what was lost. Close the host before, and the clock after it.
func (e *Export) Close() error {
	e.losses.mu.Lock()
	patience := closePatience
	if e.losses.said {
		patience = failedPatience
	}
	e.losses.mu.Unlock()
	defer time.AfterFunc(patience, e.kill).Stop()
	e.cancel()
	<-e.done
	e.sub.Close()
	if e.spans != nil {
		e.spans.forget()
	}
	err := e.shutDown()
	e.kill()
	e.losses.sum()
	return err
}

// shutDown closes the exporters, side by side; life limits them.
func (e *Export) shutDown() error {
	errs := make(chan error)
	for _, end := range e.closers {
		go func() { errs <- end(context.Background()) }()
	}
	var all []error
	for range e.closers {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
