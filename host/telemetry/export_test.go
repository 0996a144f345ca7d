package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/telemetry"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/triggers"
)

// read reads the configuration of an app with some settings.
func read(t *testing.T, hostJSON string, env ...string) telemetry.Config {
	t.Helper()
	h := hosttest.New(t, &hosttest.Options{Files: map[string]string{"host.json": hostJSON}, Handlers: functions.New(), Env: env})
	settings := map[string]string{}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		settings[name] = value
	}
	a, err := app.Load(h.Dir(), &app.Options{Env: settings, Kinds: served.Facts()})
	if err != nil {
		t.Fatal(err)
	}
	return telemetry.Read(a)
}

const openTelemetry = `{"version":"2.0","telemetryMode":"OpenTelemetry"}`

// newRun is the run of hosts of the test kit with that seed.
func newRun(seed uint64) *trace.Run { return trace.NewRun("test", seed, hosttest.Start) }

// export runs a host with its telemetry going to a collector until f has returned.
func export(t *testing.T, c telemetry.Config, opts *hosttest.Options, f func(h *hosttest.Host)) (log string) {
	t.Helper()
	opts.Trace = newRun(opts.Seed).Sampling(c.Sampler)
	h := hosttest.New(t, opts)
	var text bytes.Buffer
	m := telemetry.NewMetrics(h.Journal(), telemetry.DepthsOf(h.Host.Clock(), h.Services(), h.AppStorage), "1")
	defer m.Close()
	e, err := telemetry.Start(h.Journal(), &c, telemetry.Options{
		Run: opts.Trace, Clock: h.Host.Clock(), Metrics: m, Version: "1", Logger: zerolog.New(&text),
	})
	if err != nil {
		t.Fatal(err)
	}
	f(h)
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	return text.String()
}

// The trace of a failing order, as a collector gets it: a root for each delivery, five
// attempts below each, a link to the delivery before, and below each attempt the span that
// the handler itself has made, by the context that it was handed.
func TestTraceOfAFailingOrder(t *testing.T) {
	t.Parallel()
	for name, collect := range map[string]func(*testing.T) *collector{"HTTP": collectHTTP, "gRPC": collectGRPC} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			protocol := map[string]string{"HTTP": "http/protobuf", "gRPC": "grpc"}[name]
			c := collect(t)
			failingOrder(t, c, protocol)
			again := collect(t)
			failingOrder(t, again, protocol)
			if diff := cmp.Diff(tree(c.spans), tree(again.spans)); diff != "" {
				t.Errorf("the same seed gives other spans:\n%s", diff)
			}

			lines := tree(c.spans)
			var want []string
			for d := 1; d <= 5; d++ {
				link := ""
				if d > 1 {
					link = fmt.Sprintf(" after d%d", d-1)
				}
				want = append(want, fmt.Sprintf("process orders d%d%s", d, link))
				for a := 1; a <= 5; a++ {
					want = append(want, fmt.Sprintf("  ProcessOrder attempt=%d retry_count=%d", a, a-1), "    charge the card")
				}
			}
			if diff := cmp.Diff(want, withoutIDs(lines)); diff != "" {
				t.Errorf("the spans (-want +got):\n%s", diff)
			}
			check(t, c)
		})
	}
}

// failingOrder runs an order that always fails, with a handler that makes spans.
func failingOrder(t *testing.T, c *collector, protocol string) {
	t.Helper()
	own := collectHTTP(t) // the handler exports by itself, as any program does
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(own.url+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithIDGenerator(&counting{}))
	handlers := functions.New()
	handlers.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		inv := functions.FromContext(ctx)
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": inv.TraceParent, "tracestate": inv.TraceState})
		_, span := provider.Tracer("shop").Start(ctx, "charge the card")
		defer span.End()
		functions.Logger(ctx).Warn("charging", "order", m.Text())
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 15*time.Minute))
	cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol,
		"OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20b", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment=test,service.name=other")
	if log := export(t, cfg, &hosttest.Options{Handlers: handlers, Seed: 7}, func(h *hosttest.Host) {
		h.Send("orders", "7")
		h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	}); log != "" {
		t.Errorf("the log says %s", log)
	}
	if err := provider.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.spans = append(c.spans, own.spans...)
}

