package clock_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// mixed lets 16 goroutines do a bit of everything, with calls whose real
// duration is anybody's guess, and returns the trace.
func mixed(opts *clock.VirtualOptions) string {
	v := clock.NewVirtual(epoch, opts)
	var order trace
	var mu sync.Mutex
	cond := clock.NewCond(v, &mu)
	v.Do("start", func() {
		listener := clock.NewGroup(v, 0)
		workers := clock.NewGroup(v, 16)
		root, cancel := v.WithCancel(background())
		listener.Go("listener", func() {
			defer cancel()
			for i := range 48 {
				_ = workers.Below(root, 16)
				workers.Go(fmt.Sprint("worker-", i), func() {
					r := rand.New(rand.NewPCG(1, uint64(i)))
					ctx, done := v.WithTimeout(root, time.Duration(r.IntN(40))*time.Second)
					defer done()
					for step := range 6 {
						var err error
						switch d := time.Duration(r.IntN(10)) * time.Second; r.IntN(6) {
						case 0:
							err = v.Sleep(ctx, d)
						case 1:
							err = v.Idle(ctx, d)
						case 2:
							mu.Lock()
							err = cond.WaitUntil(ctx, v.Now().Add(d))
							mu.Unlock()
						case 3:
							mu.Lock()
							cond.Signal()
							mu.Unlock()
						case 4:
							v.AfterFunc(d, "timer", func() { order.add("t%d.%d@%v", i, step, since(v)) })
						default:
							v.Outside(ctx, "call", func() {
								for range rand.IntN(20) { // a real duration: not from the seed
									runtime.Gosched()
								}
							})
						}
						outcome := "ok"
						if err != nil && !errors.Is(err, ctx.Err()) {
							outcome = "?"
						} else if err != nil {
							outcome = "end"
						}
						order.add("w%d.%d@%v:%s", i, step, since(v), outcome)
					}
				})
			}
			workers.Wait()
		})
	})
	v.Advance(24 * time.Hour)
	return order.String()
}

// The second promise: 16 goroutines, 1,000 runs, one trace.
func TestSameInputSameTrace(t *testing.T) {
	t.Parallel()
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	want := mixed(nil)
	for i := range runs {
		if got := mixed(&clock.VirtualOptions{Seed: uint64(i)}); got != want {
			t.Fatalf("run %d differs:\n got %s\nwant %s", i, got, want)
		}
	}
}

func TestShuffleIsRepeatablePerSeed(t *testing.T) {
	t.Parallel()
	traces := map[string]uint64{}
	for seed := range uint64(20) {
		opts := &clock.VirtualOptions{Seed: seed, Shuffle: true}
		want := mixed(opts)
		for range 5 {
			if got := mixed(opts); got != want {
				t.Fatalf("seed %d is not repeatable", seed)
			}
		}
		if other, ok := traces[want]; ok {
			t.Errorf("seeds %d and %d give the same trace", other, seed)
		}
		traces[want] = seed
	}
}

func TestSerialIsRepeatable(t *testing.T) {
	t.Parallel()
	want := mixed(&clock.VirtualOptions{Serial: true})
	for range 50 {
		if got := mixed(&clock.VirtualOptions{Serial: true}); got != want {
			t.Fatal("traces differ")
		}
	}
}
