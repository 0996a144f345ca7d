package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// An entity that is used in any way outlives its autoDeleteOnIdle of five minutes, and ends
// five minutes after the use has ended. Source: docs, message-expiration, temporary entities:
// sends, receives, updates, scheduled messages, peeks; operations on the subscriptions of a
// topic; auto-forwarding counts as receiving.
func TestUsedEntitiesAreNotIdle(t *testing.T) {
	t.Parallel()
	const idle, step = 5 * time.Minute, 4 * time.Minute
	id := "s"
	session := func(b *bench, source string) (s servicebusapi.Session) {
		b.do(func(ctx context.Context) (err error) {
			s, err = b.ns.AcceptSession(ctx, source, &servicebusapi.SessionOptions{SessionID: &id})
			return err
		})
		return s
	}
	get := map[string]func(ctx context.Context, ns *servicebus.Namespace) error{
		"q": func(ctx context.Context, ns *servicebus.Namespace) error { _, err := ns.GetQueue(ctx, "q"); return err },
		"s": func(ctx context.Context, ns *servicebus.Namespace) error { _, err := ns.GetQueue(ctx, "s"); return err },
		"t": func(ctx context.Context, ns *servicebus.Namespace) error { _, err := ns.GetTopic(ctx, "t"); return err },
		"t/sub": func(ctx context.Context, ns *servicebus.Namespace) error {
			_, err := ns.GetSubscription(ctx, "t", "sub")
			return err
		},
		"t/fwd": func(ctx context.Context, ns *servicebus.Namespace) error {
			_, err := ns.GetSubscription(ctx, "t", "fwd")
			return err
		},
	}
	for name, c := range map[string]struct {
		entity string                        // that has to stay
		goesOn bool                          // the use does not end
		use    func(b *bench) (again func()) // begins the use; again goes on with it, every four minutes
	}{
		"lock renewed": {"q", false, func(b *bench) func() {
			b.send("q", "m")
			r := b.receiver("q", nil)
			m := b.receive(r, 1)[0]
			return func() { b.do(func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err }) }
		}},
		"message locked": {"q", false, func(b *bench) func() {
			b.send("q", "m", "n")
			r := b.receiver("q", nil)
			b.receive(r, 1)
			return func() { b.do(func(ctx context.Context) error { _, err := r.Receive(ctx, 1, 0); return err }) }
		}},
		"session renewed": {"s", false, func(b *bench) func() {
			s := session(b, "s")
			return func() { b.do(func(ctx context.Context) error { _, err := s.RenewSession(ctx); return err }) }
		}},
		"session state": {"s", false, func(b *bench) func() {
			s := session(b, "s")
			return func() {
				b.do(func(ctx context.Context) error {
					return errors.Join(s.SetState(ctx, []byte("x")), func() error { _, err := s.RenewSession(ctx); return err }())
				})
			}
		}},
		"scheduled message waits": {"q", false, func(b *bench) func() {
			b.do(func(ctx context.Context) error {
				_, err := b.ns.Schedule(ctx, "q", b.clk.Now().Add(21*time.Minute), &servicebusapi.Message{})
				return err
			})
			return func() {}
		}},
		"scheduled message waits in a topic": {"t", false, func(b *bench) func() {
			b.do(func(ctx context.Context) error {
				_, err := b.ns.Schedule(ctx, "t", b.clk.Now().Add(21*time.Minute), &servicebusapi.Message{})
				return err
			})
			return func() {}
		}},
		"peeked by a receiver": {"q", false, func(b *bench) func() {
			r := b.receiver("q", nil)
			return func() { b.do(func(ctx context.Context) error { _, err := r.Peek(ctx, 0, 1); return err }) }
		}},
		"dead-letter queue waited for": {"q", true, func(b *bench) func() {
			b.waitFor(b.receiver("q/$DeadLetterQueue", nil), 1)
			return func() {}
		}},
		"transfer dead-letter queue waited for": {"q", true, func(b *bench) func() {
			b.waitFor(b.receiver("q/$Transfer/$DeadLetterQueue", nil), 1)
			return func() {}
		}},
		"topic of a subscription that is received from": {"t", false, func(b *bench) func() {
			r := b.receiver("t/Subscriptions/sub", nil)
			return func() { b.do(func(ctx context.Context) error { _, err := r.Receive(ctx, 1, 0); return err }) }
		}},
		"topic of a subscription that is waited for": {"t", true, func(b *bench) func() {
			b.waitFor(b.receiver("t/Subscriptions/sub", nil), 1)
			return func() {}
		}},
		"topic of a subscription with new rules": {"t", false, func(b *bench) func() {
			n := 0
			return func() {
				n++
				b.do(func(ctx context.Context) error {
					_, err := b.ns.CreateRule(ctx, "t", "sub", servicebusapi.Rule{Name: string(rune('a' + n))})
					return err
				})
			}
		}},
		"subscription that forwards": {"t/fwd", true, func(b *bench) func() {
			return func() { b.send("t", "m") }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "target"})
			b.queue(servicebusapi.Queue{Name: "q", AutoDeleteOnIdle: idle, LockDuration: 5 * time.Minute})
			b.queue(servicebusapi.Queue{Name: "s", AutoDeleteOnIdle: idle, LockDuration: 5 * time.Minute, RequiresSession: true})
			b.do(func(ctx context.Context) error {
				_, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t", AutoDeleteOnIdle: idle})
				if err != nil {
					return err
				}
				if _, err = b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "sub", LockDuration: time.Minute}, nil); err != nil || c.entity != "t/fwd" {
					return err
				}
				_, err = b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "fwd", AutoDeleteOnIdle: idle, ForwardTo: "target"}, nil)
				return err
			})
			again := c.use(b)
			there := func() (err error) {
				b.clk.Do("look", func() { err = get[c.entity](context.Background(), b.ns) })
				return err
			}
			for range 5 {
				b.clk.Advance(step)
				if err := there(); err != nil {
					t.Fatalf("after %v: %v", b.clk.Now().Sub(start), err)
				}
				again()
			}
			if c.goesOn {
				b.do(func(ctx context.Context) error { return b.ns.Reset() }) // waiting receivers are told
				return
			}
			b.clk.Advance(12 * time.Minute)
			if err := there(); !errors.Is(err, bindings.ErrNotFound) {
				t.Errorf("12 minutes after the last use: %v, want ErrNotFound", err)
			}
		})
	}
}

// A subscription is accessed when it is created; a queue and a topic are not. Source:
// azservicebus: admin/admin_client_test.go, the live tests of runtime properties.
func TestAccessedWhenCreated(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	b.do(func(ctx context.Context) error {
		topic, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"})
		if err != nil {
			return err
		}
		s, err := b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s"}, nil)
		if err != nil {
			return err
		}
		q, err := b.ns.GetQueue(ctx, "q")
		if !topic.Accessed.IsZero() || !q.Accessed.IsZero() || !s.Accessed.Equal(b.clk.Now()) {
			t.Errorf("accessed: topic %v, queue %v, subscription %v", topic.Accessed, q.Accessed, s.Accessed)
		}
		return err
	})
}
