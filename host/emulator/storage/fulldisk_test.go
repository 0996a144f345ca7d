package storage_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Time passes on a full disk too: readers do not see messages that expire meanwhile,
// although that cannot be written, and reading does not fail.
func TestReadsAsTimePassesOnAFullDisk(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	db := openStore(t, "", &store.Options{Fault: func(op store.FileOp, _ string) error {
		if full.Load() && op == store.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	}})
	clk := newVirtual()
	s := openAccount(t, clk, db, nil)
	bus, err := servicebus.Open(clk, db.Space("bus"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	q := s.Queue("orders")
	clk.Do("fill", func() {
		_ = q.Create(ctx)
		_, _ = q.Put(ctx, "stays", nil)
		_, _ = q.Put(ctx, "expires", &queue.PutOptions{TTL: time.Minute})
		_, _ = bus.CreateQueue(ctx, servicebusapi.Queue{Name: "q"})
		_ = bus.Send(ctx, "q", &servicebusapi.Message{MessageID: "stays"}, &servicebusapi.Message{MessageID: "expires", TimeToLive: time.Minute})
		full.Store(true)
		_, _ = q.Put(ctx, "refused", nil)
	})
	for range 2 {
		clk.Advance(2 * time.Minute)
		clk.Do("look", func() {
			if ms, err := q.Peek(ctx, 32); err != nil || len(ms) != 1 || ms[0].Text != "stays" {
				t.Errorf("Peek = %d messages, %v, want the one that has not expired", len(ms), err)
			}
			if n, err := q.Count(ctx); err != nil || n != 1 {
				t.Errorf("Count = %d, %v, want 1", n, err)
			}
			if list, err := bus.ListQueues(ctx); err != nil || len(list) != 1 {
				t.Errorf("ListQueues = %d, %v, want 1", len(list), err)
			}
		})
	}
	full.Store(false)
	clk.Do("write", func() {
		if _, err := q.Put(ctx, "again", nil); err != nil {
			t.Errorf("with room again: %v", err)
		}
		if n, err := q.Count(ctx); err != nil || n != 2 {
			t.Errorf("Count = %d, %v, want 2", n, err)
		}
	})
}

// A blob that was deleted during a read leaves its content behind when the process
// ends. A full disk keeps the next process from removing it, and hides no blob.
func TestContentLeftBehindOnAFullDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	db := openStore(t, dir, nil)
	s := openAccount(t, clock.System(), db, nil)
	createInbox(t, s)
	put(t, s, "stays", "a", 4)
	put(t, s, "goes", "b", 100_000)
	if _, err := s.Container("inbox").Blob("goes").Get(ctx, nil); err != nil { // and never closed
		t.Fatal(err)
	}
	if err := s.Container("inbox").Blob("goes").Delete(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	full := openStore(t, dir, &store.Options{Fault: func(op store.FileOp, _ string) error {
		if op == store.OpWrite || op == store.OpCreate {
			return syscall.ENOSPC
		}
		return nil
	}})
	expectLetter(t, openAccount(t, clock.System(), full, nil), "stays", "a")
}
