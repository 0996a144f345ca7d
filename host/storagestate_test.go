package host_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
)

// slow is an app whose function takes five minutes for a message.
func slow() *functions.App {
	app := functions.New()
	app.Queue("Slow", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.Sleep(ctx, 5*time.Minute)
	})
	return app
}

// After a load or a reset a delivery in work goes on. Its settlement changes
// nothing, least of all a later message.
func TestStateReplacedUnderADelivery(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(t *testing.T, h *hosttest.Host, saved []byte){
		"load": func(t *testing.T, h *hosttest.Host, saved []byte) {
			if moved, err := h.LoadState(bytes.NewReader(saved)); err != nil || moved != 0 {
				t.Errorf("LoadState = %v, %v", moved, err)
			}
		},
		"reset": func(t *testing.T, h *hosttest.Host, _ []byte) {
			if err := h.ResetState(); err != nil {
				t.Errorf("ResetState: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, &hosttest.Options{Handlers: slow()})
			var saved bytes.Buffer
			if err := h.SaveState(&saved); err != nil {
				t.Fatal(err)
			}
			h.Send("orders", "old")
			h.AwaitKind(journal.AttemptStarted)
			replace(t, h, saved.Bytes())
			h.WantQueue("orders")

			// As many identifiers as the old message has used, its receipt's the last.
			var err error
			h.Host.Clock().Inside("send later", func() {
				q := h.Services().Storage().Queue("orders")
				var m *queue.Message
				if m, err = queue.PutOrCreate(context.Background(), q, "bmV3", &queue.PutOptions{Visibility: time.Minute}); err == nil {
					_, err = q.Update(context.Background(), m.ID, m.PopReceipt, nil, 10*time.Minute)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			h.Advance(time.Hour)
			h.WantAttempts("Slow", 2)
			h.WantSettled("Slow", triggers.Dropped, triggers.Deleted)
			h.WantQueue("orders")
		})
	}
}

func TestStateSaveAndLoad(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New()})
	h.Send("kept", "one")
	var saved bytes.Buffer
	if err := h.SaveState(&saved); err != nil {
		t.Fatal(err)
	}
	archive := saved.Bytes()
	h.Send("kept", "two")
	h.Send("gone", "x")
	if _, err := h.LoadState(bytes.NewReader(archive)); err != nil {
		t.Fatal(err)
	}
	h.WantQueue("kept", "one")
	h.WantQueue("gone")

	// A state that cannot be read changes nothing.
	h.Send("kept", "three")
	damaged := bytes.Clone(archive)
	damaged[len(damaged)/2] ^= 1
	for name, bad := range map[string][]byte{"damaged": damaged, "cut": archive[:len(archive)-1], "empty": nil, "text": []byte("hello")} {
		var corrupt *store.CorruptError
		if _, err := h.LoadState(bytes.NewReader(bad)); !errors.As(err, &corrupt) {
			t.Errorf("LoadState of something %s: %v, want a *store.CorruptError", name, err)
		}
	}
	h.WantQueue("kept", "one", "three")
}

// A state from the future moves the clock to its last change, so that nothing in
// it is still to come.
func TestLoadedStateMovesTheClock(t *testing.T) {
	t.Parallel()
	from := hosttest.New(t, &hosttest.Options{Handlers: functions.New(), Start: hosttest.Start.Add(3 * time.Hour)})
	from.Send("orders", "late")
	var saved bytes.Buffer
	if err := from.SaveState(&saved); err != nil {
		t.Fatal(err)
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New()})
	moved, err := h.LoadState(&saved)
	if err != nil || moved != 3*time.Hour {
		t.Errorf("LoadState = %v, %v; want 3h", moved, err)
	}
	if got := h.Clock().Now(); !got.Equal(hosttest.Start.Add(3 * time.Hour)) {
		t.Errorf("the clock shows %v", got)
	}
	h.WantQueue("orders", "late")
}

// A host on a store goes on where the last one was, whatever that one's end: here
// in the middle of a delivery.
func TestStoreOutlivesTheHost(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(start time.Time, body func(h *host.Host, v *clock.Virtual)) {
		t.Helper()
		v := clock.NewVirtual(start, nil)
		defer v.Close()
		h, err := host.New(t.TempDir(), &host.Options{Clock: v, Store: db, Accounts: []string{"second"}, Handlers: slow(), Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		body(h, v)
	}
	put := func(h *host.Host, v *clock.Virtual, account string) {
		t.Helper()
		var err error
		v.Inside("put", func() {
			_, err = queue.PutOrCreate(context.Background(), h.Services().Account(account).Queue("orders"), "eA==", nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	start := time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	var last time.Time
	run(start, func(h *host.Host, v *clock.Virtual) {
		put(h, v, services.FirstAccount)
		put(h, v, "second")
		v.Advance(time.Minute) // in work
		v.Inside("create", func() {
			_, err = h.Services().ServiceBus().CreateQueue(context.Background(), servicebus.Queue{Name: "bus-queue"})
		})
		if err != nil {
			t.Fatal(err)
		}
		last = v.Now()
		h.Abort()
	})

	// The clock starts at the last change, not in the past of what is stored.
	from, err := services.StartTime(db, "second")
	if err != nil || from.Before(last) {
		t.Fatalf("StartTime = %v, %v; want %v or later", from, err, last)
	}
	run(from, func(h *host.Host, v *clock.Virtual) {
		v.Advance(time.Hour)
		var first, second int
		v.Inside("count", func() {
			first, err = h.Services().Storage().Queue("orders").Count(context.Background())
			if err == nil {
				second, err = h.Services().Account("second").Queue("orders").Count(context.Background())
			}
		})
		if err != nil || first != 0 || second != 1 {
			t.Errorf("messages left: %d in the first account, %d in the second, %v; want 0 and 1", first, second, err)
		}
		if got := busQueues(t, h, v); got != 1 {
			t.Errorf("%d Service Bus queues, want 1", got)
		}
		var saved bytes.Buffer
		if err := h.SaveState(&saved); err != nil {
			t.Fatal(err)
		}
		if err := h.ResetState(); err != nil {
			t.Fatal(err)
		}
		if got := busQueues(t, h, v); got != 0 {
			t.Errorf("%d Service Bus queues after a reset, want 0", got)
		}
		if _, err := h.LoadState(&saved); err != nil {
			t.Fatal(err)
		}
		if got := busQueues(t, h, v); got != 1 {
			t.Errorf("%d Service Bus queues after the load, want 1", got)
		}
		var settled int
		for _, r := range h.Journal().Records() {
			if r.Kind == journal.Settled {
				settled++
			}
		}
		if settled != 1 {
			t.Errorf("%d settlements, want 1", settled)
		}
	})
}

// busQueues counts the queues of the Service Bus namespace.
func busQueues(t *testing.T, h *host.Host, v *clock.Virtual) int {
	t.Helper()
	var list []*servicebus.QueueInfo
	var err error
	v.Inside("list", func() { list, err = h.Services().ServiceBus().ListQueues(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Accounts share nothing but their state's fate.
func TestAccounts(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(hosttest.Start, nil)
	defer v.Close()
	h, err := host.New(t.TempDir(), &host.Options{Clock: v, Accounts: []string{"b", "a", services.FirstAccount}, Handlers: functions.New(), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if diff := cmp.Diff([]string{"a", "b", services.FirstAccount}, h.Services().Accounts()); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if h.Services().Account("c") != nil || h.Services().Account(services.FirstAccount) != h.Services().Storage() {
		t.Error("Account names another one")
	}
	put := func(s *storage.Storage) (id string) {
		t.Helper()
		var m *queue.Message
		v.Inside("put", func() { m, err = queue.PutOrCreate(context.Background(), s.Queue("work"), "x", nil) })
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	count := func() (out []int) {
		t.Helper()
		v.Inside("count", func() {
			for _, name := range h.Services().Accounts() {
				n, err := h.Services().Account(name).Queue("work").Count(context.Background())
				if errors.Is(err, bindings.ErrNotFound) {
					n = -1
				}
				out = append(out, n)
			}
		})
		return out
	}
	if put(h.Services().Account("a")) == put(h.Services().Account("b")) {
		t.Error("two accounts gave one identifier")
	}
	var saved bytes.Buffer
	if err := h.SaveState(&saved); err != nil {
		t.Fatal(err)
	}
	var snap *services.Snapshot
	v.Inside("snapshot", func() { snap, err = h.Snapshot() })
	if err != nil {
		t.Fatal(err)
	}
	if err := h.ResetState(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{-1, -1, -1}, count()); diff != "" {
		t.Errorf("after the reset (-want +got):\n%s", diff)
	}
	if _, err := h.LoadState(&saved); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 1, -1}, count()); diff != "" {
		t.Errorf("after the load (-want +got):\n%s", diff)
	}
	put(h.Services().Storage())
	v.Inside("restore", func() { err = h.Restore(snap) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 1, -1}, count()); diff != "" {
		t.Errorf("after the restore (-want +got):\n%s", diff)
	}
}
