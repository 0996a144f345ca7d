//clock:outside measures real time, from outside the host

package plugin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/journal"
)

// BenchmarkMessages is the whole way of a message: queue, listener, handler
// process, delete, journal, on the clock of a running host. batchSize and
// newBatchThreshold allow exactly as many at once as the name says. Compare it
// with BenchmarkBareHandler and BenchmarkUnary of the same run.
func BenchmarkMessages(b *testing.B) {
	for _, c := range concurrency {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			dir := b.TempDir()
			batch := (c + 1) / 2
			write(b, filepath.Join(dir, "host.json"), fmt.Sprintf(`{"version":"2.0",
				"extensions":{"queues":{"batchSize":%d,"newBatchThreshold":%d}},
				"customHandler":{"description":{"defaultExecutablePath":%q}}}`, batch, c-batch, os.Args[0]))
			write(b, filepath.Join(dir, "Nothing", "function.json"),
				`{"bindings":[{"type":"queueTrigger","name":"m","queueName":"work"}]}`)
			h, err := host.New(dir, &host.Options{Env: append(environ("handler"), "AzureWebJobsStorage=UseDevelopmentStorage=true")})
			if err != nil {
				b.Fatal(err)
			}
			fill(b, h, b.N)
			b.ResetTimer()
			if err := h.Start(context.Background()); err != nil {
				b.Fatal(err)
			}
			var settled atomic.Int64
			if _, err := h.Journal().Wait(context.Background(), func(r *journal.Record) bool {
				return r.Kind == journal.Settled && settled.Add(1) == int64(b.N)
			}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			if err := h.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// fill puts n messages on the queue before anybody listens.
func fill(b *testing.B, h *host.Host, n int) {
	b.Helper()
	ctx := context.Background()
	h.Clock().Inside("fill", func() {
		for range n {
			if _, err := queue.PutOrCreate(ctx, h.Services().Storage().Queue("work"), queue.Base64.Encode([]byte(`{"id":"7"}`)), nil); err != nil {
				b.Error(err)
			}
		}
	})
}

func write(b *testing.B, path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