// counting names the spans of a handler.
type counting struct {
	mu sync.Mutex
	n  byte
}

func (c *counting) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	return oteltrace.TraceID{1}, c.NewSpanID(ctx, oteltrace.TraceID{1})
}

func (c *counting) NewSpanID(context.Context, oteltrace.TraceID) (span oteltrace.SpanID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	span[0] = c.n
	return span
}

// tree draws spans below their parents, in the order of their times, with their names.
func tree(list []*traces.Span) (lines []string) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *traces.Span) int { return strings.Compare(number(a), number(b)) })
	byID := map[string]*traces.Span{}
	for _, s := range list {
		byID[string(s.SpanId)] = s
	}
	var draw func(of *traces.Span, indent string)
	draw = func(of *traces.Span, indent string) {
		for _, s := range list {
			parent := ""
			if of != nil {
				parent = string(of.SpanId)
			}
			if string(s.ParentSpanId) != parent || of != nil && string(s.TraceId) != string(of.TraceId) {
				continue
			}
			line := indent + s.Name + number(s)
			for _, l := range s.Links {
				line += " after" + number(byID[string(l.SpanId)])
			}
			lines = append(lines, line+" #"+hex.EncodeToString(s.TraceId)+"/"+hex.EncodeToString(s.SpanId))
			draw(s, indent+"  ")
		}
	}
	draw(nil, "")
	return lines
}

func withoutIDs(lines []string) (out []string) {
	for _, line := range lines {
		text, _, _ := strings.Cut(line, " #")
		out = append(out, text)
	}
	return out
}

// number is what tells spans of one name apart.
func number(s *traces.Span) string {
	if s == nil {
		return " nothing"
	}
	if a := attribute(s, "redeliver.attempt"); a != "" {
		return " attempt=" + a + " retry_count=" + attribute(s, "redeliver.retry_count")
	}
	if d := attribute(s, "redeliver.delivery"); d != "" {
		return " " + d
	}
	return ""
}

func attribute(s *traces.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			return fmt.Sprint(a.Value.GetIntValue())
		}
	}
	return ""
}

