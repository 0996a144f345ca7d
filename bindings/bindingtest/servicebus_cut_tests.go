package bindingtest

import (
	"context"
	"errors"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// runBusCutTests are the rules for clients whose connection breaks: a Receive goes on
// waiting, and what fails otherwise is ErrUnreachable.
func runBusCutTests(t *testing.T, open func(t *testing.T) *ServiceBusBackend) {
	for _, test := range []struct {
		name string
		run  func(b *busBench)
	}{
		{"ReceiveOutlivesItsConnection", func(b *busBench) {
			b.queue(busQueue{Name: "q"})
			b.sendText("q", "a")
			r := b.receiver("q")
			b.complete(r, b.receiveOne(r))
			for _, text := range []string{"b", "c"} {
				b.Cut()
				b.sendAgain("q", text1(text))
				m := b.receive(r, 1)
				b.expect("Receive over a new connection", m, text)
				b.complete(r, m...)
			}
		}},
		// Its lock belongs to a vanished receiver, until it ends.
		{"SessionReceiveTellsOfItsConnection", func(b *busBench) {
			b.queue(busQueue{Name: "q", RequiresSession: true})
			id := "s"
			b.send("q", &busMessage{SessionID: &id, Body: []byte("a")})
			s := b.accept("q", id)
			b.complete(s, b.receiveOne(s))
			b.Cut()
			err := b.call(func(ctx context.Context) error { _, err := s.Receive(ctx, 1, messaging.Forever); return err })
			if !errors.Is(err, messaging.ErrSessionLocked) && !errors.Is(err, messaging.ErrSessionLockLost) {
				b.Errorf("Receive = %v, want ErrSessionLocked or ErrSessionLockLost", err)
			}
		}},
		{"LocksOutliveTheirConnection", func(b *busBench) {
			b.queue(busQueue{Name: "q"})
			b.sendText("q", "a")
			r := b.receiver("q")
			m := b.receiveOne(r)
			b.Cut()
			b.again("Renew", func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err })
			b.Cut()
			b.again("Complete", func(ctx context.Context) error { return r.Complete(ctx, m) })
			b.counts("q", servicebus.Counts{})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			if b.Cut == nil {
				t.Skip("the backend has no connections")
			}
			test.run(&busBench{T: t, ServiceBusBackend: b})
		})
	}
}

// again makes a call until it has a connection; every failure before has to say that
// the service could not be reached.
func (b *busBench) again(what string, f func(ctx context.Context) error) {
	b.Helper()
	const tries = 5
	for range tries {
		err := b.call(f)
		if err == nil {
			return
		}
		if !errors.Is(err, bindings.ErrUnreachable) || !errors.Is(err, bindings.ErrUnavailable) {
			b.Fatalf("%s over a broken connection = %v (%T), want ErrUnreachable", what, err, err)
		}
	}
	b.Fatalf("%s had no connection in %d tries", what, tries)
}

func (b *busBench) sendAgain(entity string, m *busMessage) {
	b.Helper()
	b.again("Send", func(ctx context.Context) error {
		return b.Namespace.Send(ctx, entity, m)
	})
}
