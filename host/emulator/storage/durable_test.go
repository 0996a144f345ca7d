package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// openStore opens the store in dir, or one in memory, until the end of the test.
func openStore(t testing.TB, dir string, opts *store.Options) *store.Store {
	t.Helper()
	var db *store.Store
	var err error
	if dir == "" {
		db, err = store.OpenMemory(opts)
	} else {
		db, err = store.Open(dir, opts)
	}
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openAccount(t testing.TB, clk clock.Clock, db *store.Store, opts *storage.Options) *storage.Storage {
	t.Helper()
	s, err := storage.Open(clk, db, opts)
	if err != nil {
		t.Fatalf("open the account: %v", err)
	}
	return s
}

func TestDurableQueueConformance(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		t.Run(fmt.Sprintf("Sync=%v", sync), func(t *testing.T) {
			t.Parallel()
			bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
				clk := newVirtual()
				return &bindingtest.QueueBackend{
					Account:  openAccount(t, clk, openStore(t, t.TempDir(), &store.Options{Sync: sync}), nil),
					Features: features,
					Do:       func(f func()) { clk.Do("test", f) },
					Now:      clk.Now,
					Advance:  clk.Advance,
				}
			})
		})
	}
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
			db := openStore(t, t.TempDir(), &store.Options{Sync: true})
			return &bindingtest.QueueBackend{Account: openAccount(t, clock.System(), db, nil), Features: features}
		})
	})
}

// reopening is an account that is closed and opened again before each step of a
// test: nothing may depend on what is in memory only.
type reopening struct {
	t   testing.TB
	clk clock.Clock
	dir string
	db  *store.Store
	now *storage.Storage
}

func (r *reopening) reopen() {
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.t.Errorf("close the store: %v", err)
		}
	}
	r.db = openStore(r.t, r.dir, nil)
	r.now = openAccount(r.t, r.clk, r.db, nil)
}

func (r *reopening) Queue(name string) queue.Queue { return r.now.Queue(name) }

func (r *reopening) Queues(ctx context.Context) ([]string, error) { return r.now.Queues(ctx) }

func TestReopenedBeforeEachStep(t *testing.T) {
	t.Parallel()
	bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
		clk := newVirtual()
		r := &reopening{t: t, clk: clk, dir: t.TempDir()}
		clk.Do("open", r.reopen)
		return &bindingtest.QueueBackend{
			Account:  r,
			Features: features,
			// The handle of a step is made before Do: reopen after it for the next.
			Do:      func(f func()) { clk.Do("test", f); clk.Do("reopen", r.reopen) },
			Now:     clk.Now,
			Advance: clk.Advance,
		}
	})
}

