package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// A state that replaces another, and the start after it, begin to count anew. All
// the same, old receipts, lock tokens and leases fit nothing new: an old receipt
// deletes no new message.
func TestIdentifiersAreGivenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx := context.Background()
	seen := map[string]int{}
	given := func(round int, id string) {
		t.Helper()
		if before, ok := seen[id]; ok {
			t.Errorf("round %d: %s was given in round %d", round, id, before)
		}
		seen[id] = round
	}
	var old *queue.Message
	var empty bytes.Buffer
	for round := range 6 {
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		clk := newVirtual()
		s := openAccount(t, clk, db, &storage.Options{Seed: 7})
		bus, err := servicebus.Open(clk, db.Space("bus"), &servicebus.Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("test", func() {
			if round == 0 {
				if err = db.Save(&empty); err != nil {
					return
				}
			}
			q := s.Queue("orders")
			_ = q.Create(ctx)
			m, err2 := q.Put(ctx, "a", nil)
			ms, err3 := q.Receive(ctx, 1, time.Minute)
			if err = errors.Join(err2, err3); err != nil {
				return
			}
			given(round, m.ID)
			given(round, ms[0].PopReceipt)
			if old != nil {
				if err := q.Delete(ctx, old.ID, old.PopReceipt); err == nil {
					t.Errorf("round %d: a receipt from before deleted a message", round)
				}
			}
			old = ms[0]
			if err = q.Delete(ctx, old.ID, old.PopReceipt); err != nil {
				return
			}
			c := s.Container("files")
			_, _ = c.Create(ctx, nil)
			_, _ = c.Blob(fmt.Sprint(round)).Put(ctx, bytes.NewReader(nil), nil)
			lease, err2 := c.Blob(fmt.Sprint(round)).AcquireLease(ctx, 15*time.Second, "", nil)
			if err = err2; err != nil {
				return
			}
			given(round, "lease "+lease.ID)
			_, _ = bus.CreateQueue(ctx, servicebusapi.Queue{Name: "q"})
			if err = bus.Send(ctx, "q", &servicebusapi.Message{}); err != nil {
				return
			}
			r, err2 := bus.Receiver(ctx, "q", nil)
			if err = err2; err != nil {
				return
			}
			locked, err2 := r.Receive(ctx, 1, time.Second)
			if err = err2; err != nil {
				return
			}
			given(round, "lock "+locked[0].LockToken.String())
			err = r.Close(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		switch round % 3 {
		case 0:
			err = db.Reset()
		case 1:
			err = db.Load(bytes.NewReader(empty.Bytes()))
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
