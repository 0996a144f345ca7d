package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
	"github.com/redeliver/redeliver/host/listen"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// world is a namespace behind its server, on a clock that stands still unless the
// test moves it.
type world struct {
	clk     *clock.Virtual
	ns      *servicebus.Namespace
	address string
}

func newWorld(t testing.TB, nsOpts *servicebus.Options, opts *bus.Options) *world {
	t.Helper()
	w := &world{clk: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})}
	w.ns = servicebus.New(w.clk, nsOpts)
	w.address = serve(t, bus.New(w.clk, w.ns, opts))
	return w
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
func (w *world) do(t testing.TB, f func(ctx context.Context) error) {
	t.Helper()
	var err error
	w.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) queue(t testing.TB, q servicebusapi.Queue) {
	t.Helper()
	w.do(t, func(ctx context.Context) error {
		_, err := w.ns.CreateQueue(ctx, q)
		return err
	})
}

func (w *world) topic(t testing.TB, name string, subscriptions ...string) {
	t.Helper()
	w.do(t, func(ctx context.Context) error {
		_, err := w.ns.CreateTopic(ctx, servicebusapi.Topic{Name: name})
		for _, s := range subscriptions {
			if err == nil {
				_, err = w.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: name, Name: s}, nil)
			}
		}
		return err
	})
}

// counts are the counts of a queue.
func (w *world) counts(t testing.TB, queue string) (c servicebusapi.Counts) {
	t.Helper()
	w.do(t, func(ctx context.Context) error {
		q, err := w.ns.GetQueue(ctx, queue)
		if err == nil {
			c = q.Counts
		}
		return err
	})
	return c
}

// client returns the official Go client, connected in the way of the official emulator.
func (w *world) client(t testing.TB) (context.Context, *azservicebus.Client) {
	t.Helper()
	return w.clientWith(t, azservicebus.RetryOptions{MaxRetries: -1})
}

func (w *world) clientWith(t testing.TB, retry azservicebus.RetryOptions) (context.Context, *azservicebus.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", w.address)
	c, err := azservicebus.NewClientFromConnectionString(s, &azservicebus.ClientOptions{RetryOptions: retry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close(context.Background())
		cancel()
	})
	return ctx, c
}

func ptr[T any](v T) *T { return &v }

func receiverOf(t testing.TB, c *azservicebus.Client, queue string, opts *azservicebus.ReceiverOptions) *azservicebus.Receiver {
	t.Helper()
	r, err := c.NewReceiverForQueue(queue, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func receive(t testing.TB, ctx context.Context, r interface {
	ReceiveMessages(context.Context, int, *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error)
}) *azservicebus.ReceivedMessage {
	t.Helper()
	for {
		list, err := r.ReceiveMessages(ctx, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 { // none when the link was detached for idleness: it attaches again
			return list[0]
		}
	}
}

func send(t testing.TB, ctx context.Context, c *azservicebus.Client, entity string, messages ...*azservicebus.Message) {
	t.Helper()
	s, err := c.NewSender(entity, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	for _, m := range messages {
		if err := s.SendMessage(ctx, m, nil); err != nil {
			t.Fatal(err)
		}
	}
}
