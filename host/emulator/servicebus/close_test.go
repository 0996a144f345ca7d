package servicebus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// Close ends a receiver also when it fails, as on a full disk: a wait for the end of the
// receiver, such as a link's watch, ends.
func TestCloseThatFailsEndsTheReceiver(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for _, q := range []servicebusapi.Queue{{Name: "plain"}, {Name: "ordered", RequiresSession: true}} {
		for name, fails := range map[string]func(p servicebus.FaultPoint) bool{
			"before":    func(p servicebus.FaultPoint) bool { return p.Op == "Close" && !p.After },
			"after":     func(p servicebus.FaultPoint) bool { return p.Op == "Close" && p.After },
			"cancelled": func(servicebus.FaultPoint) bool { return false },
		} {
			t.Run(q.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, servicebus.Options{Fault: func(p servicebus.FaultPoint) error {
					if fails(p) {
						return full
					}
					return nil
				}})
				b.queue(q)
				var r servicebusapi.Receiver
				b.do(func(ctx context.Context) (err error) {
					if q.RequiresSession {
						id := "s"
						r, err = b.ns.AcceptSession(ctx, q.Name, &servicebusapi.SessionOptions{SessionID: &id})
						return err
					}
					r, err = b.ns.Receiver(ctx, q.Name, nil)
					return err
				})
				lost := b.start(context.Background(), func(ctx context.Context) ([]*servicebusapi.Received, error) {
					return nil, r.(servicebusapi.Link).Lost(ctx)
				})
				receive := b.waitFor(r, 1)
				b.do(func(ctx context.Context) error {
					if name == "cancelled" {
						var cancel context.CancelFunc
						ctx, cancel = b.clk.WithCancel(ctx)
						cancel()
					}
					if err := r.Close(ctx); err == nil {
						t.Error("Close: no error")
					}
					return nil
				})
				for what, w := range map[string]*wait{"Lost": lost, "Receive": receive} {
					if !w.done || !errors.Is(w.err, messaging.ErrClosed) {
						t.Errorf("%s after Close: returned %t, %v", what, w.done, w.err)
					}
				}
			})
		}
	}
}
