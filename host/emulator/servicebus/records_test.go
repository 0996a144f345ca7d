package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

func TestNamespaceRecordsItsDecisions(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "target"})
	b.queue(servicebusapi.Queue{Name: "via", ForwardTo: "target"})
	b.queue(servicebusapi.Queue{Name: "q", MaxDeliveryCount: 2, DeadLetteringOnMessageExpiration: true, RequiresDuplicateDetection: true})
	b.send("via", "f")
	b.send("q", "a", "a")
	r := b.receiver("q", nil)
	m := b.receive(r, 1)[0]
	b.do(func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err })
	b.clk.Advance(time.Minute)
	m = b.receive(r, 1)[0]
	b.do(func(ctx context.Context) error { return r.Abandon(ctx, m, nil) })
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "b", TimeToLive: time.Second, ScheduledEnqueueTime: b.clk.Now().Add(time.Second)})
	})
	b.clk.Advance(2 * time.Second)
	server := b.receiver("q/$DeadLetterQueue", &servicebusapi.ReceiverOptions{RealTime: true})
	m = b.receive(server, 1)[0]
	b.do(func(ctx context.Context) error { return server.Complete(ctx, m) })
	want := []string{
		"0s forwarded via f 0 target",
		"0s enqueued target f 0",
		"0s enqueued q a 0",
		"0s enqueued q a 0 duplicate",
		"0s lock_renewed q a 1",
		"1m0s lock_expired q a 1",
		"1m0s dead_lettered q a 2 q/$DeadLetterQueue MaxDeliveryCountExceeded",
		"1m0s enqueued q b 0 scheduled",
		"1m1s enqueued q b 0",
		"1m2s expired q b 0",
		"1m2s dead_lettered q b 0 q/$DeadLetterQueue TTLExpiredException",
		"1m2s received q/$DeadLetterQueue a 3",
		"1m2s settled q/$DeadLetterQueue a 3 completed",
	}
	if diff := cmp.Diff(want, b.records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Faults before an operation keep it from happening; those after it keep the
// caller from learning of it.
func TestFaultsBeforeAndAfterTheEffect(t *testing.T) {
	t.Parallel()
	var fail servicebus.FaultPoint
	boom := errors.New("boom")
	b := newBench(t, servicebus.Options{Fault: func(p servicebus.FaultPoint) error {
		if p == fail {
			return boom
		}
		return nil
	}})
	b.queue(servicebusapi.Queue{Name: "q"})
	try := func(p servicebus.FaultPoint, f func(ctx context.Context) error) {
		t.Helper()
		fail = p
		b.clk.Do("test", func() {
			if err := f(context.Background()); !errors.Is(err, boom) {
				t.Errorf("%+v: %v, want the fault", p, err)
			}
		})
		fail = servicebus.FaultPoint{}
	}
	active := func(want int64) {
		t.Helper()
		b.do(func(ctx context.Context) error {
			q, err := b.ns.GetQueue(ctx, "q")
			if err == nil && q.Counts.Active != want {
				err = fmt.Errorf("%d messages, want %d", q.Counts.Active, want)
			}
			return err
		})
	}
	send := func(ctx context.Context) error {
		return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "a"})
	}
	try(servicebus.FaultPoint{Op: "Send", Entity: "q"}, send)
	active(0)
	try(servicebus.FaultPoint{Op: "Send", Entity: "q", After: true}, send)
	active(1)
	r := b.receiver("q", nil)
	m := b.receive(r, 1)[0]
	complete := func(ctx context.Context) error { return r.Complete(ctx, m) }
	try(servicebus.FaultPoint{Op: "Complete", Entity: "q", MessageID: "a"}, complete)
	active(1)
	try(servicebus.FaultPoint{Op: "Complete", Entity: "q", MessageID: "a", After: true}, complete)
	active(0)
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	send := func(ctx context.Context, b *bench, entity string) error {
		return b.ns.Send(ctx, entity, &servicebusapi.Message{MessageID: "a"})
	}
	t.Run("strictSessionSend", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebus.Options{Switches: servicebus.Switches{StrictSessionSend: true}})
		b.queue(servicebusapi.Queue{Name: "q", RequiresSession: true})
		b.clk.Do("test", func() {
			if err := send(context.Background(), b, "q"); !errors.Is(err, messaging.ErrNotAllowed) {
				t.Errorf("Send without a session = %v, want ErrNotAllowed", err)
			}
		})
	})
	t.Run("autoForwardFailure dlq", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebus.Options{Switches: servicebus.Switches{ForwardFailureToDLQ: true, MaxForwardHops: 1}})
		b.queue(servicebusapi.Queue{Name: "c"})
		b.queue(servicebusapi.Queue{Name: "b", ForwardTo: "c"})
		b.queue(servicebusapi.Queue{Name: "a", ForwardTo: "b"})
		b.send("a", "m")
		m := b.receive(b.receiver("b/$DeadLetterQueue", nil), 1)[0]
		if got := m.ApplicationProperties[servicebusapi.DeadLetterReason]; got != "MaxTransferHopCountExceeded" {
			t.Errorf("reason = %v", got)
		}
	})
	t.Run("autoCreateEntities any", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, servicebus.Options{Switches: servicebus.Switches{AutoCreateEntitiesOnUse: true}})
		b.send("new", "a")
		b.receive(b.receiver("NEW", nil), 1)
		r := b.receiver("t/Subscriptions/s", nil)
		b.send("t", "b")
		b.receive(r, 1)
	})
}

