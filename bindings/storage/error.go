// Package storage holds what the services of a storage account have in common: the
// failures that they report by code, stored access policies, and the settings of a
// service. Queues and blobs are contracts of their own, in packages queue and blob.
package storage

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// Conditions that the blob service reports. Others are shared with the queue
// service: bindings.ErrNotFound, bindings.ErrAlreadyExists, bindings.ErrTooLarge,
// bindings.ErrOutOfRange, bindings.ErrInvalidName and bindings.ErrUnavailable hold
// for blobs alike.
var (
	// ErrContainerNotFound: the container does not exist (ContainerNotFound).
	// bindings.ErrNotFound holds too.
	ErrContainerNotFound = errors.New("container not found")
	// ErrLeaseHeld: there is a lease, and the caller named none
	// (LeaseAlreadyPresent, LeaseIdMissing and the like).
	ErrLeaseHeld = errors.New("lease held")
	// ErrLeaseLost: the lease that the caller named is not, or no longer, the one
	// in force (LeaseIdMismatch..., LeaseNotPresent... and the like).
	ErrLeaseLost = errors.New("lease lost")
)

// Code is the service's name for a failure, the value of x-ms-error-code.
type Code string

// The failures of the blob service (spec storage 14 and 17).
const (
	CodeAppendPositionConditionNotMet         Code = "AppendPositionConditionNotMet"
	CodeBlobAlreadyExists                     Code = "BlobAlreadyExists"
	CodeBlobArchived                          Code = "BlobArchived"
	CodeBlobBeingRehydrated                   Code = "BlobBeingRehydrated"
	CodeBlobIsSealed                          Code = "BlobIsSealed"
	CodeBlobNotFound                          Code = "BlobNotFound"
	CodeBlockCountExceedsLimit                Code = "BlockCountExceedsLimit"
	CodeBlockListTooLong                      Code = "BlockListTooLong"
	CodeBlobOverwritten                       Code = "BlobOverwritten"
	CodeCannotVerifyCopySource                Code = "CannotVerifyCopySource"
	CodeConditionNotMet                       Code = "ConditionNotMet"
	CodeContainerAlreadyExists                Code = "ContainerAlreadyExists"
	CodeContainerNotFound                     Code = "ContainerNotFound"
	CodeEmptyMetadataKey                      Code = "EmptyMetadataKey"
	CodeEmptyTagName                          Code = "EmptyTagName"
	CodeInvalidBlobOrBlock                    Code = "InvalidBlobOrBlock"
	CodeInvalidBlobType                       Code = "InvalidBlobType"
	CodeInvalidBlockID                        Code = "InvalidBlockId"
	CodeInvalidBlockList                      Code = "InvalidBlockList"
	CodeInvalidHeaderValue                    Code = "InvalidHeaderValue"
	CodeInvalidInput                          Code = "InvalidInput"
	CodeInvalidMD5                            Code = "InvalidMd5"
	CodeInvalidMetadata                       Code = "InvalidMetadata"
	CodeInvalidOperation                      Code = "InvalidOperation"
	CodeInvalidPageRange                      Code = "InvalidPageRange"
	CodeInvalidQueryParameterValue            Code = "InvalidQueryParameterValue"
	CodeInvalidRange                          Code = "InvalidRange"
	CodeInvalidResourceName                   Code = "InvalidResourceName"
	CodeInvalidTag                            Code = "InvalidTag"
	CodeInvalidXMLDocument                    Code = "InvalidXmlDocument"
	CodeLeaseAlreadyPresent                   Code = "LeaseAlreadyPresent"
	CodeLeaseIDMismatchWithBlobOperation      Code = "LeaseIdMismatchWithBlobOperation"
	CodeLeaseIDMismatchWithContainerOperation Code = "LeaseIdMismatchWithContainerOperation"
	CodeLeaseIDMismatchWithLeaseOperation     Code = "LeaseIdMismatchWithLeaseOperation"
	CodeLeaseIDMissing                        Code = "LeaseIdMissing"
	CodeLeaseIsBreakingAndCannotBeAcquired    Code = "LeaseIsBreakingAndCannotBeAcquired"
	CodeLeaseIsBreakingAndCannotBeChanged     Code = "LeaseIsBreakingAndCannotBeChanged"
	CodeLeaseIsBrokenAndCannotBeRenewed       Code = "LeaseIsBrokenAndCannotBeRenewed"
	CodeLeaseNotPresentWithBlobOperation      Code = "LeaseNotPresentWithBlobOperation"
	CodeLeaseNotPresentWithContainerOperation Code = "LeaseNotPresentWithContainerOperation"
	CodeLeaseNotPresentWithLeaseOperation     Code = "LeaseNotPresentWithLeaseOperation"
	CodeMaxBlobSizeConditionNotMet            Code = "MaxBlobSizeConditionNotMet"
	CodeMD5Mismatch                           Code = "Md5Mismatch"
	CodeMetadataTooLarge                      Code = "MetadataTooLarge"
	CodeMultipleConditionHeadersNotSupported  Code = "MultipleConditionHeadersNotSupported"
	CodeNotImplemented                        Code = "NotImplemented"
	CodeOutOfRangeInput                       Code = "OutOfRangeInput"
	CodeOutOfRangeQueryParameterValue         Code = "OutOfRangeQueryParameterValue"
	CodePreviousSnapshotCannotBeNewer         Code = "PreviousSnapshotCannotBeNewer"
	CodePreviousSnapshotNotFound              Code = "PreviousSnapshotNotFound"
	CodeRequestBodyTooLarge                   Code = "RequestBodyTooLarge"
	CodeSequenceNumberConditionNotMet         Code = "SequenceNumberConditionNotMet"
	CodeSnapshotsPresent                      Code = "SnapshotsPresent"
	CodeSourceConditionNotMet                 Code = "SourceConditionNotMet"
	CodeTagsTooLarge                          Code = "TagsTooLarge"
	CodeUnsatisfiableCondition                Code = "UnsatisfiableCondition"
)

