package telemetry_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/certificate"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/triggers"
)

// A message that is redriven links the delivery that gave it up.
func TestRedrivenMessage(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	j := journal.New(func() time.Time { return hosttest.Start }, nil)
	run, cfg := newRun(0), read(t, openTelemetry, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+c.url+"/v1/traces")
	e, err := telemetry.Start(j, &cfg, telemetry.Options{Run: run, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	renamed := func(id string) []journal.Field { return []journal.Field{{Key: "new_message_id", Value: id}} }
	j.Append(journal.Record{Kind: journal.Received, Function: "F", Trigger: "queueTrigger", Delivery: "d1", MessageID: "m"})
	j.Append(journal.Record{Kind: journal.Settled, Function: "F", Trigger: "queueTrigger", Delivery: "d1", MessageID: "m", Decision: "poisoned", Fields: renamed("p")})
	j.Append(journal.Record{Kind: journal.Forwarded, Service: journal.Queues, MessageID: "p", Cause: "redrive", Fields: renamed("n")})
	j.Append(journal.Record{Kind: journal.Received, Function: "F", Trigger: "queueTrigger", Delivery: "d2", MessageID: "n"})
	j.Append(journal.Record{Kind: journal.Settled, Function: "F", Trigger: "queueTrigger", Delivery: "d2", MessageID: "n", Decision: "deleted"})
	c.await(2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if again := c.spans[1]; len(again.Links) != 1 || !slices.Equal(again.Links[0].SpanId, c.spans[0].SpanId) {
		t.Errorf("the redriven message links %s, want %x", again.Links, c.spans[0].SpanId)
	}
}

// lineApp is an app whose function fails once for "fail", and writes lines. Handed are the
// trace contexts of its attempts.
func lineApp(handed *[]string, lines int) *functions.App {
	handlers := functions.New()
	handlers.Queue("F", "work", func(ctx context.Context, m functions.QueueMessage) error {
		inv := functions.FromContext(ctx)
		*handed = append(*handed, inv.TraceParent)
		for i := range lines {
			functions.Logger(ctx).Info(fmt.Sprintf("line %d", i))
		}
		if m.Text() == "fail" && inv.DeliveryCount == 1 {
			return errors.New("a long text of a failure")
		}
		return nil
	})
	return handlers
}

// A trace that the sampler leaves out is one that handlers are told is left out: their own
// spans are not exported either.
func TestSampling(t *testing.T) {
	t.Parallel()
	const messages = 40
	for _, test := range []struct {
		sampler, arg string
		min, max     int // traces
	}{
		{"always_on", "", messages, messages}, {"always_off", "", 0, 0}, {"parentbased_always_off", "", 0, 0},
		{"traceidratio", "0.5", 5, 35}, {"parentbased_traceidratio", "0", 0, 0}, {"parentbased_traceidratio", "", messages, messages},
	} {
		t.Run(test.sampler+test.arg, func(t *testing.T) {
			t.Parallel()
			c := collectHTTP(t)
			var handed []string
			cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_TRACES_SAMPLER="+test.sampler, "OTEL_TRACES_SAMPLER_ARG="+test.arg)
			export(t, cfg, &hosttest.Options{Handlers: lineApp(&handed, 0), Lax: true}, func(h *hosttest.Host) {
				for i := range messages {
					h.Send("work", fmt.Sprint(i))
					h.AwaitSettled("F", triggers.Deleted)
				}
			})
			var exported, taken []string
			for _, s := range c.spans {
				if len(s.ParentSpanId) == 0 {
					exported = append(exported, fmt.Sprintf("%x", s.TraceId))
				}
			}
			for _, h := range handed {
				if strings.HasSuffix(h, "-01") {
					taken = append(taken, h[3:35])
				}
			}
			slices.Sort(exported)
			slices.Sort(taken)
			if !slices.Equal(exported, taken) || len(taken) < test.min || len(taken) > test.max || len(handed) != messages {
				t.Errorf("%d of %d handlers were told that their trace is exported, and %d traces were; want %d to %d", len(taken), len(handed), len(exported), test.min, test.max)
			}
		})
	}
}

// Queues of any size lose nothing, and limits are kept.
func TestBatchesAndLimits(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	var handed []string
	cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_BLRP_MAX_QUEUE_SIZE=10", "OTEL_BSP_MAX_QUEUE_SIZE=3", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=2",
		"OTEL_BSP_SCHEDULE_DELAY=100", "OTEL_BSP_EXPORT_TIMEOUT=20000", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT=6", "OTEL_SPAN_LINK_COUNT_LIMIT=1")
	const messages, lines = 4, 20
	said := export(t, cfg, &hosttest.Options{Handlers: lineApp(&handed, lines), Lax: true}, func(h *hosttest.Host) {
		for range messages {
			h.Send("work", "fail")
			h.AwaitSettled("F", triggers.Released)
			h.AwaitSettled("F", triggers.Deleted)
		}
		c.await(messages * 4) // the end waits for a limited time
	})
	if len(c.spans) != messages*4 || len(c.logs) != 2*messages*lines || said != "" {
		t.Errorf("%d spans and %d lines, want %d and %d; said %s", len(c.spans), len(c.logs), messages*4, 2*messages*lines, said)
	}
	for _, s := range c.spans {
		if len(s.Links) > 1 {
			t.Errorf("%s has %d links", s.Name, len(s.Links))
		}
		for _, a := range s.Attributes {
			if text := a.Value.GetStringValue(); len(text) > 6 {
				t.Errorf("%s has %s of %d bytes", s.Name, a.Key, len(text))
			}
		}
	}
}

// A collector at https is trusted by the authority of the settings, and is shown a
// certificate where it asks for one, over HTTP and gRPC.
func TestSecureCollector(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pair, err := certificate.SelfMade(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	config := pair.Config()
	config.ClientAuth = tls.RequireAnyClientCert
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			c := newCollector()
			server := httptest.NewUnstartedServer(c)
			if protocol == "grpc" {
				rpc := grpc.NewServer()
				coltrace.RegisterTraceServiceServer(rpc, c)
				server.Config.Handler = rpc
			}
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.EnableHTTP2, server.TLS = true, config.Clone()
			server.StartTLS()
			t.Cleanup(server.Close)
			settings := []string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=" + server.URL + map[string]string{"http/protobuf": "/v1/traces"}[protocol], "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol,
				"OTEL_EXPORTER_OTLP_CERTIFICATE=" + pair.File, "OTEL_EXPORTER_OTLP_TIMEOUT=5000",
			}
			known := append(slices.Clone(settings), "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE="+pair.File, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY="+filepath.Join(dir, "key.pem"))
			one := func(h *hosttest.Host) {
				h.Send("work", "x")
				h.AwaitSettled("F", triggers.Deleted)
				c.await(2) // as above
			}
			var handed []string
			if said := export(t, read(t, openTelemetry, known...), &hosttest.Options{Handlers: lineApp(&handed, 0), Lax: true}, one); said != "" || len(c.spans) != 2 {
				t.Errorf("%d spans, said %s", len(c.spans), said)
			}
			if said := export(t, read(t, openTelemetry, settings...), &hosttest.Options{Handlers: lineApp(&handed, 0), Lax: true}, one); !strings.Contains(said, "lost") || len(c.spans) != 2 {
				t.Errorf("without a certificate: %d spans, said %s", len(c.spans), said)
			}
		})
	}
}
