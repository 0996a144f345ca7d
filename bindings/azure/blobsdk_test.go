package azure_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/redeliver/redeliver/host/clock"
)

// blobSDK is the SDK's own client of a fresh server, as its samples make it.
type blobSDK struct {
	*testing.T
	*azblob.Client
}

func openBlobSDK(t *testing.T, clk clock.Clock) blobSDK {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	opts := &azblob.ClientOptions{}
	opts.Transport = &http.Client{Transport: transport}
	client, err := azblob.NewClientFromConnectionString(openBlobServer(t, clk), opts)
	if err != nil {
		t.Fatal(err)
	}
	b := blobSDK{t, client}
	_, err = client.CreateContainer(t.Context(), "box", nil)
	b.must("CreateContainer", err)
	return b
}

func (b blobSDK) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func (b blobSDK) fails(what string, err error, code bloberror.Code) {
	b.Helper()
	if !bloberror.HasCode(err, code) {
		b.Errorf("%s = %v, want %s", what, err, code)
	}
}

func (b blobSDK) container() *container.Client { return b.ServiceClient().NewContainerClient("box") }

// content is made of blocks that all differ.
func content(size int) []byte {
	b := make([]byte, 0, size+10)
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "%09d ", i)
	}
	return b[:size]
}

// TestGoBlobSDKMovesData: upload and download of buffers, streams and files, in
// blocks that go side by side.
func TestGoBlobSDKMovesData(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	want := content(5<<20 + 123)

	_, err := b.UploadBuffer(ctx, "box", "buffer", want, &azblob.UploadBufferOptions{BlockSize: 1 << 20, Concurrency: 4})
	b.must("UploadBuffer", err)
	_, err = b.UploadStream(ctx, "box", "stream", bytes.NewReader(want), &azblob.UploadStreamOptions{
		BlockSize: 1 << 20, Concurrency: 3, Metadata: map[string]*string{"kind": to.Ptr("stream")}, HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/plain")},
	})
	b.must("UploadStream", err)
	path := filepath.Join(t.TempDir(), "file")
	b.must("write", os.WriteFile(path, want, 0o600))
	file, err := os.Open(path)
	b.must("open", err)
	defer file.Close()
	_, err = b.UploadFile(ctx, "box", "file", file, &azblob.UploadFileOptions{BlockSize: 2 << 20})
	b.must("UploadFile", err)

	for _, name := range []string{"buffer", "stream", "file"} {
		got := make([]byte, len(want))
		n, err := b.DownloadBuffer(ctx, "box", name, got, &azblob.DownloadBufferOptions{BlockSize: 1 << 20, Concurrency: 4})
		if err != nil || n != int64(len(want)) || !bytes.Equal(got, want) {
			t.Errorf("DownloadBuffer of %s = %d, %v, or other bytes", name, n, err)
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	b.must("create", err)
	defer out.Close()
	n, err := b.DownloadFile(ctx, "box", "stream", out, nil)
	b.must("DownloadFile", err)
	if got, err := os.ReadFile(out.Name()); err != nil || n != int64(len(want)) || !bytes.Equal(got, want) {
		t.Errorf("DownloadFile = %d, %v, or other bytes", n, err)
	}
	down, err := b.DownloadStream(ctx, "box", "stream", &azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 10, Count: 10}})
	b.must("DownloadStream", err)
	body := down.NewRetryReader(ctx, nil)
	if got, err := io.ReadAll(body); err != nil || string(got) != "000000001 " || *down.ContentType != "text/plain" {
		t.Errorf("DownloadStream of ten bytes = %q, %v", got, err)
	}
	b.must("close", body.Close())

	_, err = b.DownloadStream(ctx, "box", "none", nil)
	b.fails("DownloadStream of nothing", err, bloberror.BlobNotFound)
	_, err = b.UploadBuffer(ctx, "nowhere", "a", want[:1], nil)
	b.fails("UploadBuffer to no container", err, bloberror.ContainerNotFound)
	none := azblob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
	_, err = b.UploadStream(ctx, "box", "stream", strings.NewReader("x"), &azblob.UploadStreamOptions{AccessConditions: &none})
	b.fails("UploadStream over a blob", err, bloberror.BlobAlreadyExists)
	_, err = b.DeleteBlob(ctx, "box", "file", nil)
	b.must("DeleteBlob", err)
	_, err = b.DeleteBlob(ctx, "box", "file", nil)
	b.fails("DeleteBlob again", err, bloberror.BlobNotFound)
}

