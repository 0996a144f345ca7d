package host_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// The state may be saved, loaded and reset while callers from outside and
// functions are at work: each call succeeds, or says that the service or the
// queue is not there at the moment.
func TestStateUnderTraffic(t *testing.T) {
	t.Parallel()
	for name, synced := range map[string]bool{"written": false, "synced": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traffic(t, synced)
		})
	}
}

func traffic(t *testing.T, synced bool) {
	t.Helper()
	db, err := store.Open(t.TempDir(), &store.Options{Sync: synced})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	v := clock.NewVirtual(time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	defer v.Close()
	v.Auto()
	app := functions.New()
	app.Queue("Pass", "inbox", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.QueueOutput("out", "outbox"))
	h, err := host.New(t.TempDir(), &host.Options{Clock: v, Store: db, Handlers: app, Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()

	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 40 {
				var err error
				v.Inside("put", func() {
					_, err = queue.PutOrCreate(context.Background(), h.Services().Storage().Queue("inbox"), "eA==", nil)
				})
				// The queue may go between its making and the put.
				if err != nil && !errors.Is(err, bindings.ErrUnavailable) && !errors.Is(err, bindings.ErrNotFound) {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	for range 5 {
		var saved bytes.Buffer
		if err := h.SaveState(&saved); err != nil {
			t.Fatalf("SaveState: %v", err)
		}
		if err := h.ResetState(); err != nil {
			t.Fatalf("ResetState: %v", err)
		}
		if _, err := h.LoadState(&saved); err != nil {
			t.Fatalf("LoadState: %v", err)
		}
	}
	callers.Wait()
}
