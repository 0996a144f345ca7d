package servicebus_test

import (
	"context"
	"testing"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// BenchmarkDelivery is one message of 1 KiB sent, received in peek-lock and
// completed, with the journal on: in an empty queue, at a depth of 100 000, and
// written through to a store.
func BenchmarkDelivery(b *testing.B) {
	for _, bench := range []struct {
		name  string
		depth int
		store bool
	}{{name: "empty"}, {name: "deep", depth: 100_000}, {name: "durable", store: true}} {
		b.Run(bench.name, func(b *testing.B) {
			clk := clock.System()
			j := journal.New(clk.Now, nil)
			opts := &servicebus.Options{Record: j.Append}
			ns := servicebus.New(clk, opts)
			if bench.store {
				db, err := store.Open(b.TempDir(), nil)
				if err != nil {
					b.Fatal(err)
				}
				defer db.Close()
				if ns, err = servicebus.Open(clk, db, opts); err != nil {
					b.Fatal(err)
				}
			}
			ctx := context.Background()
			if _, err := ns.CreateQueue(ctx, servicebusapi.Queue{Name: "q"}); err != nil {
				b.Fatal(err)
			}
			m := &servicebusapi.Message{MessageID: "id", Body: make([]byte, 1<<10)}
			for range bench.depth {
				if err := ns.Send(ctx, "q", m); err != nil {
					b.Fatal(err)
				}
			}
			r, err := ns.Receiver(ctx, "q", nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := ns.Send(ctx, "q", m); err != nil {
					b.Fatal(err)
				}
				ms, err := r.Receive(ctx, 1, 0)
				if err != nil || len(ms) != 1 {
					b.Fatal(ms, err)
				}
				if err := r.Complete(ctx, ms[0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
