package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// Sixteen clients on the system clock send, receive, settle in every way, close
// and vanish at random; each message is completed exactly once.
func TestManyClients(t *testing.T) {
	t.Parallel()
	const clients, each = 16, 100
	ns := servicebus.New(clock.System(), nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, q := range []servicebusapi.Queue{{Name: "plain", MaxDeliveryCount: 1 << 20}, {Name: "sessions", MaxDeliveryCount: 1 << 20, RequiresSession: true}} {
		if _, err := ns.CreateQueue(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	var completed sync.Map
	var left atomic.Int64
	left.Store(clients * each)
	work := func(w int) error {
		random := rand.New(rand.NewPCG(uint64(w), 7))
		name := []string{"plain", "sessions"}[w%2]
		for i := range each {
			id := fmt.Sprintf("s%d", random.IntN(5))
			if err := ns.Send(ctx, name, &servicebusapi.Message{MessageID: fmt.Sprintf("%d-%d", w, i), SessionID: &id}); err != nil {
				return err
			}
		}
		for left.Load() > 0 {
			var r servicebusapi.Receiver
			var err error
			if w%2 == 0 {
				r, err = ns.Receiver(ctx, name, nil)
			} else {
				r, err = ns.AcceptSession(ctx, name, &servicebusapi.SessionOptions{Wait: 10 * time.Millisecond})
				if errors.Is(err, messaging.ErrTimeout) {
					continue
				}
			}
			if err != nil {
				return err
			}
			ms, err := r.Receive(ctx, 1+random.IntN(5), 10*time.Millisecond)
			for _, m := range ms {
				if err != nil {
					break
				}
				switch random.IntN(5) {
				case 0:
					err = r.Abandon(ctx, m, map[string]any{"x": int64(w)})
				case 1:
					err = r.Release(ctx, m)
				case 2:
					if err = r.Defer(ctx, m, nil); err == nil {
						var back []*servicebusapi.Received
						if back, err = r.ReceiveDeferred(ctx, m.SequenceNumber); err == nil {
							m = back[0]
						}
					}
					fallthrough
				default:
					if err == nil {
						err = r.Complete(ctx, m)
					}
					if _, twice := completed.LoadOrStore(m.MessageID, true); twice {
						return fmt.Errorf("message %s was completed twice", m.MessageID)
					}
					left.Add(-1)
				}
			}
			if err == nil {
				err = r.Close(ctx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var group sync.WaitGroup
	for w := range clients {
		group.Go(func() {
			if err := work(w); err != nil {
				t.Errorf("client %d: %v", w, err)
				cancel()
			}
		})
	}
	group.Wait()
	qs, err := ns.ListQueues(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		if q.Counts.Total() != 0 || q.SizeInBytes != 0 {
			t.Errorf("left in %s: %+v, %d bytes", q.Name, q.Counts, q.SizeInBytes)
		}
	}
}

// Settlements race with the ends of locks: one of the two wins, and the message
// is there or it is not.
func TestSettlementAgainstTheEndOfTheLock(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true, Seed: seed, Shuffle: true})
		ns := servicebus.New(clk, nil)
		ctx := context.Background()
		group := clock.NewGroup(clk, 0)
		settled, lost := 0, 0
		clk.Do("test", func() {
			if _, err := ns.CreateQueue(ctx, servicebusapi.Queue{Name: "q"}); err != nil {
				t.Error(err)
			}
			for range 20 {
				_ = ns.Send(ctx, "q", &servicebusapi.Message{})
			}
			r, err := ns.Receiver(ctx, "q", nil)
			if err != nil {
				t.Error(err)
				return
			}
			ms, _ := r.Receive(ctx, 20, 0)
			for _, m := range ms {
				group.Go("settles", func() {
					_ = clk.Sleep(ctx, time.Minute-time.Nanosecond+time.Duration(seed%3))
					switch err := r.Complete(ctx, m); {
					case err == nil:
						settled++
					case errors.Is(err, messaging.ErrLockLost):
						lost++
					default:
						t.Errorf("Complete: %v", err)
					}
				})
			}
		})
		clk.Advance(2 * time.Minute)
		clk.Do("test", func() {
			q, err := ns.GetQueue(ctx, "q")
			if err != nil || settled+lost != 20 || q.Counts.Active != int64(lost) {
				t.Errorf("seed %d: %d settled, %d lost, %+v there, %v", seed, settled, lost, q.Counts, err)
			}
		})
	}
}