// check looks at what the spans, the log records and the series say.
func check(t *testing.T, c *collector) {
	t.Helper()
	for _, s := range c.spans {
		at := s.Name + number(s)
		switch s.Name {
		case "process orders":
			var events []string
			for _, e := range s.Events {
				events = append(events, e.Name)
			}
			if got, want := strings.Join(events, " "), "retry_scheduled retry_scheduled retry_scheduled retry_scheduled retries_exhausted"; got != want {
				t.Errorf("%s has the events %s", at, got)
			}
			want := "released"
			if attribute(s, "redeliver.delivery_count") == "5" {
				want = "poisoned"
			}
			if got := attribute(s, "redeliver.decision"); got != want || s.Status.Code != traces.Status_STATUS_CODE_ERROR || s.Kind != traces.Span_SPAN_KIND_CONSUMER {
				t.Errorf("%s ended as %s, %s, %s", at, got, s.Status, s.Kind)
			}
			if took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano); took != time.Hour {
				t.Errorf("%s took %v, want four waits of 15 minutes", at, took)
			}
			if attribute(s, "messaging.system") != "azure_queue_storage" || attribute(s, "messaging.destination.name") != "orders" || attribute(s, "messaging.message.id") == "" {
				t.Errorf("%s: %s", at, s.Attributes)
			}
		case "ProcessOrder":
			if s.Status.Code != traces.Status_STATUS_CODE_ERROR || !strings.Contains(s.Status.Message, "payment service unavailable") ||
				attribute(s, "faas.trigger") != "pubsub" || attribute(s, "messaging.system") != "azure_queue_storage" || attribute(s, "messaging.message.id") == "" || attribute(s, "faas.invocation_id") == "" || attribute(s, "redeliver.max_retry_count") != "4" {
				t.Errorf("%s: %s, %s", at, s.Status, s.Attributes)
			}
		}
		if s.Name != "charge the card" && !slices.ContainsFunc(s.Attributes, func(a *common.KeyValue) bool { return a.Key == "redeliver.virtual_time" && a.Value.GetBoolValue() }) {
			t.Errorf("%s is not marked as of virtual time", at)
		}
	}
	if len(c.logs) != 25 {
		t.Errorf("%d log records, want 25", len(c.logs))
	}
	for _, l := range c.logs {
		of := slices.IndexFunc(c.spans, func(s *traces.Span) bool { return string(s.SpanId) == string(l.SpanId) })
		if of < 0 || c.spans[of].Name != "ProcessOrder" || l.Body.GetStringValue() != "charging" || l.SeverityText != "warning" || l.SeverityNumber != 13 ||
			!slices.ContainsFunc(l.Attributes, func(a *common.KeyValue) bool { return a.Key == "redeliver.virtual_time" && a.Value.GetBoolValue() }) {
			t.Errorf("log record %s", l)
		}
	}
	if m := c.metrics["redeliver_attempts_total"]; m == nil || m.GetSum().GetDataPoints()[0].GetAsDouble() != 25 || !m.GetSum().IsMonotonic {
		t.Errorf("attempts: %s", m)
	}
	if m := c.metrics["redeliver_attempt_duration_seconds"]; m == nil || m.GetHistogram().GetDataPoints()[0].GetCount() != 25 {
		t.Errorf("durations: %s", m)
	}
	if c.resources["service.name"] != "shop" || c.resources["deployment.environment"] != "test" || c.resources["redeliver.version"] != "1" {
		t.Errorf("the resource is %v", c.resources)
	}
	if diff := cmp.Diff(map[string]string{"traces": "a b", "metrics": "a b", "logs": "a b"}, c.headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// A delivery is a child of the span in which its message was sent, and so is the next one.
func TestSendersTrace(t *testing.T) {
	t.Parallel()
	const sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	c := collectHTTP(t)
	handlers := functions.New()
	var handed []string
	handlers.ServiceBusQueue("Ship", "parcels", func(ctx context.Context, _ functions.ServiceBusMessage) error {
		if handed = append(handed, functions.FromContext(ctx).TraceParent); len(handed) == 1 {
			return errors.New("no")
		}
		return nil
	})
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: handlers}, func(h *hosttest.Host) {
		h.SendServiceBus("parcels", &servicebus.Message{Body: []byte("x"), ApplicationProperties: map[string]any{"Diagnostic-Id": sender}})
		h.AwaitSettled("Ship", triggers.Completed)
	})
	var deliveries, attempts []string
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) != sender[3:35] {
			t.Errorf("%s is in the trace %x", s.Name, s.TraceId)
		}
		if s.Name == "process parcels" {
			deliveries = append(deliveries, hex.EncodeToString(s.ParentSpanId)+" "+attribute(s, "redeliver.decision"))
		} else {
			attempts = append(attempts, fmt.Sprintf("00-%x-%x-01", s.TraceId, s.SpanId))
		}
	}
	if want := []string{sender[36:52] + " abandoned", sender[36:52] + " completed"}; !slices.Equal(deliveries, want) {
		t.Errorf("the deliveries are %q, want %q", deliveries, want)
	}
	if !slices.Equal(attempts, handed) {
		t.Errorf("the attempts are %q, handlers were handed %q", attempts, handed)
	}
}

