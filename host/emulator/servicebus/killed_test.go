package servicebus_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// What a killed host had locked is waited for by the next one in virtual time: it has
// nothing else to do, and no clock of the world ends those locks. What a client in real time
// had locked keeps to the real time.
func TestLocksOfAKilledHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		session bool
		outside bool // held by a client in real time
		topic   bool
		want    time.Duration // zero: time does not move
	}{
		{"queue", false, false, false, 30 * time.Second},
		{"subscription", false, false, true, 30 * time.Second},
		{"sessions", true, false, false, 30 * time.Second},
		{"sessions of a subscription", true, false, true, 30 * time.Second},
		{"queue of a client", false, true, false, 0},
		{"sessions of a client", true, true, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := newVirtual()
			ctx, db := context.Background(), openMemory(t, &store.Options{Sync: true})
			source, target := "q", "q"
			if tt.topic {
				source, target = "t/Subscriptions/s", "t"
			}
			take := func(ctx context.Context, ns *servicebus.Namespace, real bool) (got *servicebusapi.Received, err error) {
				var r servicebusapi.Receiver
				opts := servicebusapi.ReceiverOptions{RealTime: real}
				if tt.session {
					r, err = ns.AcceptSession(ctx, source, &servicebusapi.SessionOptions{ReceiverOptions: opts, Wait: messaging.Forever})
				} else {
					r, err = ns.Receiver(ctx, source, &opts)
				}
				if err != nil {
					return nil, err
				}
				list, err := r.Receive(ctx, 1, messaging.Forever)
				if err != nil || len(list) != 1 {
					return nil, err
				}
				return list[0], nil
			}
			open := func() *servicebus.Namespace {
				ns, err := servicebus.Open(v, db, nil)
				if err != nil {
					t.Fatal(err)
				}
				return ns
			}
			first := open()
			v.Do("test", func() {
				session := "s"
				var err error
				if tt.topic {
					_, err = first.CreateTopic(ctx, servicebusapi.Topic{Name: "t"})
					if err == nil {
						_, err = first.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s", RequiresSession: tt.session, LockDuration: 30 * time.Second}, nil)
					}
				} else {
					_, err = first.CreateQueue(ctx, servicebusapi.Queue{Name: "q", RequiresSession: tt.session, LockDuration: 30 * time.Second})
				}
				if err != nil {
					t.Error(err)
					return
				}
				if err := first.Send(ctx, target, &servicebusapi.Message{MessageID: "m", SessionID: &session}); err != nil {
					t.Error(err)
					return
				}
				if got, err := take(ctx, first, tt.outside); got == nil || err != nil {
					t.Errorf("received %v, %v", got, err)
				}
			})
			began, next := v.Now(), open() // the first is killed
			var got *servicebusapi.Received
			group := clock.NewGroup(v, 0)
			listening, end := v.WithCancel(ctx)
			v.Do("test", func() {
				group.Go("listener", func() { got, _ = take(listening, next, false) })
			})
			v.Run(2 * time.Minute)
			if moved := v.Now().Sub(began); moved != tt.want || (got != nil) != (tt.want > 0) {
				t.Errorf("after %v received %v, want it after %v", moved, got, tt.want)
			}
			v.Do("end", end)
		})
	}
}
