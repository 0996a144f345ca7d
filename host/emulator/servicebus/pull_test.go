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

// Each call with which a receiver pulls, also one that waits for nothing and gets nothing,
// makes expired messages leave by themselves for a minute (spec messaging 1.5): no later
// call is needed.
func TestPullsThatGetNothing(t *testing.T) {
	t.Parallel()
	mine, other := "mine", "other"
	for _, test := range []struct {
		name     string
		sessions bool
		pull     func(ctx context.Context, b *bench, held servicebusapi.Session) error
		want     error
	}{
		{"receive of another session", true, func(ctx context.Context, _ *bench, held servicebusapi.Session) error {
			_, err := held.Receive(ctx, 1, 0)
			return err
		}, nil},
		{"any session, none free", true, func(ctx context.Context, b *bench, _ servicebusapi.Session) error {
			_, err := b.ns.AcceptSession(ctx, "q", &servicebusapi.SessionOptions{})
			return err
		}, messaging.ErrTimeout},
		{"a session that is locked", true, func(ctx context.Context, b *bench, _ servicebusapi.Session) error {
			_, err := b.ns.AcceptSession(ctx, "q", &servicebusapi.SessionOptions{SessionID: &mine})
			return err
		}, messaging.ErrSessionLocked},
		{"deferred messages that are not there", false, func(ctx context.Context, b *bench, _ servicebusapi.Session) error {
			r, err := b.ns.Receiver(ctx, "q", nil)
			if err == nil {
				_, err = r.ReceiveDeferred(ctx, 1000)
			}
			return err
		}, bindings.ErrMessageNotFound},
		{"deletion of none", false, func(ctx context.Context, b *bench, _ servicebusapi.Session) error {
			_, err := b.ns.DeleteMessages(ctx, "q", nil, 1, start.Add(-time.Hour))
			return err
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "q", RequiresSession: test.sessions, LockDuration: 5 * time.Minute})
			b.do(func(ctx context.Context) error {
				return b.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: "m", SessionID: &other, TimeToLive: 2 * time.Minute})
			})
			var held servicebusapi.Session
			if test.sessions {
				b.do(func(ctx context.Context) (err error) {
					for _, id := range []*string{&other, &mine} {
						if held, err = b.ns.AcceptSession(ctx, "q", &servicebusapi.SessionOptions{SessionID: id}); err != nil {
							return err
						}
					}
					return nil
				})
			}
			b.clk.Advance(90 * time.Second)
			b.do(func(ctx context.Context) error {
				if err := test.pull(ctx, b, held); !errors.Is(err, test.want) {
					t.Errorf("the pull: %v, want %v", err, test.want)
				}
				return nil
			})
			b.clk.Advance(time.Minute)
			if want := "2m0s expired q m 0"; len(b.records) == 0 || b.records[len(b.records)-1] != want {
				t.Errorf("records %q, want %q at the end", b.records, want)
			}
		})
	}
}
