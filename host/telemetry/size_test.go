package telemetry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// What handlers say at great length costs no other record its way: a collector takes
// requests of a limited size (gRPC: 4 MiB unless it is told otherwise).
func TestLongTexts(t *testing.T) {
	t.Parallel()
	for name, collect := range map[string]func(*testing.T) *collector{"http/protobuf": collectHTTP, "grpc": collectGRPC} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collect(t)
			long := strings.Repeat("é", 400<<10) // 800 KiB
			handlers := functions.New()
			handlers.Queue("F", "lines", func(ctx context.Context, m functions.QueueMessage) error {
				log := functions.Logger(ctx)
				log.Info("short")
				log.Info(strings.Repeat("long ", 2<<20), long, long)
				log.Info("field", "text", long, "more", long, "other", long)
				return errors.New(long)
			})
			cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_EXPORTER_OTLP_PROTOCOL="+name)
			const n = 4
			if said := export(t, cfg, &hosttest.Options{Handlers: handlers, Lax: true}, func(h *hosttest.Host) {
				for range n {
					h.Send("lines", "1")
					h.AwaitSettled("F", triggers.Released)
				}
			}); said != "" {
				t.Errorf("the log says %s", said)
			}
			c.mu.Lock() // a request that was given up on may come late
			defer c.mu.Unlock()
			if len(c.logs) < 3*n || len(c.spans) < 2*n {
				t.Fatalf("%d lines and %d spans came, want %d and %d", len(c.logs), len(c.spans), 3*n, 2*n)
			}
			for _, l := range c.logs {
				if text := l.Body.GetStringValue(); !utf8.ValidString(text) || len(text) > 300<<10 || len(text) > 1000 && !strings.HasSuffix(text, "…") {
					t.Errorf("a line has %d bytes", len(text))
				}
			}
			for _, s := range c.spans {
				if text := s.Status.GetMessage(); strings.Contains(text, "éé") && !strings.HasSuffix(text, "é…") {
					t.Errorf("%s has a status of %d bytes", s.Name, len(text))
				}
			}
		})
	}
}

// Settings that are no UTF-8 lose no telemetry: each request has what describes the host.
func TestWrongTextOfTheHost(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	handlers := functions.New()
	handlers.Queue("F", "lines", func(context.Context, functions.QueueMessage) error { return nil })
	cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_SERVICE_NAME=caf\xe9", "OTEL_RESOURCE_ATTRIBUTES=city=Z%FCrich,caf\xe9=1")
	if said := export(t, cfg, &hosttest.Options{Handlers: handlers}, func(h *hosttest.Host) {
		h.Send("lines", "1")
		h.AwaitSettled("F", triggers.Deleted)
	}); said != "" {
		t.Errorf("the log says %s", said)
	}
	if len(c.spans) != 2 || len(c.metrics) == 0 || c.resources["service.name"] != "caf\uFFFD" || c.resources["city"] != "Z\uFFFDrich" || c.resources["caf\uFFFD"] != "1" {
		t.Errorf("%d spans and %d series of %q", len(c.spans), len(c.metrics), c.resources)
	}
}