// TestGoBlobSDKLists: pages of containers and blobs, flat and by folders.
func TestGoBlobSDKLists(t *testing.T) {
	t.Parallel()
	b, ctx := openBlobSDK(t, clock.NewVirtual(start, nil)), t.Context()
	for i := range 7 {
		_, err := b.UploadBuffer(ctx, "box", fmt.Sprintf("dir%d/blob%d", i%2, i), []byte("x"), &azblob.UploadBufferOptions{Metadata: map[string]*string{"n": to.Ptr(fmt.Sprint(i))}})
		b.must("UploadBuffer", err)
	}
	var names []string
	pages := 0
	for pager := b.NewListBlobsFlatPager("box", &azblob.ListBlobsFlatOptions{MaxResults: to.Ptr[int32](3), Include: azblob.ListBlobsInclude{Metadata: true}}); pager.More(); pages++ {
		page, err := pager.NextPage(ctx)
		b.must("NextPage", err)
		for _, item := range page.Segment.BlobItems {
			names = append(names, *item.Name+" "+*item.Metadata["n"])
		}
	}
	if want := []string{"dir0/blob0 0", "dir0/blob2 2", "dir0/blob4 4", "dir0/blob6 6", "dir1/blob1 1", "dir1/blob3 3", "dir1/blob5 5"}; !slices.Equal(names, want) || pages != 3 {
		t.Errorf("%d pages: %q", pages, names)
	}
	var folders []string
	for pager := b.container().NewListBlobsHierarchyPager("/", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		b.must("NextPage", err)
		for _, p := range page.Segment.BlobPrefixes {
			folders = append(folders, *p.Name)
		}
	}
	if !slices.Equal(folders, []string{"dir0/", "dir1/"}) {
		t.Errorf("folders = %q", folders)
	}
	for pager := b.NewListContainersPager(&azblob.ListContainersOptions{Prefix: to.Ptr("b")}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil || len(page.ContainerItems) != 1 || *page.ContainerItems[0].Name != "box" {
			t.Errorf("containers = %v, %v", page.ContainerItems, err)
		}
	}
}

