package rest

import (
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings/storage"
)

// blobMessages are the words of the service, which people show and programs look
// for. Where it has none, or others each time, they are the texts of package
// bindings.
//
// Source: docs, Blob Storage error codes.
var blobMessages = map[storage.Code]string{
	storage.CodeAppendPositionConditionNotMet:         "The append position condition specified was not met.",
	storage.CodeBlobAlreadyExists:                     "The specified blob already exists.",
	storage.CodeBlobArchived:                          "This operation is not permitted on an archived blob.",
	storage.CodeBlobBeingRehydrated:                   "This operation is not permitted because the blob is being rehydrated.",
	storage.CodeBlobIsSealed:                          "The blob is sealed and its contents cannot be modified.",
	storage.CodeBlobNotFound:                          "The specified blob does not exist.",
	storage.CodeBlobOverwritten:                       "The blob has been recreated since the previous snapshot was taken.",
	storage.CodeBlockListTooLong:                      "The block list may not contain more than 50,000 blocks.",
	storage.CodeConditionNotMet:                       "The condition specified using HTTP conditional header(s) is not met.",
	storage.CodeContainerAlreadyExists:                "The specified container already exists.",
	storage.CodeContainerNotFound:                     "The specified container does not exist.",
	storage.CodeEmptyMetadataKey:                      "The key for one of the metadata key-value pairs is empty.",
	storage.CodeInvalidBlobOrBlock:                    "The specified blob or block content is invalid.",
	storage.CodeInvalidBlobType:                       "The blob type is invalid for this operation.",
	storage.CodeInvalidBlockID:                        "The specified block ID is invalid. The block ID must be Base64-encoded.",
	storage.CodeInvalidBlockList:                      "The specified block list is invalid.",
	storage.CodeInvalidHeaderValue:                    "The value for one of the HTTP headers is not in the correct format.",
	storage.CodeInvalidInput:                          "One of the request inputs is not valid.",
	storage.CodeInvalidMD5:                            "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and Base64-encoded.",
	storage.CodeInvalidMetadata:                       "The specified metadata is invalid. It includes characters that are not permitted.",
	storage.CodeInvalidPageRange:                      "The page range specified is invalid.",
	storage.CodeInvalidQueryParameterValue:            "Value for one of the query parameters specified in the request URI is invalid.",
	storage.CodeInvalidRange:                          "The range specified is invalid for the current size of the resource.",
	storage.CodeInvalidResourceName:                   "The specified resource name contains invalid characters.",
	storage.CodeInvalidXMLDocument:                    "XML specified is not syntactically valid.",
	storage.CodeLeaseAlreadyPresent:                   "There is already a lease present.",
	storage.CodeLeaseIDMismatchWithBlobOperation:      "The lease ID specified did not match the lease ID for the blob.",
	storage.CodeLeaseIDMismatchWithContainerOperation: "The lease ID specified did not match the lease ID for the container.",
	storage.CodeLeaseIDMismatchWithLeaseOperation:     "The lease ID specified did not match the lease ID for the blob/container.",
	storage.CodeLeaseIDMissing:                        "There is currently a lease on the resource and no lease ID was specified in the request.",
	storage.CodeLeaseIsBreakingAndCannotBeAcquired:    "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.",
	storage.CodeLeaseIsBreakingAndCannotBeChanged:     "The lease ID matched, but the lease is currently in breaking state and cannot be changed.",
	storage.CodeLeaseIsBrokenAndCannotBeRenewed:       "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.",
	storage.CodeLeaseNotPresentWithBlobOperation:      "There is currently no lease on the blob.",
	storage.CodeLeaseNotPresentWithContainerOperation: "There is currently no lease on the container.",
	storage.CodeLeaseNotPresentWithLeaseOperation:     "There is currently no lease on the blob/container.",
	storage.CodeMD5Mismatch:                           "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
	storage.CodeMaxBlobSizeConditionNotMet:            "The max blob size condition specified was not met.",
	storage.CodeMetadataTooLarge:                      "The size of the specified metadata exceeds the maximum size permitted.",
	storage.CodeMultipleConditionHeadersNotSupported:  "Multiple condition headers are not supported.",
	storage.CodeOutOfRangeInput:                       "The specified resource name length is not within the permissible limits.",
	storage.CodePreviousSnapshotCannotBeNewer:         "The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.",
	storage.CodePreviousSnapshotNotFound:              "The previous snapshot is not found.",
	storage.CodeSequenceNumberConditionNotMet:         "The sequence number condition specified was not met.",
	storage.CodeSnapshotsPresent:                      "This operation is not permitted because the blob has snapshots.",
	storage.CodeSourceConditionNotMet:                 "The source condition specified using HTTP conditional header(s) is not met.",
}

// blobError returns the answer for a failure of the blob service.
func blobError(e *storage.Error) *Error {
	out := NewError(e.Status, string(e.Code), blobMessages[e.Code])
	if out.Message == "" {
		out.Message = e.Text
	} else if e.Text != "" {
		out.Details = append(out.Details, Detail{"Reason", e.Text})
	}
	if e.Code == storage.CodeInvalidRange {
		out.Header = http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", e.Size)}}
	}
	return out
}
