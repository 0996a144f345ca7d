package telemetry_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// collector takes telemetry as a collector does, over HTTP or gRPC, by the protocol's own
// messages.
type collector struct {
	coltrace.UnimplementedTraceServiceServer
	url string

	mu        sync.Mutex
	more      *sync.Cond // spans have come
	spans     []*traces.Span
	resources map[string]string // of the last spans
	logs      []*logs.LogRecord
	metrics   map[string]*metrics.Metric
	headers   map[string]string // api-key by path
}

func newCollector() *collector {
	c := &collector{resources: map[string]string{}, metrics: map[string]*metrics.Metric{}, headers: map[string]string{}}
	c.more = sync.NewCond(&c.mu)
	return c
}

// await waits for spans.
func (c *collector) await(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.spans) < n {
		c.more.Wait()
	}
}

// collectHTTP starts a collector for http/protobuf.
func collectHTTP(t *testing.T) *collector {
	c := newCollector()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// ServeHTTP implements http.Handler.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx := metadata.NewIncomingContext(r.Context(), metadata.Pairs("api-key", r.Header.Get("Api-Key")))
	switch r.URL.Path {
	case "/v1/traces":
		in := &coltrace.ExportTraceServiceRequest{}
		if err = proto.Unmarshal(data, in); err == nil {
			_, err = c.Export(ctx, in)
		}
	case "/v1/metrics":
		in := &colmetrics.ExportMetricsServiceRequest{}
		if err = proto.Unmarshal(data, in); err == nil {
			_, err = metricsServer{c: c}.Export(ctx, in)
		}
	case "/v1/logs":
		in := &collogs.ExportLogsServiceRequest{}
		if err = proto.Unmarshal(data, in); err == nil {
			_, err = logsServer{c: c}.Export(ctx, in)
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// collectGRPC starts a collector for gRPC.
func collectGRPC(t *testing.T) *collector {
	c := newCollector()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	coltrace.RegisterTraceServiceServer(server, c)
	colmetrics.RegisterMetricsServiceServer(server, metricsServer{c: c})
	collogs.RegisterLogsServiceServer(server, logsServer{c: c})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	c.url = "http://" + l.Addr().String()
	return c
}

func (c *collector) header(ctx context.Context, of string) {
	md, _ := metadata.FromIncomingContext(ctx)
	if keys := md.Get("api-key"); len(keys) > 0 {
		c.headers[of] = keys[0]
	}
}

// Export implements the collector's service for traces.
func (c *collector) Export(ctx context.Context, in *coltrace.ExportTraceServiceRequest) (*coltrace.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.header(ctx, "traces")
	for _, r := range in.ResourceSpans {
		for _, a := range r.Resource.Attributes {
			c.resources[a.Key] = a.Value.GetStringValue()
		}
		for _, s := range r.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
	c.more.Broadcast()
	return &coltrace.ExportTraceServiceResponse{}, nil
}

type metricsServer struct {
	colmetrics.UnimplementedMetricsServiceServer
	c *collector
}

// Export implements the collector's service for metrics.
func (s metricsServer) Export(ctx context.Context, in *colmetrics.ExportMetricsServiceRequest) (*colmetrics.ExportMetricsServiceResponse, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.header(ctx, "metrics")
	for _, r := range in.ResourceMetrics {
		for _, scope := range r.ScopeMetrics {
			for _, m := range scope.Metrics {
				s.c.metrics[m.Name] = m
			}
		}
	}
	return &colmetrics.ExportMetricsServiceResponse{}, nil
}

type logsServer struct {
	collogs.UnimplementedLogsServiceServer
	c *collector
}

// Export implements the collector's service for logs.
func (s logsServer) Export(ctx context.Context, in *collogs.ExportLogsServiceRequest) (*collogs.ExportLogsServiceResponse, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.header(ctx, "logs")
	for _, r := range in.ResourceLogs {
		for _, scope := range r.ScopeLogs {
			s.c.logs = append(s.c.logs, scope.LogRecords...)
		}
	}
	return &collogs.ExportLogsServiceResponse{}, nil
}
