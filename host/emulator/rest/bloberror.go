package rest

import (
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// blobMessages are the words of the service, which people show and programs look for.
// Where it has none, or others each time, they are those of package bindings.
//
// Source: docs, Blob Storage error codes.
var blobMessages = map[bindings.BlobCode]string{
	bindings.CodeAppendPositionConditionNotMet:         "The append position condition specified was not met.",
	bindings.CodeBlobAlreadyExists:                     "The specified blob already exists.",
	bindings.CodeBlobArchived:                          "This operation is not permitted on an archived blob.",
	bindings.CodeBlobIsSealed:                          "The specified blob is sealed, and its contents can't be modified unless the blob is re-created after a delete.",
	bindings.CodeBlobNotFound:                          "The specified blob does not exist.",
	bindings.CodeBlockListTooLong:                      "The block list may not contain more than 50,000 blocks.",
	bindings.CodeConditionNotMet:                       "The condition specified using HTTP conditional header(s) is not met.",
	bindings.CodeContainerAlreadyExists:                "The specified container already exists.",
	bindings.CodeContainerNotFound:                     "The specified container does not exist.",
	bindings.CodeEmptyMetadataKey:                      "The key for one of the metadata key-value pairs is empty.",
	bindings.CodeInvalidBlobOrBlock:                    "The specified blob or block content is invalid.",
	bindings.CodeInvalidBlobType:                       "The blob type is invalid for this operation.",
	bindings.CodeInvalidBlockID:                        "The specified block ID is invalid. The block ID must be Base64-encoded.",
	bindings.CodeInvalidBlockList:                      "The specified block list is invalid.",
	bindings.CodeInvalidHeaderValue:                    "The value for one of the HTTP headers is not in the correct format.",
	bindings.CodeInvalidInput:                          "One of the request inputs is not valid.",
	bindings.CodeInvalidMD5:                            "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and Base64-encoded.",
	bindings.CodeInvalidMetadata:                       "The specified metadata is invalid. It includes characters that are not permitted.",
	bindings.CodeInvalidPageRange:                      "The page range specified is invalid.",
	bindings.CodeInvalidQueryParameterValue:            "Value for one of the query parameters specified in the request URI is invalid.",
	bindings.CodeInvalidRange:                          "The range specified is invalid for the current size of the resource.",
	bindings.CodeInvalidResourceName:                   "The specified resource name contains invalid characters.",
	bindings.CodeInvalidXMLDocument:                    "XML specified is not syntactically valid.",
	bindings.CodeLeaseAlreadyPresent:                   "There is already a lease present.",
	bindings.CodeLeaseIDMismatchWithBlobOperation:      "The lease ID specified did not match the lease ID for the blob.",
	bindings.CodeLeaseIDMismatchWithContainerOperation: "The lease ID specified did not match the lease ID for the container.",
	bindings.CodeLeaseIDMismatchWithLeaseOperation:     "The lease ID specified did not match the lease ID for the blob/container.",
	bindings.CodeLeaseIDMissing:                        "There is currently a lease on the resource and no lease ID was specified in the request.",
	bindings.CodeLeaseIsBreakingAndCannotBeAcquired:    "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.",
	bindings.CodeLeaseIsBreakingAndCannotBeChanged:     "The lease ID matched, but the lease is currently in breaking state and cannot be changed.",
	bindings.CodeLeaseIsBrokenAndCannotBeRenewed:       "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.",
	bindings.CodeLeaseNotPresentWithBlobOperation:      "There is currently no lease on the blob.",
	bindings.CodeLeaseNotPresentWithContainerOperation: "There is currently no lease on the container.",
	bindings.CodeLeaseNotPresentWithLeaseOperation:     "There is currently no lease on the blob/container.",
	bindings.CodeMD5Mismatch:                           "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
	bindings.CodeMaxBlobSizeConditionNotMet:            "The max blob size condition specified was not met.",
	bindings.CodeMetadataTooLarge:                      "The size of the specified metadata exceeds the maximum size permitted.",
	bindings.CodeMultipleConditionHeadersNotSupported:  "Multiple condition headers are not supported.",
	bindings.CodeOutOfRangeInput:                       "The specified resource name length is not within the permissible limits.",
	bindings.CodeSequenceNumberConditionNotMet:         "The sequence number condition specified was not met.",
	bindings.CodeSnapshotsPresent:                      "This operation is not permitted because the blob has snapshots.",
	bindings.CodeSourceConditionNotMet:                 "The source condition specified using HTTP conditional header(s) is not met.",
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
