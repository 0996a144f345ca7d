package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/queues"
)

func TestOperatorSeesInvisibleMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, storage.Options{})
	var ids []string
	b.do(func(ctx context.Context, q queue.Queue) {
		if _, err := b.storage.QueueCounts(ctx, "orders"); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("counts of no queue: %v, want ErrNotFound", err)
		}
		if err := q.Create(ctx); err != nil {
			t.Fatal(err)
		}
		for _, opts := range []*queue.PutOptions{nil, {Visibility: time.Hour}, {TTL: time.Minute}} {
			m, err := q.Put(ctx, "text", opts)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, m.ID)
		}
	})
	counts := func(want queues.Counts, oldest time.Duration) {
		t.Helper()
		b.do(func(ctx context.Context, q queue.Queue) {
			got, err := b.storage.QueueCounts(ctx, "orders")
			if age := b.clk.Now().Sub(got.Oldest); age != oldest {
				t.Errorf("the oldest is %v old, want %v", age, oldest)
			}
			if got.Oldest = (time.Time{}); err != nil || got != want {
				t.Errorf("counts = %+v, %v, want %+v", got, err, want)
			}
		})
	}
	counts(queues.Counts{Visible: 2, Invisible: 1}, 0)
	b.do(func(ctx context.Context, q queue.Queue) {
		delayed, err := b.storage.QueueMessage(ctx, "orders", ids[1])
		if err != nil || delayed.NextVisible.Sub(b.clk.Now()) != time.Hour || delayed.PopReceipt != "" {
			t.Errorf("delayed message = %+v, %v", delayed, err)
		}
		if _, err := b.storage.ReceiveByID(ctx, "orders", ids[1], time.Minute); !errors.Is(err, bindings.ErrMessageNotFound) {
			t.Errorf("receive an invisible message: %v, want ErrMessageNotFound", err)
		}
		if _, err := b.storage.ReceiveByID(ctx, "orders", ids[0], 0); !errors.Is(err, bindings.ErrOutOfRange) {
			t.Errorf("receive for no time: %v, want ErrOutOfRange", err)
		}
		taken, err := b.storage.ReceiveByID(ctx, "orders", ids[2], time.Second)
		if err != nil || taken.DequeueCount != 1 || taken.PopReceipt == "" {
			t.Fatalf("received = %+v, %v", taken, err)
		}
		if first, err := q.Receive(ctx, 32, time.Second); err != nil || len(first) != 1 || first[0].ID != ids[0] {
			t.Errorf("the others = %v, %v, want the first message only", first, err)
		}
		if err := q.Delete(ctx, taken.ID, taken.PopReceipt); err != nil {
			t.Errorf("delete with its receipt: %v", err)
		}
		if _, err := b.storage.QueueMessage(ctx, "orders", ids[2]); !errors.Is(err, bindings.ErrMessageNotFound) {
			t.Errorf("a deleted message: %v, want ErrMessageNotFound", err)
		}
	})
	counts(queues.Counts{Invisible: 2}, 0)
	b.clk.Advance(time.Second)
	counts(queues.Counts{Visible: 1, Invisible: 1}, time.Second)
	b.clk.Advance(time.Hour)
	counts(queues.Counts{Visible: 2}, time.Hour+time.Second)
}
