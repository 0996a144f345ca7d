package azure_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// A namespace that no longer answers holds up the end of receivers, sessions and
// the connection for a few seconds only.
func TestServiceBusThatHangsIsClosed(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.queue(t, servicebus.Queue{Name: "plain"})
	d.queue(t, servicebus.Queue{Name: "ordered", RequiresSession: true})
	way := openProxy(t, d.addr)
	bus, err := azure.NewServiceBus(busConnectionString(way.addr()), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	r, err := bus.Receiver(ctx, "plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	id := "s"
	s, err := bus.AcceptSession(ctx, "ordered", &servicebus.SessionOptions{SessionID: &id})
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.Send(ctx, "plain", &servicebus.Message{}); err != nil {
		t.Fatal(err)
	}
	waiting, stop := context.WithCancel(ctx)
	received := make(chan error, 1)
	got, err := r.Receive(ctx, 1, busPatience)
	if err != nil || len(got) != 1 {
		t.Fatalf("Receive = %d, %v", len(got), err)
	}
	go func() {
		_, err := r.Receive(waiting, 1, messaging.Forever)
		received <- err
	}()
	way.hang()
	begun := time.Now()
	stop()
	<-received
	_ = r.Abandon(context.Background(), got[0], nil)
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("a settlement took %v", took)
	}
	begun = time.Now()
	_ = r.Close(context.Background())
	_ = s.Close(context.Background())
	_ = bus.Close(context.Background())
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("the end took %v", took)
	}
}
