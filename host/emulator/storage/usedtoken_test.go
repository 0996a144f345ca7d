package storage_test

import (
	"context"
	"testing"
	"time"

	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// The receipt of a message from before a Restore settles nothing of what is received after
// it, however often the same state comes back.
func TestRestoreGivesNoUsedReceipt(t *testing.T) {
	t.Parallel()
	b := newBench(t, storage.Options{Seed: 3})
	b.do(func(ctx context.Context, q queueapi.Queue) {
		_ = q.Create(ctx)
		_, _ = q.Put(ctx, "a", nil)
		snap, err := b.storage.Snapshot()
		if err != nil {
			t.Error(err)
		}
		used := map[string]bool{}
		for range 4 {
			ms, err := q.Receive(ctx, 1, time.Minute)
			if err != nil || len(ms) != 1 {
				t.Fatalf("received %d messages, %v", len(ms), err)
			}
			if used[ms[0].PopReceipt] {
				t.Errorf("receipt %v is given twice", ms[0].PopReceipt)
			}
			for old := range used {
				if err := q.Delete(ctx, ms[0].ID, old); err == nil {
					t.Errorf("the receipt of before deletes")
				}
			}
			used[ms[0].PopReceipt] = true
			if err := b.storage.Restore(snap); err != nil {
				t.Error(err)
			}
		}
	})
}
