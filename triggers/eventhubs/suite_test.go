package eventhubs_test

import (
	"context"
	"testing"

	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers/eventhubs"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestListener(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*eventhubs.Options{
		"one by one": nil,
		"batch":      {Batch: true, MaxEventBatchSize: 1},
		"alone":      {Alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triggertest.RunListener(t, func(t *testing.T, clk *clock.Virtual) *triggertest.Source {
				var lost error
				storage := emulator.New(clk, &emulator.Options{Fault: func(emulator.FaultPoint) error { return lost }})
				ns := broker.New(clk, &broker.Options{Fault: func(p broker.FaultPoint) error {
					if p.Op == "SendEvents" {
						return nil
					}
					return lost
				}})
				clk.Do("create", func() {
					if err := ns.CreateHub(context.Background(), broker.Hub{Name: "orders", Partitions: 1}); err != nil {
						t.Fatal(err)
					}
				})
				return &triggertest.Source{
					Listener:   eventhubs.New(clk, ns, "orders", storage.Container(eventhubs.Container), opts),
					OneAtATime: true, Lose: func(err error) { lost = err },
					Deliver: func(n int) {
						clk.Do("send", func() {
							for range n {
								if err := ns.SendEvents(context.Background(), "orders", nil, &eventhubsapi.Event{}); err != nil {
									t.Error(err)
								}
							}
						})
					},
				}
			})
		})
	}
}
