//clock:outside clients of a wire server live in real time

package amqpbench

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
)

// broker is where the client goes.
type broker struct {
	address string // host:port
	node    string // of the queue
	sasl    goamqp.SASLType
}

// embedded serves a namespace, in memory or on a disk.
func embedded(b *testing.B, durable bool) *broker {
	clk := clock.NewVirtual(time.Now(), nil)
	ns := servicebus.New(clk, nil)
	if durable {
		db, err := store.Open(b.TempDir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { db.Close() })
		clk.Do("open", func() { ns, err = servicebus.Open(clk, db, nil) })
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	clk.Do("create", func() {
		_, err = ns.CreateQueue(context.Background(), servicebusapi.Queue{Name: "q", MaxSizeInMegabytes: 5120})
	})
	if err != nil {
		b.Fatal(err)
	}
	server := &listen.Server{Other: amqp.NewServer(bus.New(clk, ns, nil), nil)}
	addr, err := server.Listen(listen.Port{})
	if err != nil {
		b.Fatal(err)
	}
	clk.Real()
	b.Cleanup(func() {
		server.Close()
		clk.Close()
	})
	return &broker{address: addr.String(), node: "q", sasl: goamqp.SASLTypeAnonymous()}
}

// rabbitMQ is a server that somebody has started, such as
//
//	printf 'listeners.tcp.1 = 127.0.0.1:35672\n' >rabbitmq.conf
//	echo '[rabbitmq_amqp1_0].' >plugins
//	RABBITMQ_CONFIG_FILE=$PWD/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$PWD/plugins rabbitmq-server
//
// and REDELIVER_RABBITMQ=127.0.0.1:35672. Its queues are made by links to them; a
// queue of the plugin is durable, while messages are not unless they say so.
func rabbitMQ(b *testing.B) *broker {
	address := os.Getenv("REDELIVER_RABBITMQ")
	if address == "" {
		b.Skip("REDELIVER_RABBITMQ names no server")
	}
	return &broker{address: address, node: fmt.Sprintf("/queue/bench-%d", time.Now().UnixNano()), sasl: goamqp.SASLTypePlain("guest", "guest")}
}

func (k *broker) session(b *testing.B, ctx context.Context) *goamqp.Session {
	b.Helper()
	conn, err := goamqp.Dial(ctx, "amqp://"+k.address, &goamqp.ConnOptions{SASLType: k.sasl})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	s, err := conn.NewSession(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// share runs f for each client, together b.N times.
func share(b *testing.B, clients int, f func(client, n int) error) {
	b.Helper()
	var all sync.WaitGroup
	for i := range clients {
		n := b.N / clients
		if i < b.N%clients {
			n++
		}
		all.Go(func() {
			if err := f(i, n); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func (k *broker) send(b *testing.B, ctx context.Context, clients int, timed bool, extra int) {
	senders := make([]*goamqp.Sender, clients)
	for i := range senders {
		var err error
		if senders[i], err = k.session(b, ctx).NewSender(ctx, k.node, nil); err != nil {
			b.Fatal(err)
		}
	}
	body := make([]byte, 1024)
	if timed {
		b.ResetTimer()
	}
	share(b, clients, func(i, n int) error {
		for range n + extra {
			if err := senders[i].Send(ctx, goamqp.NewMessage(body), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k *broker) receive(b *testing.B, ctx context.Context, clients int) {
	const credit = 100
	k.send(b, ctx, 16, false, credit*clients/16+1)
	receivers := make([]*goamqp.Receiver, clients)
	for i := range receivers {
		var err error
		if receivers[i], err = k.session(b, ctx).NewReceiver(ctx, k.node, &goamqp.ReceiverOptions{Credit: -1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	share(b, clients, func(i, n int) error {
		for j := range n {
			if j%credit == 0 { // by hand: RabbitMQ stops when it is topped up
				if err := receivers[i].IssueCredit(credit); err != nil {
					return err
				}
			}
			m, err := receivers[i].Receive(ctx, nil)
			if err != nil {
				return err
			}
			if err := receivers[i].AcceptMessage(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkBrokers sends messages of 1 KiB, each acknowledged before the client
// sends its next, and receives and accepts them one by one.
func BenchmarkBrokers(b *testing.B) {
	for _, what := range []string{"send", "receive"} {
		for _, clients := range []int{1, 16} {
			for _, of := range []struct {
				name string
				open func(b *testing.B) *broker
			}{
				{"memory", func(b *testing.B) *broker { return embedded(b, false) }},
				{"durable", func(b *testing.B) *broker { return embedded(b, true) }},
				{"rabbitmq", rabbitMQ},
			} {
				b.Run(fmt.Sprintf("%s/clients=%d/%s", what, clients, of.name), func(b *testing.B) {
					k := of.open(b)
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					if what == "send" {
						k.send(b, ctx, clients, true, 0)
					} else {
						k.receive(b, ctx, clients)
					}
				})
			}
		}
	}
}
