package host

import (
	"context"
	"io"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// outsideBlobs are the blobs of an account outside. They tell nobody of changes
// (bindings.BlobWaker): blobs are found by scanning (storage.md E-7).
type outsideBlobs struct {
	trip
	account bindings.BlobAccount
}

func (a outsideBlobs) Container(name string) bindings.Container {
	c := a.account.Container(name)
	return outsideContainer{outsideLease{a.trip, c}, c}
}

func (a outsideBlobs) Containers(ctx context.Context, opts *bindings.ListContainersOptions) (*bindings.ContainerPage, error) {
	return away(ctx, a.trip, func(ctx context.Context) (*bindings.ContainerPage, error) { return a.account.Containers(ctx, opts) })
}

func (a outsideBlobs) BlobServiceProperties(ctx context.Context) (*bindings.ServiceProperties, error) {
	return away(ctx, a.trip, a.account.BlobServiceProperties)
}

func (a outsideBlobs) SetBlobServiceProperties(ctx context.Context, p *bindings.ServiceProperties) error {
	return awayOnly(ctx, a.trip, func(ctx context.Context) error { return a.account.SetBlobServiceProperties(ctx, p) })
}

// outsideLease holds the lease operations of containers and blobs outside.
type outsideLease struct {
	trip
	on bindings.Leasable
}

func (l outsideLease) AcquireLease(ctx context.Context, d time.Duration, proposedID string, cond *bindings.BlobConditions) (*bindings.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*bindings.Lease, error) { return l.on.AcquireLease(ctx, d, proposedID, cond) })
}

func (l outsideLease) RenewLease(ctx context.Context, id string, cond *bindings.BlobConditions) (*bindings.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*bindings.Lease, error) { return l.on.RenewLease(ctx, id, cond) })
}

func (l outsideLease) ChangeLease(ctx context.Context, id string, proposedID string, cond *bindings.BlobConditions) (*bindings.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*bindings.Lease, error) { return l.on.ChangeLease(ctx, id, proposedID, cond) })
}

func (l outsideLease) ReleaseLease(ctx context.Context, id string, cond *bindings.BlobConditions) (*bindings.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*bindings.Lease, error) { return l.on.ReleaseLease(ctx, id, cond) })
}

func (l outsideLease) BreakLease(ctx context.Context, period *time.Duration, cond *bindings.BlobConditions) (*bindings.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*bindings.Lease, error) { return l.on.BreakLease(ctx, period, cond) })
}

// outsideContainer is a container whose calls are made outside the clock.
type outsideContainer struct {
	outsideLease
	container bindings.Container
}

func (c outsideContainer) Name() string { return c.container.Name() }

func (c outsideContainer) Blob(name string) bindings.Blob { return c.blob(c.container.Blob(name)) }

func (t trip) blob(b bindings.Blob) bindings.Blob { return outsideBlob{outsideLease{t, b}, b} }

func (c outsideContainer) Create(ctx context.Context, opts *bindings.CreateContainerOptions) (*bindings.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.Written, error) { return c.container.Create(ctx, opts) })
}

func (c outsideContainer) Properties(ctx context.Context, cond *bindings.BlobConditions) (*bindings.ContainerProperties, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.ContainerProperties, error) {
		return c.container.Properties(ctx, cond)
	})
}

func (c outsideContainer) SetMetadata(ctx context.Context, metadata map[string]string, cond *bindings.BlobConditions) (*bindings.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.Written, error) {
		return c.container.SetMetadata(ctx, metadata, cond)
	})
}

func (c outsideContainer) Access(ctx context.Context, cond *bindings.BlobConditions) (*bindings.ContainerAccess, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.ContainerAccess, error) { return c.container.Access(ctx, cond) })
}

func (c outsideContainer) SetAccess(ctx context.Context, a *bindings.ContainerAccess, cond *bindings.BlobConditions) (*bindings.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.Written, error) { return c.container.SetAccess(ctx, a, cond) })
}

func (c outsideContainer) Delete(ctx context.Context, cond *bindings.BlobConditions) error {
	return awayOnly(ctx, c.trip, func(ctx context.Context) error { return c.container.Delete(ctx, cond) })
}

func (c outsideContainer) Blobs(ctx context.Context, opts *bindings.ListBlobsOptions) (*bindings.BlobPage, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*bindings.BlobPage, error) { return c.container.Blobs(ctx, opts) })
}

// outsideBlob is a blob whose calls are made outside the clock. Bodies are read
// there: they must not need the clock.
type outsideBlob struct {
	outsideLease
	of bindings.Blob
}

func (b outsideBlob) Name() string { return b.of.Name() }

func (b outsideBlob) At(snapshot string) bindings.Blob { return b.blob(b.of.At(snapshot)) }

func (b outsideBlob) Put(ctx context.Context, body io.Reader, opts *bindings.PutBlobOptions) (*bindings.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Written, error) { return b.of.Put(ctx, body, opts) })
}

func (b outsideBlob) PutBlock(ctx context.Context, id string, body io.Reader, opts *bindings.PutBlockOptions) (*bindings.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Written, error) { return b.of.PutBlock(ctx, id, body, opts) })
}

func (b outsideBlob) PutBlockList(ctx context.Context, blocks []bindings.BlockRef, opts *bindings.PutBlobOptions) (*bindings.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Written, error) { return b.of.PutBlockList(ctx, blocks, opts) })
}

func (b outsideBlob) BlockList(ctx context.Context, cond *bindings.BlobConditions) (*bindings.BlockList, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.BlockList, error) { return b.of.BlockList(ctx, cond) })
}

func (b outsideBlob) AppendBlock(ctx context.Context, body io.Reader, opts *bindings.AppendBlockOptions) (*bindings.Appended, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Appended, error) { return b.of.AppendBlock(ctx, body, opts) })
}

func (b outsideBlob) Get(ctx context.Context, opts *bindings.GetBlobOptions) (*bindings.BlobDownload, error) {
	if b.epoch != nil {
		return b.of.Get(ctx, opts) // attempts go on after its end, and reading changes nothing
	}
	d, err := away(ctx, b.trip, func(ctx context.Context) (*bindings.BlobDownload, error) { return b.of.Get(ctx, opts) })
	if err == nil {
		d.Body = &outsideBody{ctx, b.trip, d.Body}
	}
	return d, err
}

func (b outsideBlob) Properties(ctx context.Context, cond *bindings.BlobConditions) (*bindings.BlobProperties, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.BlobProperties, error) { return b.of.Properties(ctx, cond) })
}

func (b outsideBlob) SetHeaders(ctx context.Context, h bindings.BlobHeaders, cond *bindings.BlobConditions) (*bindings.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Written, error) { return b.of.SetHeaders(ctx, h, cond) })
}

func (b outsideBlob) SetMetadata(ctx context.Context, metadata map[string]string, cond *bindings.BlobConditions) (*bindings.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Written, error) { return b.of.SetMetadata(ctx, metadata, cond) })
}

func (b outsideBlob) Delete(ctx context.Context, opts *bindings.DeleteBlobOptions) error {
	return awayOnly(ctx, b.trip, func(ctx context.Context) error { return b.of.Delete(ctx, opts) })
}

func (b outsideBlob) Snapshot(ctx context.Context, opts *bindings.SnapshotOptions) (*bindings.SnapshotTaken, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.SnapshotTaken, error) { return b.of.Snapshot(ctx, opts) })
}

func (b outsideBlob) CopyFrom(ctx context.Context, source bindings.BlobSource, opts *bindings.CopyOptions) (*bindings.Copied, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*bindings.Copied, error) { return b.of.CopyFrom(ctx, source, opts) })
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
