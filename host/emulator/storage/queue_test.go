package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func newVirtual() *clock.Virtual {
	return clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
}

var features = bindingtest.QueueFeatures{UniqueReceipts: true, OrderByVisibility: true, RecreateAtOnce: true, ExactCount: true}

func TestQueueConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(*testing.T) *bindingtest.QueueBackend {
			clk := newVirtual()
			return &bindingtest.QueueBackend{
				Account:  storage.New(clk, nil),
				Features: features,
				Do:       func(f func()) { clk.Do("test", f) },
				Now:      clk.Now,
				Advance:  clk.Advance,
			}
		})
	})
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(*testing.T) *bindingtest.QueueBackend {
			return &bindingtest.QueueBackend{Account: storage.New(clock.System(), nil), Features: features}
		})
	})
}

// bench is an account on a virtual clock with its journal.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	storage *storage.Storage
	records []string
}

func newBench(t *testing.T, opts storage.Options) *bench {
	b := &bench{T: t, clk: newVirtual()}
	opts.Record = func(r journal.Record) {
		b.records = append(b.records, fmt.Sprintf("%v %s %s %d", b.clk.Now().Sub(start), r.Kind, r.Source, r.DeliveryCount))
	}
	b.storage = storage.New(b.clk, &opts)
	return b
}

// Messages expire at their time, in that order, without a call; deleted
// messages do not, and neither do messages of a state that was replaced. Time
// does not move for it.
func TestMessagesExpireAtTheirTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, storage.Options{})
	ctx := context.Background()
	put := func(queue string, ttl time.Duration) *queueapi.Message {
		m, err := queueapi.PutOrCreate(ctx, b.storage.Queue(queue), "a", &queueapi.PutOptions{TTL: ttl})
		if err != nil {
			t.Error(err)
		}
		return m
	}
	b.clk.Do("puts", func() {
		q := b.storage.Queue("orders")
		put("orders", time.Hour)
		put("orders", time.Minute)
		gone := put("orders", time.Second)
		put("orders", queueapi.NeverExpires)
		put("others", 30*time.Minute)
		put("cleared", time.Minute)
		put("deleted", time.Minute)
		for _, err := range []error{q.Delete(ctx, gone.ID, gone.PopReceipt), b.storage.Queue("cleared").Clear(ctx), b.storage.DeleteQueue(ctx, "deleted")} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	b.records = nil
	if moved := b.clk.Run(24 * time.Hour); moved != 0 {
		t.Errorf("time moved by %v without a wait", moved)
	}
	b.clk.Advance(40 * time.Minute)
	b.clk.Do("load", func() {
		snap, err := b.storage.Snapshot()
		if err == nil {
			err = b.storage.Restore(snap)
		}
		if err != nil {
			t.Error(err)
		}
	})
	b.clk.Advance(24 * time.Hour)
	want := []string{
		"1m0s expired orders 0",
		"30m0s expired others 0",
		"1h0m0s expired orders 0",
	}
	if diff := cmp.Diff(b.records, want); diff != "" {
		t.Errorf("records (-got +want):\n%s", diff)
	}
	if b.clk.Next() {
		t.Errorf("something is still due: %v", b.clk.Now().Sub(start))
	}
}

func (b *bench) do(f func(ctx context.Context, q queueapi.Queue)) {
	b.clk.Do("test", func() { f(context.Background(), b.storage.Queue("orders")) })
}

func TestServiceRecordsItsWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, storage.Options{})
	ctx, q := context.Background(), b.storage.Queue("orders")
	text := "a"
	step := func(d time.Duration, f func() error) {
		t.Helper()
		b.clk.Advance(d)
		b.clk.Do("step", func() {
			if err := f(); err != nil {
				t.Errorf("at %v: %v", b.clk.Now().Sub(start), err)
			}
		})
	}
	var m *queueapi.Message
	receive := func() error {
		ms, err := q.Receive(ctx, 1, 10*time.Minute)
		if err == nil && len(ms) != 1 {
			err = errors.New("nothing received")
		}
		if err == nil {
			m = ms[0]
		}
		return err
	}
	update := func(d time.Duration) func() error {
		return func() error {
			u, err := q.Update(ctx, m.ID, m.PopReceipt, &text, d)
			if err == nil {
				m.PopReceipt = u.PopReceipt
			}
			return err
		}
	}
	step(0, func() error { return q.Create(ctx) })
	step(0, func() error {
		_, err := q.Put(ctx, text, &queueapi.PutOptions{TTL: time.Hour})
		return err
	})
	step(0, receive)
	step(5*time.Minute, update(10*time.Minute)) // renewed
	step(10*time.Minute, receive)               // the lock has ended
	step(0, update(30*time.Second))             // released
	step(30*time.Second, receive)
	step(0, update(0)) // released
	step(0, receive)
	b.clk.Advance(time.Hour) // nobody looks
	want := []string{
		"0s enqueued orders 0",
		"15m0s lock_expired orders 1",
		"1h0m0s expired orders 4",
	}
	if diff := cmp.Diff(b.records, want); diff != "" {
		t.Errorf("records (-got +want):\n%s", diff)
	}
}

func TestSameSeedGivesSameIdentifiers(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (out []string) {
		b := newBench(t, storage.Options{Seed: seed})
		b.do(func(ctx context.Context, q queueapi.Queue) {
			_ = q.Create(ctx)
			for range 100 {
				m, err := q.Put(ctx, "a", nil)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, m.ID, m.PopReceipt)
			}
			ms, _ := q.Receive(ctx, 32, time.Minute)
			for _, m := range ms {
				out = append(out, m.PopReceipt)
			}
		})
		return out
	}
	first := run(1)
	if diff := cmp.Diff(first, run(1)); diff != "" {
		t.Errorf("two runs with the same seed differ:\n%s", diff)
	}
	seen := map[string]bool{}
	for _, id := range append(first, run(2)...) {
		if seen[id] {
			t.Errorf("%q came twice", id)
		}
		seen[id] = true
	}
}

