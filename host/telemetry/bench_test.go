package telemetry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/triggers"
)

// BenchmarkTelemetry compares the rate of messages without telemetry, with series only, and
// with everything exported, in turns: one operation is a message in each of the three, in
// each of four rounds. The host is as fast as it can be, so that the readers of the journal
// never rest.
func BenchmarkTelemetry(b *testing.B) {
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer sink.Close()
	to := func(path string) telemetry.Target { return telemetry.Target{Endpoint: sink.URL + path} }
	all := telemetry.Config{Traces: to("/v1/traces"), Metrics: to("/v1/metrics"), Logs: to("/v1/logs"), Service: "bench"}
	var took [3]time.Duration
	const rounds = 4
	for range rounds {
		for mode := range took {
			took[mode] += messages(b, b.N, mode, &all)
		}
	}
	rate := func(mode int) float64 { return float64(rounds*b.N) / took[mode].Seconds() }
	b.ReportMetric(rate(0), "messages/s")
	b.ReportMetric(100*rate(1)/rate(0), "%series")
	b.ReportMetric(100*rate(2)/rate(0), "%export")
	b.ReportMetric(0, "ns/op")
}

// messages says how long n messages take, with series in mode 1, and exports too in mode 2.
func messages(b *testing.B, n, mode int, all *telemetry.Config) time.Duration {
	b.Helper()
	handlers := functions.New()
	handlers.Queue("F", "lines", func(context.Context, functions.QueueMessage) error { return nil })
	opts := &hosttest.Options{Handlers: handlers, Lax: true}
	if mode == 2 {
		opts.Trace = newRun(0)
	}
	h := hosttest.New(b, opts)
	if mode > 0 {
		m := telemetry.NewMetrics(h.Journal(), nil, "")
		defer m.Close()
		if mode == 2 {
			e, err := telemetry.Start(h.Journal(), all, telemetry.Options{Run: opts.Trace, Clock: h.Host.Clock(), Metrics: m})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
		}
	}
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = "x"
	}
	begun := time.Now()
	h.SendAll("lines", bodies...)
	for range n {
		h.AwaitSettled("F", triggers.Deleted)
	}
	took := time.Since(begun)
	if err := h.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}