// A caller's trace goes on in the function's; a call whose last attempt fails is an error,
// and texts that are no UTF-8 lose nothing but themselves.
func TestRequests(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	handlers := functions.New()
	handlers.HTTP("Order", func(w http.ResponseWriter, r *http.Request) {
		functions.Logger(r.Context()).Info("half \xc3", "key\xff", "v\xff")
		if r.URL.Query().Get("fail") != "" {
			functions.Fail(r.Context(), errors.New("broken \xff"))
		}
	}, functions.Route("orders"))
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: handlers}, func(h *hosttest.Host) {
		h.Request("GET", "/api/orders", "")
		h.Request("GET", "/api/orders?fail=1", "")
	})
	var got []string
	for _, s := range c.spans {
		if s.Kind == traces.Span_SPAN_KIND_SERVER {
			got = append(got, s.Name+" "+s.Status.Code.String())
		}
	}
	if want := []string{"GET /api/orders STATUS_CODE_UNSET", "GET /api/orders STATUS_CODE_ERROR"}; !slices.Equal(got, want) {
		t.Errorf("the requests are %q, want %q", got, want)
	}
	if len(c.logs) != 2 || c.logs[0].Body.GetStringValue() != "half \uFFFD" {
		t.Errorf("the log records are %s", c.logs)
	}
}

// A language worker adds attributes to the spans of its attempts (spec drift-2026 C-18).
func TestAttributesOfAWorker(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: functions.New()}, func(h *hosttest.Host) {
		for _, r := range []journal.Record{
			{Kind: journal.Received}, {Kind: journal.AttemptStarted, Attempt: 1},
			{Kind: journal.AttemptEnded, Attempt: 1, Status: "failed", Error: "boom", Beside: journal.Beside{Span: `{"b":"2","shop.order":"7"}`}},
			{Kind: journal.AttemptStarted, Attempt: 2}, {Kind: journal.AttemptEnded, Attempt: 2, Status: "succeeded"},
			{Kind: journal.Settled, Decision: "deleted"},
		} {
			r.Function, r.Trigger, r.Source, r.Delivery, r.MessageID = "F", "queueTrigger", "orders", "F/d1", "m1"
			h.Journal().Append(r)
		}
	})
	own := map[string]int{}
	for _, s := range c.spans {
		for _, a := range s.Attributes {
			if a.Key == "shop.order" || a.Key == "b" {
				own[a.Key+"="+a.Value.GetStringValue()]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"shop.order=7": 1, "b=2": 1}, own); diff != "" {
		t.Errorf("attributes of all spans (-want +got):\n%s", diff)
	}
}

// A collector that refuses, hangs or answers nonsense costs a host nothing but the
// telemetry, and the log says so once and counts at the end.
func TestBadCollectors(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(hang) })
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	t.Cleanup(failing.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, url := range map[string]string{"hangs": hanging.URL, "forbids": failing.URL, "is gone": gone.URL} {
		for _, protocol := range []string{"http/protobuf", "grpc"} {
			t.Run(name+" "+protocol[:4], func(t *testing.T) {
				t.Parallel()
				handlers := functions.New()
				handlers.Queue("F", "lines", func(ctx context.Context, m functions.QueueMessage) error {
					functions.Logger(ctx).Info("line")
					return nil
				})
				cfg := read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+url, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol)
				const n = 3000 // more than a queue of the SDK takes
				log := export(t, cfg, &hosttest.Options{Handlers: handlers, Lax: true}, func(h *hosttest.Host) {
					for i := range n {
						h.Send("lines", fmt.Sprint(i))
					}
					for range n {
						h.AwaitSettled("F", triggers.Deleted)
					}
				})
				if said := strings.Count(log, "telemetry is lost"); said > 2 || !strings.Contains(log, `"message":"telemetry that was lost since the start"`) || !strings.Contains(log, `"spans":`) {
					t.Errorf("the log says it %d times: %s", said, log)
				}
			})
		}
	}
}

// A collector that is slow holds up nothing but telemetry, and gets all of it in the end.
func TestSlowCollector(t *testing.T) {
	t.Parallel()
	c := newCollector()
	ready := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		c.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	handlers := functions.New()
	handlers.Queue("F", "lines", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).Info("line")
		return nil
	})
	const n = 1500 // more spans than a queue of the SDK takes
	if log := export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL), &hosttest.Options{Handlers: handlers, Lax: true}, func(h *hosttest.Host) {
		for i := range n {
			h.Send("lines", fmt.Sprint(i))
		}
		for range n {
			h.AwaitSettled("F", triggers.Deleted)
		}
		close(ready)       // not before the host has done all of its work
		c.await(2*n - 512) // the end waits for the last batch, and not for long
	}); log != "" {
		t.Errorf("the log says %s", log)
	}
	if len(c.spans) != 2*n || len(c.logs) != n {
		t.Errorf("%d spans and %d log records, want %d and %d", len(c.spans), len(c.logs), 2*n, n)
	}
}

