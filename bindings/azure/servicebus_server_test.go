package azure_test

import (
	"context"
	"net"
	"testing"
	"time"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/certificate"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/rest/atom"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/listen"
)

// busBench is an embedded namespace behind its sockets: AMQP, plain and in TLS,
// and administration, all on each port.
type busBench struct {
	ns            *servicebus.Namespace
	addr, tlsAddr string
	trust         string // file with the certificate of the TLS port
}

func openBusServer(t testing.TB, clk clock.Clock, opts *servicebus.Options) *busBench {
	t.Helper()
	pair, err := certificate.SelfMade(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d := &busBench{ns: servicebus.New(clk, opts), trust: pair.File}
	broker := amqp.NewServer(bus.New(clk, d.ns, nil), nil)
	server := &listen.Server{Other: broker, Handler: broker.Handler(listen.Bodies(atom.New(clk, d.ns, nil))), TLS: pair.Config()}
	d.addr, d.tlsAddr = openPort(t, server, false), openPort(t, server, true)
	return d
}

const emulatorKey = ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"

// connectionString is the connection string of the official emulator, at the plain
// port.
func (d *busBench) connectionString() string { return busConnectionString(d.addr) }

func busConnectionString(addr string) string {
	return "Endpoint=sb://" + addr + emulatorKey + "UseDevelopmentEmulator=true;"
}

// tlsAddress is the name and the port under which clients that know nothing but
// TLS find the server.
func (d *busBench) tlsAddress(t testing.TB) string {
	t.Helper()
	_, port, err := net.SplitHostPort(d.tlsAddr)
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("localhost", port)
}

// adminConnectionString is for clients that administer over HTTPS, at the TLS port.
func (d *busBench) adminConnectionString(t testing.TB) string {
	t.Helper()
	return "Endpoint=sb://" + d.tlsAddress(t) + emulatorKey
}

// queue creates a queue on the system's clock.
func (d *busBench) queue(t testing.TB, q servicebusapi.Queue) {
	t.Helper()
	if _, err := d.ns.CreateQueue(context.Background(), q); err != nil {
		t.Fatal(err)
	}
}
