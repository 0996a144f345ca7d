package bindings

import (
	"errors"
	"net/http"
)

// Conditions that the blob service reports, beside those of the queue service:
// ErrNotFound, ErrAlreadyExists, ErrTooLarge, ErrOutOfRange, ErrInvalidName and
// ErrUnavailable hold for blobs alike.
var (
	// ErrContainerNotFound: the container does not exist (ContainerNotFound).
	// ErrNotFound holds too.
	ErrContainerNotFound = errors.New("container not found")
	// ErrConditionNotMet: a condition of the caller does not hold
	// (ConditionNotMet, SourceConditionNotMet and those of AppendBlock).
	ErrConditionNotMet = errors.New("condition not met")
	// ErrLeaseHeld: somebody's lease is in the way, and the caller named none
	// (LeaseAlreadyPresent, LeaseIdMissing and the like).
	ErrLeaseHeld = errors.New("lease held")
	// ErrLeaseLost: the lease that the caller named is not, or no longer, the one
	// in force (LeaseIdMismatch..., LeaseNotPresent... and the like).
	ErrLeaseLost = errors.New("lease lost")
)

// BlobCode is the service's name for a failure, the value of x-ms-error-code.
type BlobCode string

// The failures of the blob service (spec storage 14 and 17).
const (
	CodeAppendPositionConditionNotMet         BlobCode = "AppendPositionConditionNotMet"
	CodeBlobAlreadyExists                     BlobCode = "BlobAlreadyExists"
	CodeBlobArchived                          BlobCode = "BlobArchived"
	CodeBlobIsSealed                          BlobCode = "BlobIsSealed"
	CodeBlobNotFound                          BlobCode = "BlobNotFound"
	CodeBlockCountExceedsLimit                BlobCode = "BlockCountExceedsLimit"
	CodeBlockListTooLong                      BlobCode = "BlockListTooLong"
	CodeCannotVerifyCopySource                BlobCode = "CannotVerifyCopySource"
	CodeConditionNotMet                       BlobCode = "ConditionNotMet"
	CodeContainerAlreadyExists                BlobCode = "ContainerAlreadyExists"
	CodeContainerNotFound                     BlobCode = "ContainerNotFound"
	CodeEmptyMetadataKey                      BlobCode = "EmptyMetadataKey"
	CodeEmptyTagName                          BlobCode = "EmptyTagName"
	CodeInvalidBlobOrBlock                    BlobCode = "InvalidBlobOrBlock"
	CodeInvalidBlobType                       BlobCode = "InvalidBlobType"
	CodeInvalidBlockID                        BlobCode = "InvalidBlockId"
	CodeInvalidBlockList                      BlobCode = "InvalidBlockList"
	CodeInvalidHeaderValue                    BlobCode = "InvalidHeaderValue"
	CodeInvalidInput                          BlobCode = "InvalidInput"
	CodeInvalidMD5                            BlobCode = "InvalidMd5"
	CodeInvalidMetadata                       BlobCode = "InvalidMetadata"
	CodeInvalidOperation                      BlobCode = "InvalidOperation"
	CodeInvalidPageRange                      BlobCode = "InvalidPageRange"
	CodeInvalidQueryParameterValue            BlobCode = "InvalidQueryParameterValue"
	CodeInvalidRange                          BlobCode = "InvalidRange"
	CodeInvalidResourceName                   BlobCode = "InvalidResourceName"
	CodeInvalidTag                            BlobCode = "InvalidTag"
	CodeInvalidXMLDocument                    BlobCode = "InvalidXmlDocument"
	CodeLeaseAlreadyPresent                   BlobCode = "LeaseAlreadyPresent"
	CodeLeaseIDMismatchWithBlobOperation      BlobCode = "LeaseIdMismatchWithBlobOperation"
	CodeLeaseIDMismatchWithContainerOperation BlobCode = "LeaseIdMismatchWithContainerOperation"
	CodeLeaseIDMismatchWithLeaseOperation     BlobCode = "LeaseIdMismatchWithLeaseOperation"
	CodeLeaseIDMissing                        BlobCode = "LeaseIdMissing"
	CodeLeaseIsBreakingAndCannotBeAcquired    BlobCode = "LeaseIsBreakingAndCannotBeAcquired"
	CodeLeaseIsBreakingAndCannotBeChanged     BlobCode = "LeaseIsBreakingAndCannotBeChanged"
	CodeLeaseIsBrokenAndCannotBeRenewed       BlobCode = "LeaseIsBrokenAndCannotBeRenewed"
	CodeLeaseNotPresentWithBlobOperation      BlobCode = "LeaseNotPresentWithBlobOperation"
	CodeLeaseNotPresentWithContainerOperation BlobCode = "LeaseNotPresentWithContainerOperation"
	CodeLeaseNotPresentWithLeaseOperation     BlobCode = "LeaseNotPresentWithLeaseOperation"
	CodeMaxBlobSizeConditionNotMet            BlobCode = "MaxBlobSizeConditionNotMet"
	CodeMD5Mismatch                           BlobCode = "Md5Mismatch"
	CodeMetadataTooLarge                      BlobCode = "MetadataTooLarge"
	CodeMultipleConditionHeadersNotSupported  BlobCode = "MultipleConditionHeadersNotSupported"
	CodeNotImplemented                        BlobCode = "NotImplemented"
	CodeOutOfRangeInput                       BlobCode = "OutOfRangeInput"
	CodeOutOfRangeQueryParameterValue         BlobCode = "OutOfRangeQueryParameterValue"
	CodeRequestBodyTooLarge                   BlobCode = "RequestBodyTooLarge"
	CodeSequenceNumberConditionNotMet         BlobCode = "SequenceNumberConditionNotMet"
	CodeSnapshotsPresent                      BlobCode = "SnapshotsPresent"
	CodeSourceConditionNotMet                 BlobCode = "SourceConditionNotMet"
	CodeTagsTooLarge                          BlobCode = "TagsTooLarge"
	CodeUnsatisfiableCondition                BlobCode = "UnsatisfiableCondition"
)

