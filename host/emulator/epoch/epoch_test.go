package epoch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// A call that the epoch ends under way has done its work, and its caller does not learn
// of it.
func TestDuring(t *testing.T) {
	t.Parallel()
	var e epoch.Epoch
	if err := e.During(func() error { return bindings.ErrNotFound }); !errors.Is(err, bindings.ErrNotFound) {
		t.Errorf("a call in the epoch = %v, want its own error", err)
	}
	if err := e.During(func() error { e.End(); return nil }); !errors.Is(err, epoch.ErrReplaced) {
		t.Errorf("a call that the end meets = %v, want ErrReplaced", err)
	}
	if err := e.During(func() error { t.Error("a call after the end was made"); return nil }); !errors.Is(err, bindings.ErrMessageNotFound) {
		t.Errorf("a call after the end = %v, want ErrMessageNotFound", err)
	}
	if err := (*epoch.Epoch)(nil).During(func() error { return nil }); err != nil || (*epoch.Epoch)(nil).Over() {
		t.Errorf("a call without an epoch = %v", err)
	}
}

// The handles of every service end with the epoch of their holder. Handles for closing,
// and for reading a blob for an attempt, go on.
func TestHandlesEnd(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	t.Cleanup(clk.Close)
	clk.Inside("test", func() { handlesEnd(t, clk) })
}

func handlesEnd(t *testing.T, clk clock.Clock) {
	var e epoch.Epoch
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	own := emulator.New(clk, nil)
	storage := own.In(&e)
	q, c := storage.Queue("orders"), storage.Container("uploads")
	must(q.Create(ctx))
	_, err := q.Put(ctx, "text", nil)
	must(err)
	_, err = c.Create(ctx, nil)
	must(err)
	b := c.Blob("a")
	_, err = b.Put(ctx, strings.NewReader("content"), nil)
	must(err)

	ns := servicebus.New(clk, nil)
	_, err = ns.CreateQueue(ctx, servicebusapi.Queue{Name: "plain"})
	must(err)
	_, err = ns.CreateQueue(ctx, servicebusapi.Queue{Name: "ordered", RequiresSession: true})
	must(err)
	bus, id := ns.In(&e), "s"
	must(bus.Send(ctx, "plain", &servicebusapi.Message{}))
	r, err := bus.Receiver(ctx, "plain", nil)
	must(err)
	got, err := r.Receive(ctx, 1, 0)
	must(err)
	s, err := bus.AcceptSession(ctx, "ordered", &servicebusapi.SessionOptions{SessionID: &id})
	must(err)

	far := eventhubs.New(clk, nil)
	must(far.CreateHub(ctx, eventhubs.Hub{Name: "orders", Partitions: 1}))
	hubs := far.In(&e)
	events, err := hubs.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	must(err)

	account := cosmos.New(clk, nil).In(&e)
	items, err := account.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders"})
	must(err)

	e.End()
	for what, call := range map[string]func() error{
		"put":                func() error { _, err := q.Put(ctx, "text", nil); return err },
		"receive":            func() error { _, err := q.Receive(ctx, 1, time.Minute); return err },
		"put of a blob":      func() error { _, err := b.Put(ctx, strings.NewReader("other"), nil); return err },
		"snapshot's":         func() error { _, err := b.At("").Properties(ctx, nil); return err },
		"lease":              func() error { _, err := b.AcquireLease(ctx, blob.InfiniteLease, "", nil); return err },
		"list":               func() error { _, err := c.Blobs(ctx, nil); return err },
		"receiver":           func() error { _, err := bus.Receiver(ctx, "plain", nil); return err },
		"receive of a bus":   func() error { _, err := r.Receive(ctx, 1, 0); return err },
		"deferred":           func() error { _, err := r.ReceiveDeferred(ctx, 1); return err },
		"peek":               func() error { _, err := r.Peek(ctx, 0, 1); return err },
		"complete":           func() error { return r.Complete(ctx, got[0]) },
		"renew":              func() error { _, err := r.Renew(ctx, got[0]); return err },
		"accept":             func() error { _, err := bus.AcceptSession(ctx, "ordered", nil); return err },
		"renew of a session": func() error { _, err := s.RenewSession(ctx); return err },
		"state":              func() error { _, err := s.State(ctx); return err },
		"set state":          func() error { return s.SetState(ctx, []byte("x")) },
		"hub":                func() error { _, err := hubs.Hub(ctx, "orders"); return err },
		"reader": func() error {
			_, err := hubs.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
			return err
		},
		"receive of a hub": func() error { _, err := events.Receive(ctx, 1, 0); return err },
		"container":        func() error { _, err := account.Container(ctx, "shop", "orders"); return err },
		"item":             func() error { _, err := items.Upsert(ctx, []byte(`{"id": "1"}`)); return err },
		"feed":             func() error { _, err := items.Changes(ctx, "0", cosmosapi.Position{}, 1); return err },
	} {
		if err := call(); !errors.Is(err, epoch.ErrReplaced) {
			t.Errorf("%s after the end = %v, want ErrReplaced", what, err)
		}
	}
	must(r.Close(ctx))
	must(s.Close(ctx))
	must(events.Close(ctx))
	d, err := b.Get(ctx, nil)
	must(err)
	must(d.Body.Close())

	// Nothing has happened, and others go on.
	if n, err := own.Queue("orders").Count(ctx); err != nil || n != 1 {
		t.Errorf("%d messages, %v, want 1", n, err)
	}
	if list, err := own.Queue("orders").Receive(ctx, queue.MaxReceive, time.Minute); err != nil || len(list) != 1 {
		t.Errorf("somebody else received %d messages, %v, want 1", len(list), err)
	}
	if _, err := ns.Receiver(ctx, "plain", nil); err != nil {
		t.Error(err)
	}
}
