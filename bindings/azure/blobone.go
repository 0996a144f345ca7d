package azure

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/pageblob"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// blob is a handle on a blob or on a snapshot of one. It serves the calls of
// blob.Blob.
type blob struct {
	container *container
	name      string
	snapshot  string
	nameErr   error
	client    *sdk.Client // of the blob itself; nil if a name is wrong
}

func (b *blob) Name() string { return b.name }

func (b *blob) At(snapshot string) blobapi.Blob {
	at := *b
	at.snapshot = snapshot
	return &at
}

// at returns the client of the snapshot, or of the blob itself.
func (b *blob) at() (*sdk.Client, error) {
	if b.snapshot == "" {
		return b.client, nil
	}
	return b.client.WithSnapshot(b.snapshot)
}

func (b *blob) call(ctx context.Context, header http.Header, f func(ctx context.Context, client *sdk.Client) error) (http.Header, error) {
	if b.nameErr != nil {
		return nil, b.nameErr
	}
	client, err := b.at()
	if err != nil {
		return nil, err
	}
	return blobCall(ctx, header, func(ctx context.Context) error { return f(ctx, client) })
}

// toWrite refuses snapshots, which the SDK would take for the blob.
func (b *blob) toWrite() error {
	if b.nameErr == nil && b.snapshot != "" {
		return storage.NewError(storage.CodeInvalidQueryParameterValue)
	}
	return b.nameErr
}

func (b *blob) Put(ctx context.Context, body io.Reader, opts *blobapi.PutOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	content, size, discard, err := spool(body, blobapi.MaxPutBlob)
	if err != nil {
		return nil, err
	}
	defer discard()
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	h := conditionHeaders("", opts.Conditions)
	addContentHeaders(h, opts.Headers)
	setMD5(h, "Content-MD5", opts.BodyMD5)
	setTags(h, opts.Tags)
	switch opts.Type {
	case blobapi.BlockBlob, "":
		return wrote(b.call(ctx, h, func(ctx context.Context, _ *sdk.Client) error {
			client := b.container.client.NewBlockBlobClient(b.name)
			_, err := client.Upload(ctx, content, &blockblob.UploadOptions{Metadata: sdkMetadata(opts.Metadata)})
			return err
		}))
	case blobapi.AppendBlob:
		if size > 0 {
			return nil, storage.NewError(storage.CodeInvalidOperation)
		}
		return wrote(b.call(ctx, h, func(ctx context.Context, _ *sdk.Client) error {
			client := b.container.client.NewAppendBlobClient(b.name)
			_, err := client.Create(ctx, &appendblob.CreateOptions{Metadata: sdkMetadata(opts.Metadata)})
			return err
		}))
	case blobapi.PageBlob:
		if size > 0 {
			return nil, storage.NewError(storage.CodeInvalidOperation)
		}
		return wrote(b.call(ctx, h, func(ctx context.Context, _ *sdk.Client) error {
			client := b.container.client.NewPageBlobClient(b.name)
			_, err := client.Create(ctx, opts.Size, &pageblob.CreateOptions{Metadata: sdkMetadata(opts.Metadata), SequenceNumber: &opts.Sequence})
			return err
		}))
	}
	return nil, storage.NewError(storage.CodeInvalidHeaderValue)
}

func (b *blob) PutBlock(ctx context.Context, id string, body io.Reader, opts *blobapi.PutBlockOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutBlockOptions{}
	}
	content, _, discard, err := spool(body, blobapi.MaxPutBlock)
	if err != nil {
		return nil, err
	}
	defer discard()
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	h := conditionHeaders("", &blobapi.Conditions{LeaseID: opts.LeaseID})
	setMD5(h, "Content-MD5", opts.BodyMD5)
	return wrote(b.call(ctx, h, func(ctx context.Context, _ *sdk.Client) error {
		_, err := b.container.client.NewBlockBlobClient(b.name).StageBlock(ctx, id, content, nil)
		return err
	}))
}

func (b *blob) PutBlockList(ctx context.Context, blocks []blobapi.BlockRef, opts *blobapi.PutOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	list, err := blockListDocument(blocks)
	if err != nil {
		return nil, err
	}
	h := conditionHeaders("", opts.Conditions)
	addContentHeaders(h, opts.Headers)
	setTags(h, opts.Tags)
	// The SDK knows lists of latest blocks only: the body is ours.
	answer, err := blobCallWith(ctx, &amendment{header: h, body: list}, func(ctx context.Context) error {
		client := b.container.client.NewBlockBlobClient(b.name)
		_, err := client.CommitBlockList(ctx, nil, &blockblob.CommitBlockListOptions{Metadata: sdkMetadata(opts.Metadata)})
		return err
	})
	w, err := wrote(answer, err)
	if w != nil {
		w.ContentMD5 = nil // of the list
	}
	return w, err
}

