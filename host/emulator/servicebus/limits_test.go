package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// settleWith settles in the three ways that change properties.
var settleWith = map[string]func(ctx context.Context, r servicebusapi.Receiver, m *servicebusapi.Received, properties map[string]any) error{
	"abandon": func(ctx context.Context, r servicebusapi.Receiver, m *servicebusapi.Received, properties map[string]any) error {
		return r.Abandon(ctx, m, properties)
	},
	"defer": func(ctx context.Context, r servicebusapi.Receiver, m *servicebusapi.Received, properties map[string]any) error {
		return r.Defer(ctx, m, properties)
	},
	"dead-letter": func(ctx context.Context, r servicebusapi.Receiver, m *servicebusapi.Received, properties map[string]any) error {
		return r.DeadLetter(ctx, m, "why", "because", properties)
	},
}

// Properties that a settlement adds meet the limits of a send: of the header, of the message
// and of the entity. A settlement that is refused changes nothing; the lock goes on.
func TestSettlementsMeetTheLimits(t *testing.T) {
	t.Parallel()
	for how, settle := range settleWith {
		for _, form := range []string{"plain", "over AMQP"} {
			t.Run(how+"/"+form, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, servicebus.Options{})
				b.queue(servicebusapi.Queue{Name: "q", MaxSizeInMegabytes: 1, MaxDeliveryCount: 1000})
				send := func(id string, body int) {
					m := &servicebusapi.Message{MessageID: id, Body: make([]byte, body)}
					if form != "plain" {
						m.Wire = &messaging.Wire{Body: make([]byte, body), Properties: []byte(id)}
					}
					b.do(func(ctx context.Context) error { return b.ns.Send(ctx, "q", m) })
				}
				r := b.receiver("q", nil)
				wide := func(n int) map[string]any { return map[string]any{"x": strings.Repeat("x", n)} }
				refused := func(what string, m *servicebusapi.Received, n int, want error) {
					t.Helper()
					before := b.size("q")
					b.do(func(ctx context.Context) error {
						if err := settle(ctx, r, m, wide(n)); !errors.Is(err, want) {
							t.Errorf("%s: %v, want %v", what, err, want)
						}
						return nil
					})
					if after := b.size("q"); after != before {
						t.Errorf("%s: the queue grew from %d to %d bytes", what, before, after)
					}
				}
				send("large", 200<<10)
				large := b.receive(r, 1)[0]
				refused("header of 65 KB", large, 65<<10, bindings.ErrTooLarge)
				refused("message of 260 KB", large, 60<<10, bindings.ErrTooLarge)
				b.do(func(ctx context.Context) error { return r.Complete(ctx, large) })

				const each, n = 60 << 10, 15
				for i := range n {
					send(fmt.Sprint(i), 1<<10)
				}
				for _, m := range b.receive(r, n) {
					b.do(func(ctx context.Context) error { return settle(ctx, r, m, wide(each)) })
				}
				if how == "abandon" { // they are back, before the last
					b.receive(r, n)
				}
				send("last", each)
				// 16 messages of 61 KB fit: 61 KB more do not.
				refused("1 MB", b.receive(r, 1)[0], each, messaging.ErrQuotaExceeded)
				if size := b.size("q"); size < 900<<10 || size > 1<<20 {
					t.Errorf("%d bytes in a queue of 1 MB", size)
				}
			})
		}
	}
}

// size is the size of a queue, from the administration.
func (b *bench) size(queue string) (n int64) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		q, err := b.ns.GetQueue(ctx, queue)
		if err == nil {
			n = q.SizeInBytes
		}
		return err
	})
	return n
}

// A copy that an action makes larger than a message may be goes to the dead-letter queue.
func TestActionsMeetTheLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.do(func(ctx context.Context) error {
		if _, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"}); err != nil {
			return err
		}
		_, err := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s"}, &servicebusapi.Rule{
			Name: "r", Action: &servicebusapi.SQL{Expression: "SET y = x; SET z = x"},
		})
		if err != nil {
			return err
		}
		x := map[string]any{"x": strings.Repeat("x", 20<<10)}
		return b.ns.Send(ctx, "t", &servicebusapi.Message{MessageID: "m", Body: make([]byte, 220<<10), ApplicationProperties: x,
			Wire: &messaging.Wire{Body: make([]byte, 220<<10), ApplicationProperties: make([]byte, 20<<10)}})
	})
	dead := b.receive(b.receiver("t/Subscriptions/s/$DeadLetterQueue", nil), 1)[0]
	if reason := dead.ApplicationProperties[servicebusapi.DeadLetterReason]; reason != "MessageSizeExceededException" {
		t.Errorf("dead-lettered because of %v", reason)
	}
}

// An action can take a message's time to live away.
func TestActionRemovesTimeToLive(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"REMOVE sys.TimeToLive", "SET sys.TimeToLive = NULL"} {
		b := newBench(t, servicebus.Options{})
		b.do(func(ctx context.Context) error {
			if _, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"}); err != nil {
				return err
			}
			if _, err := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s"}, &servicebusapi.Rule{
				Name: "r", Action: &servicebusapi.SQL{Expression: expression},
			}); err != nil {
				return err
			}
			return b.ns.Send(ctx, "t", &servicebusapi.Message{MessageID: "m", TimeToLive: time.Hour})
		})
		m := b.receive(b.receiver("t/Subscriptions/s", nil), 1)[0]
		if m.TimeToLive != 0 || !m.ExpiresAt.IsZero() {
			t.Errorf("%s: time to live %v, expires at %v", expression, m.TimeToLive, m.ExpiresAt)
		}
	}
}

// A message that has expired in a queue does not begin a new life elsewhere when the
// queue gets a target.
func TestExpiredIsNotForwarded(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "target"})
	b.queue(servicebusapi.Queue{Name: "q", DeadLetteringOnMessageExpiration: true})
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "old", TimeToLive: time.Minute}, &servicebusapi.Message{MessageID: "good", TimeToLive: time.Hour})
	})
	b.clk.Advance(10 * time.Minute) // nobody pulls: the message is still there
	b.do(func(ctx context.Context) error {
		_, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "q", ForwardTo: "target", DeadLetteringOnMessageExpiration: true})
		return err
	})
	b.do(func(ctx context.Context) error {
		target, err := b.ns.GetQueue(ctx, "target")
		if err != nil {
			return err
		}
		q, err := b.ns.GetQueue(ctx, "q")
		if target.Counts.Active != 1 || q.Counts.DeadLetter != 1 || q.Counts.Active != 0 {
			t.Errorf("target %+v, queue %+v: want one forwarded and one dead-lettered", target.Counts, q.Counts)
		}
		return err
	})
}
