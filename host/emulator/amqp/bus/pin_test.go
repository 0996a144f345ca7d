package bus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestClientsPinTheClock: a lock that a client holds keeps the pace Auto from
// jumping over it, until the client settles.
func TestClientsPinTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", LockDuration: 30 * time.Second})
	pins := w.pins
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("x")})
	if n := pins(); n != 0 {
		t.Errorf("%d pins before a receive", n)
	}
	r := receiverOf(t, c, "q", nil)
	got := receive(t, ctx, r)
	if n := pins(); n != 1 {
		t.Errorf("%d pins while the message is locked, want 1", n)
	}
	if err := r.RenewMessageLock(ctx, got, nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 1 {
		t.Errorf("%d pins after a renewal, want 1", n)
	}
	if err := r.DeferMessage(ctx, got, nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 0 {
		t.Errorf("%d pins after the settlement", n)
	}
	deferred, err := r.ReceiveDeferredMessages(ctx, []int64{*got.SequenceNumber}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 1 {
		t.Errorf("%d pins while the message is locked that was asked for by number, want 1", n)
	}
	if err := r.CompleteMessage(ctx, deferred[0], nil); err != nil {
		t.Fatal(err)
	}
	if n := pins(); n != 0 {
		t.Errorf("%d pins after its settlement", n)
	}
}

// pins counts what keeps the pace Auto from jumping.
func (w *world) pins() (n int) {
	for _, wait := range w.clk.Waiting() {
		if wait.For == "pin" && strings.HasPrefix(wait.Name, "lock ") {
			n++
		}
	}
	return n
}

// TestPinsEndWithTheirLocks: the locks of sessions are pinned too, and no pin outlives its
// lock, however that ends.
func TestPinsEndWithTheirLocks(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, ctx context.Context, w *world, s *azservicebus.SessionReceiver){
		"closed": func(t *testing.T, ctx context.Context, w *world, s *azservicebus.SessionReceiver) {
			if err := s.Close(ctx); err != nil {
				t.Error(err)
			}
			w.do(t, func(ctx context.Context) error { _, err := w.ns.Purge(ctx, "q"); return err })
		},
		"expired": func(t *testing.T, _ context.Context, w *world, _ *azservicebus.SessionReceiver) {
			w.do(t, func(ctx context.Context) error {
				_, err := w.ns.ExpireLocks(ctx, "q")
				_, other := w.ns.ExpireLocks(ctx, "ordered")
				return errors.Join(err, other)
			})
		},
		"deleted": func(t *testing.T, _ context.Context, w *world, _ *azservicebus.SessionReceiver) {
			w.do(t, func(ctx context.Context) error {
				return errors.Join(w.ns.DeleteQueue(ctx, "q"), w.ns.DeleteQueue(ctx, "ordered"))
			})
		},
		"ended": func(_ *testing.T, _ context.Context, w *world, _ *azservicebus.SessionReceiver) {
			w.clk.Advance(time.Minute)
		},
		"all reset": func(t *testing.T, _ context.Context, w *world, _ *azservicebus.SessionReceiver) {
			w.do(t, func(context.Context) error { return w.ns.Reset() })
		},
		"loaded": func(t *testing.T, _ context.Context, w *world, _ *azservicebus.SessionReceiver) {
			w.do(t, func(context.Context) error {
				image, err := w.ns.Snapshot()
				if err != nil {
					return err
				}
				return w.ns.Load(image)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q"})
			w.queue(t, servicebus.Queue{Name: "ordered", RequiresSession: true})
			ctx, c := w.client(t)
			send(t, ctx, c, "q", &azservicebus.Message{})
			send(t, ctx, c, "ordered", &azservicebus.Message{SessionID: ptr("s")})
			s, err := c.AcceptSessionForQueue(ctx, "ordered", "s", nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := w.pins(); n != 1 {
				t.Errorf("%d pins while a session is held, want 1", n)
			}
			receive(t, ctx, s)
			receive(t, ctx, receiverOf(t, c, "q", nil))
			if n := w.pins(); n != 2 {
				t.Errorf("%d pins while a session and a message are locked, want 2", n)
			}
			if err := s.RenewSessionLock(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if n := w.pins(); n != 2 {
				t.Errorf("%d pins after the session was renewed, want 2", n)
			}
			end(t, ctx, w, s)
			if n := w.pins(); n != 0 {
				t.Errorf("%d pins after the locks, want none", n)
			}
		})
	}
}
