package amqpbench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
)

// hubClients are the most clients that a benchmark has; each has a partition of its own.
const hubClients = 16

// embeddedHub serves a hub of hubClients partitions, in memory or on a disk, and returns
// its connection string.
func embeddedHub(b *testing.B, durable bool) string {
	clk := clock.NewVirtual(time.Now(), nil)
	ns := eventhubs.New(clk, nil)
	if durable {
		db, err := store.Open(b.TempDir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		if ns, err = eventhubs.Open(clk, db, nil); err != nil {
			b.Fatal(err)
		}
	}
	var err error
	clk.Do("create", func() {
		err = ns.CreateHub(context.Background(), eventhubs.Hub{Name: "hub", Partitions: hubClients})
	})
	if err != nil {
		b.Fatal(err)
	}
	server := &listen.Server{Other: amqp.NewServer(hubs.New(clk, ns, bus.New(clk, servicebus.New(clk, nil), nil)), nil)}
	addr, err := server.Listen(listen.Port{})
	if err != nil {
		b.Fatal(err)
	}
	clk.Real()
	b.Cleanup(func() {
		server.Close()
		clk.Close()
	})
	return fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true;", addr.String())
}

// produce sends n events of 1 KiB to a partition, size of them in each batch, which is
// acknowledged before the next is sent.
func produce(ctx context.Context, p *azeventhubs.ProducerClient, partition string, n, size int) error {
	event := &azeventhubs.EventData{Body: make([]byte, 1024)}
	for n > 0 {
		batch, err := p.NewEventDataBatch(ctx, &azeventhubs.EventDataBatchOptions{PartitionID: &partition})
		if err != nil {
			return err
		}
		for range min(n, size) {
			if err := batch.AddEventData(event, nil); err != nil {
				return err
			}
		}
		if err := p.SendEventDataBatch(ctx, batch, nil); err != nil {
			return err
		}
		n -= size
	}
	return nil
}

// producers returns clients whose links are open.
func producers(b *testing.B, ctx context.Context, connection string, clients int) []*azeventhubs.ProducerClient {
	b.Helper()
	out := make([]*azeventhubs.ProducerClient, clients)
	for i := range out {
		var err error
		if out[i], err = azeventhubs.NewProducerClientFromConnectionString(connection, "hub", nil); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = out[i].Close(context.Background()) })
		partition := fmt.Sprint(i)
		if _, err := out[i].NewEventDataBatch(ctx, &azeventhubs.EventDataBatchOptions{PartitionID: &partition}); err != nil {
			b.Fatal(err)
		}
	}
	return out
}

// consume receives n events of a partition, up to 100 at a time.
func consume(ctx context.Context, p *azeventhubs.PartitionClient, n int) error {
	for n > 0 {
		list, err := p.ReceiveEvents(ctx, min(n, 100), nil)
		if err != nil {
			return err
		}
		n -= len(list)
	}
	return nil
}

// consumers returns clients of a partition each, from its beginning.
func consumers(b *testing.B, connection string, clients int) []*azeventhubs.PartitionClient {
	b.Helper()
	out := make([]*azeventhubs.PartitionClient, clients)
	earliest := true
	for i := range out {
		c, err := azeventhubs.NewConsumerClientFromConnectionString(connection, "hub", azeventhubs.DefaultConsumerGroup, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close(context.Background()) })
		if out[i], err = c.NewPartitionClient(fmt.Sprint(i), &azeventhubs.PartitionClientOptions{StartPosition: azeventhubs.StartPosition{Earliest: &earliest}}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = out[i].Close(context.Background()) })
	}
	return out
}

// BenchmarkEventHubs sends and receives events of 1 KiB with the official client for Go:
// one event at a time, batches of 100, and what a consumer prefetches.
func BenchmarkEventHubs(b *testing.B) {
	for _, what := range []string{"send", "sendbatch", "receive"} {
		for _, clients := range []int{1, hubClients} {
			for _, durable := range []bool{false, true} {
				where := "memory"
				if durable {
					where = "durable"
				}
				b.Run(fmt.Sprintf("%s/clients=%d/%s", what, clients, where), func(b *testing.B) {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					connection := embeddedHub(b, durable)
					senders := producers(b, ctx, connection, clients)
					size := 100
					if what == "send" {
						size = 1
					}
					send := func(i, n int) error { return produce(ctx, senders[i], fmt.Sprint(i), n, size) }
					if what == "receive" {
						share(b, clients, send)
						readers := consumers(b, connection, clients)
						b.ResetTimer()
						share(b, clients, func(i, n int) error { return consume(ctx, readers[i], n) })
						return
					}
					b.ResetTimer()
					share(b, clients, send)
				})
			}
		}
	}
}
