package table

import (
	"net/http"

	"github.com/redeliver/redeliver/bindings/storage"
)

// The failures that no other storage service has (spec tables 8).
const (
	CodeAtomFormatNotSupported       storage.Code = "AtomFormatNotSupported"
	CodeDifferentPartitions          storage.Code = "CommandsInBatchActOnDifferentPartitions"
	CodeDuplicatePropertiesSpecified storage.Code = "DuplicatePropertiesSpecified"
	CodeEntityAlreadyExists          storage.Code = "EntityAlreadyExists"
	CodeEntityTooLarge               storage.Code = "EntityTooLarge"
	CodeInvalidDuplicateRow          storage.Code = "InvalidDuplicateRow"
	CodeInvalidURI                   storage.Code = "InvalidUri"
	CodeKeyValueTooLarge             storage.Code = "KeyValueTooLarge"
	CodeMediaTypeNotSupported        storage.Code = "MediaTypeNotSupported"
	CodeMissingContentLength         storage.Code = "MissingContentLengthHeader"
	CodePropertiesNeedValue          storage.Code = "PropertiesNeedValue"
	CodePropertyNameInvalid          storage.Code = "PropertyNameInvalid"
	CodePropertyNameTooLong          storage.Code = "PropertyNameTooLong"
	CodePropertyValueTooLarge        storage.Code = "PropertyValueTooLarge"
	CodeResourceNotFound             storage.Code = "ResourceNotFound"
	CodeTableAlreadyExists           storage.Code = "TableAlreadyExists"
	CodeTableBeingDeleted            storage.Code = "TableBeingDeleted"
	CodeTableNotFound                storage.Code = "TableNotFound"
	CodeTooManyProperties            storage.Code = "TooManyProperties"
	CodeUpdateConditionNotSatisfied  storage.Code = "UpdateConditionNotSatisfied"
	CodeXMethodIncorrectCount        storage.Code = "XMethodIncorrectCount"
	CodeXMethodIncorrectValue        storage.Code = "XMethodIncorrectValue"
	CodeXMethodNotUsingPost          storage.Code = "XMethodNotUsingPost"
)

// failures are what the Table service answers with its own codes and with those that other
// services have too. The client libraries of Python and .NET compare some of the texts.
var failures = map[storage.Code]struct { // read only
	status int
	text   string
}{
	CodeAtomFormatNotSupported:       {http.StatusUnsupportedMediaType, "Atom format is not supported."},
	CodeDifferentPartitions:          {http.StatusBadRequest, "All commands in a batch must operate on same entity group."},
	CodeDuplicatePropertiesSpecified: {http.StatusBadRequest, "A property is specified more than one time."},
	CodeEntityAlreadyExists:          {http.StatusConflict, "The specified entity already exists."},
	CodeEntityTooLarge:               {http.StatusBadRequest, "The entity is larger than the maximum allowed size (1MB)."},
	CodeInvalidURI:                   {http.StatusBadRequest, "The requested URI does not represent any resource on the server."},
	CodeInvalidDuplicateRow:          {http.StatusBadRequest, "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request."},
	CodeKeyValueTooLarge:             {http.StatusBadRequest, "The key value is larger than the maximum allowed size (1KB)."},
	CodeMediaTypeNotSupported:        {http.StatusUnsupportedMediaType, "None of the provided media types are supported."},
	CodeMissingContentLength:         {http.StatusLengthRequired, "Content-Length HTTP header was not specified."},
	CodePropertiesNeedValue:          {http.StatusBadRequest, "The values are not specified for all properties in the entity."},
	CodePropertyNameInvalid:          {http.StatusBadRequest, "The property name is invalid."},
	CodePropertyNameTooLong:          {http.StatusBadRequest, "The property name exceeds the maximum allowed length (255)."},
	CodePropertyValueTooLarge:        {http.StatusBadRequest, "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less."},
	CodeResourceNotFound:             {http.StatusNotFound, "The specified resource does not exist."},
	CodeTableAlreadyExists:           {http.StatusConflict, "The table specified already exists."},
	CodeTableBeingDeleted:            {http.StatusConflict, "The specified table is being deleted."},
	CodeTableNotFound:                {http.StatusNotFound, "The table specified does not exist."},
	CodeTooManyProperties:            {http.StatusBadRequest, "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties."},
	CodeUpdateConditionNotSatisfied:  {http.StatusPreconditionFailed, "The update condition specified in the request was not satisfied."},
	CodeXMethodIncorrectCount:        {http.StatusBadRequest, "More than one X-HTTP-Method is specified."},
	CodeXMethodIncorrectValue:        {http.StatusBadRequest, "The specified X-HTTP-Method is invalid."},
	CodeXMethodNotUsingPost:          {http.StatusBadRequest, "The request uses X-HTTP-Method with an HTTP verb other than POST."},

	// By fault only.
	"InternalError":     {http.StatusInternalServerError, "Server encountered an internal error. Please try again after some time."},
	"OperationTimedOut": {http.StatusInternalServerError, "Operation could not be completed within the specified time."},
	"ServerBusy":        {http.StatusServiceUnavailable, "The server is busy."},

	storage.CodeInvalidInput:        {http.StatusBadRequest, "One of the request inputs is not valid."},
	storage.CodeOutOfRangeInput:     {http.StatusBadRequest, "One of the request inputs is out of range."},
	storage.CodeInvalidResourceName: {http.StatusBadRequest, "The specified resource name contains invalid characters."},
	storage.CodeRequestBodyTooLarge: {http.StatusRequestEntityTooLarge, "The request body is too large and exceeds the maximum permissible limit."},
	storage.CodeNotImplemented:      {http.StatusNotImplemented, "The requested operation is not implemented on the specified resource."},
	storage.CodeInvalidXMLDocument:  {http.StatusBadRequest, "XML specified is not syntactically valid."},
}

// NewError returns the failure with that code as the Table service words it.
func NewError(code storage.Code) *storage.Error {
	if f, ok := failures[code]; ok {
		return &storage.Error{Code: code, Status: f.status, Text: f.text}
	}
	return storage.NewError(code)
}

// Failure returns the failure that a text names by its code, and nil for another text.
func Failure(text string) error {
	if _, ok := failures[storage.Code(text)]; ok {
		return NewError(storage.Code(text))
	}
	return nil
}

// Invalid is the failure InvalidInput with a text that says more.
func Invalid(format string, args ...any) *storage.Error {
	return storage.Errorf(storage.CodeInvalidInput, format, args...)
}
