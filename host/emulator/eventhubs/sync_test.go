package eventhubs_test

import (
	"context"
	"testing"

	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

// With Sync no reader, description or refusal tells of an event or a hub that a loss
// of power could take back.
func TestReadsWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("event", func(t *testing.T) {
		t.Parallel()
		storetest.RunReadsWait(t, func(db *store.Store) (reads storetest.Reads, err error) {
			ns, err := eventhubs.Open(clock.System(), db, nil)
			if err != nil {
				return reads, err
			}
			if err := ns.CreateHub(ctx, eventhubs.Hub{Name: "telemetry", Partitions: 1}); err != nil {
				return reads, err
			}
			r, err := ns.ReadEvents(ctx, "telemetry", eventhubsapi.DefaultConsumerGroup, "0", eventhubsapi.Position{}, nil)
			if err != nil {
				return reads, err
			}
			return storetest.Reads{
				Write: func() error {
					return ns.SendEvents(ctx, "telemetry", nil, &eventhubsapi.Event{Body: []byte("1")})
				},
				Reads: map[string]func(){
					"Receive":   func() { _, _ = r.Receive(ctx, 1, 0) },
					"Partition": func() { _, _ = ns.Partition(ctx, "telemetry", "0") },
				},
			}, nil
		})
	})
	t.Run("hub", func(t *testing.T) {
		t.Parallel()
		storetest.RunReadsWait(t, func(db *store.Store) (reads storetest.Reads, err error) {
			ns, err := eventhubs.Open(clock.System(), db, nil)
			create := func() error { return ns.CreateHub(ctx, eventhubs.Hub{Name: "telemetry"}) }
			return storetest.Reads{
				Write: create,
				Reads: map[string]func(){
					"CreateHub": func() { _ = create() },
					"Hub":       func() { _, _ = ns.Hub(ctx, "telemetry") },
					"Hubs":      func() { _, _ = ns.Hubs(ctx) },
				},
			}, err
		})
	})
}