// Two queues whose dead-letter queues forward to each other, and that both refuse
// a message, must come to an end.
func TestDeadLetterCirclesEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "a", RequiresSession: true})
	b.queue(servicebusapi.Queue{Name: "b", RequiresSession: true, ForwardDeadLetteredMessagesTo: "a"})
	b.do(func(ctx context.Context) error {
		_, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "a", RequiresSession: true, ForwardDeadLetteredMessagesTo: "b"})
		return err
	})
	b.send("a", "m")
	total := int64(0)
	b.do(func(ctx context.Context) error {
		qs, err := b.ns.ListQueues(ctx)
		for _, q := range qs {
			total += q.Counts.Total()
		}
		return err
	})
	if total != 1 {
		t.Errorf("%d messages, want 1", total)
	}
}

// TestDeadLetterQueueIsLikeItsParent: a dead letter keeps its number and its time, and is
// locked for as long as a message of the queue (spec messaging 1.4).
func TestDeadLetterQueueIsLikeItsParent(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q", LockDuration: 17 * time.Second})
	b.send("q", "first", "m")
	var m *servicebusapi.Received
	b.do(func(ctx context.Context) error {
		r, err := b.ns.Receiver(ctx, "q", nil)
		if err != nil {
			return err
		}
		list, err := r.Receive(ctx, 2, 0)
		if err != nil {
			return err
		}
		m = list[1]
		return b.ns.Settle(ctx, "q", servicebusapi.Settlement{Action: servicebusapi.DeadLetter}, m.LockToken)
	})
	b.clk.Advance(time.Second)
	b.do(func(ctx context.Context) error {
		r, err := b.ns.Receiver(ctx, "q/$deadletterqueue", nil)
		if err != nil {
			return err
		}
		dead, err := r.Receive(ctx, 1, 0)
		if err != nil {
			return err
		}
		if d := dead[0]; d.SequenceNumber != m.SequenceNumber || !d.EnqueuedTime.Equal(m.EnqueuedTime) {
			t.Errorf("dead letter %d of %v, want %d of %v", d.SequenceNumber, d.EnqueuedTime, m.SequenceNumber, m.EnqueuedTime)
		} else if want := b.clk.Now().Add(17 * time.Second); !d.LockedUntil.Equal(want) {
			t.Errorf("locked until %v, want %v", d.LockedUntil, want)
		}
		return nil
	})
}

// TestForwardingToItself: the service lets an entity forward to itself, and the number of
// hops ends it (spec messaging 1.7).
func TestForwardingToItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	b.do(func(ctx context.Context) error {
		if _, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "q", ForwardTo: "q", ForwardDeadLetteredMessagesTo: "q"}); err != nil {
			return err
		}
		if _, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"}); err != nil {
			return err
		}
		if _, err := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s"}, nil); err != nil {
			return err
		}
		_, err := b.ns.UpdateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s", ForwardTo: "t"})
		return err
	})
	b.send("q", "m")
	b.send("t", "m")
	b.do(func(ctx context.Context) error {
		q, err := b.ns.GetQueue(ctx, "q")
		if err != nil {
			return err
		}
		s, err := b.ns.GetSubscription(ctx, "t", "s")
		if err != nil {
			return err
		}
		for _, got := range []servicebusapi.Counts{q.Counts, s.Counts} {
			if diff := cmp.Diff(servicebusapi.Counts{TransferDeadLetter: 1}, got); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		}
		return nil
	})
}

func TestSizesFollowTheMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	size := func(want int64) {
		t.Helper()
		b.do(func(ctx context.Context) error {
			topic, err := b.ns.GetTopic(ctx, "t")
			if err == nil && topic.SizeInBytes != want {
				t.Errorf("size = %d, want %d", topic.SizeInBytes, want)
			}
			return err
		})
	}
	b.do(func(ctx context.Context) error {
		if _, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"}); err != nil {
			return err
		}
		for _, name := range []string{"one", "two"} {
			if _, err := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: name}, nil); err != nil {
				return err
			}
		}
		return b.ns.Send(ctx, "t", &servicebusapi.Message{MessageID: "m", Wire: &messaging.Wire{Body: make([]byte, 100)}})
	})
	size(200)
	r := b.receiver("t/Subscriptions/one", nil)
	m := b.receive(r, 1)[0]
	size(200)
	b.do(func(ctx context.Context) error { return r.DeadLetter(ctx, m, "", "", nil) })
	size(200)
	b.do(func(ctx context.Context) error { return b.ns.DeleteSubscription(ctx, "t", "one") })
	size(100)
}
