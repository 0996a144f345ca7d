//clock:outside telemetry follows the journal in real time

package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/credentials"
)

// options makes the options of an exporter from a target, by the exporter's own functions.
func options[O any](t Target, endpoint func(string) O, headers func(map[string]string) O, timeout func(time.Duration) O, gzip O, secure func(*tls.Config) O) []O {
	out := []O{endpoint(t.Endpoint), headers(t.Headers)}
	if c, _, err := t.security(); err == nil && c != nil { // Read has seen the files
		out = append(out, secure(c))
	}
	if t.Timeout > 0 {
		out = append(out, timeout(t.Timeout))
	}
	if t.Gzip {
		out = append(out, gzip)
	}
	return out
}

func spanExporter(ctx context.Context, t Target) (sdktrace.SpanExporter, error) {
	if t.GRPC {
		return otlptracegrpc.New(ctx, options(t, otlptracegrpc.WithEndpointURL, otlptracegrpc.WithHeaders, otlptracegrpc.WithTimeout, otlptracegrpc.WithCompressor("gzip"),
			func(c *tls.Config) otlptracegrpc.Option {
				return otlptracegrpc.WithTLSCredentials(credentials.NewTLS(c))
			})...)
	}
	return otlptracehttp.New(ctx, options(t, otlptracehttp.WithEndpointURL, otlptracehttp.WithHeaders, otlptracehttp.WithTimeout, otlptracehttp.WithCompression(otlptracehttp.GzipCompression), otlptracehttp.WithTLSClientConfig)...)
}

func metricExporter(ctx context.Context, t Target) (sdkmetric.Exporter, error) {
	if t.GRPC {
		return otlpmetricgrpc.New(ctx, options(t, otlpmetricgrpc.WithEndpointURL, otlpmetricgrpc.WithHeaders, otlpmetricgrpc.WithTimeout, otlpmetricgrpc.WithCompressor("gzip"),
			func(c *tls.Config) otlpmetricgrpc.Option {
				return otlpmetricgrpc.WithTLSCredentials(credentials.NewTLS(c))
			})...)
	}
	return otlpmetrichttp.New(ctx, options(t, otlpmetrichttp.WithEndpointURL, otlpmetrichttp.WithHeaders, otlpmetrichttp.WithTimeout, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression), otlpmetrichttp.WithTLSClientConfig)...)
}

func logExporter(ctx context.Context, t Target) (sdklog.Exporter, error) {
	if t.GRPC {
		return otlploggrpc.New(ctx, options(t, otlploggrpc.WithEndpointURL, otlploggrpc.WithHeaders, otlploggrpc.WithTimeout, otlploggrpc.WithCompressor("gzip"),
			func(c *tls.Config) otlploggrpc.Option { return otlploggrpc.WithTLSCredentials(credentials.NewTLS(c)) })...)
	}
	return otlploghttp.New(ctx, options(t, otlploghttp.WithEndpointURL, otlploghttp.WithHeaders, otlploghttp.WithTimeout, otlploghttp.WithCompression(otlploghttp.GzipCompression), otlploghttp.WithTLSClientConfig)...)
}

// losses says once that telemetry did not reach a collector, and counts it.
type losses struct {
	log  zerolog.Logger
	life context.Context // ends every export that is under way

	mu                   sync.Mutex
	spans, lines, series int
	missed               uint64
	said                 bool
}

// during runs an export within the life of all, and takes its failure as a loss.
func (l *losses) during(ctx context.Context, to Target, n int, count *int, export func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	if err := export(ctx); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		*count += n
		l.sayLocked(to, err)
	}
	return nil // it has been said, and nobody else need say it
}

func (l *losses) sayLocked(to Target, err error) {
	if l.said || l.life.Err() != nil {
		return
	}
	l.said = true
	var wrapped *url.Error // names the whole URL
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	l.log.Warn().Str("component", "telemetry").Str("collector", redacted(to.Endpoint)).Err(err).
		Msg("telemetry is lost: the collector did not take it; the host goes on, and says at its end how much was lost")
}

// miss counts records of the journal that nobody could read in time.
func (l *losses) miss(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missed += n; l.missed == n {
		l.log.Warn().Str("component", "telemetry").Uint64("records", n).Msg("telemetry is lost: the journal ran ahead of the collector; the host says at its end how much was lost")
	}
}

// sum says how much was lost, if anything was.
func (l *losses) sum() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spans+l.lines+l.series == 0 && l.missed == 0 {
		return
	}
	l.log.Warn().Str("component", "telemetry").Int("spans", l.spans).Int("log_records", l.lines).Int("exports_of_metrics", l.series).Uint64("journal_records", l.missed).
		Msg("telemetry that was lost since the start")
}

// The exporters as the SDK has them, with losses.
type (
	spans struct {
		sdktrace.SpanExporter
		to Target
		*losses
	}
	lines struct {
		sdklog.Exporter
		to Target
		*losses
	}
	series struct {
		sdkmetric.Exporter
		to Target
		*losses
	}
)

// ExportSpans implements trace.SpanExporter.
func (e spans) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	return inParts(ctx, list, spanSize, func(ctx context.Context, part []sdktrace.ReadOnlySpan) error {
		return e.during(ctx, e.to, len(part), &e.losses.spans, func(ctx context.Context) error { return e.SpanExporter.ExportSpans(ctx, part) })
	})
}

// Export implements log.Exporter.
func (e lines) Export(ctx context.Context, list []sdklog.Record) error {
	return inParts(ctx, list, lineSize, func(ctx context.Context, part []sdklog.Record) error {
		return e.during(ctx, e.to, len(part), &e.losses.lines, func(ctx context.Context) error { return e.Exporter.Export(ctx, part) })
	})
}

// Export implements metric.Exporter.
func (e series) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	return e.during(ctx, e.to, 1, &e.losses.series, func(ctx context.Context) error { return e.Exporter.Export(ctx, m) })
}
