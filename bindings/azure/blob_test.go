package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// openBlobDoor is a Blob service of an embedded account behind a socket. It
// returns its connection string.
func openBlobDoor(t *testing.T, clk clock.Clock) string {
	t.Helper()
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Blobs: emulator.New(clk, nil)}
	server, err := rest.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}, QueuePort: -1})
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
	return "DefaultEndpointsProtocol=http;AccountName=" + rest.DevAccount + ";AccountKey=" + rest.DevKey +
		";BlobEndpoint=" + server.BlobURL() + "/" + rest.DevAccount + ";"
}

// connectBlobs opens the account through the SDK, with connections of its own
// that end before the server is closed.
func connectBlobs(t *testing.T, connectionString string) *azure.BlobAccount {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	account, err := azure.NewBlobAccount(connectionString, &azure.Options{HTTPClient: &http.Client{Transport: transport}, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// blobWire is what the embedded service guarantees behind a socket. Limits would
// take tens of thousands of requests.
var blobWire = bindingtest.BlobFeatures{
	StrictRenew: true, ChecksEveryWrite: true, StrictNames: true, ResetsLease: true,
	RefusesSnapshotsWithDelimiter: true, RecreateAtOnce: true,
	LowersMetadata: true, NamesCopySource: true,
}

// TestBlobConformance is the second leg of style 2.7: SDK, socket, door,
// emulator.
func TestBlobConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			return &bindingtest.BlobBackend{
				Account: connectBlobs(t, openBlobDoor(t, clk)), Features: blobWire,
				Now: clk.Now, Advance: clk.Advance,
			}
		})
	})
	t.Run("Real", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
			clk := clock.NewVirtual(time.Now(), nil)
			connection := openBlobDoor(t, clk)
			clk.Real()
			t.Cleanup(clk.Close)
			return &bindingtest.BlobBackend{Account: connectBlobs(t, connection), Features: blobWire}
		})
	})
}