// TestGoBlobSDKLeasesAndSnapshots: leases that end in time, blobs that grow,
// snapshots, copies, properties.
func TestGoBlobSDKLeasesAndSnapshots(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, nil)
	b, ctx := openBlobSDK(t, clk), t.Context()
	one := b.container().NewBlockBlobClient("one")
	body := func(text string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(text)) }
	_, err := one.Upload(ctx, body("first"), nil)
	b.must("Upload", err)

	holder, err := lease.NewBlobClient(one, &lease.BlobClientOptions{LeaseID: to.Ptr("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")})
	b.must("NewBlobClient", err)
	_, err = holder.AcquireLease(ctx, 15, nil)
	b.must("AcquireLease", err)
	_, err = one.Upload(ctx, body("second"), nil)
	b.fails("Upload without the lease", err, bloberror.LeaseIDMissing)
	held := &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: holder.LeaseID()}}
	_, err = one.Upload(ctx, body("second"), &blockblob.UploadOptions{AccessConditions: held})
	b.must("Upload with the lease", err)
	clk.Advance(10 * time.Second)
	_, err = holder.RenewLease(ctx, nil)
	b.must("RenewLease", err)
	clk.Advance(15 * time.Second)
	_, err = one.Upload(ctx, body("second"), &blockblob.UploadOptions{AccessConditions: held})
	b.fails("Upload with a lease that has ended", err, bloberror.LeaseNotPresentWithBlobOperation)

	snap, err := one.CreateSnapshot(ctx, nil)
	b.must("CreateSnapshot", err)
	_, err = one.Upload(ctx, body("third"), nil)
	b.must("Upload", err)
	old, err := one.WithSnapshot(*snap.Snapshot)
	b.must("WithSnapshot", err)
	_, err = b.container().NewBlobClient("copy").StartCopyFromURL(ctx, old.URL(), nil)
	b.must("StartCopyFromURL", err)
	for name, want := range map[string]string{"one": "third", "copy": "second"} {
		down, err := b.DownloadStream(ctx, "box", name, nil)
		b.must("DownloadStream", err)
		if got, err := io.ReadAll(down.Body); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v, want %q", name, got, err, want)
		}
		down.Body.Close()
	}
	_, err = one.Delete(ctx, nil)
	b.fails("Delete of a blob with snapshots", err, bloberror.SnapshotsPresent)
	_, err = one.Delete(ctx, &blob.DeleteOptions{DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude)})
	b.must("Delete", err)

	log := b.container().NewAppendBlobClient("log")
	_, err = log.Create(ctx, &appendblob.CreateOptions{Metadata: map[string]*string{"a": to.Ptr("b")}})
	b.must("Create", err)
	for i, text := range []string{"one,", "two"} {
		at, err := log.AppendBlock(ctx, body(text), nil)
		if err != nil || *at.BlobAppendOffset != fmt.Sprint(4*i) || *at.BlobCommittedBlockCount != int32(i+1) {
			t.Errorf("AppendBlock = %+v, %v", at, err)
		}
	}
	_, err = log.SetHTTPHeaders(ctx, blob.HTTPHeaders{BlobCacheControl: to.Ptr("no-store")}, nil)
	b.must("SetHTTPHeaders", err)
	p, err := log.GetProperties(ctx, nil)
	b.must("GetProperties", err)
	if *p.ContentLength != 7 || *p.CacheControl != "no-store" || *p.BlobType != blob.BlobTypeAppendBlob || !slices.Equal(slices.Collect(maps.Keys(p.Metadata)), []string{"A"}) {
		t.Errorf("GetProperties = %+v", p)
	}
	_, err = log.GetProperties(ctx, &blob.GetPropertiesOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(`"0x1"`))}}})
	if response := (*azcore.ResponseError)(nil); !errors.As(err, &response) || response.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("GetProperties of another version = %v", err)
	}
}

// TestGoBlobSDKSignsURLs: signed URLs of a blob and of a container, and when they
// are no good any more.
func TestGoBlobSDKSignsURLs(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, nil)
	b, ctx := openBlobSDK(t, clk), t.Context()
	_, err := b.UploadBuffer(ctx, "box", "one", []byte("first"), nil)
	b.must("UploadBuffer", err)

	address, err := b.container().NewBlobClient("one").GetSASURL(sas.BlobPermissions{Read: true}, start.Add(time.Hour), nil)
	b.must("GetSASURL", err)
	reader, err := blob.NewClientWithNoCredential(address, nil)
	b.must("NewClientWithNoCredential", err)
	_, err = reader.GetProperties(ctx, nil)
	b.must("GetProperties by a signature", err)
	_, err = reader.Delete(ctx, nil)
	b.fails("Delete by a signature to read", err, bloberror.AuthorizationPermissionMismatch)

	address, err = b.container().GetSASURL(sas.ContainerPermissions{List: true, Create: true}, start.Add(2*time.Hour), nil)
	b.must("GetSASURL", err)
	guest, err := container.NewClientWithNoCredential(address, nil)
	b.must("NewClientWithNoCredential", err)
	_, err = guest.NewBlockBlobClient("two").UploadBuffer(ctx, []byte("second"), nil)
	b.must("UploadBuffer by a signature", err)
	page, err := guest.NewListBlobsFlatPager(nil).NextPage(ctx)
	if err != nil || len(page.Segment.BlobItems) != 2 {
		t.Errorf("list by a signature = %+v, %v", page.Segment, err)
	}

	clk.Advance(time.Hour + time.Second)
	_, err = reader.DownloadStream(ctx, nil)
	b.fails("DownloadStream by an expired signature", err, bloberror.AuthenticationFailed)
}
