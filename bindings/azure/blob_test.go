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
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// openBlobServer is a Blob service of an embedded account behind a socket. It
// returns its connection string.
func openBlobServer(t *testing.T, clk clock.Clock) string {
	t.Helper()
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Blobs: storage.New(clk, nil)}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}, QueuePort: -1})
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

// blobWire lists the guarantees of the embedded service behind a socket. Limits
// would take tens of thousands of requests.
var blobWire = bindingtest.BlobFeatures{
	StrictRenew: true, ChecksEveryWrite: true, StrictNames: true, ResetsLease: true,
	RefusesSnapshotsWithDelimiter: true, RecreateAtOnce: true,
	LowersMetadata: true, NamesCopySource: true,
}

// TestBlobConformance is the second leg of style 2.7: SDK, socket, server,
// emulator.
func TestBlobConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			return &bindingtest.BlobBackend{
				Account: connectBlobs(t, openBlobServer(t, clk)), Features: blobWire,
				Now: clk.Now, Advance: clk.Advance,
			}
		})
	})
	t.Run("Real", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
			clk := clock.NewVirtual(time.Now(), nil)
			connection := openBlobServer(t, clk)
			clk.Real()
			t.Cleanup(clk.Close)
			return &bindingtest.BlobBackend{Account: connectBlobs(t, connection), Features: blobWire}
		})
	})
}

// azuriteDiffers lists the behaviour of Azurite 3.37.0 that the service's
// documentation contradicts, with the page that says it or the file that does
// it.
var azuriteDiffers = map[string]string{
	"AccessListIsStored/six policies":                        "it stores as many as there are; docs, Set Container ACL: at most five",
	"AccessListIsStored/policy without terms":                "its generated reader demands an AccessPolicy with something in it; docs, Set Container ACL: all terms are optional",
	"BlocksBecomeABlobByTheirList/ETag of waiting blocks":    "it keeps waiting blocks as a blob with an ETag (LokiBlobMetadataStore.stageBlock)",
	"CopyIsWholeAndIndependent/no container":                 "ContainerNotFound; docs, Copy Blob: CannotVerifyCopySource",
	"CopySourceConditions/code":                              "ConditionNotMet, with 304 too; docs, conditional headers: 412 SourceConditionNotMet",
	"DelimiterFolds/long delimiter":                          "it cuts one character behind the first of the delimiter; docs, List Blobs: a character or a string",
	"DeleteDiscardsWaitingBlocks":                            "waiting blocks outlive the blob; docs, Delete Blob: they are discarded",
	"ExpiredLeaseGuardsNothing/SetMetadata":                  "any write makes an expired lease available (LeaseExpiredState); docs, Lease Blob: only Put Blob and Put Block List do",
	"LeaseIdentifiersAndDurations/capitals":                  "it compares identifiers as texts; they are GUIDs (docs, Lease Blob)",
	"LeaseTableOfBlobs/breaking, change A to C":              "as of B to A: the caller's identifier is that of the lease",
	"LeaseTableOfBlobs/breaking, change B to A":              "change takes the caller's identifier for the proposed one (LokiBlobMetadataStore.changeLease)",
	"LeaseTableOfContainers/breaking, change A to C":         "as of blobs",
	"LeaseTableOfContainers/breaking, change B to A":         "as of blobs",
	"ListInPages/page after changes":                         "its marker is the last name of the page before; docs, List Blobs: opaque",
	"ListOfSnapshots/pages":                                  "its marker is a name, so what is left of a blob's snapshots is lost",
	"MissingBlobFailsEveryCall/copy source":                  "BlobNotFound; docs, Copy Blob: CannotVerifyCopySource",
	"OverwriteReplacesEverythingButSnapshots/waiting blocks": "waiting blocks outlive a put; docs, Put Blob: they are discarded",
	"Ranges/from the end":                                    "a range behind the end is empty; docs, Get Blob: 416 InvalidRange",
	"ServicePropertiesKeepWhatIsNotSet/six rules":            "refused with 400 and no code",
	"SnapshotsAndCopiesOfAppendBlobsStay":                    "a copy of an append blob shares its blocks with the source, and grows with it",
}

// TestAzuriteBlobConformance is the third leg of style 2.7: the SDK and a server
// written by others. BlobFeatures leaves out the points in which Azurite goes
// its own way (spec storage 17.4, 19).
func TestAzuriteBlobConformance(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteBlobMain)
	bindingtest.RunBlob(t, func(t *testing.T) *bindingtest.BlobBackend {
		// Two snapshots at one instant would have one name.
		at := newAzuriteTime(t, func(r *http.Request) bool { return r.URL.Query().Get("comp") == "snapshot" })
		account, err := azure.NewBlobAccount(azuriteBlobs.open(t), &azure.Options{HTTPClient: &http.Client{Transport: at}, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		return &bindingtest.BlobBackend{
			Account:  account,
			Features: bindingtest.BlobFeatures{RecreateAtOnce: true, LowersMetadata: true, NamesCopySource: true, Differs: azuriteDiffers},
			Now:      at.Now,
			Advance:  at.Advance,
		}
	})
}
