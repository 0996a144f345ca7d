// Package blob is the contract of blob storage: accounts, containers, blobs of three
// types, leases and conditions, and the paths and patterns by which bindings name blobs.
//
// Read [Account] first, then [Blob].
package blob

import (
	"context"
	"io"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Limits of the blob service (docs: "Scalability and performance targets for
// Blob storage"; spec storage 17).
const (
	MaxPutBlob           = 5000 << 20 // bytes in one Put
	MaxPutBlock          = 4000 << 20 // bytes in one PutBlock
	MaxAppendBlock       = 100 << 20  // bytes in one AppendBlock
	MaxBlocks            = 50_000     // committed blocks of a blob, and appends to one
	MaxUncommittedBlocks = 100_000    // blocks waiting for a block list
	MaxBlockID           = 64         // bytes of a block's identifier, decoded
	MaxListResults       = 5000       // items in one page of a listing
)

// Bounds of a lease (spec storage 17.4).
const (
	MinLease       = 15 * time.Second
	MaxLease       = 60 * time.Second
	InfiniteLease  = time.Duration(-1) // as the duration of AcquireLease
	MaxBreakPeriod = 60 * time.Second
)

// DefaultParallelism is the default of host.json's
// extensions.blobs.maxDegreeOfParallelism for each processor (spec storage 7).
const DefaultParallelism = 8

// Account is the blob service of one storage account.
//
// All methods may be called concurrently. Container does no I/O and does not
// fail: names are checked by the calls on the container.
//
// Every failure that the service itself reports is a *storage.Error, here and in
// Container and Blob: callers decide with errors.Is and the sentinels beside it,
// or by its Code. Other errors are of the transport, of a body's reader, or the
// context's.
type Account interface {
	// Container returns a handle on the container of that name, existing or not.
	Container(name string) Container

	// Containers lists containers by name, a page at a time. Nil options list
	// from the beginning.
	Containers(ctx context.Context, opts *ListContainersOptions) (*ContainerPage, error)

	// BlobServiceProperties returns the account's settings.
	BlobServiceProperties(ctx context.Context) (*storage.ServiceProperties, error)

	// SetBlobServiceProperties replaces the settings that are not nil in p and
	// keeps the others.
	SetBlobServiceProperties(ctx context.Context, p *storage.ServiceProperties) error
}

// Waker is implemented by a blob account that can tell at once that a blob
// changed. Embedded services do; the cloud does not (a listener finds the blob
// by scanning).
type Waker interface {
	// OnChange calls changed with the name of a blob in container each time its
	// content, metadata or headers were written, that is: each time it has a new
	// ETag. Deletions, leases, snapshots and blocks that are not committed yet
	// are no change. It ends when stop is called; the container need not exist
	// yet. changed must not block.
	OnChange(container string, changed func(name string)) (stop func())
}

// Container is one blob container. A call on a container that does not exist
// fails with storage.ErrContainerNotFound, except Create.
//
// All methods may be called concurrently. Conditions may be nil everywhere.
type Container interface {
	Leasable
	ContainerSettings

	// Name is the container's name.
	Name() string

	// Blob returns a handle on the blob of that name, existing or not.
	// Backslashes in a name mean slashes.
	Blob(name string) Blob

	// Create makes the container. It fails with bindings.ErrAlreadyExists if there is
	// one. Options may be nil.
	Create(ctx context.Context, opts *CreateContainerOptions) (*Written, error)

	// Properties returns the container's properties and metadata.
	Properties(ctx context.Context, cond *Conditions) (*ContainerProperties, error)

	// Delete removes the container with all its blobs, leased ones too. A
	// lease on the container itself guards it.
	Delete(ctx context.Context, cond *Conditions) error

	// Blobs lists blobs by name, in the order of their bytes, a page at a time.
	// Nil options list from the beginning.
	Blobs(ctx context.Context, opts *ListOptions) (*Page, error)
}

// ContainerSettings are the settings of a container. Triggers and bindings need none of
// them; a REST server does.
type ContainerSettings interface {
	// SetMetadata replaces all metadata.
	SetMetadata(ctx context.Context, metadata map[string]string, cond *Conditions) (*Written, error)

	// Access returns what SetAccess has set.
	Access(ctx context.Context, cond *Conditions) (*ContainerAccess, error)

	// SetAccess replaces the level of public access and the stored policies, at
	// most storage.MaxAccessPolicies.
	SetAccess(ctx context.Context, a *ContainerAccess, cond *Conditions) (*Written, error)
}

// Blob is one blob of a container, or one snapshot of it. A call on a blob that
// does not exist fails with bindings.ErrNotFound, except those that create it: Put,
// PutBlock, PutBlockList and CopyFrom.
//
// Each write is atomic: readers see the blob before it or after it, and a write
// that fails changes nothing. Each gives the blob a new ETag. A lease on the
// blob guards every write: it needs the lease's identifier in the conditions.
//
// All methods may be called concurrently. Options and conditions may be nil
// everywhere. Bodies are read to their end before anything is changed, also
// when the call fails; reading one may block as long as its reader does.
type Blob interface {
	Leasable
	Parts
	Versions
	BlobSettings

	// Name is the blob's name, with slashes for backslashes.
	Name() string

	// Put makes the blob out of one body, or replaces its content, headers and
	// metadata; snapshots stay. An append blob starts empty.
	Put(ctx context.Context, body io.Reader, opts *PutOptions) (*Written, error)

	// Get opens the blob's content, or a range of it. The content is the content at
	// the moment of the call; later writes do not change it. The caller closes
	// Body.
	Get(ctx context.Context, opts *GetOptions) (*Download, error)

	// Properties returns the blob's properties and metadata.
	Properties(ctx context.Context, cond *Conditions) (*Properties, error)

	// Delete removes the blob, and its snapshots as the options say, or the one
	// snapshot of the handle.
	Delete(ctx context.Context, opts *DeleteOptions) error
}

// BlobSettings replaces the headers and metadata of a blob.
type BlobSettings interface {
	// SetHeaders replaces all content headers.
	SetHeaders(ctx context.Context, h Headers, cond *Conditions) (*Written, error)

	// SetMetadata replaces all metadata.
	SetMetadata(ctx context.Context, metadata map[string]string, cond *Conditions) (*Written, error)
}

// Parts makes a blob out of several bodies: blocks of a block blob, appends to an append
// blob. Its rules and errors are described at [Blob].
type Parts interface {
	// PutBlock keeps a block for a later PutBlockList. The identifier is base64
	// text; all of a blob's have one length. A block with an identifier that
	// waits already replaces that one. Nothing of the blob changes. Of the
	// conditions only the lease counts.
	PutBlock(ctx context.Context, id string, body io.Reader, opts *PutBlockOptions) (*Written, error)

	// PutBlockList makes the blob out of blocks, in the order of the list, or
	// replaces it as Put does. Blocks that are not in the list are discarded,
	// waiting ones too.
	PutBlockList(ctx context.Context, blocks []BlockRef, opts *PutOptions) (*Written, error)

	// BlockList returns the blocks of a block blob, committed and waiting.
	BlockList(ctx context.Context, cond *Conditions) (*BlockList, error)

	// AppendBlock adds a body to the end of an append blob.
	AppendBlock(ctx context.Context, body io.Reader, opts *AppendBlockOptions) (*Appended, error)
}

// Versions has the snapshots and copies of a blob.
type Versions interface {
	// At returns a handle on a snapshot of the blob, by the name that Snapshot
	// returned. It serves Get, Properties, BlockList and Delete.
	At(snapshot string) Blob

	// Snapshot keeps the blob as it is now under a name of its own. The blob does
	// not change.
	Snapshot(ctx context.Context, opts *SnapshotOptions) (*SnapshotTaken, error)

	// CopyFrom makes the blob a copy of another blob of the account: content,
	// headers, blocks and, unless the options name some, metadata. The copy is
	// complete when it returns.
	CopyFrom(ctx context.Context, source Source, opts *CopyOptions) (*Copied, error)
}

// Leasable is what a container and a blob have in common: a lock with a time
// limit that its holder knows by an identifier, a GUID. Lease operations change
// neither ETag nor Last-Modified. Conditions.LeaseID does not count here.
type Leasable interface {
	// AcquireLease takes the lease for MinLease to MaxLease, or InfiniteLease. An
	// empty proposal asks for a new identifier. Proposing the identifier of the
	// lease that is held starts it anew.
	AcquireLease(ctx context.Context, d time.Duration, proposedID string, cond *Conditions) (*Lease, error)

	// RenewLease starts the lease anew, for as long as it was acquired. It works
	// after the end too, without a write or another lease since (S-12).
	RenewLease(ctx context.Context, id string, cond *Conditions) (*Lease, error)

	// ChangeLease gives the lease another identifier. It succeeds again if the
	// lease has that identifier already.
	ChangeLease(ctx context.Context, id, proposedID string, cond *Conditions) (*Lease, error)

	// ReleaseLease ends the lease at once.
	ReleaseLease(ctx context.Context, id string, cond *Conditions) (*Lease, error)

	// BreakLease ends anybody's lease after a period of 0 to MaxBreakPeriod, but
	// not later than it would have ended. Nil means the rest of the lease, none
	// for an infinite one. Lease.Remaining says how long it still holds.
	BreakLease(ctx context.Context, period *time.Duration, cond *Conditions) (*Lease, error)
}
