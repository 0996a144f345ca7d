package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

func TestTestersEndLocks(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	b.queue(servicebusapi.Queue{Name: "s", RequiresSession: true})
	x := "x"
	b.send("q", "a", "b")
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "s", &servicebusapi.Message{SessionID: &x})
	})
	r := b.receiver("q", nil)
	ms := b.receive(r, 2)
	b.do(func(ctx context.Context) error {
		list, err := b.ns.Held(ctx, "q")
		if err != nil {
			return err
		}
		if len(list) != 2 || list[1].MessageID != "b" || list[1].Token != ms[1].LockToken || list[1].DeliveryNumber != 1 || !list[1].Until.Equal(start.Add(time.Minute)) {
			t.Errorf("Held = %+v", list)
		}
		if _, err := b.ns.ExpireLocks(ctx, "q", ms[1].SequenceNumber, 99); !errors.Is(err, bindings.ErrMessageNotFound) {
			t.Errorf("ExpireLocks of a message that is not there = %v", err)
		}
		n, err := b.ns.ExpireLocks(ctx, "q", ms[1].SequenceNumber)
		if err != nil || n != 1 {
			t.Errorf("ExpireLocks = %d, %v, want 1", n, err)
		}
		if err := r.Complete(ctx, ms[1]); !errors.Is(err, messaging.ErrLockLost) {
			t.Errorf("Complete = %v, want ErrLockLost", err)
		}
		if n, err = b.ns.ExpireLocks(ctx, "q"); err != nil || n != 1 {
			t.Errorf("ExpireLocks of all = %d, %v, want 1", n, err)
		}
		return nil
	})
	for _, m := range b.receive(r, 2) {
		if m.DeliveryCount != 1 {
			t.Errorf("delivery count of %s = %d, want 1", m.MessageID, m.DeliveryCount)
		}
	}
	b.do(func(ctx context.Context) error {
		s, err := b.ns.AcceptSession(ctx, "s", &servicebusapi.SessionOptions{SessionID: &x})
		if err != nil {
			return err
		}
		if err := b.ns.ExpireSession(ctx, "s", "x"); err != nil {
			return err
		}
		if _, err := s.Receive(ctx, 1, 0); !errors.Is(err, messaging.ErrSessionLockLost) {
			t.Errorf("Receive = %v, want ErrSessionLockLost", err)
		}
		if err := b.ns.ExpireSession(ctx, "s", "x"); !errors.Is(err, messaging.ErrSessionLockLost) {
			t.Errorf("ExpireSession again = %v, want ErrSessionLockLost", err)
		}
		return nil
	})
}

func TestRedriveAndPurge(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q", MaxDeliveryCount: 1})
	b.send("q", "a", "b", "c")
	r, d := b.receiver("q", nil), b.receiver("q/$DeadLetterQueue", nil)
	for _, m := range b.receive(r, 3) {
		b.do(func(ctx context.Context) error { return r.Abandon(ctx, m, map[string]any{"kept": true}) })
	}
	locked := b.receive(d, 1)[0] // a
	b.do(func(ctx context.Context) error {
		if _, err := b.ns.Redrive(ctx, "q"); !errors.Is(err, messaging.ErrNotAllowed) {
			t.Errorf("Redrive of the queue itself = %v, want ErrNotAllowed", err)
		}
		if _, err := b.ns.Redrive(ctx, "q/$deadletterqueue", locked.SequenceNumber); !errors.Is(err, bindings.ErrMessageNotFound) {
			t.Errorf("Redrive of a locked message = %v, want ErrMessageNotFound", err)
		}
		n, err := b.ns.Redrive(ctx, "q/$deadletterqueue", 3)
		if err != nil || n != 1 {
			t.Errorf("Redrive = %d, %v, want 1", n, err)
		}
		if n, err = b.ns.Redrive(ctx, "q/$deadletterqueue"); err != nil || n != 1 {
			t.Errorf("Redrive of the rest = %d, %v, want 1", n, err)
		}
		return nil
	})
	ms := b.receive(r, 2)
	for i, id := range []string{"c", "b"} {
		m := ms[i]
		_, marked := m.ApplicationProperties[servicebusapi.DeadLetterReason]
		if m.MessageID != id || m.DeliveryCount != 0 || m.SequenceNumber <= 3 || marked || m.ApplicationProperties["kept"] != true {
			t.Errorf("redriven: %+v, want %s as a new message without marks", m, id)
		}
	}
	b.do(func(ctx context.Context) error {
		if n, err := b.ns.Purge(ctx, "q"); n != 2 || err != nil {
			t.Errorf("Purge = %d, %v, want 2", n, err)
		}
		if err := r.Complete(ctx, ms[0]); !errors.Is(err, messaging.ErrLockLost) {
			t.Errorf("Complete after Purge = %v, want ErrLockLost", err)
		}
		q, err := b.ns.GetQueue(ctx, "q")
		if err == nil && q.Counts != (servicebusapi.Counts{DeadLetter: 1}) {
			t.Errorf("counts = %+v, want the locked dead letter", q.Counts)
		}
		return err
	})
}

// With partitioning, the partition key belongs to what duplicate detection
// compares.
func TestDuplicatesByPartition(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	yes, one, two := true, "1", "2"
	b.queue(servicebusapi.Queue{Name: "q", RequiresDuplicateDetection: true, Echoed: servicebusapi.Echoed{EnablePartitioning: &yes}})
	for _, key := range []*string{&one, &two, &one} {
		b.do(func(ctx context.Context) error {
			return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "id", PartitionKey: key})
		})
	}
	b.receive(b.receiver("q", nil), 2)
}

// Values that a message cannot carry are refused before anything has happened.
func TestPropertiesOfOtherTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	bad := map[string]any{"x": struct{}{}}
	b.clk.Do("test", func() {
		err := b.ns.Send(context.Background(), "q", &servicebusapi.Message{ApplicationProperties: bad})
		if !errors.Is(err, bindings.ErrInvalidArgument) {
			t.Errorf("Send = %v, want ErrInvalidArgument", err)
		}
	})
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "q", &servicebusapi.Message{ApplicationProperties: map[string]any{"n": 5}})
	})
	r := b.receiver("q", nil)
	m := b.receive(r, 1)[0]
	if m.ApplicationProperties["n"] != int64(5) {
		t.Errorf("an int came as %T", m.ApplicationProperties["n"])
	}
	b.clk.Do("test", func() {
		if err := r.Abandon(context.Background(), m, bad); !errors.Is(err, bindings.ErrInvalidArgument) {
			t.Errorf("Abandon = %v, want ErrInvalidArgument", err)
		}
	})
	b.do(func(ctx context.Context) error { return r.Complete(ctx, m) })
}