func TestIdentifiersGoOnAfterReopening(t *testing.T) {
	t.Parallel()
	ctx, clk, dir := context.Background(), newVirtual(), t.TempDir()
	seen := map[string]bool{}
	for range 5 {
		db := openStore(t, dir, nil)
		q := openAccount(t, clk, db, &storage.Options{Seed: 5}).Queue("orders")
		clk.Do("test", func() {
			_ = q.Create(ctx)
			for range 20 {
				m, err := q.Put(ctx, "a", nil)
				if err != nil {
					t.Fatal(err)
				}
				if seen[m.ID] || seen[m.PopReceipt] {
					t.Errorf("%q or %q came twice", m.ID, m.PopReceipt)
				}
				seen[m.ID], seen[m.PopReceipt] = true, true
				if err := q.Delete(ctx, m.ID, m.PopReceipt); err != nil {
					t.Error(err)
				}
			}
		})
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDelayedMessageArrivesAfterReopening(t *testing.T) {
	t.Parallel()
	ctx, clk, dir := context.Background(), newVirtual(), t.TempDir()
	db := openStore(t, dir, nil)
	q := openAccount(t, clk, db, nil).Queue("orders")
	clk.Do("put", func() {
		_ = q.Create(ctx)
		_, _ = q.Put(ctx, "late", &queue.PutOptions{Visibility: time.Hour})
	})
	_ = db.Close()
	clk.Advance(30 * time.Minute)
	s := openAccount(t, clk, openStore(t, dir, nil), nil)
	woken := 0
	s.OnArrival("orders", func() { woken++ })
	clk.Advance(30*time.Minute - 1)
	if woken != 0 {
		t.Errorf("woken %d times before the message is visible", woken)
	}
	clk.Advance(1)
	if woken != 1 {
		t.Errorf("woken %d times when the message is visible, want 1", woken)
	}
}

// The disk refuses to write at one step of a script; the call says so, nothing
// has happened, and the next call works on the state before.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		t.Run(fmt.Sprintf("Sync=%v", sync), func(t *testing.T) {
			t.Parallel()
			var full atomic.Bool
			db := openStore(t, "", &store.Options{Sync: sync, Fault: func(op store.FileOp, _ string) error {
				if full.Load() && op == store.OpWrite {
					return syscall.ENOSPC
				}
				return nil
			}})
			var records []string
			clk := newVirtual()
			s := openAccount(t, clk, db, &storage.Options{Record: func(r journal.Record) { records = append(records, string(r.Kind)) }})
			woken := 0
			s.OnArrival("orders", func() { woken++ })
			q := s.Queue("orders")
			ctx := context.Background()
			var m *queue.Message
			clk.Do("prepare", func() {
				_ = q.Create(ctx)
				_, _ = q.Put(ctx, "a", nil)
				_, _ = q.Put(ctx, "expires", &queue.PutOptions{TTL: time.Minute})
				ms, _ := q.Receive(ctx, 1, time.Minute)
				m = ms[0]
			})
			state := func() (out []string) {
				clk.Do("look", func() {
					n, err := q.Count(ctx)
					ms, err2 := q.Peek(ctx, 32)
					names, err3 := s.Queues(ctx)
					out = append(out, fmt.Sprint(n, names, errors.Join(err, err2, err3)))
					for _, m := range ms {
						out = append(out, fmt.Sprint(m.ID, m.Text, m.DequeueCount))
					}
				})
				return out
			}
			text := "changed"
			calls := map[string]func() error{
				"Put":     func() error { _, err := q.Put(ctx, "b", nil); return err },
				"Receive": func() error { _, err := q.Receive(ctx, 1, time.Minute); return err },
				"Update":  func() error { _, err := q.Update(ctx, m.ID, m.PopReceipt, &text, 0); return err },
				"Delete":  func() error { return q.Delete(ctx, m.ID, m.PopReceipt) },
				"Clear":   func() error { return q.Clear(ctx) },
				"Create":  func() error { return s.Queue("other").Create(ctx) },
				"Remove":  func() error { return q.DeleteQueue(ctx) },
				"Reset":   s.Reset,
				"Restore": func() error { return s.Restore(&storage.Snapshot{}) },
			}
			want := state()
			records, woken = nil, 0
			for name, call := range calls {
				full.Store(true)
				clk.Do(name, func() {
					for range 2 { // the second finds a store that has failed
						err := call()
						if !errors.Is(err, bindings.ErrUnavailable) || !errors.Is(err, store.ErrDiskFull) {
							t.Errorf("%s = %v, want ErrUnavailable for ErrDiskFull", name, err)
						}
					}
				})
				full.Store(false)
				if diff := cmp.Diff(state(), want); diff != "" {
					t.Errorf("after %s failed (-got +want):\n%s", name, diff)
				}
			}
			if len(records) != 0 || woken != 0 {
				t.Errorf("failed calls were recorded as %q and woke %d times", records, woken)
			}
			clk.Do("delete", func() {
				if err := q.Delete(ctx, m.ID, m.PopReceipt); err != nil {
					t.Errorf("Delete with a receipt from before: %v", err)
				}
			})
		})
	}
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	kinds := map[string]func(t *testing.T, clk clock.Clock) *storage.Storage{
		"Memory": func(t *testing.T, clk clock.Clock) *storage.Storage { return storage.New(clk, nil) },
		"Durable": func(t *testing.T, clk clock.Clock) *storage.Storage {
			return openAccount(t, clk, openStore(t, t.TempDir(), nil), nil)
		},
	}
	for from, makeFrom := range kinds {
		for to, makeTo := range kinds {
			t.Run(from+"To"+to, func(t *testing.T) {
				t.Parallel()
				clk := newVirtual()
				a, b := makeFrom(t, clk), makeTo(t, clk)
				var archive bytes.Buffer
				var m *queue.Message
				clk.Do("save", func() {
					q := a.Queue("orders")
					_ = q.Create(ctx)
					_ = a.Queue("empty").Create(ctx)
					_, _ = q.Put(ctx, "a", nil)
					_, _ = q.Put(ctx, "b", &queue.PutOptions{Visibility: time.Hour, TTL: queue.NeverExpires})
					ms, _ := q.Receive(ctx, 1, time.Minute)
					m = ms[0]
					if err := a.Save(&archive); err != nil {
						t.Fatal(err)
					}
				})
				saved := archive.Bytes()
				woken := 0
				clk.Do("load", func() {
					b.OnArrival("orders", func() { woken++ })
					_ = b.Queue("gone").Create(ctx)
					if err := b.Load(bytes.NewReader(saved[:len(saved)/2])); err == nil {
						t.Error("half an archive was loaded")
					}
					if names, _ := b.Queues(ctx); !cmp.Equal(names, []string{"gone"}) {
						t.Errorf("queues after a Load that failed = %q", names)
					}
					if err := b.Load(bytes.NewReader(saved)); err != nil {
						t.Fatal(err)
					}
					if names, _ := b.Queues(ctx); !cmp.Equal(names, []string{"empty", "orders"}) {
						t.Errorf("queues after Load = %q", names)
					}
					if err := b.Queue("orders").Delete(ctx, m.ID, m.PopReceipt); err != nil {
						t.Errorf("Delete with the receipt from before: %v", err)
					}
				})
				clk.Advance(time.Hour)
				if woken != 1 {
					t.Errorf("woken %d times by the delayed message, want 1", woken)
				}
				clk.Do("receive", func() {
					ms, err := b.Queue("orders").Receive(ctx, 32, time.Minute)
					if err != nil || len(ms) != 1 || ms[0].Text != "b" {
						t.Errorf("Receive = %v, %v, want b", ms, err)
					}
				})
			})
		}
	}
}