// codes gives each failure its status, what it says and which condition of
// this package it is.
var codes = map[Code]struct {
	status int
	text   string
	is     error
}{
	CodeAppendPositionConditionNotMet:         {http.StatusPreconditionFailed, "the append position is not the length of the blob", bindings.ErrConditionNotMet},
	CodeBlobAlreadyExists:                     {http.StatusConflict, "the blob exists already", bindings.ErrAlreadyExists},
	CodeBlobArchived:                          {http.StatusConflict, "the blob is in the archive", nil},
	CodeBlobBeingRehydrated:                   {http.StatusConflict, "the blob is on its way out of the archive", nil},
	CodeBlobIsSealed:                          {http.StatusConflict, "the blob is sealed", nil},
	CodeInvalidPageRange:                      {http.StatusRequestedRangeNotSatisfiable, "the pages are not whole ones, or not in the blob", bindings.ErrOutOfRange},
	CodeSequenceNumberConditionNotMet:         {http.StatusPreconditionFailed, "a condition on the sequence number does not hold", bindings.ErrConditionNotMet},
	CodeBlobNotFound:                          {http.StatusNotFound, "the blob does not exist", bindings.ErrNotFound},
	CodeBlockCountExceedsLimit:                {http.StatusConflict, "the blob has as many blocks as it may have", bindings.ErrOutOfRange},
	CodeBlockListTooLong:                      {http.StatusBadRequest, "the block list has more than 50000 blocks", bindings.ErrOutOfRange},
	CodeBlobOverwritten:                       {http.StatusConflict, "the blob was written anew since the snapshot", nil},
	CodeCannotVerifyCopySource:                {http.StatusNotFound, "the copy source does not exist", bindings.ErrNotFound},
	CodeConditionNotMet:                       {http.StatusPreconditionFailed, "a condition of the request does not hold", bindings.ErrConditionNotMet},
	CodeContainerAlreadyExists:                {http.StatusConflict, "the container exists already", bindings.ErrAlreadyExists},
	CodeContainerNotFound:                     {http.StatusNotFound, "the container does not exist", ErrContainerNotFound},
	CodeEmptyMetadataKey:                      {http.StatusBadRequest, "a metadata name is empty", nil},
	CodeEmptyTagName:                          {http.StatusBadRequest, "the name of a tag is empty", nil},
	CodeInvalidTag:                            {http.StatusBadRequest, "a tag has characters that are not allowed", nil},
	CodeTagsTooLarge:                          {http.StatusBadRequest, "the tags are too many or too long", nil},
	CodeInvalidBlobOrBlock:                    {http.StatusBadRequest, "the block identifiers of a blob must have one length", nil},
	CodeInvalidBlobType:                       {http.StatusConflict, "the operation is not for blobs of this type", nil},
	CodeInvalidBlockID:                        {http.StatusBadRequest, "a block identifier must be base64 of 1 to 64 bytes", nil},
	CodeInvalidBlockList:                      {http.StatusBadRequest, "the block list names a block that does not exist", nil},
	CodeInvalidHeaderValue:                    {http.StatusBadRequest, "a header has a value that is not allowed", bindings.ErrOutOfRange},
	CodeInvalidInput:                          {http.StatusBadRequest, "an input is not valid", nil},
	CodeInvalidMD5:                            {http.StatusBadRequest, "an MD5 must have 16 bytes", nil},
	CodeInvalidMetadata:                       {http.StatusBadRequest, "the metadata is not valid", nil},
	CodeInvalidOperation:                      {http.StatusBadRequest, "the operation is not valid", nil},
	CodeInvalidQueryParameterValue:            {http.StatusBadRequest, "a parameter has a value that is not allowed", bindings.ErrOutOfRange},
	CodeInvalidRange:                          {http.StatusRequestedRangeNotSatisfiable, "the range starts behind the end of the blob", bindings.ErrOutOfRange},
	CodeInvalidResourceName:                   {http.StatusBadRequest, "the name has characters that are not allowed", bindings.ErrInvalidName},
	CodeInvalidXMLDocument:                    {http.StatusBadRequest, "the document is not valid", nil},
	CodeLeaseAlreadyPresent:                   {http.StatusConflict, "there is a lease already", ErrLeaseHeld},
	CodeLeaseIDMismatchWithBlobOperation:      {http.StatusPreconditionFailed, "the lease identifier differs from the blob's lease", ErrLeaseLost},
	CodeLeaseIDMismatchWithContainerOperation: {http.StatusPreconditionFailed, "the lease identifier differs from the container's lease", ErrLeaseLost},
	CodeLeaseIDMismatchWithLeaseOperation:     {http.StatusConflict, "the lease identifier differs from the lease", ErrLeaseLost},
	CodeLeaseIDMissing:                        {http.StatusPreconditionFailed, "there is a lease, and the request names none", ErrLeaseHeld},
	CodeLeaseIsBreakingAndCannotBeAcquired:    {http.StatusConflict, "the lease is being broken and cannot be acquired before", ErrLeaseHeld},
	CodeLeaseIsBreakingAndCannotBeChanged:     {http.StatusConflict, "the lease is being broken and cannot be changed", ErrLeaseLost},
	CodeLeaseIsBrokenAndCannotBeRenewed:       {http.StatusConflict, "the lease was broken and cannot be renewed", ErrLeaseLost},
	CodeLeaseNotPresentWithBlobOperation:      {http.StatusPreconditionFailed, "the blob has no lease", ErrLeaseLost},
	CodeLeaseNotPresentWithContainerOperation: {http.StatusPreconditionFailed, "the container has no lease", ErrLeaseLost},
	CodeLeaseNotPresentWithLeaseOperation:     {http.StatusConflict, "there is no lease", ErrLeaseLost},
	CodeMaxBlobSizeConditionNotMet:            {http.StatusPreconditionFailed, "the blob would be larger than the request allows", bindings.ErrConditionNotMet},
	CodeMD5Mismatch:                           {http.StatusBadRequest, "the body does not have the MD5 that the request names", nil},
	CodeMetadataTooLarge:                      {http.StatusBadRequest, "the metadata is larger than 8 KiB", nil},
	CodeMultipleConditionHeadersNotSupported:  {http.StatusBadRequest, "these conditions cannot be combined", nil},
	CodeNotImplemented:                        {http.StatusNotImplemented, "the operation is not offered here", nil},
	CodeOutOfRangeInput:                       {http.StatusBadRequest, "the name is too short or too long", bindings.ErrInvalidName},
	CodeOutOfRangeQueryParameterValue:         {http.StatusBadRequest, "a parameter is out of range", bindings.ErrOutOfRange},
	CodePreviousSnapshotCannotBeNewer:         {http.StatusBadRequest, "the snapshot to compare with is the later one", nil},
	CodePreviousSnapshotNotFound:              {http.StatusConflict, "the snapshot to compare with does not exist", nil},
	CodeRequestBodyTooLarge:                   {http.StatusRequestEntityTooLarge, "the body is too large", bindings.ErrTooLarge},
	CodeSnapshotsPresent:                      {http.StatusConflict, "the blob has snapshots", nil},
	CodeSourceConditionNotMet:                 {http.StatusPreconditionFailed, "a condition on the copy source does not hold", bindings.ErrConditionNotMet},
	CodeUnsatisfiableCondition:                {http.StatusBadRequest, "a read cannot ask that the blob does not exist", nil},
}

