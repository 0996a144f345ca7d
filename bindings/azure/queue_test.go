package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// start is a whole second, because the wire has no finer times.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// queueBench is an embedded account behind a socket.
type queueBench struct {
	server  *rest.Server
	account rest.Account
}

func openServer(t *testing.T, clk clock.Clock, opts *emulator.Options) *queueBench {
	t.Helper()
	storage := emulator.New(clk, opts)
	d := &queueBench{account: rest.Account{
		Name: rest.DevAccount, Keys: []string{rest.DevKey},
		Queues: storage, QueueAdmin: storage,
	}}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{d.account}})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
	})
	d.server = server
	return d
}

func (d *queueBench) connectionString() string {
	return d.account.ConnectionString(d.server.QueueURL())
}

// connect opens the account through the SDK, with connections of its own that
// end before the server is closed.
func connect(t *testing.T, connectionString string, retries int) *azure.QueueAccount {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	account, err := azure.NewQueueAccount(connectionString, &azure.Options{HTTPClient: &http.Client{Transport: transport}, Retries: retries})
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// wire lists the guarantees of the embedded service behind a socket.
var wire = bindingtest.QueueFeatures{UniqueReceipts: true, OrderByVisibility: true, RecreateAtOnce: true, ExactCount: true, WholeSeconds: true}

// TestQueueConformance is the second leg of style 2.7: SDK, socket, server,
// emulator.
func TestQueueConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			d := openServer(t, clk, nil)
			return &bindingtest.QueueBackend{
				Account:  connect(t, d.connectionString(), -1),
				Features: wire,
				Now:      clk.Now,
				Advance:  clk.Advance,
			}
		})
	})
	t.Run("System", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
			d := openServer(t, clock.System(), nil)
			return &bindingtest.QueueBackend{Account: connect(t, d.connectionString(), -1), Features: wire}
		})
	})
	t.Run("Real", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
			clk := clock.NewVirtual(time.Now(), nil)
			d := openServer(t, clk, nil)
			clk.Real()
			t.Cleanup(clk.Close)
			return &bindingtest.QueueBackend{Account: connect(t, d.connectionString(), -1), Features: wire}
		})
	})
}
