package servicebus_test

import (
	"context"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// The lock of a message that was received before a Restore is no lock of what is received
// after it, however often the same state comes back.
func TestRestoreGivesNoUsedToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, emulator.Options{})
	used := map[bindings.GUID]bool{}
	var snap *store.Image
	b.do(func(ctx context.Context) (err error) {
		if _, err = b.ns.CreateQueue(ctx, servicebus.Queue{Name: "orders"}); err != nil {
			return err
		}
		if err = b.ns.Send(ctx, "orders", &servicebus.Message{Body: []byte("7")}); err != nil {
			return err
		}
		snap, err = b.ns.Snapshot()
		return err
	})
	for range 4 {
		b.do(func(ctx context.Context) error {
			r, err := b.ns.Receiver(ctx, "orders", nil)
			if err != nil {
				return err
			}
			ms, err := r.Receive(ctx, 1, 0)
			if err != nil || len(ms) != 1 {
				t.Fatalf("received %d messages, %v", len(ms), err)
			}
			if used[ms[0].LockToken] {
				t.Errorf("lock token %v is given twice", ms[0].LockToken)
			}
			used[ms[0].LockToken] = true
			return b.ns.Restore(snap)
		})
	}
}
