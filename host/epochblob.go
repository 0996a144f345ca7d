package host

import (
	"context"
	"io"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// pastBlobs are the blobs of an account outside. They tell nobody of changes
// (blob.Waker): blobs are found by scanning (storage.md E-7).
type pastBlobs struct {
	trip
	account blob.Account
}

func (a pastBlobs) Container(name string) blob.Container {
	c := a.account.Container(name)
	return pastContainer{pastLease{a.trip, c}, c}
}

func (a pastBlobs) Containers(ctx context.Context, opts *blob.ListContainersOptions) (*blob.ContainerPage, error) {
	return away(ctx, a.trip, func(ctx context.Context) (*blob.ContainerPage, error) { return a.account.Containers(ctx, opts) })
}

func (a pastBlobs) BlobServiceProperties(ctx context.Context) (*storage.ServiceProperties, error) {
	return away(ctx, a.trip, a.account.BlobServiceProperties)
}

func (a pastBlobs) SetBlobServiceProperties(ctx context.Context, p *storage.ServiceProperties) error {
	return awayOnly(ctx, a.trip, func(ctx context.Context) error { return a.account.SetBlobServiceProperties(ctx, p) })
}

// pastLease holds the lease operations of containers and blobs outside.
type pastLease struct {
	trip
	on blob.Leasable
}

func (l pastLease) AcquireLease(ctx context.Context, d time.Duration, proposedID string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.AcquireLease(ctx, d, proposedID, cond) })
}

func (l pastLease) RenewLease(ctx context.Context, id string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.RenewLease(ctx, id, cond) })
}

func (l pastLease) ChangeLease(ctx context.Context, id string, proposedID string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.ChangeLease(ctx, id, proposedID, cond) })
}

func (l pastLease) ReleaseLease(ctx context.Context, id string, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.ReleaseLease(ctx, id, cond) })
}

func (l pastLease) BreakLease(ctx context.Context, period *time.Duration, cond *blob.Conditions) (*blob.Lease, error) {
	return away(ctx, l.trip, func(ctx context.Context) (*blob.Lease, error) { return l.on.BreakLease(ctx, period, cond) })
}

// pastContainer is a container whose calls are made outside the clock.
type pastContainer struct {
	pastLease
	container blob.Container
}

func (c pastContainer) Name() string { return c.container.Name() }

func (c pastContainer) Blob(name string) blob.Blob { return c.blob(c.container.Blob(name)) }

func (t trip) blob(b blob.Blob) blob.Blob { return pastBlob{pastLease{t, b}, b} }

func (c pastContainer) Create(ctx context.Context, opts *blob.CreateContainerOptions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) { return c.container.Create(ctx, opts) })
}

func (c pastContainer) Properties(ctx context.Context, cond *blob.Conditions) (*blob.ContainerProperties, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.ContainerProperties, error) {
		return c.container.Properties(ctx, cond)
	})
}

func (c pastContainer) SetMetadata(ctx context.Context, metadata map[string]string, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) {
		return c.container.SetMetadata(ctx, metadata, cond)
	})
}

func (c pastContainer) Access(ctx context.Context, cond *blob.Conditions) (*blob.ContainerAccess, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.ContainerAccess, error) { return c.container.Access(ctx, cond) })
}

func (c pastContainer) SetAccess(ctx context.Context, a *blob.ContainerAccess, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Written, error) { return c.container.SetAccess(ctx, a, cond) })
}

func (c pastContainer) Delete(ctx context.Context, cond *blob.Conditions) error {
	return awayOnly(ctx, c.trip, func(ctx context.Context) error { return c.container.Delete(ctx, cond) })
}

func (c pastContainer) Blobs(ctx context.Context, opts *blob.ListOptions) (*blob.Page, error) {
	return away(ctx, c.trip, func(ctx context.Context) (*blob.Page, error) { return c.container.Blobs(ctx, opts) })
}

// pastBlob is a blob whose calls are made outside the clock. Bodies are read
// there: they must not need the clock.
type pastBlob struct {
	pastLease
	of blob.Blob
}

func (b pastBlob) Name() string { return b.of.Name() }

func (b pastBlob) At(snapshot string) blob.Blob { return b.blob(b.of.At(snapshot)) }

func (b pastBlob) Put(ctx context.Context, body io.Reader, opts *blob.PutOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.Put(ctx, body, opts) })
}

func (b pastBlob) PutBlock(ctx context.Context, id string, body io.Reader, opts *blob.PutBlockOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.PutBlock(ctx, id, body, opts) })
}

func (b pastBlob) PutBlockList(ctx context.Context, blocks []blob.BlockRef, opts *blob.PutOptions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.PutBlockList(ctx, blocks, opts) })
}

func (b pastBlob) BlockList(ctx context.Context, cond *blob.Conditions) (*blob.BlockList, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.BlockList, error) { return b.of.BlockList(ctx, cond) })
}

func (b pastBlob) AppendBlock(ctx context.Context, body io.Reader, opts *blob.AppendBlockOptions) (*blob.Appended, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Appended, error) { return b.of.AppendBlock(ctx, body, opts) })
}

func (b pastBlob) Get(ctx context.Context, opts *blob.GetOptions) (*blob.Download, error) {
	return b.of.Get(ctx, opts) // attempts go on after its end, and reading changes nothing
}

func (b pastBlob) Properties(ctx context.Context, cond *blob.Conditions) (*blob.Properties, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Properties, error) { return b.of.Properties(ctx, cond) })
}

func (b pastBlob) SetHeaders(ctx context.Context, h blob.Headers, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.SetHeaders(ctx, h, cond) })
}

func (b pastBlob) SetMetadata(ctx context.Context, metadata map[string]string, cond *blob.Conditions) (*blob.Written, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Written, error) { return b.of.SetMetadata(ctx, metadata, cond) })
}

func (b pastBlob) Delete(ctx context.Context, opts *blob.DeleteOptions) error {
	return awayOnly(ctx, b.trip, func(ctx context.Context) error { return b.of.Delete(ctx, opts) })
}

func (b pastBlob) Snapshot(ctx context.Context, opts *blob.SnapshotOptions) (*blob.SnapshotTaken, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.SnapshotTaken, error) { return b.of.Snapshot(ctx, opts) })
}

func (b pastBlob) CopyFrom(ctx context.Context, source blob.Source, opts *blob.CopyOptions) (*blob.Copied, error) {
	return away(ctx, b.trip, func(ctx context.Context) (*blob.Copied, error) { return b.of.CopyFrom(ctx, source, opts) })
}
