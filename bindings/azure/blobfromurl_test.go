package azure_test

import (
	"io"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/redeliver/redeliver/host/clock"
)

// text returns the content of a blob.
func (b blobSDK) text(name string) string {
	b.Helper()
	d, err := b.DownloadStream(b.Context(), "box", name, nil)
	b.must("DownloadStream", err)
	defer d.Body.Close()
	got, err := io.ReadAll(d.Body)
	b.must("read", err)
	return string(got)
}

// TestGoBlobSDKReadsSources: blobs, blocks and appended blocks from an address with a
// signature; without a signature they are refused.
func TestGoBlobSDKReadsSources(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	source := b.container().NewBlockBlobClient("source")
	_, err := source.UploadBuffer(ctx, []byte("0123456789"), &blockblob.UploadBufferOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/plain")}})
	b.must("UploadBuffer", err)
	signed, err := source.GetSASURL(sas.BlobPermissions{Read: true}, start.Add(time.Hour), nil)
	b.must("GetSASURL", err)

	put := b.container().NewBlockBlobClient("put")
	_, err = put.UploadBlobFromURL(ctx, source.URL(), nil)
	b.fails("UploadBlobFromURL without a signature", err, bloberror.CannotVerifyCopySource)
	_, err = put.UploadBlobFromURL(ctx, signed, &blockblob.UploadBlobFromURLOptions{SourceContentMD5: make([]byte, 16)})
	b.fails("UploadBlobFromURL with another MD5", err, bloberror.MD5Mismatch)
	_, err = put.UploadBlobFromURL(ctx, signed, nil)
	b.must("UploadBlobFromURL", err)
	p, err := put.GetProperties(ctx, nil)
	b.must("GetProperties", err)
	if got := b.text("put"); got != "0123456789" || *p.ContentType != "text/plain" {
		t.Errorf("put from URL = %q of type %s", got, *p.ContentType)
	}

	id := "MQ=="
	staged, err := put.StageBlockFromURL(ctx, id, signed, &blockblob.StageBlockFromURLOptions{Range: blob.HTTPRange{Offset: 2, Count: 3}})
	b.must("StageBlockFromURL", err)
	if len(staged.ContentCRC64) != 8 {
		t.Errorf("CRC64 of the block = %x", staged.ContentCRC64)
	}
	_, err = put.CommitBlockList(ctx, []string{id}, nil)
	b.must("CommitBlockList", err)
	if got := b.text("put"); got != "234" {
		t.Errorf("block from URL = %q, want 234", got)
	}

	log := b.container().NewAppendBlobClient("log")
	_, err = log.Create(ctx, nil)
	b.must("Create", err)
	_, err = log.AppendBlockFromURL(ctx, signed, &appendblob.AppendBlockFromURLOptions{Range: blob.HTTPRange{Offset: 8}})
	b.must("AppendBlockFromURL", err)
	if got := b.text("log"); got != "89" {
		t.Errorf("append from URL = %q, want 89", got)
	}

	_, err = put.CopyFromURL(ctx, signed, nil)
	b.must("CopyFromURL", err)
	expired, err := source.GetSASURL(sas.BlobPermissions{Read: true}, start.Add(-time.Hour), nil)
	b.must("GetSASURL", err)
	_, err = put.StartCopyFromURL(ctx, expired, nil)
	b.fails("StartCopyFromURL with a signature that has expired", err, bloberror.CannotVerifyCopySource)
}