// Writing takes no virtual time and leaves the order of things as it is in
// memory, whatever the disk does.
func TestDurableAccountIsAsDeterministic(t *testing.T) {
	t.Parallel()
	run := func(open func(clk clock.Clock, opts *storage.Options) *storage.Storage) []string {
		var lines []string
		clk := newVirtual()
		s := open(clk, &storage.Options{Record: func(r journal.Record) {
			lines = append(lines, fmt.Sprintln(clk.Now().Sub(start), r.Kind, r.Source, r.MessageID, r.DeliveryCount))
		}})
		clk.Do("test", func() {
			ctx := context.Background()
			_ = s.Queue("orders").Create(ctx)
			group := clock.NewGroup(clk, 0)
			for w := range 16 {
				group.Go(fmt.Sprint("worker ", w), func() {
					q := s.Queue("orders")
					for i := range 10 {
						_, _ = q.Put(ctx, "text", &queue.PutOptions{Visibility: time.Duration(i*w) * time.Second})
						_ = clk.Sleep(ctx, time.Second)
						ms, _ := q.Receive(ctx, 2, 2*time.Second)
						for _, m := range ms {
							_ = q.Delete(ctx, m.ID, m.PopReceipt)
							lines = append(lines, fmt.Sprintln(clk.Now().Sub(start), w, m.ID, m.DequeueCount))
						}
					}
				})
			}
		})
		clk.Run(time.Hour)
		return lines
	}
	memory := run(func(clk clock.Clock, opts *storage.Options) *storage.Storage { return storage.New(clk, opts) })
	if len(memory) < 200 {
		t.Fatalf("only %d lines", len(memory))
	}
	durable := func(sync bool) []string {
		return run(func(clk clock.Clock, opts *storage.Options) *storage.Storage {
			return openAccount(t, clk, openStore(t, t.TempDir(), &store.Options{Sync: sync}), opts)
		})
	}
	if diff := cmp.Diff(durable(false), memory); diff != "" {
		t.Errorf("durable (-got +want in memory):\n%s", diff)
	}
	if diff := cmp.Diff(durable(true), durable(true)); diff != "" {
		t.Errorf("two runs that sync differ:\n%s", diff)
	}
}

