package clock_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// Retries with a back-off of a quarter of an hour, tested in no time.
func Example() {
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC), nil)
	clk.Do("start", func() {
		g := clock.NewGroup(clk, 0)
		g.Go("retries", func() {
			for attempt := 1; ; attempt++ {
				fmt.Println(clk.Now().Format(time.TimeOnly), "attempt", attempt)
				if attempt == 3 {
					return
				}
				_ = clk.Sleep(context.Background(), 15*time.Minute)
			}
		})
	})
	fmt.Println("ran for", clk.Run(time.Hour))
	// Output:
	// 09:00:00 attempt 1
	// 09:15:00 attempt 2
	// 09:30:00 attempt 3
	// ran for 30m0s
}

// A listener is a Group: below its limit it receives, and starts one goroutine
// per message. A service is passive state with a Cond.
func ExampleGroup() {
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC), nil)

	var mu sync.Mutex
	changed := clock.NewCond(clk, &mu)
	var queue []string
	receive := func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		for len(queue) == 0 {
			if err := changed.Wait(ctx); err != nil {
				return "", err
			}
		}
		m := queue[0]
		queue = queue[1:]
		return m, nil
	}

	ctx, cancel := clk.WithCancel(context.Background())
	listener := clock.NewGroup(clk, 0)
	clk.Do("start", func() {
		listener.Go("listener", func() {
			work := clock.NewGroup(clk, 0)
			defer work.Wait()
			for work.Below(ctx, 2) == nil {
				m, err := receive(ctx)
				if err != nil {
					return
				}
				work.Go(m, func() {
					_ = clk.Sleep(context.WithoutCancel(ctx), time.Minute)
					fmt.Println(clk.Now().Format(time.TimeOnly), m)
				})
			}
		})
	})
	clk.Do("send", func() {
		mu.Lock()
		defer mu.Unlock()
		queue = append(queue, "a", "b", "c")
		changed.Signal()
	})
	clk.Run(time.Hour)
	clk.Do("stop", cancel)
	fmt.Println("running:", listener.Len())
	// Output:
	// 09:01:00 a
	// 09:01:00 b
	// 09:02:00 c
	// running: 0
}

// The timeout is virtual, the call is real: the hanging handler is cancelled after
// five minutes that cost its patience of a millisecond.
func ExampleVirtual_patience() {
	clk := clock.NewVirtual(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC), &clock.VirtualOptions{
		Patience: time.Millisecond,
		Notify: func(n clock.Notice) {
			if n.Kind == clock.PatienceUsedUp {
				fmt.Println(n)
			}
		},
	})
	clk.Inside("start", func() {
		clock.NewGroup(clk, 0).Go("attempt", func() {
			ctx, cancel := clk.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			clk.Outside(ctx, "Orders", func() { <-ctx.Done() }) // a handler that hangs
			fmt.Println(clk.Now().Format(time.TimeOnly), ctx.Err())
		})
	})
	clk.Run(time.Hour)
	// Output:
	// call "Orders" has been out for 1ms: time moves on without it
	// 09:05:00 context deadline exceeded
}
