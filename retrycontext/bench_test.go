package retrycontext_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// BenchmarkDo measures the loop alone: one operation is one failed attempt and
// the retry after it. The Context that each attempt keeps is its only allocation,
// where the failure needs no conversion.
func BenchmarkDo(b *testing.B) {
	exception := &retrycontext.Exception{Message: "boom"}
	for _, bench := range []struct {
		name string
		opts *retrycontext.Options
	}{
		{"default-exception", &retrycontext.Options{Jitter: func() float64 { return 0.5 }}},
		{"shared-exception", &retrycontext.Options{
			Jitter:    func() float64 { return 0.5 },
			Exception: func(error) *retrycontext.Exception { return exception },
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			p := exponential(min(b.N, math.MaxInt32), time.Second, time.Hour)
			n, _ := retrycontext.Do(b.Context(), p, noWait,
				func(context.Context, *retrycontext.Context) error { return errBoom }, bench.opts)
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "attempts/s")
		})
	}
}

func BenchmarkParseTimeSpan(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := retrycontext.ParseTimeSpan("1.02:03:04.5"); err != nil {
			b.Fatal(err)
		}
	}
}