func blockListDocument(blocks []blobapi.BlockRef) ([]byte, error) {
	type element struct {
		XMLName xml.Name
		ID      string `xml:",chardata"`
	}
	list := struct {
		XMLName xml.Name `xml:"BlockList"`
		Blocks  []element
	}{}
	for _, ref := range blocks {
		name := "Latest"
		switch ref.From {
		case blobapi.Committed:
			name = "Committed"
		case blobapi.Uncommitted:
			name = "Uncommitted"
		}
		list.Blocks = append(list.Blocks, element{xml.Name{Local: name}, ref.ID})
	}
	return xml.Marshal(list)
}

func (b *blob) BlockList(ctx context.Context, cond *blobapi.Conditions) (*blobapi.BlockList, error) {
	var got blockblob.GetBlockListResponse
	h, err := b.call(ctx, conditionHeaders("", cond), func(ctx context.Context, _ *sdk.Client) (err error) {
		client := b.container.client.NewBlockBlobClient(b.name)
		got, err = client.GetBlockList(ctx, blockblob.BlockListTypeAll, &blockblob.GetBlockListOptions{Snapshot: orNil(b.snapshot)})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &blobapi.BlockList{ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"), ContentLength: numberOf(h, "X-Ms-Blob-Content-Length")}
	if out.ETag == "" {
		out.ContentLength = 0
	}
	for _, block := range got.CommittedBlocks {
		out.Committed = append(out.Committed, blobapi.Block{ID: value(block.Name), Size: value(block.Size)})
	}
	for _, block := range got.UncommittedBlocks {
		out.Uncommitted = append(out.Uncommitted, blobapi.Block{ID: value(block.Name), Size: value(block.Size)})
	}
	slices.SortFunc(out.Uncommitted, func(a, b blobapi.Block) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (b *blob) AppendBlock(ctx context.Context, body io.Reader, opts *blobapi.AppendBlockOptions) (*blobapi.Appended, error) {
	if opts == nil {
		opts = &blobapi.AppendBlockOptions{}
	}
	content, _, discard, err := spool(body, blobapi.MaxAppendBlock)
	if err != nil {
		return nil, err
	}
	defer discard()
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	h := conditionHeaders("", opts.Conditions)
	setMD5(h, "Content-MD5", opts.BodyMD5)
	for _, f := range []struct {
		name string
		n    *int64
	}{{"X-Ms-Blob-Condition-Appendpos", opts.Position}, {"X-Ms-Blob-Condition-Maxsize", opts.MaxSize}} {
		if f.n != nil {
			h.Set(f.name, strconv.FormatInt(*f.n, 10))
		}
	}
	answer, err := b.call(ctx, h, func(ctx context.Context, _ *sdk.Client) error {
		_, err := b.container.client.NewAppendBlobClient(b.name).AppendBlock(ctx, content, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &blobapi.Appended{
		Written: *written(answer), Offset: numberOf(answer, "X-Ms-Blob-Append-Offset"),
		Blocks: int(numberOf(answer, "X-Ms-Blob-Committed-Block-Count")),
	}, nil
}

func (b *blob) Get(ctx context.Context, opts *blobapi.GetOptions) (*blobapi.Download, error) {
	if opts == nil {
		opts = &blobapi.GetOptions{}
	}
	h := conditionHeaders("", opts.Conditions)
	h.Set("Accept-Encoding", "identity") // content that was stored packed stays packed
	if r := opts.Range; r != nil {
		if r.Offset < 0 || r.Count < 0 {
			return nil, storage.NewError(storage.CodeInvalidRange)
		}
		text := fmt.Sprintf("bytes=%d-", r.Offset)
		if r.Count > 0 {
			text += strconv.FormatInt(r.Offset+r.Count-1, 10)
		}
		h.Set("X-Ms-Range", text)
	}
	var got sdk.DownloadStreamResponse
	answer, err := b.call(ctx, h, func(ctx context.Context, client *sdk.Client) (err error) {
		got, err = client.DownloadStream(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	d := &blobapi.Download{Properties: propertiesOf(answer), Body: &download{ctx, b.container.account.opts, got.Body}}
	d.Range.Count = numberOf(answer, "Content-Length")
	if opts.Range != nil {
		d.Range.Offset = opts.Range.Offset
	}
	return d, nil
}

func (b *blob) Properties(ctx context.Context, cond *blobapi.Conditions) (*blobapi.Properties, error) {
	h, err := b.call(ctx, conditionHeaders("", cond), func(ctx context.Context, client *sdk.Client) error {
		_, err := client.GetProperties(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return propertiesOf(h), nil
}

func (b *blob) SetHeaders(ctx context.Context, headers blobapi.Headers, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	h := conditionHeaders("", cond)
	addContentHeaders(h, headers)
	return wrote(b.call(ctx, h, func(ctx context.Context, client *sdk.Client) error {
		_, err := client.SetHTTPHeaders(ctx, sdk.HTTPHeaders{}, nil)
		return err
	}))
}

func (b *blob) SetMetadata(ctx context.Context, metadata map[string]string, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := checkMetadata(metadata); err != nil {
		return nil, err
	}
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	return wrote(b.call(ctx, conditionHeaders("", cond), func(ctx context.Context, client *sdk.Client) error {
		_, err := client.SetMetadata(ctx, sdkMetadata(metadata), nil)
		return err
	}))
}

func (b *blob) Delete(ctx context.Context, opts *blobapi.DeleteOptions) error {
	if opts == nil {
		opts = &blobapi.DeleteOptions{}
	}
	h := conditionHeaders("", opts.Conditions)
	set(h, "X-Ms-Delete-Snapshots", string(opts.Snapshots))
	setTime(h, "X-Ms-Access-Tier-If-Modified-Since", opts.TierSetAfter)
	setTime(h, "X-Ms-Access-Tier-If-Unmodified-Since", opts.TierNotSetAfter)
	_, err := b.call(ctx, h, func(ctx context.Context, client *sdk.Client) error {
		_, err := client.Delete(ctx, nil)
		return err
	})
	return err
}

func (b *blob) Snapshot(ctx context.Context, opts *blobapi.SnapshotOptions) (*blobapi.SnapshotTaken, error) {
	if opts == nil {
		opts = &blobapi.SnapshotOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	h, err := b.call(ctx, conditionHeaders("", opts.Conditions), func(ctx context.Context, client *sdk.Client) error {
		_, err := client.CreateSnapshot(ctx, &sdk.CreateSnapshotOptions{Metadata: sdkMetadata(opts.Metadata)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &blobapi.SnapshotTaken{Written: *written(h), Snapshot: h.Get("X-Ms-Snapshot")}, nil
}

// copyPause is how long CopyFrom waits before it asks again whether a copy has
// ended. Copies within an account rarely outlast the call that starts them.
const copyPause = 500 * time.Millisecond

func (b *blob) CopyFrom(ctx context.Context, source blobapi.Source, opts *blobapi.CopyOptions) (*blobapi.Copied, error) {
	if opts == nil {
		opts = &blobapi.CopyOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	if err := b.toWrite(); err != nil {
		return nil, err
	}
	from, ok := b.container.account.Container(source.Container).Blob(source.Name).At(source.Snapshot).(*blob)
	if !ok || from.nameErr != nil {
		return nil, storage.NewError(storage.CodeCannotVerifyCopySource)
	}
	origin, err := from.at()
	if err != nil {
		return nil, err
	}
	h := conditionHeaders("", opts.Conditions)
	for name, values := range conditionHeaders("X-Ms-Source-", opts.SourceConditions) {
		h[name] = values
	}
	set(h, "X-Ms-Access-Tier", opts.Tier)
	set(h, "X-Ms-Rehydrate-Priority", opts.RehydratePriority)
	setTags(h, opts.Tags)
	if opts.Seal != nil {
		h.Set("X-Ms-Seal-Blob", strconv.FormatBool(*opts.Seal))
	}
	if opts.CopyTags {
		h.Set("X-Ms-Copy-Source-Tag-Option", "COPY")
	}
	answer, err := b.call(ctx, h, func(ctx context.Context, client *sdk.Client) error {
		_, err := client.StartCopyFromURL(ctx, origin.URL(), &sdk.StartCopyFromURLOptions{Metadata: sdkMetadata(opts.Metadata)})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &blobapi.Copied{Written: *written(answer), ID: answer.Get("X-Ms-Copy-Id"), Status: answer.Get("X-Ms-Copy-Status")}
	for out.Status == "pending" {
		if err := b.container.account.opts.call(ctx, func(ctx context.Context) error {
			pause(ctx, copyPause)
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
		p, err := b.Properties(ctx, nil)
		if err != nil {
			return nil, err
		}
		if p.Copy == nil || p.Copy.ID != out.ID {
			return nil, storage.NewError(storage.CodeConditionNotMet) // another writer was faster
		}
		out.ETag, out.LastModified, out.Status = p.ETag, p.LastModified, p.Copy.Status
	}
	if out.Status != "success" {
		return nil, fmt.Errorf("copy %q to %q: ended as %q", source.Name, b.name, out.Status)
	}
	return out, nil
}
