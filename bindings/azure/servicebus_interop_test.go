package azure_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
)

// entities creates what the scripts of one language use.
func (d *busBench) entities(t *testing.T, prefix string) {
	t.Helper()
	for _, name := range []string{"basic", "fields", "settle", "schedule", "async"} {
		d.queue(t, servicebus.Queue{Name: prefix + name})
	}
	for _, name := range []string{"short", "dead"} {
		d.queue(t, servicebus.Queue{Name: prefix + name, LockDuration: 5 * time.Second})
	}
	d.queue(t, servicebus.Queue{Name: prefix + "sessions", RequiresSession: true})
	ctx := context.Background()
	if _, err := d.ns.CreateTopic(ctx, servicebus.Topic{Name: prefix + "topic"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"all", "blue"} {
		if _, err := d.ns.CreateSubscription(ctx, servicebus.Subscription{Topic: prefix + "topic", Name: name}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJavaScriptServiceBusSDK makes the calls of the samples of @azure/service-bus,
// with the connection string of the official emulator.
func TestJavaScriptServiceBusSDK(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.entities(t, "js-")
	javaScript(t, "servicebus.cjs", d.connectionString())
}

// TestPythonServiceBusSDK makes the calls of the samples of azure-servicebus, with
// the connection string of the official emulator.
func TestPythonServiceBusSDK(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.entities(t, "py-")
	pythonScript(t, "servicebus.py", d.connectionString())
}

// TestPythonServiceBusOverTLS makes them as versions do that know of no emulator:
// over TLS, with the server's certificate as the file that they trust.
func TestPythonServiceBusOverTLS(t *testing.T) {
	d := openBusServer(t, clock.System(), nil)
	d.entities(t, "py-")
	t.Setenv("SERVICEBUS_TRUST", d.trust)
	t.Setenv("SERVICEBUS_TLS", "sb://"+d.tlsAddress(t))
	pythonScript(t, "servicebus.py", d.adminConnectionString(t))
}

// TestJavaScriptServiceBusAdministration makes the calls of the samples of
// ServiceBusAdministrationClient, which speaks HTTPS only.
func TestJavaScriptServiceBusAdministration(t *testing.T) {
	d := openBusServer(t, clock.System(), nil)
	t.Setenv("NODE_EXTRA_CA_CERTS", d.trust)
	javaScript(t, "servicebus_admin.cjs", d.adminConnectionString(t))
}
