package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
)

// TestClientsPinTheClock: a lock that a client holds keeps the pace Auto from
// jumping over it, until the client settles.
func TestClientsPinTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", LockDuration: 30 * time.Second})
	pins := func() (n int) {
		for _, wait := range w.clk.Waiting() {
			if wait.For == "pin" && strings.HasPrefix(wait.Name, "lock ") {
				n++
			}
		}
		return n
	}
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("x")})
	if n := pins(); n != 0 {
		t.Errorf("%d pins before a receive", n)
	}
	r := receiverOf(t, c, "q", nil)
	got := receive(t, ctx, r)
	if n := pins(); n != 1 {
		t.Errorf("%d pins while the message is locked, want 1", n)
	}
	if err := r.RenewMessageLock(ctx, got, nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 1 {
		t.Errorf("%d pins after a renewal, want 1", n)
	}
	if err := r.DeferMessage(ctx, got, nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 0 {
		t.Errorf("%d pins after the settlement", n)
	}
	deferred, err := r.ReceiveDeferredMessages(ctx, []int64{*got.SequenceNumber}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 1 {
		t.Errorf("%d pins while the message is locked that was asked for by number, want 1", n)
	}
	if err := r.CompleteMessage(ctx, deferred[0], nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 0 {
		t.Errorf("%d pins after its settlement", n)
	}
}