// Error is a failure that a storage service reports. errors.Is holds for the
// condition that its code stands for.
type Error struct {
	Code   Code
	Status int    // of the HTTP answer
	Text   string // says more than the code, in our words
	// Size is the blob's length in an InvalidRange.
	Size int64
}

// NewError returns the failure with that code, its usual status and text. An
// unknown code gives status 500, to which bindings.ErrUnavailable belongs.
func NewError(code Code) *Error {
	c, ok := codes[code]
	if !ok {
		return &Error{Code: code, Status: http.StatusInternalServerError}
	}
	return &Error{Code: code, Status: c.status, Text: c.text}
}

// Errorf is NewError with a text of its own.
func Errorf(code Code, format string, args ...any) *Error {
	e := NewError(code)
	e.Text = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string {
	if e.Text == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Text
}

// Is reports whether the failure is one of the conditions of this package.
func (e *Error) Is(target error) bool {
	switch target {
	case bindings.ErrNotFound:
		return e.Status == http.StatusNotFound
	case bindings.ErrUnavailable:
		return e.Status >= http.StatusInternalServerError && e.Code != CodeNotImplemented
	}
	known, ok := codes[e.Code]
	if !ok { // of another service, whose status tells
		return target == statuses[e.Status] && target != nil
	}
	return known.is != nil && known.is == target
}

// statuses are the conditions of codes that are not the blob service's.
var statuses = map[int]error{ // read only
	http.StatusConflict: bindings.ErrAlreadyExists, http.StatusPreconditionFailed: bindings.ErrConditionNotMet,
	http.StatusRequestEntityTooLarge: bindings.ErrTooLarge,
}

// CodeOf returns the code of the *Error in err, or the empty string.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
