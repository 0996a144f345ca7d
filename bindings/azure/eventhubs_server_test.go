package azure_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/listen"
)

// hubBench is an embedded namespace behind its socket.
type hubBench struct {
	clk  clock.Clock
	ns   *eventhubs.Namespace
	addr string
}

// openHubServer serves a namespace with these hubs, beside a Service Bus namespace,
// which has the claims.
func openHubServer(t testing.TB, clk clock.Clock, with ...eventhubs.Hub) *hubBench {
	t.Helper()
	d := serveHubs(t, clk, eventhubs.New(clk, nil), servicebus.New(clk, nil))
	for _, hub := range with {
		d.do(t, func(ctx context.Context) error { return d.ns.CreateHub(ctx, hub) })
	}
	return d
}

// serveHubs opens a server to namespaces.
func serveHubs(t testing.TB, clk clock.Clock, ns *eventhubs.Namespace, beside *servicebus.Namespace) *hubBench {
	t.Helper()
	d := &hubBench{clk: clk, ns: ns}
	d.addr = openPort(t, &listen.Server{Other: amqp.NewServer(hubs.New(clk, ns, bus.New(clk, beside, nil)), nil)}, false)
	return d
}

// do runs f in the clock.
func (d *hubBench) do(t testing.TB, f func(ctx context.Context) error) {
	t.Helper()
	var err error
	d.clk.Inside("test", func() { err = f(context.Background()) })
	if err != nil {
		t.Fatal(err)
	}
}

// connectionString is the connection string of the official emulator.
func (d *hubBench) connectionString() string {
	return "Endpoint=sb://" + d.addr + emulatorKey + "UseDevelopmentEmulator=true;"
}

// way leads to a server, and can be cut or swallow what goes in.
type way struct {
	listener net.Listener
	swallows atomic.Bool

	mu   sync.Mutex
	open []net.Conn
}

// through is the end of a way that what is written comes out of.
type through struct {
	net.Conn
	w *way
}

func (t through) Write(b []byte) (int, error) {
	if t.w.swallows.Load() {
		return len(b), nil
	}
	return t.Conn.Write(b)
}

func openWay(t testing.TB, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{listener: l}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			w.mu.Lock()
			w.open = append(w.open, in, out)
			w.mu.Unlock()
			for _, ends := range [][2]net.Conn{{in, out}, {out, in}} {
				serving.Go(func() {
					_, _ = io.Copy(through{ends[0], w}, ends[1])
					_ = ends[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.cut()
		serving.Wait()
	})
	return w
}

func (w *way) address() string { return w.listener.Addr().String() }

// cut ends all connections.
func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}
