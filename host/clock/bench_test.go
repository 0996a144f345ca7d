package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// share runs body b.N times in all, in n goroutines of a virtual clock.
func share(b *testing.B, n int, body func(v *clock.Virtual, i int)) {
	v := clock.NewVirtual(epoch, nil)
	b.ReportAllocs()
	v.Do("start", func() {
		g := clock.NewGroup(v, 0)
		for i := range n {
			g.Go("worker", func() {
				for range (b.N + n - 1 - i) / n {
					body(v, i)
				}
			})
		}
	})
	v.Advance(1 << 60)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

func BenchmarkSleep1(b *testing.B) {
	share(b, 1, func(v *clock.Virtual, i int) { _ = v.Sleep(background(), time.Second) })
}

func BenchmarkSleep16(b *testing.B) {
	share(b, 16, func(v *clock.Virtual, i int) { _ = v.Sleep(background(), time.Duration(i+1)*time.Second) })
}

func BenchmarkSleep10k(b *testing.B) {
	share(b, 10_000, func(v *clock.Virtual, i int) { _ = v.Sleep(background(), time.Duration(i+1)*time.Second) })
}

// An attempt: a timeout around a wait on it.
func BenchmarkAttempt16(b *testing.B) {
	share(b, 16, func(v *clock.Virtual, i int) {
		ctx, cancel := v.WithTimeout(background(), time.Hour)
		_ = v.Sleep(ctx, time.Duration(i+1)*time.Second)
		cancel()
	})
}

func BenchmarkOutside16(b *testing.B) {
	share(b, 16, func(v *clock.Virtual, _ int) { v.Outside(background(), "call", func() {}) })
}

func BenchmarkAway16(b *testing.B) {
	share(b, 16, func(v *clock.Virtual, _ int) { v.Away(background(), "call", func() {}) })
}

func BenchmarkGroupGo(b *testing.B) {
	v := clock.NewVirtual(epoch, nil)
	b.ReportAllocs()
	v.Do("start", func() {
		workers := clock.NewGroup(v, 16)
		clock.NewGroup(v, 0).Go("listener", func() {
			for range b.N {
				workers.Go("worker", func() {})
			}
		})
	})
}

func BenchmarkCondPingPong(b *testing.B) {
	var mu sync.Mutex
	turn := 0
	var cond *clock.Cond
	share(b, 2, func(v *clock.Virtual, i int) {
		mu.Lock()
		defer mu.Unlock()
		if cond == nil {
			cond = clock.NewCond(v, &mu)
		}
		turn++
		cond.Signal()
		if turn < b.N {
			_ = cond.WaitUntil(background(), v.Now().Add(time.Second))
		}
	})
}

func BenchmarkInside(b *testing.B) {
	v := clock.NewVirtual(epoch, nil)
	b.ReportAllocs()
	for b.Loop() {
		v.Inside("input", func() {})
	}
}
