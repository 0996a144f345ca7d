package hubs_test

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
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/listen"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// world is a namespace with the hub "orders" of two partitions behind its server, beside a
// Service Bus namespace, on a clock that stands still unless the test moves it.
type world struct {
	*testing.T
	ctx        context.Context
	clk        *clock.Virtual
	ns         *eventhubs.Namespace
	address    string
	connection string
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, clk: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil)}
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	w.ns = eventhubs.New(w.clk, nil)
	w.create("orders", 2)
	w.address = serve(t, hubs.New(w.clk, w.ns, bus.New(w.clk, servicebus.New(w.clk, nil), nil)))
	w.connection = fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", w.address)
	return w
}

// create makes a hub.
func (w *world) create(name string, partitions int) {
	w.Helper()
	w.do(func(ctx context.Context) error {
		return w.ns.CreateHub(ctx, eventhubs.Hub{Name: name, Partitions: partitions})
	})
}

func serve(t testing.TB, b amqp.Backend) string {
	t.Helper()
	server := &listen.Server{Other: amqp.NewServer(b, nil)}
	addr, err := server.Listen(listen.Port{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return addr.String()
}

// do runs f in the clock.
func (w *world) do(f func(ctx context.Context) error) {
	w.Helper()
	var err error
	w.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		w.Fatal(err)
	}
}

// producer returns the official client that sends to a hub.
func (w *world) producer(hub string) *azeventhubs.ProducerClient {
	w.Helper()
	p, err := azeventhubs.NewProducerClientFromConnectionString(w.connection, hub, &azeventhubs.ProducerClientOptions{RetryOptions: azeventhubs.RetryOptions{MaxRetries: -1}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// consumer returns the official client that receives from "orders".
func (w *world) consumer() *azeventhubs.ConsumerClient {
	w.Helper()
	c, err := azeventhubs.NewConsumerClientFromConnectionString(w.connection, "orders", azeventhubs.DefaultConsumerGroup, &azeventhubs.ConsumerClientOptions{RetryOptions: azeventhubs.RetryOptions{MaxRetries: -1}})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// partition returns the official client for a partition.
func (w *world) partition(c *azeventhubs.ConsumerClient, id string, opts *azeventhubs.PartitionClientOptions) *azeventhubs.PartitionClient {
	w.Helper()
	p, err := c.NewPartitionClient(id, opts)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// send sends one batch with these bodies to a partition.
func (w *world) send(p *azeventhubs.ProducerClient, partition string, bodies ...string) {
	w.Helper()
	b, err := p.NewEventDataBatch(w.ctx, &azeventhubs.EventDataBatchOptions{PartitionID: &partition})
	if err != nil {
		w.Fatal(err)
	}
	for _, body := range bodies {
		if err := b.AddEventData(&azeventhubs.EventData{Body: []byte(body)}, nil); err != nil {
			w.Fatal(err)
		}
	}
	if err := p.SendEventDataBatch(w.ctx, b, nil); err != nil {
		w.Fatal(err)
	}
}

// bodies receives n events.
func (w *world) bodies(p *azeventhubs.PartitionClient, n int) (out []string) {
	w.Helper()
	list, err := p.ReceiveEvents(w.ctx, n, nil)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range list {
		out = append(out, string(e.Body))
	}
	return out
}
