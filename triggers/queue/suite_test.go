package queue_test

import (
	"context"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestListener(t *testing.T) {
	t.Parallel()
	triggertest.RunListener(t, func(t *testing.T, clk *clock.Virtual) *triggertest.Source {
		var lost error
		account := storage.New(clk, &storage.Options{Fault: func(p storage.FaultPoint) error {
			if p.Op == "Put" {
				return nil
			}
			return lost
		}})
		q := account.Queue("orders")
		clk.Do("create", func() {
			if err := q.Create(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
		return &triggertest.Source{
			Listener: queue.New(clk, account, "orders", &queue.Options{WakeUp: true}),
			Lose:     func(err error) { lost = err },
			Deliver: func(n int) {
				clk.Do("put", func() {
					for range n {
						if _, err := q.Put(context.Background(), "aGVsbG8=", nil); err != nil {
							t.Error(err)
						}
					}
				})
			},
		}
	})
}
