package bus_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// benchSession connects a client of its own.
func benchSession(b *testing.B, ctx context.Context, address string) *goamqp.Session {
	b.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := goamqp.NewConn(ctx, nc, nil)
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

// each runs f in as many goroutines as there are clients, each b.N/clients times
// and together b.N times.
func each(b *testing.B, clients int, f func(client, n int) error) {
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
}

// benchBoth runs f with a namespace in memory and with one on a disk, each with one client and
// with 16.
func benchBoth(b *testing.B, f func(b *testing.B, clients int, w *world)) {
	for _, kind := range []string{"memory", "durable"} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/clients=%d", kind, clients), func(b *testing.B) {
				w := &world{clk: clock.NewVirtual(time.Now(), nil)}
				w.ns = servicebus.New(w.clk, nil)
				if kind == "durable" {
					db, err := store.Open(b.TempDir(), nil)
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(func() { db.Close() })
					w.clk.Do("open", func() { w.ns, err = servicebus.Open(w.clk, db, nil) })
					if err != nil {
						b.Fatal(err)
					}
				}
				w.address = serve(b, bus.New(w.clk, w.ns, nil))
				w.clk.Real()
				b.Cleanup(w.clk.Close)
				f(b, clients, w)
			})
		}
	}
}

// BenchmarkSend sends messages of 1 KiB, each of which is acknowledged before the
// client sends the next.
func BenchmarkSend(b *testing.B) {
	benchBoth(b, func(b *testing.B, clients int, w *world) {
		w.queue(b, servicebusapi.Queue{Name: "q", MaxSizeInMegabytes: 5120})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		senders := make([]*goamqp.Sender, clients)
		for i := range senders {
			var err error
			if senders[i], err = benchSession(b, ctx, w.address).NewSender(ctx, "q", nil); err != nil {
				b.Fatal(err)
			}
		}
		body := make([]byte, 1024)
		b.ReportAllocs()
		b.ResetTimer()
		each(b, clients, func(i, n int) error {
			for range n {
				if err := senders[i].Send(ctx, goamqp.NewMessage(body), nil); err != nil {
					return err
				}
			}
			return nil
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	})
}

// BenchmarkReceive receives messages of 1 KiB with a credit of 100 and completes each.
func BenchmarkReceive(b *testing.B) {
	benchBoth(b, func(b *testing.B, clients int, w *world) {
		w.queue(b, servicebusapi.Queue{Name: "q", MaxSizeInMegabytes: 5120})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		w.do(b, func(ctx context.Context) error {
			body := make([]byte, 1024)
			for left := b.N + 100*clients; left > 0; {
				some := make([]*servicebusapi.Message, min(left, 1000))
				for i := range some {
					some[i] = &servicebusapi.Message{Body: body}
				}
				if err := w.ns.Send(ctx, "q", some...); err != nil {
					return err
				}
				left -= len(some)
			}
			return nil
		})
		receivers := make([]*goamqp.Receiver, clients)
		for i := range receivers {
			var err error
			if receivers[i], err = benchSession(b, ctx, w.address).NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: 100, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		b.ResetTimer()
		each(b, clients, func(i, n int) error {
			for range n {
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
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	})
}