// blobCodes gives each failure its status, what it says and which condition of
// this package it is.
var blobCodes = map[BlobCode]struct {
	status int
	text   string
	is     error
}{
	CodeAppendPositionConditionNotMet:         {http.StatusPreconditionFailed, "the append position is not the length of the blob", ErrConditionNotMet},
	CodeBlobAlreadyExists:                     {http.StatusConflict, "the blob exists already", ErrAlreadyExists},
	CodeBlobArchived:                          {http.StatusConflict, "the blob is in the archive", nil},
	CodeBlobIsSealed:                          {http.StatusConflict, "the blob is sealed", nil},
	CodeInvalidPageRange:                      {http.StatusRequestedRangeNotSatisfiable, "the pages are not whole ones, or not in the blob", ErrOutOfRange},
	CodeSequenceNumberConditionNotMet:         {http.StatusPreconditionFailed, "a condition on the sequence number does not hold", ErrConditionNotMet},
	CodeBlobNotFound:                          {http.StatusNotFound, "the blob does not exist", ErrNotFound},
	CodeBlockCountExceedsLimit:                {http.StatusConflict, "the blob has as many blocks as it may have", ErrOutOfRange},
	CodeBlockListTooLong:                      {http.StatusBadRequest, "the block list has more than 50000 blocks", ErrOutOfRange},
	CodeCannotVerifyCopySource:                {http.StatusNotFound, "the copy source does not exist", ErrNotFound},
	CodeConditionNotMet:                       {http.StatusPreconditionFailed, "a condition of the request does not hold", ErrConditionNotMet},
	CodeContainerAlreadyExists:                {http.StatusConflict, "the container exists already", ErrAlreadyExists},
	CodeContainerNotFound:                     {http.StatusNotFound, "the container does not exist", ErrContainerNotFound},
	CodeEmptyMetadataKey:                      {http.StatusBadRequest, "a metadata name is empty", nil},
	CodeEmptyTagName:                          {http.StatusBadRequest, "the name of a tag is empty", nil},
	CodeInvalidTag:                            {http.StatusBadRequest, "a tag has characters that are not allowed", nil},
	CodeTagsTooLarge:                          {http.StatusBadRequest, "the tags are too many or too long", nil},
	CodeInvalidBlobOrBlock:                    {http.StatusBadRequest, "the block identifiers of a blob must have one length", nil},
	CodeInvalidBlobType:                       {http.StatusConflict, "the operation is not for blobs of this type", nil},
	CodeInvalidBlockID:                        {http.StatusBadRequest, "a block identifier must be base64 of 1 to 64 bytes", nil},
	CodeInvalidBlockList:                      {http.StatusBadRequest, "the block list names a block that does not exist", nil},
	CodeInvalidHeaderValue:                    {http.StatusBadRequest, "a header has a value that is not allowed", ErrOutOfRange},
	CodeInvalidInput:                          {http.StatusBadRequest, "an input is not valid", nil},
	CodeInvalidMD5:                            {http.StatusBadRequest, "an MD5 must have 16 bytes", nil},
	CodeInvalidMetadata:                       {http.StatusBadRequest, "the metadata is not valid", nil},
	CodeInvalidOperation:                      {http.StatusBadRequest, "the operation is not valid", nil},
	CodeInvalidQueryParameterValue:            {http.StatusBadRequest, "a parameter has a value that is not allowed", ErrOutOfRange},
	CodeInvalidRange:                          {http.StatusRequestedRangeNotSatisfiable, "the range starts behind the end of the blob", ErrOutOfRange},
	CodeInvalidResourceName:                   {http.StatusBadRequest, "the name has characters that are not allowed", ErrInvalidName},
	CodeInvalidXMLDocument:                    {http.StatusBadRequest, "the document is not valid", nil},
	CodeLeaseAlreadyPresent:                   {http.StatusConflict, "there is a lease already", ErrLeaseHeld},
	CodeLeaseIDMismatchWithBlobOperation:      {http.StatusPreconditionFailed, "the lease identifier is not that of the blob's lease", ErrLeaseLost},
	CodeLeaseIDMismatchWithContainerOperation: {http.StatusPreconditionFailed, "the lease identifier is not that of the container's lease", ErrLeaseLost},
	CodeLeaseIDMismatchWithLeaseOperation:     {http.StatusConflict, "the lease identifier is not that of the lease", ErrLeaseLost},
	CodeLeaseIDMissing:                        {http.StatusPreconditionFailed, "there is a lease, and the request names none", ErrLeaseHeld},
	CodeLeaseIsBreakingAndCannotBeAcquired:    {http.StatusConflict, "the lease is being broken and cannot be acquired before", ErrLeaseHeld},
	CodeLeaseIsBreakingAndCannotBeChanged:     {http.StatusConflict, "the lease is being broken and cannot be changed", ErrLeaseLost},
	CodeLeaseIsBrokenAndCannotBeRenewed:       {http.StatusConflict, "the lease was broken and cannot be renewed", ErrLeaseLost},
	CodeLeaseNotPresentWithBlobOperation:      {http.StatusPreconditionFailed, "the blob has no lease", ErrLeaseLost},
	CodeLeaseNotPresentWithContainerOperation: {http.StatusPreconditionFailed, "the container has no lease", ErrLeaseLost},
	CodeLeaseNotPresentWithLeaseOperation:     {http.StatusConflict, "there is no lease", ErrLeaseLost},
	CodeMaxBlobSizeConditionNotMet:            {http.StatusPreconditionFailed, "the blob would be larger than the request allows", ErrConditionNotMet},
	CodeMD5Mismatch:                           {http.StatusBadRequest, "the body does not have the MD5 that the request names", nil},
	CodeMetadataTooLarge:                      {http.StatusBadRequest, "the metadata is larger than 8 KiB", nil},
	CodeMultipleConditionHeadersNotSupported:  {http.StatusBadRequest, "these conditions cannot be combined", nil},
	CodeNotImplemented:                        {http.StatusNotImplemented, "the operation is not offered here", nil},
	CodeOutOfRangeInput:                       {http.StatusBadRequest, "the name is too short or too long", ErrInvalidName},
	CodeOutOfRangeQueryParameterValue:         {http.StatusBadRequest, "a parameter is out of range", ErrOutOfRange},
	CodeRequestBodyTooLarge:                   {http.StatusRequestEntityTooLarge, "the body is too large", ErrTooLarge},
	CodeSnapshotsPresent:                      {http.StatusConflict, "the blob has snapshots", nil},
	CodeSourceConditionNotMet:                 {http.StatusPreconditionFailed, "a condition on the copy source does not hold", ErrConditionNotMet},
	CodeUnsatisfiableCondition:                {http.StatusBadRequest, "a read cannot ask that the blob does not exist", nil},
}

// BlobError is a failure that the blob service reports. errors.Is holds for the
// condition that its code stands for.
type BlobError struct {
	Code   BlobCode
	Status int    // of the HTTP answer
	Text   string // says more than the code, in our words
	// Size is the blob's length in an InvalidRange.
	Size int64
}

// NewBlobError returns the failure with that code, its usual status and text. An
// unknown code gives status 500, to which ErrUnavailable belongs.
func NewBlobError(code BlobCode) *BlobError {
	c, ok := blobCodes[code]
	if !ok {
		return &BlobError{Code: code, Status: http.StatusInternalServerError}
	}
	return &BlobError{Code: code, Status: c.status, Text: c.text}
}

func (e *BlobError) Error() string {
	if e.Text == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Text
}

// Is reports whether the failure is one of the conditions of this package.
func (e *BlobError) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrUnavailable:
		return e.Status >= http.StatusInternalServerError && e.Code != CodeNotImplemented
	}
	is := blobCodes[e.Code].is
	return is != nil && is == target
}

// BlobCodeOf returns the code of the *BlobError in err, or the empty string.
func BlobCodeOf(err error) BlobCode {
	var e *BlobError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