func TestDamagedAccountIsNamed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(b *store.Batch){
		"MessageWithoutState": func(b *store.Batch) { b.DeleteRange([]byte("s\x00"), []byte("s\x01")) },
		"MessageWithoutText":  func(b *store.Batch) { b.DeleteRange([]byte("t\x00"), []byte("t\x01")) },
		"MessageWithoutQueue": func(b *store.Batch) { b.DeleteRange([]byte("q\x00"), []byte("q\x01")) },
		"QueueOfTheFuture":    func(b *store.Batch) { b.Set([]byte("q\x00orders"), []byte{9}) },
		"ShortCount":          func(b *store.Batch) { b.Set([]byte("ids"), []byte{1}) },
		"StrangeText":         func(b *store.Batch) { b.Set([]byte("t\x00orders\x00\x00\x00\x00\x00\x00\x00\x00\x01"), []byte{1, 200}) },
		"StrangeState":        func(b *store.Batch) { b.Set([]byte("s\x00orders\x00\x00\x00\x00\x00\x00\x00\x00\x01"), nil) },
		"StrangeKey":          func(b *store.Batch) { b.Set([]byte("t\x00x"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk, db := newVirtual(), openStore(t, filepath.Join(t.TempDir(), "data"), nil)
			s := openAccount(t, clk, db, nil)
			clk.Do("put", func() {
				_ = s.Queue("orders").Create(context.Background())
				_, _ = s.Queue("orders").Put(context.Background(), "a", nil)
			})
			b, err := db.NewBatch()
			if err != nil {
				t.Fatal(err)
			}
			spoil(b)
			if err := db.Apply(b); err != nil {
				t.Fatal(err)
			}
			var damage *store.CorruptError
			if _, err := storage.Open(clk, db, nil); !errors.As(err, &damage) {
				t.Errorf("Open = %v, want CorruptError", err)
			}
		})
	}
}

// What somebody had in work when the account ended is known to the next one: not what waits
// for its first receiver, nor what is taken later.
func TestLeftInWork(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	v := clock.NewVirtual(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), nil)
	began := v.Now()
	look := func(use func(s *storage.Storage)) (left time.Time) {
		db := openStore(t, dir, nil)
		v.Inside("test", func() {
			s, err := storage.Open(v, db, nil)
			if err != nil {
				t.Error(err)
				return
			}
			left = s.LeftInWork("orders")
			use(s)
		})
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		return left
	}
	receive := func(s *storage.Storage) {
		if got, err := s.Queue("orders").Receive(ctx, 1, 10*time.Minute); err != nil || len(got) != 1 {
			t.Errorf("received %v, %v", got, err)
		}
	}
	if left := look(func(s *storage.Storage) {
		if err := s.Queue("orders").Create(ctx); err != nil {
			t.Error(err)
		}
		for _, wait := range []time.Duration{0, 0, time.Hour} {
			if _, err := s.Queue("orders").Put(ctx, "x", &queue.PutOptions{Visibility: wait}); err != nil {
				t.Error(err)
			}
		}
		receive(s)
	}); !left.IsZero() {
		t.Errorf("a new account has %v in work", left)
	}
	if left, want := look(receive), began.Add(10*time.Minute); !left.Equal(want) {
		t.Errorf("in work until %v, want %v", left, want)
	}
}
