package blob

import (
	"io"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Type is the kind of a blob.
type Type string

// The kinds of blobs, as on the wire.
const (
	BlockBlob  Type = "BlockBlob"
	AppendBlob Type = "AppendBlob"
	PageBlob   Type = "PageBlob"
)

// Conditions must hold for a call to have any effect. Times are compared by
// whole seconds.
//
// A read may combine them: IfMatch and IfUnmodifiedSince and (IfNoneMatch or
// IfModifiedSince). A write takes one of each pair, IfNoneMatch deciding before
// IfModifiedSince and IfMatch before IfUnmodifiedSince. Source: docs,
// "Specifying conditional headers for Blob service operations".
type Conditions struct {
	// IfMatch is an ETag with its quotes, or "*" for any; reads take several,
	// separated by commas.
	IfMatch string
	// IfNoneMatch is an ETag with its quotes; for a write also "*": the blob must
	// not exist. Reads take several.
	IfNoneMatch       string
	IfModifiedSince   time.Time // zero: no condition
	IfUnmodifiedSince time.Time // zero: no condition

	// IfTags is an expression that must hold for the index tags of the blob (docs:
	// "Specifying conditional headers", x-ms-if-tags); empty: no condition. Not for
	// containers.
	IfTags string

	// LeaseID is the identifier of the lease that the caller believes to hold.
	LeaseID string
}

// Headers are the headers with which a blob's content is served. They are
// stored as they are.
type Headers struct {
	ContentType        string // of a write that creates: application/octet-stream if empty
	ContentEncoding    string
	ContentLanguage    string
	ContentDisposition string
	CacheControl       string
	// ContentMD5 is the MD5 of the whole content. Put of a block blob checks it
	// against the body, in the place of BodyMD5, and computes it if it is nil
	// (docs: Put Blob, x-ms-blob-content-md5); the other writes store what they are
	// given.
	ContentMD5 []byte
}

// Written is the answer to a write.
type Written struct {
	ETag         string // with its quotes; empty from PutBlock
	LastModified time.Time
	ContentMD5   []byte // of Put's body, and of a block's if the call says what it is; else it may be nil
}

// PutOptions are for Put and PutBlockList.
type PutOptions struct {
	Type     Type // for Put; BlockBlob if empty
	Headers  Headers
	Metadata map[string]string
	// BodyMD5, if not nil, must be the MD5 of the body (Md5Mismatch), unless
	// Headers.ContentMD5 takes its place. Not for PutBlockList.
	BodyMD5 []byte
	// Size is the length of a page blob, in bytes, a multiple of 512; Sequence its
	// sequence number.
	Size, Sequence int64
	// Tags are the index tags of the blob: at most 10, in place of those it had.
	Tags       map[string]string
	Conditions *Conditions
}

// PutBlockOptions are for PutBlock.
type PutBlockOptions struct {
	BodyMD5 []byte // as in PutOptions
	LeaseID string
}

// BlockRef names a block for PutBlockList.
type BlockRef struct {
	ID   string // base64
	From BlockSource
}

// BlockSource says where PutBlockList looks for a block.
type BlockSource uint8

// The places to look for a block.
const (
	Latest      BlockSource = iota // among the waiting blocks, then in the blob
	Committed                      // in the blob
	Uncommitted                    // among the waiting blocks
)

// Block is one block of a BlockList.
type Block struct {
	ID   string
	Size int64
}

// BlockList are the blocks of a block blob.
type BlockList struct {
	Committed   []Block // in the order of the content
	Uncommitted []Block // sorted by identifier

	// Of the blob; all zero if nothing has been committed.
	ETag          string
	LastModified  time.Time
	ContentLength int64
}

// AppendBlockOptions are for AppendBlock.
type AppendBlockOptions struct {
	// Position, if not nil, must be the blob's length before the call
	// (AppendPositionConditionNotMet).
	Position *int64
	// MaxSize, if not nil, must not be exceeded by the blob's length after the
	// call (MaxBlobSizeConditionNotMet).
	MaxSize    *int64
	BodyMD5    []byte // as in PutOptions
	Conditions *Conditions
}

// Appended is the answer to AppendBlock.
type Appended struct {
	Written
	Offset int64 // of the new block in the blob
	Blocks int   // in the blob now
}

// Range is a part of a blob's content.
type Range struct {
	Offset int64 // must be below the blob's length (InvalidRange)
	Count  int64 // bytes; 0, or more than there are: up to the end
}

// GetOptions are for Get.
type GetOptions struct {
	Range      *Range // nil: everything, which works for an empty blob too
	Conditions *Conditions
}

// Download is the answer to Get.
type Download struct {
	Properties *Properties
	Body       io.ReadCloser // the bytes of Range
	Range      Range         // what is served; Count is exact
}

// Properties describes a blob. Maps and slices are the caller's own.
type Properties struct {
	Type          Type
	Created       time.Time
	LastModified  time.Time // whole seconds
	ETag          string    // with its quotes
	ContentLength int64
	Headers       Headers
	Metadata      map[string]string // names keep their case
	Lease         LeaseProperties
	Copy          *CopyState // nil: not a copy, or written since
	AppendBlocks  int        // of an append blob
	Sealed        bool       // of an append blob: nothing is appended any more
	Sequence      int64      // the sequence number of a page blob
	// AccessTier is the tier of a block blob: "Hot" until it is set
	// (AccessTierInferred).
	AccessTier         string
	AccessTierInferred bool
	AccessTierSet      time.Time // zero: the tier was never set
	// ArchiveStatus is "rehydrate-pending-to-" and a tier while a blob is on its way
	// out of the archive, with RehydratePriority Standard or High; else both are
	// empty.
	ArchiveStatus, RehydratePriority string
	TagCount                         int               // of index tags
	Tags                             map[string]string // of those; from Azure in listings only that include them
}

// CopyState says where a blob was copied from.
type CopyState struct {
	ID        string
	Source    string // CopyOptions.SourceURL
	Status    string // "success"
	Completed time.Time
	Bytes     int64 // copied, of as many
}

// DeleteOptions are for Delete.
type DeleteOptions struct {
	Snapshots  DeleteSnapshots
	Conditions *Conditions
	// TierSetAfter and TierNotSetAfter are conditions on Properties.AccessTierSet; zero:
	// no condition.
	TierSetAfter, TierNotSetAfter time.Time
}

// DeleteSnapshots says what Delete does about a blob's snapshots.
type DeleteSnapshots string

// How Delete treats snapshots, as on the wire.
const (
	RefuseIfSnapshots DeleteSnapshots = ""        // SnapshotsPresent if there are any
	IncludeSnapshots  DeleteSnapshots = "include" // the blob and all of them
	OnlySnapshots     DeleteSnapshots = "only"    // all of them; the blob stays
)

// SnapshotOptions are for Snapshot.
type SnapshotOptions struct {
	Metadata   map[string]string // of the snapshot; nil: the blob's
	Conditions *Conditions
}

// SnapshotTaken is the answer to Snapshot.
type SnapshotTaken struct {
	Written
	// Snapshot is the snapshot's name: a time with seven decimals, later than all
	// other snapshots of the blob.
	Snapshot string
}

// Source names a blob of the same account, or one snapshot of it.
type Source struct {
	Container, Name, Snapshot string
}

// CopyOptions are for CopyFrom.
type CopyOptions struct {
	Metadata   map[string]string // nil: the source's
	Conditions *Conditions       // on the blob that is written
	// SourceConditions are on the source (SourceConditionNotMet).
	SourceConditions *Conditions
	SourceURL        string // kept as CopyState.Source
	// Tier is the tier of the copy, of a block blob; empty: not set. A source in
	// the archive is copied to another tier only (BlobArchived).
	Tier string
	// RehydratePriority is Standard or High, for a source in the archive; Standard if
	// it is empty.
	RehydratePriority string
	// Tags are the index tags of the copy; CopyTags takes the tags of the source in
	// their place.
	Tags     map[string]string
	CopyTags bool
	// Sync is set for Copy Blob From URL, after which nothing is left of a lease that has
	// ended; Copy Blob leaves its state.
	Sync bool
	// Seal says whether the copy of an append blob is sealed; nil: if its source is.
	Seal *bool
}

// Copied is the answer to CopyFrom.
type Copied struct {
	Written
	ID     string
	Status string // "success"
}

// Lease is the answer to a lease operation.
type Lease struct {
	ID           string        // empty after ReleaseLease and BreakLease
	ETag         string        // of the blob or container, unchanged
	LastModified time.Time     // likewise
	Remaining    time.Duration // after BreakLease: until the lease ends, rounded to seconds
}

// LeaseProperties says how the lease of a container or blob stands.
type LeaseProperties struct {
	State    string // available, leased, breaking, broken, expired
	Status   string // locked (leased, breaking) or unlocked
	Duration string // infinite or fixed while leased, else empty
}

// ListOptions are for Container.Blobs.
type ListOptions struct {
	Prefix string
	// Delimiter, if not empty, folds all names that have it after the prefix into
	// one prefix each.
	Delimiter string
	EndBefore string // the first name that is not listed any more; the embedded account's only
	StartFrom string // the first name that may be listed, if the page before does not lead further
	Marker    string // Page.NextMarker of the page before
	// MaxResults bounds the number of items, prefixes included: 1 or more;
	// MaxListResults if 0 or above that.
	MaxResults int
	Include    ListInclude
}

// ListInclude says what a listing of blobs shows beyond the plain facts.
type ListInclude struct {
	Metadata    bool
	Tags        bool // index tags
	Copy        bool // copy states
	Snapshots   bool // before their blob, oldest first; not with a delimiter
	Uncommitted bool // blobs that have only waiting blocks
}

// Page is one page of a listing.
type Page struct {
	Blobs      []Item
	Prefixes   []string // of ListOptions.Delimiter, each ending with it
	NextMarker string   // empty: this is the last page
}

// Item is a blob in a listing.
type Item struct {
	Name       string
	Snapshot   string // empty: the blob itself
	Properties Properties
}

// CreateContainerOptions are for Container.Create.
type CreateContainerOptions struct {
	Metadata     map[string]string
	PublicAccess PublicAccess
}

// PublicAccess says what everybody may read over REST. Calls of this interface are the
// account's own.
type PublicAccess string

// The levels of public access, as on the wire.
const (
	NoPublicAccess  PublicAccess = ""
	PublicBlobs     PublicAccess = "blob"
	PublicContainer PublicAccess = "container"
)

// ContainerProperties describes a container.
type ContainerProperties struct {
	ETag         string // with its quotes
	LastModified time.Time
	Metadata     map[string]string
	Lease        LeaseProperties
	PublicAccess PublicAccess
}

// ContainerAccess is the access list of a container. The policies belong to shared
// access signatures; their IDs have 1 to 64 characters and are unique.
type ContainerAccess struct {
	PublicAccess PublicAccess
	Policies     []storage.AccessPolicy
	ETag         string    // ignored by SetAccess
	LastModified time.Time // likewise
}

// ListContainersOptions are for Account.Containers.
type ListContainersOptions struct {
	Prefix     string
	Marker     string // ContainerPage.NextMarker of the page before
	MaxResults int    // as in ListOptions
	Metadata   bool   // show metadata
}

// ContainerPage is one page of a listing of containers.
type ContainerPage struct {
	Containers []ContainerItem
	NextMarker string // empty: this is the last page
}

// ContainerItem is a container in a listing.
type ContainerItem struct {
	Name       string
	Properties ContainerProperties
}
