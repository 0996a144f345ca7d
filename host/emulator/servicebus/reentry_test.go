package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// A dead letter that a circle of forwarding brings back to its own session makes that
// session anew while the lock of the old one is being ended. There is one session of a name:
// its message can be had by name, and it is locked once.
func TestSessionThatIsMadeAnewWhileItEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, s servicebusapi.Session){
		"lock ends": func(b *bench, _ servicebusapi.Session) { b.clk.Advance(time.Minute) },
		"expired by name": func(b *bench, _ servicebusapi.Session) {
			b.do(func(ctx context.Context) error { return b.ns.ExpireSession(ctx, "ordered", "a") })
		},
		"expired with all": func(b *bench, _ servicebusapi.Session) {
			b.do(func(ctx context.Context) error { _, err := b.ns.ExpireLocks(ctx, "ordered"); return err })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "back"})
			b.queue(servicebusapi.Queue{Name: "ordered", RequiresSession: true, MaxDeliveryCount: 1, ForwardDeadLetteredMessagesTo: "back"})
			b.do(func(ctx context.Context) error {
				_, err := b.ns.UpdateQueue(ctx, servicebusapi.Queue{Name: "back", ForwardTo: "ordered"})
				return err
			})
			id := "a"
			var s servicebusapi.Session
			b.do(func(ctx context.Context) (err error) {
				if err = b.ns.Send(ctx, "ordered", &servicebusapi.Message{MessageID: "m", SessionID: &id}); err != nil {
					return err
				}
				s, err = b.ns.AcceptSession(ctx, "ordered", &servicebusapi.SessionOptions{SessionID: &id})
				return err
			})
			b.receive(s, 1)
			end(b, s)
			b.do(func(ctx context.Context) error {
				next, err := b.ns.AcceptSession(ctx, "ordered", &servicebusapi.SessionOptions{SessionID: &id})
				if err != nil {
					return err
				}
				if other, err := b.ns.AcceptSession(ctx, "ordered", &servicebusapi.SessionOptions{}); !errors.Is(err, messaging.ErrTimeout) {
					t.Errorf("AcceptSession of the next = %v, %v: the session is locked twice", other, err)
				}
				if ms, err := next.Receive(ctx, 1, 0); err != nil || len(ms) != 1 || ms[0].MessageID != "m" {
					t.Errorf("Receive = %v, %v, want the message", ms, err)
				}
				return nil
			})
		})
	}
}
