package azure_test

import (
	"regexp"
	"slices"
)

// mask is a way in which Azurite is known to differ, or in which two servers may.
type mask struct {
	ops       []string // by the exchange's name; none: all
	field     string   // regular expression
	ours      string   // regular expressions of the two values
	theirs    string
	with      []string // headers that the request has
	appended  bool     // only of append blobs
	unwritten bool     // only where our server has no blob of that name
	diverges  bool     // the two are in different states from then on
	source    string   // who says so
}

// checked are codes of faults that are seen in the request itself.
const checked = "400 (Invalid.*|OutOfRange.*|MissingRequired.*|Md5Mismatch|MultipleCondition.*)"

var masks = []mask{
	// Answers that are refusals on both sides.
	{
		field: "answer", ours: "(4..) .+", theirs: "400",
		source: "Azurite's generated reader refuses with 400 and no code",
	},
	{
		field: "answer", ours: checked, theirs: "40[49] .*|304|304 .*|412 .*|400 PopReceiptMismatch",
		source: "we check the request first, Azurite what it is about",
	},
	{
		field: "answer", ours: "403 AuthenticationFailed", theirs: "403 AuthorizationFailure",
		source: "docs, authentication errors: a signature that is wrong or not valid now is AuthenticationFailed",
	},
	{
		field: "answer", ours: "403 Authorization(SourceIP|Protocol)Mismatch", theirs: "403 Authorization.*Mismatch",
		source: "a signature with two faults",
	},
	{
		ops: []string{"LeaseBlob", "LeaseContainer"}, field: "answer", ours: "409 LeaseIdMismatchWithLeaseOperation", theirs: "409 LeaseIsBreakingAndCannotBeChanged",
		source: "spec storage 17.4: it is the proposed identifier that counts; Azurite takes the caller's for it",
	},
	{
		ops: []string{"CopyBlob"}, field: "answer", ours: "404 CannotVerifyCopySource", theirs: "404 BlobNotFound",
		source: "spec storage 17.1; docs, Copy Blob",
	},
	{
		ops:   []string{"GetBlob", "GetBlobProperties", "GetBlobMetadata", "GetBlockList", "DeleteBlob"},
		field: "answer", ours: "404 BlobNotFound", theirs: "412 ConditionNotMet|304.*|400 UnsatisfiableCondition",
		source: "docs, conditional headers: what is not there is 404, whatever the conditions",
	},
	{
		ops: []string{"PutBlob"}, field: "answer", ours: checked, theirs: "400 Md5Mismatch",
		source: "a body and a header with a fault each",
	},
	{
		ops: []string{"PutBlockList wrong"}, field: "answer", ours: "400 InvalidBlockId", theirs: "400 InvalidBlockList",
		source: "docs, error codes: InvalidBlockId is for identifiers that are not base64",
	},
	{
		field: "answer", ours: "412 LeaseNotPresentWithBlobOperation", theirs: "409 InvalidBlobType|412 ConditionNotMet",
		source: "a lease that is not there, on a blob of another type, or with a condition not met",
	},
	{
		field: "answer", ours: "412 ConditionNotMet|304 ConditionNotMet", theirs: "412 Lease.*WithBlobOperation",
		source: "a condition not met, with a lease that is not there either",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "403 Authorization.*Mismatch", theirs: "404 .*|412 .*|409 .*|400 .*",
		source: "we check the signature first, Azurite what it is about",
	},
	{
		field: "answer", ours: "412 ConditionNotMet", theirs: "404 BlobNotFound",
		source: "spec storage 17.3: If-Match on a missing blob",
	},

	{
		field: "answer", ours: "412 ConditionNotMet|412 .*ConditionNotMet", theirs: "409 InvalidBlobType|412 Lease.*WithContainerOperation",
		source: "a condition not met, on a blob of another type, or with another lease",
	},
	{
		ops: []string{"PutBlock", "PutBlob"}, field: "answer", ours: "400 InvalidM.*", theirs: "400 InvalidM.*|400 OutOfRangeInput|400 InvalidQueryParameterValue",
		source: "two headers with a fault each",
	},
	{
		field: "answer", ours: "400 InvalidHeaderValue", theirs: "400 UnsatisfiableCondition",
		source: "a header and a condition with a fault each",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "403 AuthorizationPermissionMismatch", theirs: "403 AuthorizationResourceTypeMismatch",
		source: "docs, Create an account SAS: a message is an object; we take the queue's type too",
	},

	{
		ops: []string{"CopyBlob"}, field: "answer", ours: "412 SourceConditionNotMet|412 ConditionNotMet|412 Lease.*WithBlobOperation|412 LeaseIdMissing", theirs: "412 ConditionNotMet|304 ConditionNotMet|404 BlobNotFound",
		source: "docs, conditional headers: a condition on the source is SourceConditionNotMet, and 412",
	},
	{
		field: "answer", ours: "412 Lease.*WithBlobOperation|412 LeaseIdMissing", theirs: "409 InvalidBlobType",
		source: "a lease of another, on a blob of another type",
	},
	{
		ops: []string{"GetBlob"}, field: "answer", ours: "400 InvalidHeaderValue|200", theirs: "416 InvalidRange|206", with: []string{"lines=1-2"},
		source: "docs, range header: what is no range in Range is ignored; in x-ms-range it is refused",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "404 .*|400 .*", theirs: "403 AuthorizationResourceTypeMismatch",
		source: "docs, Create an account SAS: a message is an object; we take the queue's type too",
	},
	{
		field: "answer", ours: "404 BlobNotFound|" + checked, theirs: "400 MultipleConditionHeadersNotSupported",
		source: "conditions that do not go together, and another fault",
	},
	{
		ops: []string{"CopyBlob"}, field: "answer", ours: "409 BlobAlreadyExists", theirs: "404 BlobNotFound|412 .*|304.*",
		source: "a destination that is there, and a source that is not",
	},

	{
		ops: []string{"SnapshotBlob"}, field: "answer", ours: "412 .*|404 BlobNotFound", theirs: "304 ConditionNotMet|400 UnsatisfiableCondition",
		source: "docs, conditional headers: Snapshot Blob is a write",
	},
	{
		ops: []string{"GetBlob"}, field: "answer", ours: "400 InvalidHeaderValue", theirs: "200|416 InvalidRange", with: []string{"x-ms-range"},
		source: "docs, range header: what is no range in Range is ignored; in x-ms-range it is refused",
	},

	// Answers that only one side refuses.
	{
		with: []string{"if-none-match"}, field: "answer", ours: "412 ConditionNotMet", theirs: "20.", diverges: true,
		source: "spec storage 17.3: If-None-Match * fails every write to what exists; Azurite checks those that create",
	},
	{
		ops: []string{"CopyBlob"}, field: "answer", ours: "409 InvalidBlobType", theirs: "202", diverges: true,
		source: "docs, Copy Blob: what is replaced is of the source's type",
	},
	{
		ops: []string{"LeaseBlob", "LeaseContainer"}, field: "answer", ours: "400 InvalidHeaderValue", theirs: "202", diverges: true,
		source: "spec storage 17.4: a break period of 0 to 60",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "403 .*", theirs: "20.|404 .*", diverges: true,
		source: "Azurite lets a bad signature pass where there is public access",
	},
	{
		ops: []string{"PutBlob", "PutBlob append", "PutBlockList", "CopyBlob"}, field: "answer", ours: "20.", theirs: "409 BlobAlreadyExists|412 .*", unwritten: true, diverges: true,
		source: "Azurite keeps waiting blocks as a blob (LokiBlobMetadataStore.stageBlock)",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "403 AuthorizationSourceIPMismatch", theirs: "20.", diverges: true,
		source: "docs, Create an account SAS: sip; Azurite does not look at it",
	},
	{
		with: []string{"if-match", "if-unmodified-since"}, field: "answer", ours: "20.", theirs: "412 ConditionNotMet", diverges: true,
		source: "docs, conditional headers: of a write's If-Match and If-Unmodified-Since the first decides",
	},
	{
		ops: []string{"anonymous"}, field: "answer", ours: "401 NoAuthenticationInformation", theirs: "403 .*|404 .*|400 .*|412 .*|304.*",
		source: "docs, Common REST API error codes: no credentials, on what is not public",
	},
	{
		ops: []string{"GetBlob", "signed URL"}, field: "answer", ours: "416 InvalidRange", theirs: "206",
		source: "spec storage 17.3: a range of an empty blob is 416",
	},
	{
		field: "answer", ours: "404 BlobNotFound|200", unwritten: true, diverges: true,
		ops: []string{"GetBlockList", "LeaseBlob", "SetBlobProperties", "SetBlobMetadata", "DeleteBlob"}, theirs: "20.|409 Lease.*|412 .*",
		source: "Azurite keeps waiting blocks as a blob (LokiBlobMetadataStore.stageBlock)",
	},
	{
		ops: []string{"PutBlock"}, field: "answer", ours: "412 LeaseIdMismatchWithBlobOperation", theirs: "412 LeaseNotPresentWithBlobOperation",
		source: "Azurite's PutBlock looks for the lease of the waiting blocks",
	},
	{
		field: "answer", ours: "400 MultipleConditionHeadersNotSupported", theirs: "20.", diverges: true,
		source: "docs, conditional headers: If-Match goes with If-Unmodified-Since only",
	},
	{
		field: "answer", ours: "412 LeaseNotPresentWithBlobOperation", theirs: "20[12]|404 BlobNotFound|400 InvalidBlockList|409 BlobAlreadyExists", diverges: true,
		source: "spec storage 17.4: a write with an identifier, and no lease, also where there is no blob",
	},
	{
		ops: []string{"CreateQueue", "SetQueueMetadata"}, field: "answer", ours: "400 InvalidMetadata", theirs: "20.|409 QueueAlreadyExists", diverges: true,
		source: "spec storage 16.3: names of metadata; Azurite checks those of blobs only",
	},
	{
		ops: []string{"PutMessage"}, field: "answer", ours: "400 InvalidQueryParameterValue", theirs: "201", diverges: true,
		source: "spec storage 16.1: visibilitytimeout must be below the TTL, also below the default one",
	},
	{
		ops: []string{"ListBlobs"}, field: "answer", ours: "400 InvalidQueryParameterValue", theirs: "200",
		source: "docs, List Blobs: no snapshots with a delimiter",
	},
	{
		ops: []string{"PutBlock"}, field: "answer", ours: "400 InvalidBlockId", theirs: "201|400 InvalidQueryParameterValue|400 OutOfRangeInput|400 InvalidBlobOrBlock|400 Md5Mismatch", diverges: true,
		source: "spec storage 17.1: InvalidBlockId, also for an empty one",
	},
	{
		ops: []string{"PutBlob"}, field: "answer", ours: "400 InvalidMd5", theirs: "201", diverges: true,
		source: "a Content-MD5 that is none, beside a good x-ms-blob-content-md5",
	},
	{
		ops: []string{"signed URL"}, field: "answer", ours: "20.", theirs: "403 AuthorizationResourceTypeMismatch", diverges: true,
		source: "docs, Create an account SAS: a message is an object; we take the queue's type too",
	},

	{
		ops: []string{"DeleteContainer"}, field: "answer", ours: "412 ConditionNotMet", theirs: "202", diverges: true,
		source: "docs, conditional headers: containers know dates only; we know ETags too",
	},

	// The bodies of answers.
	{
		ops: []string{"GetServiceProperties"}, field: "StorageServiceProperties/(DefaultServiceVersion|Logging/.*|HourMetrics/.*|MinuteMetrics/.*|DeleteRetentionPolicy/.*|StaticWebsite/.*)",
		source: "docs, Get Blob Service Properties: settings that nobody has set; Azurite's are its own",
	},
	{
		field: "Access-Control-Expose-Headers", ours: ".*,date,server,.*", theirs: ".*x-ms-request-id.*",
		source: "for *, the headers that there are",
	},
	{
		field: ".*/ServerEncrypted", ours: "true", theirs: " ",
		source: "Azurite forgets it for blobs made of blocks",
	},
	{
		field:  "X-Ms-Creation-Time|.*/Creation-Time",
		source: "Azurite's blob is as old as its first waiting block",
	},
	{
		field: "X-Ms-Lease-State|.*/LeaseState", ours: "expired|broken", theirs: "available", diverges: true,
		source: "spec storage 17.3: only Put Blob and Put Block List make an ended lease available; in Azurite all writes do",
	},
	{
		field: "X-Ms-Lease-State|X-Ms-Lease-Status|.*/LeaseState|.*/LeaseStatus", ours: " ", theirs: "available|unlocked",
		source: "snapshots have no leases",
	},
	{
		ops: []string{"GetBlobMetadata"}, field: "body|Accept-Ranges|Cache-Control|Content-.*|X-Ms-(Blob-Type|Creation-Time|Lease-.*|Server-Encrypted|Access-Tier.*|Blob-.*|Copy-.*|Incremental-Copy)", ours: " ",
		source: "docs, Get Blob Metadata: metadata and version; Azurite serves it as Get Blob",
	},
	{
		field: "X-Ms-Incremental-Copy|.*/IncrementalCopy", ours: " ", theirs: "false",
		source: "docs, Get Blob Properties: true for incremental copies",
	},
	{
		field: ".*/Copy.*", ours: " ", diverges: true,
		source: "docs, List Blobs: with include=copy",
	},
	{
		field: "X-Ms-Blob-Content-Md5", ours: " ",
		source: "docs, Get Blob: with a range",
	},
	{
		ops: []string{"SnapshotBlob"}, field: "Etag", diverges: true,
		source: "docs, Snapshot Blob: with metadata of its own a snapshot has another ETag",
	},
	{
		field: "Content-Md5|.*/Content-MD5", ours: " ", theirs: "1B2M2Y8AsgTpgAmY7PhCfg==",
		source: "Azurite says what the MD5 of no content is, whatever was stored",
	},
	{
		field: "Content-Md5|X-Ms-Blob-Content-Md5", appended: true, ours: " ",
		source: "docs, Put Blob: an append blob has the MD5 it was given",
	},
	{
		ops:    []string{"GetQueueMetadata", "GetQueueACL", "GetContainerProperties", "GetContainerACL", "GetBlobMetadata", "anonymous", "signed URL"},
		field:  "Content-Length",
		source: "the length of an empty body, or of one that a HEAD leaves out",
	},
	{
		field: "X-Ms-Default-Encryption-Scope|X-Ms-Deny-Encryption-Scope-Override", theirs: " ",
		source: "docs, Get Container Properties: since 2019-02-02",
	},
	{
		field: ".*/Sealed|X-Ms-Blob-Sealed", ours: " ", theirs: "false",
		source: "docs, Get Blob Properties: there if the blob is sealed",
	},
	{
		field:  "X-Ms-Approximate-Messages-Count",
		source: "spec storage 16.3: Azurite counts what has expired until it collects it",
	},
	{
		ops: []string{"ListBlobs uncommitted"}, field: ".*/(AccessTier|AccessTierInferred|Creation-Time|Last-Modified|Etag|ServerEncrypted)", diverges: true,
		source: "what a list says of a blob that has waiting blocks only",
	},
	{
		ops: []string{"GetBlockList"}, field: "Etag|Last-Modified", ours: " ", diverges: true,
		source: "Azurite keeps waiting blocks as a blob with an ETag",
	},
	{
		field: ".*/AccessTierChangeTime|X-Ms-Access-Tier-Change-Time", ours: " ",
		source: "docs, Get Blob Properties: only where the tier was ever set",
	},
	{
		field: "X-Ms-Content-Crc64", theirs: " ",
		source: "docs, Put Blob, Put Block: answered with the CRC64 of what was written",
	},
	{
		field: "X-Ms-Immutable-Storage-With-Versioning-Enabled|.*/(ImmutableStorageWithVersioningEnabled|DefaultEncryptionScope|DenyEncryptionScopeOverride)", theirs: " ",
		source: "docs, Get Container Properties, List Containers: what every container says",
	},
	{
		field: "X-Ms-Copy-Progress|.*/CopyProgress", ours: "0/0", theirs: " ",
		source: "Azurite says nothing of the progress of nothing",
	},
	{
		ops: []string{"PutBlock", "AppendBlock", "signed URL"}, field: "Content-Md5", theirs: " ",
		source: "docs, Put Block: Content-MD5 comes back where it was sent",
	},
	{
		ops: []string{"PutBlockList"}, field: "Content-Md5", ours: " ",
		source: "docs, Put Block List: Content-MD5 comes back where it was sent",
	},
}

// maskOf returns the mask that knows a difference, or nil.
func maskOf(d difference) *mask {
	for i := range masks {
		m := &masks[i]
		switch {
		case len(m.ops) > 0 && !slices.Contains(m.ops, d.exchange.op), !d.exchange.has(m.with), m.unwritten && !d.unwritten, m.appended && !d.appended:
		case matches(m.field, d.field) && matches(m.ours, d.ours) && matches(m.theirs, d.theirs):
			return m
		}
	}
	return nil
}

// has reports whether a request has all these headers.
func (e *exchange) has(headers []string) bool {
	for _, h := range headers {
		if !slices.Contains(e.header, h) {
			return false
		}
	}
	return true
}

// matches is a match of the whole text; an empty pattern matches any, and a
// space only an empty text.
func matches(pattern, text string) bool {
	if pattern == " " {
		return text == ""
	}
	return pattern == "" || regexp.MustCompile("^(?:"+pattern+")$").MatchString(text)
}
