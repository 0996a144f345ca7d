package azure_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// busWire lists the guarantees of the embedded namespace to users of the official
// client, over a socket.
var busWire = bindingtest.ServiceBusFeatures{
	SessionlessToDLQ: true, TransferDLQ: true, ExactCounts: true, SmallEntities: true, LargeHeaderToDLQ: true, WholeMilliseconds: true,
}

// reached sends and receives through the client, and administers inside the clock.
type reached struct {
	*azure.ServiceBus
	servicebus.Admin
}

func connectBus(t testing.TB, d *busBench) *azure.ServiceBus {
	t.Helper()
	return connectBusAt(t, d.addr, -1)
}

func connectBusAt(t testing.TB, addr string, retries int) *azure.ServiceBus {
	t.Helper()
	s, err := azure.NewServiceBus(busConnectionString(addr), &azure.Options{Retries: retries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// TestServiceBusViaPartitionKey: the client has no field for it.
func TestServiceBusViaPartitionKey(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.queue(t, servicebus.Queue{Name: "q"})
	key := "via"
	if err := d.ns.Send(t.Context(), "q", &servicebus.Message{TransactionPartitionKey: &key}); err != nil {
		t.Fatal(err)
	}
	r, err := connectBus(t, d).Receiver(t.Context(), "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.Background())
	got, err := r.Receive(t.Context(), 1, busPatience)
	if err != nil || len(got) != 1 || got[0].TransactionPartitionKey == nil || *got[0].TransactionPartitionKey != key {
		t.Errorf("received %+v, %v", got, err)
	}
}

// TestServiceBusConformance is the second leg of style 2.7: client, socket, AMQP,
// emulator.
func TestServiceBusConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunServiceBus(t, func(t *testing.T) *bindingtest.ServiceBusBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			d := openBusServer(t, clk, nil)
			way := openProxy(t, d.addr)
			return &bindingtest.ServiceBusBackend{
				Namespace: reached{connectBusAt(t, way.addr(), 1), inClock{clk, d.ns}}, Features: busWire,
				Now: clk.Now, Advance: clk.Advance, Patience: busPatience, Quiet: busQuiet, Cut: way.cut,
			}
		})
	})
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunServiceBus(t, func(t *testing.T) *bindingtest.ServiceBusBackend {
			d := openBusServer(t, clock.System(), nil)
			way := openProxy(t, d.addr)
			return &bindingtest.ServiceBusBackend{
				Namespace: reached{connectBusAt(t, way.addr(), 1), d.ns}, Features: busWire, Patience: busPatience, Quiet: busQuiet, Cut: way.cut,
			}
		})
	})
}

const (
	busPatience = 10 * time.Second
	busQuiet    = 300 * time.Millisecond
)

// TestServiceBusMissingEntity: a call about a message of an entity that is not there says
// that the entity is not there. The client hears of it in the answer to its claim, whose
// number also stands for a missing message.
func TestServiceBusMissingEntity(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	bus := connectBusAt(t, d.addr, -1)
	ctx := t.Context()
	if err := bus.CancelScheduled(ctx, "missing", 7); !errors.Is(err, bindings.ErrNotFound) || errors.Is(err, bindings.ErrMessageNotFound) {
		t.Errorf("CancelScheduled = %v, want ErrNotFound", err)
	}
	if err := bus.Send(ctx, "missing", &servicebus.Message{}); !errors.Is(err, bindings.ErrNotFound) {
		t.Errorf("Send = %v, want ErrNotFound", err)
	}
}
