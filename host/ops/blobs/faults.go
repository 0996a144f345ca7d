package blobs

import "github.com/redeliver/redeliver/host/faults"

// operations are what Blob storage does.
var operations = faults.Service{ // read only
	Name: "blob",
	Reads: []string{
		"Access", "BlobServiceProperties", "Blobs", "BlockList", "Containers", "FindBlobs", "Get", "PageRanges",
		"Properties", "Tags",
	},
	Writes: []string{
		"AcquireLease", "AppendBlock", "BreakLease", "ChangeLease", "ClearPages", "CopyFrom", "Create", "Delete",
		"Put", "PutBlock", "PutBlockList", "PutPages", "ReleaseLease", "RenewLease", "Seal", "SetAccess",
		"SetBlobServiceProperties", "SetHeaders", "SetMetadata", "SetTags", "SetTier", "Snapshot",
	},
	Losable: []string{"Delete", "Put", "SetMetadata"},
	Within:  within,
}