func TestFaultsBeforeAndAfterTheEffect(t *testing.T) {
	t.Parallel()
	var asked []storage.FaultPoint
	fail := storage.FaultPoint{}
	b := newBench(t, storage.Options{Fault: func(p storage.FaultPoint) error {
		asked = append(asked, p)
		if p.Op == fail.Op && p.After == fail.After {
			return bindings.ErrUnavailable
		}
		return nil
	}})
	b.do(func(ctx context.Context, q queueapi.Queue) {
		_ = q.Create(ctx)
		fail = storage.FaultPoint{Op: "Put"}
		if m, err := q.Put(ctx, "a", nil); m != nil || !errors.Is(err, bindings.ErrUnavailable) {
			t.Errorf("Put = %v, %v, want ErrUnavailable", m, err)
		}
		if n, _ := q.Count(ctx); n != 0 {
			t.Errorf("Count after a Put that failed before = %d, want 0", n)
		}
		fail.After = true
		if m, err := q.Put(ctx, "a", nil); m != nil || !errors.Is(err, bindings.ErrUnavailable) {
			t.Errorf("Put = %v, %v, want ErrUnavailable", m, err)
		}
		if n, _ := q.Count(ctx); n != 1 {
			t.Errorf("Count after a Put that failed after = %d, want 1", n)
		}
		fail = storage.FaultPoint{}
		ms, err := q.Receive(ctx, 1, time.Minute)
		if err != nil || len(ms) != 1 {
			t.Fatalf("Receive = %d messages, %v", len(ms), err)
		}
		asked = nil
		_ = q.Delete(ctx, ms[0].ID, ms[0].PopReceipt)
		want := []storage.FaultPoint{
			{Op: "Delete", Queue: "orders", MessageID: ms[0].ID},
			{Op: "Delete", Queue: "orders", MessageID: ms[0].ID, After: true},
		}
		if diff := cmp.Diff(asked, want); diff != "" {
			t.Errorf("fault points (-got +want):\n%s", diff)
		}
	})
}

func TestSnapshotRestoreAndReset(t *testing.T) {
	t.Parallel()
	b := newBench(t, storage.Options{Seed: 3})
	woken := 0
	var snap *storage.Snapshot
	var ids [2]string
	b.do(func(ctx context.Context, q queueapi.Queue) {
		b.storage.OnArrival("orders", func() { woken++ })
		_ = q.Create(ctx)
		_, _ = q.Put(ctx, "a", nil)
		_, _ = q.Put(ctx, "late", &queueapi.PutOptions{Visibility: time.Hour})
		_, _ = q.Receive(ctx, 1, time.Minute)
		var err error
		if snap, err = b.storage.Snapshot(); err != nil {
			t.Error(err)
		}
		m, _ := q.Put(ctx, "b", nil)
		ids[0] = m.ID
		b.storage.Reset()
		if names, _ := b.storage.Queues(ctx); len(names) != 0 {
			t.Errorf("Queues after Reset = %q", names)
		}
		b.storage.Restore(snap)
		m, _ = q.Put(ctx, "b", nil)
		ids[1] = m.ID
		b.storage.Restore(snap)
	})
	if ids[0] != ids[1] {
		t.Errorf("ids after the same calls = %q and %q", ids[0], ids[1])
	}
	woken = 0
	b.clk.Advance(time.Hour)
	if woken != 1 {
		t.Errorf("woken %d times by the delayed message after Restore, want 1", woken)
	}
	b.do(func(ctx context.Context, q queueapi.Queue) {
		ms, err := q.Receive(ctx, 32, time.Minute)
		if err != nil || len(ms) != 2 || ms[0].Text != "a" || ms[0].DequeueCount != 2 || ms[1].Text != "late" {
			t.Errorf("Receive after Restore = %+v, %v", ms, err)
		}
	})
}

// A receive must not slow down with the queue's depth (storage.md E-2).
func BenchmarkReceiveDelete(b *testing.B) {
	for _, depth := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			ctx := context.Background()
			q := storage.New(clock.System(), nil).Queue("orders")
			_ = q.Create(ctx)
			for range depth {
				_, _ = q.Put(ctx, "text", nil)
			}
			for b.Loop() {
				ms, err := q.Receive(ctx, 16, time.Minute)
				if err != nil || len(ms) != 16 {
					b.Fatalf("Receive = %d, %v", len(ms), err)
				}
				for _, m := range ms {
					_ = q.Delete(ctx, m.ID, m.PopReceipt)
					_, _ = q.Put(ctx, "text", nil)
				}
			}
		})
	}
}

// The best of many, so that a busy machine does not fail the test; storage.md
// E-2 asks for less than 2 ms.
func TestReceiveAtDepth100000(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	q := storage.New(clock.System(), nil).Queue("orders")
	_ = q.Create(ctx)
	for range 100_000 {
		_, _ = q.Put(ctx, "text", nil)
	}
	best := time.Hour
	for range 50 {
		began := time.Now()
		ms, err := q.Receive(ctx, 16, time.Minute)
		if err != nil || len(ms) != 16 {
			t.Fatalf("Receive = %d messages, %v", len(ms), err)
		}
		best = min(best, time.Since(began))
	}
	if best > 2*time.Millisecond {
		t.Errorf("a receive of 16 took %v, want less than 2ms", best)
	}
}
