package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// At one moment many write, read, list and lease; each write is seen whole or
// not at all, and of many that must be the first, one is.
func TestBlobsUnderConcurrency(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := emulator.New(clock.System(), nil)
	c := s.Container("inbox")
	if _, err := c.Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	log := c.Blob("log")
	if _, err := log.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}); err != nil {
		t.Fatal(err)
	}
	const workers, rounds = 8, 60
	var wg sync.WaitGroup //clock:outside a test of the system clock
	var mu sync.Mutex
	created, leased := 0, 0
	for w := range workers {
		wg.Add(1)
		go func() { //clock:outside a test of the system clock
			defer wg.Done()
			for i := range rounds {
				text := strings.Repeat(fmt.Sprintf("%d", w), 1+i*100)
				a := c.Blob(fmt.Sprintf("b%d", i%5))
				if _, err := a.Put(ctx, strings.NewReader(text), nil); err != nil {
					t.Errorf("Put: %v", err)
				}
				d, err := a.Get(ctx, nil)
				if err != nil {
					t.Errorf("Get: %v", err)
					continue
				}
				got, err := io.ReadAll(d.Body)
				if err != nil || len(got) == 0 || int64(len(got)) != d.Properties.ContentLength || strings.Trim(string(got), string(got[:1])) != "" {
					t.Errorf("Get: a mixture of %d bytes, %v", len(got), err)
				}
				if err := d.Body.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
				if _, err := log.AppendBlock(ctx, strings.NewReader("x"), nil); err != nil {
					t.Errorf("AppendBlock: %v", err)
				}
				_, err = c.Blob(fmt.Sprintf("once%d", i)).Put(ctx, strings.NewReader(text), &blob.PutOptions{Conditions: &blob.Conditions{IfNoneMatch: "*"}})
				if err == nil {
					mu.Lock()
					created++
					mu.Unlock()
				} else if !errors.Is(err, bindings.ErrAlreadyExists) {
					t.Errorf("Put if missing: %v", err)
				}
				_, err = c.Blob(fmt.Sprintf("once%d", i)).AcquireLease(ctx, blob.InfiniteLease, "", nil)
				if err == nil {
					mu.Lock()
					leased++
					mu.Unlock()
				} else if !errors.Is(err, storage.ErrLeaseHeld) {
					t.Errorf("AcquireLease: %v", err)
				}
				if _, err := c.Blobs(ctx, &blob.ListOptions{Prefix: "once"}); err != nil {
					t.Errorf("Blobs: %v", err)
				}
			}
		}()
	}
	wg.Wait() //clock:outside a test of the system clock
	if created != rounds || leased != rounds {
		t.Errorf("%d created, %d leased, want %d each", created, leased, rounds)
	}
	p, err := log.Properties(ctx, nil)
	if err != nil || p.ContentLength != workers*rounds || p.AppendBlocks != workers*rounds {
		t.Errorf("the log = %+v, %v, want %d bytes", p, err, workers*rounds)
	}
}

func BenchmarkPut4KiB(b *testing.B) {
	ctx := context.Background()
	c := emulator.New(clock.System(), nil).Container("inbox")
	if _, err := c.Create(ctx, nil); err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("x", 4<<10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := c.Blob(fmt.Sprintf("b%07d", i*7919%10_000_000)).Put(ctx, strings.NewReader(text), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListPageOf100000(b *testing.B) {
	ctx := context.Background()
	c := emulator.New(clock.System(), nil).Container("inbox")
	if _, err := c.Create(ctx, nil); err != nil {
		b.Fatal(err)
	}
	for i := range 100_000 {
		if _, err := c.Blob(fmt.Sprintf("b%07d", i)).Put(ctx, strings.NewReader("x"), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		page, err := c.Blobs(ctx, nil)
		if err != nil || len(page.Blobs) != blob.MaxListResults {
			b.Fatalf("%d, %v", len(page.Blobs), err)
		}
	}
}
