package azure_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/pageblob"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
)

// TestGoBlobSDKPages: pages that are written, cleared and listed, sequence numbers, and
// requests that are refused.
func TestGoBlobSDKPages(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	disk := b.container().NewPageBlobClient("disk")
	_, err := disk.Create(ctx, 4*512, &pageblob.CreateOptions{SequenceNumber: to.Ptr(int64(1))})
	b.must("Create", err)
	text := strings.Repeat("a", 1024)
	pages := streaming.NopCloser(strings.NewReader(text))
	_, err = disk.UploadPages(ctx, pages, blob.HTTPRange{Offset: 512, Count: 1024}, nil)
	b.must("UploadPages", err)
	_, err = disk.UploadPages(ctx, streaming.NopCloser(strings.NewReader(text)), blob.HTTPRange{Offset: 3 * 512, Count: 1024}, nil)
	b.fails("UploadPages over the end", err, bloberror.InvalidPageRange)
	_, err = disk.ClearPages(ctx, blob.HTTPRange{Offset: 1024, Count: 512}, &pageblob.ClearPagesOptions{
		SequenceNumberAccessConditions: &pageblob.SequenceNumberAccessConditions{IfSequenceNumberEqualTo: to.Ptr(int64(2))},
	})
	b.fails("ClearPages at another number", err, bloberror.SequenceNumberConditionNotMet)
	_, err = disk.ClearPages(ctx, blob.HTTPRange{Offset: 1024, Count: 512}, nil)
	b.must("ClearPages", err)

	pager := disk.NewGetPageRangesPager(nil)
	list, err := pager.NextPage(ctx)
	b.must("GetPageRanges", err)
	if len(list.PageRange) != 1 || *list.PageRange[0].Start != 512 || *list.PageRange[0].End != 1023 {
		t.Errorf("ranges = %+v", list.PageRange)
	}
	_, err = disk.Resize(ctx, 2*512, nil)
	b.must("Resize", err)
	action := pageblob.SequenceNumberActionTypeIncrement
	_, err = disk.UpdateSequenceNumber(ctx, &pageblob.UpdateSequenceNumberOptions{ActionType: &action})
	b.must("UpdateSequenceNumber", err)
	p, err := disk.GetProperties(ctx, nil)
	b.must("GetProperties", err)
	if *p.ContentLength != 1024 || *p.BlobSequenceNumber != 2 {
		t.Errorf("length %d, number %d; want 1024, 2", *p.ContentLength, *p.BlobSequenceNumber)
	}
	if got, want := b.text("disk"), string(make([]byte, 512))+text[:512]; got != want {
		t.Errorf("content has %d bytes, or others", len(got))
	}
	_, err = disk.StartCopyIncremental(ctx, disk.URL()+"?snapshot=x", "x", nil)
	b.fails("StartCopyIncremental", err, "NotImplemented")
}

// TestGoBlobSDKSeals: nothing is appended to a sealed blob.
func TestGoBlobSDKSeals(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	log := b.container().NewAppendBlobClient("log")
	_, err := log.Create(ctx, nil)
	b.must("Create", err)
	sealed, err := log.Seal(ctx, nil)
	b.must("Seal", err)
	if !*sealed.IsSealed {
		t.Error("the answer does not say that the blob is sealed")
	}
	_, err = log.AppendBlock(ctx, streaming.NopCloser(strings.NewReader("x")), nil)
	b.fails("AppendBlock", err, "BlobIsSealed")
}

// A page blob can be made through a binding's account.
func TestAccountPageBlob(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := connectBlobs(t, openBlobServer(t, clock.NewVirtual(start, nil))).Container("box")
	if _, err := c.Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Blob("disk").Put(ctx, bytes.NewReader(nil), &blobapi.PutOptions{Type: blobapi.PageBlob, Size: 1024, Sequence: 7}); err != nil {
		t.Fatal(err)
	}
	p, err := c.Blob("disk").Properties(ctx, nil)
	if err != nil || p.Type != blobapi.PageBlob || p.ContentLength != 1024 || p.Sequence != 7 {
		t.Errorf("properties = %+v, %v", p, err)
	}
}
