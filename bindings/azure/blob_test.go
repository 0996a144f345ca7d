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

// azuriteDiffers is what Azurite 3.35.0 was seen to do where the service's
// documentation says otherwise.
var azuriteDiffers = map[string]string{
	"AccessListIsStored":                      "refuses the access list without a code",
	"BlocksBecomeABlobByTheirList":            "a blob with waiting blocks only has an ETag",
	"BodyMD5IsChecked":                        "any MD5 of a body is an InvalidOperation",
	"CopyIsWholeAndIndependent":               "a missing source container is ContainerNotFound",
	"CopySourceConditions":                    "conditions on the source fail as ConditionNotMet, with 304 too",
	"DelimiterFolds":                          "delimiters of several characters fold short",
	"DeleteDiscardsWaitingBlocks":             "waiting blocks outlive the blob",
	"LeaseIdentifiersAndDurations":            "identifiers of leases have a case",
	"LeaseTableOfBlobs":                       "a change of a breaking lease is always a mismatch",
	"LeaseTableOfContainers":                  "a change of a breaking lease is always a mismatch",
	"ListInPages":                             "the marker is the last name of the page before",
	"ListOfSnapshots":                         "snapshots follow their blob, latest first, and paging loses some",
	"MissingBlobFailsEveryCall":               "a missing copy source is BlobNotFound",
	"OverwriteReplacesEverythingButSnapshots": "waiting blocks outlive a put",
	"Ranges":                              "a range behind the end, or of an empty blob, is empty",
	"ServicePropertiesKeepWhatIsNotSet":   "too many rules are refused without a code",
	"SnapshotsAndCopiesOfAppendBlobsStay": "a copy grows with its source",
}

// TestAzuriteBlobConformance is the third leg of style 2.7: the SDK and a server
// written by others. What Azurite does in its own way is left out of
// BlobFeatures (storage.md 17.4, 19).
func TestAzuriteBlobConformance(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteBlobMain)
	bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
		return &bindingtest.BlobBackend{
			Account:  connectBlobs(t, azuriteBlobs.open(t)),
			Features: bindingtest.BlobFeatures{RecreateAtOnce: true, LowersMetadata: true, NamesCopySource: true, Differs: azuriteDiffers},
		}
	})
}
