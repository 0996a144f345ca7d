package rest

import (
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// blobMessages are the words of the service where SDKs show or look for them.
// The others are those of package bindings.
//
// Source: docs, Blob Storage error codes.
var blobMessages = map[bindings.BlobCode]string{
	bindings.CodeBlobAlreadyExists:      "The specified blob already exists.",
	bindings.CodeBlobIsSealed:           "The specified blob is sealed, and its contents can't be modified unless the blob is re-created after a delete.",
	bindings.CodeBlobNotFound:           "The specified blob does not exist.",
	bindings.CodeContainerAlreadyExists: "The specified container already exists.",
	bindings.CodeContainerNotFound:      "The specified container does not exist.",
	bindings.CodeConditionNotMet:        "The condition specified using HTTP conditional header(s) is not met.",
	bindings.CodeInvalidBlockList:       "The specified block list is invalid.",
	bindings.CodeInvalidHeaderValue:     "The value for one of the HTTP headers is not in the correct format.",
	bindings.CodeInvalidRange:           "The range specified is invalid for the current size of the resource.",
	bindings.CodeLeaseAlreadyPresent:    "There is already a lease present.",
	bindings.CodeLeaseIDMissing:         "There is currently a lease on the resource and no lease ID was specified in the request.",
	bindings.CodeMD5Mismatch:            "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
	bindings.CodeSnapshotsPresent:       "This operation is not permitted because the blob has snapshots.",
}

// blobError returns the answer for a failure of the blob service.
func blobError(e *bindings.BlobError) *Error {
	out := newError(e.Status, string(e.Code), blobMessages[e.Code])
	if out.Message == "" {
		out.Message = e.Text
	} else if e.Text != "" {
		out.Details = append(out.Details, Detail{"Reason", e.Text})
	}
	if e.Code == bindings.CodeInvalidRange {
		out.Header = http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", e.Size)}}
	}
	return out
}
