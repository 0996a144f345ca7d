package blob

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// properties are a blob's properties as the platform hands them to functions: what its JSON
// library makes of BlobProperties, the type of its client, with numbers for words and all
// that is not set.
//
// Source: Azure.Storage.Blobs, BlobProperties; observed, the platform's host 4.1037.
type properties struct {
	LastModified, CreatedOn                bindings.DateTimeOffset
	Metadata                               map[string]string
	ObjectReplicationDestinationPolicyID   *string `json:"ObjectReplicationDestinationPolicyId"`
	ObjectReplicationSourceProperties      *string
	BlobType                               int
	CopyCompletedOn                        bindings.DateTimeOffset
	CopyStatusDescription                  *string
	CopyID                                 *string `json:"CopyId"`
	CopyProgress, CopySource               *string
	CopyStatus                             int
	BlobCopyStatus                         *int
	IsIncrementalCopy                      bool
	DestinationSnapshot                    *string
	LeaseDuration, LeaseState, LeaseStatus int
	ContentLength                          int64
	ContentType                            string
	ETag                                   struct{} // whose text is no property
	ContentHash                            []byte
	ContentEncoding, ContentDisposition    *string
	ContentLanguage, CacheControl          *string
	BlobSequenceNumber                     int64
	AcceptRanges                           string
	BlobCommittedBlockCount                int
	IsServerEncrypted                      bool
	EncryptionKeySha256, EncryptionScope   *string
	AccessTier                             *string
	AccessTierInferred                     bool
	ArchiveStatus                          *string
	AccessTierChangedOn                    bindings.DateTimeOffset
	VersionID                              *string `json:"VersionId"`
	IsLatestVersion                        bool
	TagCount                               int
	ExpiresOn                              bindings.DateTimeOffset
	IsSealed                               bool
	RehydratePriority                      *string
	LastAccessed                           bindings.DateTimeOffset
	ImmutabilityPolicy                     struct{ ExpiresOn, PolicyMode *string }
	HasLegalHold                           bool
}

// The numbers of the platform's words.
var (
	blobTypes     = map[blob.Type]int{blob.BlockBlob: 0, blob.PageBlob: 1, blob.AppendBlob: 2}            // read only
	leaseTimes    = map[string]int{"infinite": 0, "fixed": 1}                                             // read only
	leaseStates   = map[string]int{"available": 0, "leased": 1, "expired": 2, "breaking": 3, "broken": 4} // read only
	leaseStatuses = map[string]int{"locked": 0, "unlocked": 1}                                            // read only
	copyStatuses  = map[string]int{"pending": 0, "success": 1, "aborted": 2, "failed": 3}                 // read only
)

// platformProperties are the properties as JSON.
func platformProperties(p *blob.Properties) json.RawMessage {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	at := func(t time.Time) bindings.DateTimeOffset {
		return bindings.DateTimeOffset{Time: t.UTC().Truncate(time.Second)}
	}
	out := properties{
		LastModified: at(p.LastModified), CreatedOn: at(p.Created), Metadata: p.Metadata, BlobType: blobTypes[p.Type],
		LeaseDuration: leaseTimes[string(p.Lease.Duration)], LeaseState: leaseStates[string(p.Lease.State)], LeaseStatus: leaseStatuses[string(p.Lease.Status)],
		ContentLength: p.ContentLength, ContentType: p.Headers.ContentType, ContentHash: p.Headers.ContentMD5,
		ContentEncoding: text(p.Headers.ContentEncoding), ContentDisposition: text(p.Headers.ContentDisposition),
		ContentLanguage: text(p.Headers.ContentLanguage), CacheControl: text(p.Headers.CacheControl),
		BlobSequenceNumber: p.Sequence, AcceptRanges: "bytes", BlobCommittedBlockCount: p.AppendBlocks, IsServerEncrypted: true,
		AccessTier: text(p.AccessTier), AccessTierInferred: p.AccessTierInferred, ArchiveStatus: text(p.ArchiveStatus), AccessTierChangedOn: at(p.AccessTierSet),
		TagCount: p.TagCount, IsSealed: p.Sealed, RehydratePriority: text(p.RehydratePriority),
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	if c := p.Copy; c != nil {
		status := copyStatuses[c.Status]
		progress := strconv.FormatInt(c.Bytes, 10)
		progress += "/" + progress
		out.CopyCompletedOn, out.CopyID, out.CopySource, out.CopyProgress = at(c.Completed), text(c.ID), text(c.Source), &progress
		out.CopyStatus, out.BlobCopyStatus = status, &status
	}
	raw, _ := json.Marshal(out) // it has a JSON form
	return raw
}

// plainProperties are a blob's properties in words, for handlers in Go, under the names of the platform's own
// client (source: Azure.Storage.Blobs, BlobProperties).
func plainProperties(p *blob.Properties) map[string]any {
	return map[string]any{
		"LastModified":       p.LastModified,
		"CreatedOn":          p.Created,
		"BlobType":           string(p.Type),
		"ContentLength":      p.ContentLength,
		"ContentType":        p.Headers.ContentType,
		"ContentEncoding":    p.Headers.ContentEncoding,
		"ContentLanguage":    p.Headers.ContentLanguage,
		"ContentDisposition": p.Headers.ContentDisposition,
		"CacheControl":       p.Headers.CacheControl,
		"ETag":               p.ETag,
		"LeaseState":         p.Lease.State,
		"LeaseStatus":        p.Lease.Status,
		"AccessTier":         p.AccessTier,
	}
}
