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

// TestIdleLinksAreDetached: a link of which no use is made for ten minutes is detached, and
// its connection goes on (docs: AMQP errors in Azure Service Bus).
func TestIdleLinksAreDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	ctx, s := w.plain(t)
	sender, err := s.NewSender(ctx, "q", &goamqp.SenderOptions{Name: "sends"})
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := s.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Name: "waits", Credit: -1, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
	if err != nil {
		t.Fatal(err)
	}
	// Credit comes at a moment of the client's own, and is a use: here it has come when
	// its message has.
	use := func() {
		t.Helper()
		if err := receiver.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		if err := sender.Send(ctx, goamqp.NewMessage([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
		m, err := receiver.Receive(ctx, nil)
		if err == nil {
			err = receiver.AcceptMessage(ctx, m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use()
	w.clk.Advance(9 * time.Minute)
	use() // begins the ten minutes anew
	w.clk.Advance(9*time.Minute + 59*time.Second)
	use()
	w.clk.Advance(10 * time.Minute)
	for what, err := range map[string]error{ // links are counted by the namespace
		"publisher(link1)": sender.Send(ctx, goamqp.NewMessage([]byte("late")), nil),
		"consumer(link2)":  func() error { _, err := receiver.Receive(ctx, nil); return err }(),
	} {
		link, _ := errors.AsType[*goamqp.LinkError](err)
		if link == nil || link.RemoteErr == nil || link.RemoteErr.Condition != "amqp:link:detach-forced" {
			t.Errorf("%s: %v, want detach-forced", what, err)
			continue
		}
		text := link.RemoteErr.Description
		for _, part := range []string{"is force detached. Code: " + what, "IdleTimerExpired: Idle timeout: 00:10:00"} {
			if !strings.Contains(text, part) {
				t.Errorf("text %q, want %q in it", text, part)
			}
		}
	}
	if _, err := s.NewSender(ctx, "q", nil); err != nil {
		t.Errorf("the connection has ended with its links: %v", err)
	}
	if n := w.counts(t, "q").Active; n != 0 {
		t.Errorf("%d messages: the late one was taken", n)
	}
}

// TestClientsOutliveIdleTime: the SDK attaches again by itself.
func TestClientsOutliveIdleTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	ctx, c := w.clientWith(t, azservicebus.RetryOptions{})
	s, err := c.NewSender("q", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := receiverOf(t, c, "q", nil)
	for i := range 3 {
		if i > 0 {
			w.clk.Advance(11 * time.Minute)
		}
		if err := s.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil); err != nil {
			t.Fatalf("send %d: %v", i, err)
		}
		m := receive(t, ctx, r)
		w.clk.Advance(30 * time.Second)
		if err := r.CompleteMessage(ctx, m, nil); err != nil {
			t.Fatalf("complete %d: %v", i, err)
		}
	}
}
