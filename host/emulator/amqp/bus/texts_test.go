package bus_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestServiceTexts: texts that the live tests of the client for Go compare (azservicebus:
// receiver_test.go, session_receiver_test.go).
func TestServiceTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	w.queue(t, servicebus.Queue{Name: "ordered", RequiresSession: true})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{})
	r := receiverOf(t, c, "q", nil)
	m := receive(t, ctx, r)
	w.clk.Advance(time.Minute)
	const lost = "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue"
	if err := r.RenewMessageLock(ctx, m, nil); err == nil || !strings.Contains(err.Error(), "status code 410 and description: "+lost) {
		t.Errorf("RenewMessageLock = %v", err)
	}
	if err := r.CompleteMessage(ctx, m, nil); err == nil || !strings.Contains(err.Error(), lost) {
		t.Errorf("CompleteMessage = %v", err)
	}
	const plain = "It is not possible for an entity that requires sessions to create a non-sessionful message receiver."
	var refused *goamqp.Error
	if _, err := receiverOf(t, c, "ordered", nil).ReceiveMessages(ctx, 1, nil); !errors.As(err, &refused) || !strings.Contains(refused.Description, plain) {
		t.Errorf("ReceiveMessages = %v", err)
	}
}

// TestDeliveryAnnotationsPass: a sender's delivery annotations reach the receiver, except
// the ones that the service sets itself.
func TestDeliveryAnnotationsPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	ctx, s := w.plain(t)
	sender, err := s.NewSender(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := goamqp.NewMessage([]byte("x"))
	m.DeliveryAnnotations = goamqp.Annotations{"mine": "kept", "x-opt-lock-token": goamqp.UUID{1}}
	if err := sender.Send(ctx, m, nil); err != nil {
		t.Fatal(err)
	}
	r, err := s.NewReceiver(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := got.DeliveryAnnotations; len(a) != 2 || a["mine"] != "kept" || a["x-opt-lock-token"] == (goamqp.UUID{1}) {
		t.Errorf("delivery annotations = %v", a)
	}
}
