package hosttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// BenchmarkCosmos is documents written to a container and brought to a function in
// process by its change feed: one operation is one document. Each batch ends with a
// checkpoint.
func BenchmarkCosmos(b *testing.B) {
	for _, size := range []int{1, 100} {
		b.Run(fmt.Sprintf("batch%d", size), func(b *testing.B) {
			got := 0
			h := benchCosmos(b, func(_ context.Context, documents []functions.CosmosDocument) error { got += len(documents); return nil })
			texts := make([]string, size)
			sent := 0
			for b.Loop() {
				i := sent % size
				texts[i] = fmt.Sprintf(`{"id":"%d","customer":"customer-%d","amount":%d}`, sent, sent%100, sent)
				sent++
				if i == size-1 {
					h.WriteCosmos("shop", "orders", texts...)
				}
			}
			if rest := sent % size; rest > 0 {
				h.WriteCosmos("shop", "orders", texts[:rest]...)
			}
			b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "documents/s")
			if got != sent {
				b.Errorf("%d of %d documents came", got, sent)
			}
		})
	}
}

// BenchmarkCosmosRetries is batches of 100 documents that fail ten times, a minute
// apart on virtual time, while the lease is renewed: one operation is one attempt.
func BenchmarkCosmosRetries(b *testing.B) {
	h := benchCosmos(b, func(context.Context, []functions.CosmosDocument) error { return errBroken }, functions.FixedDelay(9, time.Minute))
	texts := make([]string, 100)
	batches := (b.N + 9) / 10
	b.ResetTimer()
	for n := range batches {
		for i := range texts {
			texts[i] = fmt.Sprintf(`{"id":"%d","amount":%d}`, i, n)
		}
		h.WriteCosmos("shop", "orders", texts...)
		h.AwaitSettled("Changed", triggers.Checkpointed)
	}
	b.StopTimer()
	b.ReportMetric(float64(batches*10)/b.Elapsed().Seconds(), "attempts/s")
}

func benchCosmos(b *testing.B, handle functions.CosmosHandler, opts ...functions.CosmosOption) *hosttest.Host {
	b.Helper()
	h := hosttest.New(b, &hosttest.Options{Handlers: cosmosApp(handle, opts...), Lax: true})
	h.CreateCosmos("shop", "orders")
	h.Advance(5 * time.Second)
	return h
}
