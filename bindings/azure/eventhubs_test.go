package azure_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
)

func connectHubs(t testing.TB, connection string) *azure.EventHubs {
	t.Helper()
	h, err := azure.NewEventHubs(connection, &azure.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

// TestEventHubsConformance is the second leg of style 2.7: client, socket, AMQP,
// emulator.
func TestEventHubsConformance(t *testing.T) {
	t.Parallel()
	for name, clk := range map[string]func() clock.Clock{
		"Virtual": func() clock.Clock { return clock.NewVirtual(start, &clock.VirtualOptions{Strict: true}) },
		"System":  clock.System,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bindingtest.RunEventHubs(t, func(t *testing.T) *bindingtest.EventHubsBackend {
				d := openHubServer(t, clk(), eventhubs.Hub{Name: "orders", Partitions: 4}, eventhubs.Hub{Name: "single", Partitions: 1})
				return &bindingtest.EventHubsBackend{Namespace: connectHubs(t, d.connectionString()), Patience: busPatience}
			})
		})
	}
}

// A connection names the namespace as the platform's checkpoint store does.
func TestEventHubsNamespace(t *testing.T) {
	t.Parallel()
	const key = ";SharedAccessKeyName=k;SharedAccessKey=c2VjcmV0"
	for connection, want := range map[string]string{
		"Endpoint=sb://acme.servicebus.windows.net/" + key:                                  "acme.servicebus.windows.net",
		"Endpoint=sb://acme.servicebus.windows.net/" + key + ";EntityPath=orders":           "acme.servicebus.windows.net",
		"Endpoint=sb://emulator:5673" + key + ";UseDevelopmentEmulator=true;":               "emulator",
		"Endpoint=sb://10.0.0.7:5673" + key + ";UseDevelopmentEmulator=true;":               "10.0.0.7",
		"Endpoint=sb://127.0.0.1:5673" + key + ";UseDevelopmentEmulator=true;":              "localhost",
		"Endpoint=sb://[::1]:5673" + key + ";UseDevelopmentEmulator=true;entitypath=orders": "localhost",
	} {
		if got := connectHubs(t, connection).FullyQualifiedNamespace(); got != want {
			t.Errorf("%s: namespace %q, want %q", connection, got, want)
		}
	}
	for _, wrong := range []string{"", "Endpoint=sb://acme.servicebus.windows.net", "Endpoint=sb://acme;SharedAccessKeyName=secret", "secret"} {
		if _, err := azure.NewEventHubs(wrong, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want an error without the given text", wrong, err)
		}
	}
}

// A connection string for one hub serves it by its name.
func TestEventHubsEntityPath(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	h := connectHubs(t, d.connectionString()+"EntityPath=orders")
	ctx := t.Context()
	if err := h.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{Body: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	if p, err := h.Partition(ctx, "orders", "0"); err != nil || p.LastSequence != 0 {
		t.Errorf("partition %+v, %v, want one event", p, err)
	}
}

// The end is where it was when the reader was opened, also in a partition that has had
// no event.
func TestEventHubsLatest(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	h := connectHubs(t, d.connectionString())
	ctx := t.Context()
	for _, body := range []string{"a", "b"} {
		r, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{Latest: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		if list, err := r.Receive(ctx, 10, busPatience); err != nil || len(list) != 1 || string(list[0].Body) != body {
			t.Errorf("%d events, %v, want %q", len(list), err, body)
		}
	}
}

// Events that came with the first one are received with it, and no event is lost
// between calls.
func TestEventHubsBatches(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	h := connectHubs(t, d.connectionString())
	ctx := t.Context()
	const sent = 1000
	for i := 0; i < sent; i += 100 {
		var events []*eventhubsapi.Event
		for n := range 100 {
			events = append(events, &eventhubsapi.Event{Body: fmt.Append(nil, i+n)})
		}
		if err := h.SendEvents(ctx, "orders", nil, events...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for got := int64(0); got < sent; calls++ {
		list, err := r.Receive(ctx, 64, busPatience)
		if err != nil || len(list) == 0 {
			t.Fatalf("%d events, %v, after %d", len(list), err, got)
		}
		for _, e := range list {
			if e.SequenceNumber != got || string(e.Body) != fmt.Sprint(got) {
				t.Fatalf("event %d %q, want %d", e.SequenceNumber, e.Body, got)
			}
			got++
		}
	}
	if calls > sent/8 {
		t.Errorf("%d calls for %d events: they come one by one", calls, sent)
	}
}

// A closed namespace ends a Receive that waits, and its readers, and refuses every
// further call.
func TestEventHubsClose(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	h := connectHubs(t, d.connectionString())
	ctx := context.Background()
	r, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan error)
	go func() {
		_, err := r.Receive(ctx, 1, messaging.Forever)
		received <- err
	}()
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := <-received; !errors.Is(err, messaging.ErrClosed) {
		t.Errorf("a Receive that waits: %v, want closed", err)
	}
	_, err = h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	if !errors.Is(err, messaging.ErrClosed) {
		t.Errorf("a reader: %v, want closed", err)
	}
	if err := h.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{}); !errors.Is(err, messaging.ErrClosed) {
		t.Errorf("an event: %v, want closed", err)
	}
}

// Contexts end calls, even while a service does not answer.
func TestEventHubsContext(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	h := connectHubs(t, "Endpoint=sb://"+silent.Addr().String()+emulatorKey+"UseDevelopmentEmulator=true;")
	for name, call := range map[string]func(ctx context.Context) error{
		"send": func(ctx context.Context) error { return h.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{}) },
		"hub": func(ctx context.Context) error {
			_, err := h.Hub(ctx, "orders")
			return err
		},
		"partition": func(ctx context.Context) error {
			_, err := h.Partition(ctx, "orders", "0")
			return err
		},
		"read": func(ctx context.Context) error {
			_, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
		cancel()
	}
}

// A service that goes away and comes back loses no event and repeats none.
func TestEventHubsReconnect(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	way := openWay(t, d.addr)
	h, err := azure.NewEventHubs("Endpoint=sb://"+way.address()+emulatorKey+"UseDevelopmentEmulator=true;", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background())
	ctx := t.Context()
	r, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"a", "b"} {
		if err := h.SendEvents(ctx, "orders", nil, &eventhubsapi.Event{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
		list, err := r.Receive(ctx, 10, busPatience)
		if err != nil || len(list) != 1 || string(list[0].Body) != body {
			t.Fatalf("%d events, %v, want %q", len(list), err, body)
		}
		way.cut()
	}
}

// A service that falls silent does not keep anybody from going.
func TestEventHubsCloseInSilence(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1})
	way := openWay(t, d.addr)
	h, err := azure.NewEventHubs("Endpoint=sb://"+way.address()+emulatorKey+"UseDevelopmentEmulator=true;", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := h.Hub(ctx, "orders"); err != nil {
		t.Fatal(err)
	}
	r, err := h.ReadEvents(ctx, "orders", "$Default", "0", eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	way.swallows.Store(true)
	begun := time.Now()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close the reader: %v, want that it took too long", err)
	}
	if err := h.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("closing took %v", took)
	}
}