// In real time nothing is marked as virtual.
func TestRealTime(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	handlers := functions.New()
	handlers.Queue("F", "lines", func(context.Context, functions.QueueMessage) error { return errors.New("no") }, functions.FixedDelay(4, 0))
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: handlers, System: true, Files: map[string]string{
		"host.json": `{"version":"2.0","extensions":{"queues":{"maxDequeueCount":2}}}`,
	}}, func(h *hosttest.Host) {
		h.Send("lines", "x")
		h.AwaitSettled("F", triggers.Poisoned)
	})
	if len(c.spans) != 2*(1+5) {
		t.Errorf("%d spans, want two deliveries of five attempts", len(c.spans))
	}
	for _, s := range c.spans {
		if attribute(s, "redeliver.virtual_time") != "" {
			t.Errorf("%s is marked", s.Name)
		}
	}
}

// What settings say.
func TestRead(t *testing.T) {
	t.Parallel()
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318"
	for name, test := range map[string]struct {
		hostJSON string
		env      []string
		want     string // endpoints, and g for gRPC
		warns    string
	}{
		"off":                    {`{"version":"2.0"}`, []string{endpoint}, "- - -", ""},
		"on":                     {openTelemetry, []string{endpoint}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", ""},
		"disabled":               {openTelemetry, []string{endpoint, "OTEL_SDK_DISABLED=true"}, "- - -", ""},
		"no endpoint":            {openTelemetry, nil, "- - -", "OTEL_EXPORTER_OTLP_ENDPOINT is missing: nothing is exported"},
		"port of gRPC":           {openTelemetry, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317"}, "g:http://localhost:4317 g:http://localhost:4317 g:http://localhost:4317", ""},
		"none":                   {openTelemetry, []string{endpoint, "OTEL_TRACES_EXPORTER=none", "OTEL_LOGS_EXPORTER=none"}, "- http://localhost:4318/v1/metrics -", ""},
		"all none":               {openTelemetry, []string{endpoint, "OTEL_TRACES_EXPORTER=none", "OTEL_LOGS_EXPORTER=none", "OTEL_METRICS_EXPORTER=none"}, "- - -", ""},
		"own endpoint":           {openTelemetry, []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c/x", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc"}, "g:https://c/x - -", ""},
		"below a path":           {openTelemetry, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp/", "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none"}, "https://c/otlp/v1/traces - -", ""},
		"another exporter":       {openTelemetry, []string{endpoint, "OTEL_LOGS_EXPORTER=console"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics -", "OTEL_LOGS_EXPORTER: want otlp or none"},
		"another protocol":       {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, "- - -", "OTEL_EXPORTER_OTLP_PROTOCOL: want grpc or http/protobuf"},
		"no URL":                 {openTelemetry, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318"}, "- - -", `OTEL_EXPORTER_OTLP_ENDPOINT: want a URL such as "http://localhost:4318"`},
		"wrong headers":          {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=secret"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_HEADERS: want name=value pairs"},
		"wrong time":             {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT=soon"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_TIMEOUT: want a number of milliseconds"},
		"no certificate":         {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_CERTIFICATE=/none.pem"}, "- - -", "OTEL_EXPORTER_OTLP_CERTIFICATE: want files in PEM"},
		"no key":                 {openTelemetry, []string{endpoint, "OTEL_METRICS_EXPORTER=none", "OTEL_LOGS_EXPORTER=none", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE=/none.pem"}, "- - -", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: want files in PEM"},
		"another sampler":        {openTelemetry, []string{endpoint, "OTEL_TRACES_SAMPLER=often"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_TRACES_SAMPLER: want always_on"},
		"wrong ratio":            {openTelemetry, []string{endpoint, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=2"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_TRACES_SAMPLER_ARG: want a number from 0 to 1"},
		"wrong queue":            {openTelemetry, []string{endpoint, "OTEL_BSP_MAX_QUEUE_SIZE=0"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_BSP_MAX_QUEUE_SIZE: want a number above 0"},
		"batch above queue":      {openTelemetry, []string{endpoint, "OTEL_BLRP_MAX_QUEUE_SIZE=5", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE=6"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: want at most OTEL_BLRP_MAX_QUEUE_SIZE"},
		"not disabled":           {openTelemetry, []string{endpoint, "OTEL_SDK_DISABLED=yes"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_SDK_DISABLED: want true or false"},
		"disabled not":           {openTelemetry, []string{endpoint, "OTEL_SDK_DISABLED=False"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", ""},
		"a list of exporters":    {openTelemetry, []string{endpoint, "OTEL_TRACES_EXPORTER=otlp, console"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_TRACES_EXPORTER: want otlp or none"},
		"unknown propagator":     {openTelemetry, []string{endpoint, "OTEL_PROPAGATORS=tracecontext,odd"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_PROPAGATORS: want tracecontext"},
		"delta":                  {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: want cumulative"},
		"another aggregation":    {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: want explicit_bucket_histogram"},
		"another filter":         {openTelemetry, []string{endpoint, "OTEL_METRICS_EXEMPLAR_FILTER=some"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_METRICS_EXEMPLAR_FILTER: want always_off"},
		"insecure":               {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_INSECURE=1"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_TRACES_INSECURE: want true or false"},
		"a file":                 {openTelemetry, []string{endpoint, "OTEL_CONFIG_FILE=otel.yaml"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_CONFIG_FILE: want settings of their own"},
		"another compression":    {openTelemetry, []string{endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION=zstd"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_EXPORTER_OTLP_COMPRESSION: want gzip or none"},
		"wrong interval":         {openTelemetry, []string{endpoint, "OTEL_METRIC_EXPORT_TIMEOUT=-1"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_METRIC_EXPORT_TIMEOUT: want a number of milliseconds"},
		"other propagators":      {openTelemetry, []string{endpoint, "OTEL_PROPAGATORS=b3, jaeger"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", "OTEL_PROPAGATORS: want tracecontext"},
		"usual propagators":      {openTelemetry, []string{endpoint, "OTEL_PROPAGATORS=baggage, TraceContext"}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", ""},
		"Application Insights":   {`{"version":"2.0"}`, []string{"APPLICATIONINSIGHTS_CONNECTION_STRING=InstrumentationKey=1"}, "- - -", "APPLICATIONINSIGHTS_CONNECTION_STRING has no effect: nothing is sent to Application Insights"},
		"Insights in host.json":  {`{"version":"2.0","logging":{"applicationInsights":{}}}`, nil, "- - -", "logging.applicationInsights of host.json has no effect"},
		"Insights and collector": {`{"version":"2.0"}`, []string{"APPLICATIONINSIGHTS_CONNECTION_STRING=InstrumentationKey=1", endpoint}, "http://localhost:4318/v1/traces http://localhost:4318/v1/metrics http://localhost:4318/v1/logs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := read(t, test.hostJSON, test.env...)
			var got []string
			for _, to := range []telemetry.Target{c.Traces, c.Metrics, c.Logs} {
				text := to.Endpoint
				if to.GRPC {
					text = "g:" + text
				}
				if text == "" {
					text = "-"
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("exports to %q, want %q", got, test.want)
			}
			if warns := strings.Join(c.Warnings, "\n"); !strings.Contains(warns, test.warns) || (test.warns == "") != (warns == "") || len(c.Warnings) > 1 || strings.Contains(warns, "secret") {
				t.Errorf("it warns %q, want %q", warns, test.warns)
			}
		})
	}
}
