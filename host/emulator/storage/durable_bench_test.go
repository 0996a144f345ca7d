package storage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// The cost of durability: a message of 1 KiB put, received and deleted, by 1
// and by 16 callers.
func BenchmarkPutReceiveDelete(b *testing.B) {
	modes := map[string]func(b *testing.B) *storage.Storage{
		"memory":  func(*testing.B) *storage.Storage { return storage.New(clock.System(), nil) },
		"durable": func(b *testing.B) *storage.Storage { return onDisk(b, b.TempDir(), false) },
		"sync":    func(b *testing.B) *storage.Storage { return onDisk(b, b.TempDir(), true) },
	}
	text := strings.Repeat("0123456789abcdef", 64)
	for _, mode := range []string{"memory", "durable", "sync"} {
		for _, callers := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/callers=%d", mode, callers), func(b *testing.B) {
				ctx, q := context.Background(), modes[mode](b).Queue("orders")
				_ = q.Create(ctx)
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var group sync.WaitGroup
				for range callers {
					group.Go(func() {
						for left.Add(-1) >= 0 {
							_, err := q.Put(ctx, text, nil)
							if err != nil {
								b.Error(err)
								return
							}
							ms, err := q.Receive(ctx, 1, time.Minute)
							if err != nil || len(ms) != 1 {
								b.Errorf("Receive = %d, %v", len(ms), err)
								return
							}
							if err := q.Delete(ctx, ms[0].ID, ms[0].PopReceipt); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
			})
		}
	}
}

func onDisk(b *testing.B, dir string, sync bool) *storage.Storage {
	b.Helper()
	return openAccount(b, clock.System(), openStore(b, dir, &store.Options{Sync: sync}), nil)
}

// From nothing in memory to the first answer, with 100,000 messages of 1 KiB.
func BenchmarkOpen(b *testing.B) {
	for _, depth := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			ctx, dir := context.Background(), b.TempDir()
			db := openStore(b, dir, nil)
			q := openAccount(b, clock.System(), db, nil).Queue("orders")
			_ = q.Create(ctx)
			text := strings.Repeat("0123456789abcdef", 64)
			for range depth {
				if _, err := q.Put(ctx, text, nil); err != nil {
					b.Fatal(err)
				}
			}
			_ = db.Close()
			for b.Loop() {
				db := openStore(b, dir, nil)
				q := openAccount(b, clock.System(), db, nil).Queue("orders")
				if n, err := q.Count(ctx); err != nil || n != depth {
					b.Fatalf("Count = %d, %v", n, err)
				}
				_ = db.Close()
			}
		})
	}
}
