package bus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// TestOnSystemClock has several clients at once on real time, where no turns hide
// data races.
func TestOnSystemClock(t *testing.T) {
	t.Parallel()
	const clients, each = 4, 20
	ns := servicebus.New(clock.System(), nil)
	if _, err := ns.CreateQueue(context.Background(), servicebusapi.Queue{Name: "q"}); err != nil {
		t.Fatal(err)
	}
	w := &world{ns: ns, address: serve(t, bus.New(clock.System(), ns, nil))}
	var mu sync.Mutex
	seen := map[string]int{}
	var all sync.WaitGroup
	for i := range clients {
		ctx, c := w.client(t)
		all.Go(func() {
			s, err := c.NewSender("q", nil)
			if err != nil {
				t.Error(err)
				return
			}
			for j := range each {
				if err := s.SendMessage(ctx, &azservicebus.Message{Body: fmt.Appendf(nil, "%d/%d", i, j)}, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() {
			r, err := c.NewReceiverForQueue("q", nil)
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				list, err := r.ReceiveMessages(ctx, 1, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if err := r.CompleteMessage(ctx, list[0], nil); err != nil {
					t.Error(err)
				}
				mu.Lock()
				seen[string(list[0].Body)]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(seen) != clients*each {
		t.Errorf("%d messages, want %d, each once", len(seen), clients*each)
	}
}
