package host

import (
	"context"
	"io"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// outsideBlobs are the blobs of an account outside. They tell nobody of changes
// (blob.Waker): blobs are found by scanning (storage.md E-7).
type outsideBlobs struct {
	trip
	account blob.Account
}

func (a outsideBlobs) Container(name string) blob.Container {
	c := a.account.Container(name)
	return outsideContainer{outsideLease{a.trip, c}, c}
}

func (a outsideBlobs) Containers(ctx context.Context, opts *blob.ListContainersOptions) (*blob.ContainerPage, error) {
	return away(ctx, a.trip, func(ctx context.Context) (*blob.ContainerPage, error) { return a.account.Containers(ctx, opts) })
}

func (a outsideBlobs) BlobServiceProperties(ctx context.Context) (*storage.ServiceProperties, error) {
	return away(ctx, a.trip, a.account.BlobServiceProperties)
}

func (a outsideBlobs) SetBlobServiceProperties(ctx context.Context, p *storage.ServiceProperties) error {
	return awayOnly(ctx, a.trip, func(ctx context.Context) error { return a.account.SetBlobServiceProperties(ctx, p) })
}

// outsideLease holds the lease operations of containers and blobs outside.
type outsideLease struct {
	trip
	on blob.Leasable
}

func (l outsideLease) AcquireLease(ctx context.Context, d time.Duration, proposedID string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.AcquireLease(ctx, d, proposedID, cond) })
}

func (l outsideLease) RenewLease(ctx context.Context, id string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.RenewLease(ctx, id, cond) })
}

func (l outsideLease) ChangeLease(ctx context.Context, id string, proposedID string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.ChangeLease(ctx, id, proposedID, cond) })
}

func (l outsideLease) ReleaseLease(ctx context.Context, id string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.ReleaseLease(ctx, id, cond) })
}

func (l outsideLease) BreakLease(ctx context.Context, period *time.Duration, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.BreakLease(ctx, period, cond) })
}

// outsideContainer is a container whose calls are made outside the clock.
type outsideContainer struct {
	outsideLease
	container blob.Container
}

func (c outsideContainer) Name() string { return c.container.Name() }

func (c outsideContainer) Blob(name string) blob.Blob { return c.blob(c.container.Blob(name)) }

func (t trip) blob(b blob.Blob) blob.Blob { return outsideBlob{outsideLease{t, b}, b} }

func (c outsideContainer) Create(ctx context.Context, opts *blob.CreateContainerOptions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) { return c.container.Create(ctx, opts) })
}

func (c outsideContainer) Properties(ctx context.Context, cond *blob.Conditions) (*blob.ContainerProperties, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.ContainerProperties, error) {
		return c.container.Properties(ctx, cond)
	})
}

func (c outsideContainer) SetMetadata(ctx context.Context, metadata map[string]string, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) {
		return c.container.SetMetadata(ctx, metadata, cond)
	})
}

func (c outsideContainer) Access(ctx context.Context, cond *blob.Conditions) (*blob.ContainerAccess, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.ContainerAccess, error) { return c.container.Access(ctx, cond) })
}

func (c outsideContainer) SetAccess(ctx context.Context, a *blob.ContainerAccess, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) { return c.container.SetAccess(ctx, a, cond) })
}

func (c outsideContainer) Delete(ctx context.Context, cond *blob.Conditions) error {
	return awayOnly(ctx, c.trip, func(ctx context.Context) error { return c.container.Delete(ctx, cond) })
}

func (c outsideContainer) Blobs(ctx context.Context, opts *blob.ListOptions) (*blob.Page, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Page, error) { return c.container.Blobs(ctx, opts) })
}

// outsideBlob is a blob whose calls are made outside the clock. Bodies are read
// there: they must not need the clock.
type outsideBlob struct {
	outsideLease
	of blob.Blob
}

func (b outsideBlob) Name() string { return b.of.Name() }

func (b outsideBlob) At(snapshot string) blob.Blob { return b.blob(b.of.At(snapshot)) }

func (b outsideBlob) Put(ctx context.Context, body io.Reader, opts *blob.PutOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.Put(ctx, body, opts) })
}

func (b outsideBlob) PutBlock(ctx context.Context, id string, body io.Reader, opts *blob.PutBlockOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.PutBlock(ctx, id, body, opts) })
}

func (b outsideBlob) PutBlockList(ctx context.Context, blocks []blob.BlockRef, opts *blob.PutOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.PutBlockList(ctx, blocks, opts) })
}

func (b outsideBlob) BlockList(ctx context.Context, cond *blob.Conditions) (*blob.BlockList, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.BlockList, error) { return b.of.BlockList(ctx, cond) })
}

func (b outsideBlob) AppendBlock(ctx context.Context, body io.Reader, opts *blob.AppendBlockOptions) (*blob.Appended, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Appended, error) { return b.of.AppendBlock(ctx, body, opts) })
}

func (b outsideBlob) Get(ctx context.Context, opts *blob.GetOptions) (*blob.Download, error) {
	if b.epoch != nil {
		return b.of.Get(ctx, opts) // attempts go on after its end, and reading changes nothing
	}
	d, err := away(ctx, b.trip, func(ctx context.Context) (*blob.Download, error) { return b.of.Get(ctx, opts) })
	if err == nil {
		d.Body = &outsideBody{ctx, b.trip, d.Body}
	}
	return d, err
}

func (b outsideBlob) Properties(ctx context.Context, cond *blob.Conditions) (*blob.Properties, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Properties, error) { return b.of.Properties(ctx, cond) })
}

func (b outsideBlob) SetHeaders(ctx context.Context, h blob.Headers, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.SetHeaders(ctx, h, cond) })
}

func (b outsideBlob) SetMetadata(ctx context.Context, metadata map[string]string, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.SetMetadata(ctx, metadata, cond) })
}

func (b outsideBlob) Delete(ctx context.Context, opts *blob.DeleteOptions) error {
	return awayOnly(ctx, b.trip, func(ctx context.Context) error { return b.of.Delete(ctx, opts) })
}

func (b outsideBlob) Snapshot(ctx context.Context, opts *blob.SnapshotOptions) (*blob.SnapshotTaken, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.SnapshotTaken, error) { return b.of.Snapshot(ctx, opts) })
}

func (b outsideBlob) CopyFrom(ctx context.Context, source blob.Source, opts *blob.CopyOptions) (*blob.Copied, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Copied, error) { return b.of.CopyFrom(ctx, source, opts) })
}

// outsideBody is the content of a blob on its way from outside.
type outsideBody struct {
	ctx  context.Context // of the call that opened it
	trip trip
	body io.ReadCloser
}

func (b *outsideBody) Read(p []byte) (n int, err error) {
	return away(b.ctx, b.trip, func(context.Context) (int, error) { return b.body.Read(p) })
}

func (b *outsideBody) Close() error {
	return awayOnly(b.ctx, b.trip.unheard(), func(context.Context) error { return b.body.Close() })
}
