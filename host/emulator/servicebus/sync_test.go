package servicebus_test

import (
	"context"
	"testing"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

// With Sync no receiver, peek, count or refusal tells of a message or an entity that
// a loss of power could take back.
func TestReadsWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("message", func(t *testing.T) {
		t.Parallel()
		storetest.RunReadsWait(t, func(db *store.Store) (storetest.Reads, error) {
			ns, err := servicebus.Open(clock.System(), db, nil)
			if err != nil {
				return storetest.Reads{}, err
			}
			if _, err := ns.CreateQueue(ctx, servicebusapi.Queue{Name: "orders"}); err != nil {
				return storetest.Reads{}, err
			}
			r, err := ns.Receiver(ctx, "orders", nil)
			if err != nil {
				return storetest.Reads{}, err
			}
			return storetest.Reads{
				Write: func() error { return ns.Send(ctx, "orders", &servicebusapi.Message{MessageID: "7"}) },
				Reads: map[string]func(){
					"Receive":       func() { _, _ = r.Receive(ctx, 1, 0) },
					"Peek":          func() { _, _ = r.Peek(ctx, 0, 1) },
					"peek by path":  func() { _, _ = ns.Peek(ctx, "orders", nil, 0, 1) },
					"queue runtime": func() { _, _ = ns.GetQueue(ctx, "orders") },
					"ListQueues":    func() { _, _ = ns.ListQueues(ctx) },
					"Held":          func() { _, _ = ns.Held(ctx, "orders") },
				},
			}, nil
		})
	})
	t.Run("entity", func(t *testing.T) {
		t.Parallel()
		storetest.RunReadsWait(t, func(db *store.Store) (storetest.Reads, error) {
			ns, err := servicebus.Open(clock.System(), db, nil)
			if err != nil {
				return storetest.Reads{}, err
			}
			create := func() error {
				_, err := ns.CreateQueue(ctx, servicebusapi.Queue{Name: "orders"})
				return err
			}
			return storetest.Reads{
				Write: create,
				Reads: map[string]func(){
					"CreateQueue": func() { _ = create() },
					"ListQueues":  func() { _, _ = ns.ListQueues(ctx) },
					"Receiver":    func() { _, _ = ns.Receiver(ctx, "orders", nil) },
				},
			}, nil
		})
	})
}
