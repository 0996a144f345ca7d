package azure_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// TestGoBlobSDKBatches: a batch changes tiers and deletes, each for itself.
func TestGoBlobSDKBatches(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	for _, name := range []string{"a", "b"} {
		_, err := b.UploadBuffer(ctx, "box", name, []byte("x"), nil)
		b.must("UploadBuffer", err)
	}
	tiers, err := b.container().NewBatchBuilder()
	b.must("NewBatchBuilder", err)
	b.must("SetTier", tiers.SetTier("a", blob.AccessTierCool, nil))
	answer, err := b.container().SubmitBatch(ctx, tiers, nil)
	b.must("SubmitBatch of a container", err)
	if len(answer.Responses) != 1 || answer.Responses[0].Error != nil {
		t.Errorf("answers = %+v", answer.Responses)
	}
	p, err := b.container().NewBlobClient("a").GetProperties(ctx, nil)
	b.must("GetProperties", err)
	if *p.AccessTier != "Cool" {
		t.Errorf("tier = %s, want Cool", *p.AccessTier)
	}

	deletions, err := b.ServiceClient().NewBatchBuilder()
	b.must("NewBatchBuilder", err)
	for _, name := range []string{"a", "none", "b"} {
		b.must("Delete", deletions.Delete("box", name, nil))
	}
	all, err := b.ServiceClient().SubmitBatch(ctx, deletions, nil)
	b.must("SubmitBatch", err)
	failed := map[int]bool{}
	for _, one := range all.Responses {
		failed[*one.ContentID] = one.Error != nil
	}
	if len(failed) != 3 || failed[0] || !failed[1] || failed[2] {
		t.Errorf("failures = %v, want the failures of blob 1 only", failed)
	}
}

// TestGoBlobSDKUserDelegation: a key for somebody with a token, and the signatures
// that it makes.
func TestGoBlobSDKUserDelegation(t *testing.T) {
	t.Parallel()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	clk := clock.NewVirtual(start, nil)
	server, err := served.NewServer(clk, &rest.Options{
		Accounts:  []rest.Account{{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Blobs: storage.New(clk, nil)}},
		QueuePort: -1, TLS: certificate.TLS,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	// The SDK looks for the account's name in the host, even of an emulator.
	host := strings.TrimPrefix(server.BlobURL(), "https://")
	endpoint := "https://" + rest.DevAccount + ".blob.localhost"
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is a test's
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, host)
		},
	}
	defer transport.CloseIdleConnections()
	options := azcore.ClientOptions{Transport: &http.Client{Transport: transport}}
	b, ctx := blobSDK{T: t}, t.Context()
	client, err := service.NewClient(endpoint, anybody{}, &service.ClientOptions{ClientOptions: options})
	b.must("NewClient", err)
	_, err = client.CreateContainer(ctx, "box", nil)
	b.must("CreateContainer", err)
	_, err = client.NewContainerClient("box").NewBlockBlobClient("a").UploadBuffer(ctx, []byte("text"), nil)
	b.must("UploadBuffer", err)

	key, err := client.GetUserDelegationCredential(ctx, service.KeyInfo{
		Start: to.Ptr(start.Format(sas.TimeFormat)), Expiry: to.Ptr(start.Add(2 * time.Hour).Format(sas.TimeFormat)),
	}, nil)
	b.must("GetUserDelegationCredential", err)
	signature, err := sas.BlobSignatureValues{
		ContainerName: "box", BlobName: "a", Permissions: to.Ptr(sas.BlobPermissions{Read: true}).String(), ExpiryTime: start.Add(time.Hour),
	}.SignWithUserDelegation(key)
	b.must("SignWithUserDelegation", err)
	reader, err := blockblob.NewClientWithNoCredential(endpoint+"/box/a?"+signature.Encode(), &blockblob.ClientOptions{ClientOptions: options})
	b.must("NewClientWithNoCredential", err)
	buffer := make([]byte, 4)
	_, err = reader.DownloadBuffer(ctx, buffer, nil)
	b.must("DownloadBuffer", err)
	if string(buffer) != "text" {
		t.Errorf("read %q, want text", buffer)
	}
	_, err = reader.Delete(ctx, nil)
	b.fails("Delete with a signature to read", err, "AuthorizationPermissionMismatch")
	clk.Advance(90 * time.Minute)
	_, err = reader.GetProperties(ctx, nil)
	b.fails("GetProperties after the signature", err, "AuthenticationFailed")
}
