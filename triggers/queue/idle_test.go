package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

// The cost of polling an empty queue for an hour: 1800 polls.
func BenchmarkIdleHour(b *testing.B) {
	clk := clock.NewVirtual(start, nil)
	account := storage.New(clk, nil)
	var cancel context.CancelFunc
	clk.Do("start", func() {
		_ = account.Queue("orders").Create(context.Background())
		var ctx context.Context
		ctx, cancel = clk.WithCancel(context.Background())
		l := queue.New(clk, account, "orders", &queue.Options{WakeUp: true})
		clock.NewGroup(clk, 0).Go("listener", func() { _ = l.Run(ctx, triggertest.NewSink(clk, nil)) })
	})
	for b.Loop() {
		clk.Advance(time.Hour)
	}
	clk.Do("stop", cancel)
}
