package rest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Error is an answer that is not a success, as the service words it. A fault
// (Options.Fault of package storage) that returns one decides the answer.
type Error struct {
	Status  int      // HTTP status
	Code    string   // header x-ms-error-code
	Message string   // for people
	Details []Detail // further elements of the XML body
	Header  http.Header
}

// Detail is one further element of an error's body.
type Detail struct{ Name, Value string }

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// ErrCut, as the error of a fault, makes the front cut the connection instead of
// answering.
var ErrCut = errors.New("connection cut")

// NewError returns an error with further elements of its body: a name, its value, and so on.
func NewError(status int, code, message string, details ...string) *Error {
	e := &Error{Status: status, Code: code, Message: message}
	for i := 0; i+1 < len(details); i += 2 {
		e.Details = append(e.Details, Detail{details[i], details[i+1]})
	}
	return e
}

// Codes common to all services (docs: Common REST API error codes).

func errOutOfRangeParameter(name, value string, least, most int64) *Error {
	return NewError(http.StatusBadRequest, "OutOfRangeQueryParameterValue",
		"One of the query parameters specified in the request URI is outside the permissible range.",
		"QueryParameterName", name, "QueryParameterValue", value,
		"MinimumAllowed", fmt.Sprint(least), "MaximumAllowed", fmt.Sprint(most))
}

// ErrInvalidParameter is for a query parameter that is wrong, and says why.
func ErrInvalidParameter(name, value, reason string) *Error {
	return NewError(http.StatusBadRequest, "InvalidQueryParameterValue",
		"Value for one of the query parameters specified in the request URI is invalid.",
		"QueryParameterName", name, "QueryParameterValue", value, "Reason", reason)
}

// ErrMissingParameter is for a query parameter that the operation wants.
func ErrMissingParameter(name string) *Error {
	return NewError(http.StatusBadRequest, "MissingRequiredQueryParameter",
		"A query parameter that's mandatory for this request is not specified.", "QueryParameterName", name)
}

func errInvalidHeader(name, value string) *Error {
	return NewError(http.StatusBadRequest, "InvalidHeaderValue",
		"The value for one of the HTTP headers is not in the correct format.", "HeaderName", name, "HeaderValue", value)
}

func errMissingHeader(name string) *Error {
	return NewError(http.StatusBadRequest, "MissingRequiredHeader",
		"An HTTP header that's mandatory for this request is not specified.", "HeaderName", name)
}

// ErrInvalidXML is for a body that is not the document it should be.
func ErrInvalidXML(reason string) *Error {
	return NewError(http.StatusBadRequest, "InvalidXmlDocument", "XML specified is not syntactically valid.", "Reason", reason)
}

// ErrBodyTooLarge is for a body of more than limit bytes.
func ErrBodyTooLarge(limit int64) *Error {
	return NewError(http.StatusRequestEntityTooLarge, "RequestBodyTooLarge",
		"The request body is too large and exceeds the maximum permissible limit.", "MaxLimit", fmt.Sprint(limit))
}

// ErrVerb is for a method that the resource does not have.
func ErrVerb() *Error {
	return NewError(http.StatusMethodNotAllowed, "UnsupportedHttpVerb", "The resource doesn't support specified Http verb.")
}

// ErrResourceNotFound is for an address that names nothing.
func ErrResourceNotFound() *Error {
	return NewError(http.StatusNotFound, "ResourceNotFound", "The specified resource does not exist.")
}

func errAuthentication(detail string) *Error {
	return NewError(http.StatusForbidden, "AuthenticationFailed",
		"Server failed to authenticate the request. Make sure the value of the Authorization header is formed correctly including the signature.",
		"AuthenticationErrorDetail", detail)
}

// errNoAuthentication is for a request that does not say who asks. It tells clients
// that know bearer tokens where such tokens come from.
//
// Source: docs, Authorize with Microsoft Entra ID, "Bearer challenge"; Common REST API
// error codes, NoAuthenticationInformation.
func errNoAuthentication(detail string) *Error {
	e := NewError(http.StatusUnauthorized, "NoAuthenticationInformation",
		"Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
		"AuthenticationErrorDetail", detail)
	e.Header = http.Header{"Www-Authenticate": {"Bearer authorization_uri=https://login.microsoftonline.com/" + nobody + "/oauth2/authorize resource_id=https://storage.azure.com"}}
	return e
}

// ErrNotAuthorized is for a signature that is good but not for this.
func ErrNotAuthorized(mismatch, using string) *Error {
	return NewError(http.StatusForbidden, "Authorization"+mismatch+"Mismatch",
		"This request is not authorized to perform this operation using this "+using+".")
}

// conditions gives the wire form of package bindings' sentinels, unless a
// service says otherwise.
var conditions = []Failure{ // read only
	{bindings.ErrTooLarge, http.StatusRequestEntityTooLarge, "RequestBodyTooLarge",
		"The request body is too large and exceeds the maximum permissible limit."},
	{bindings.ErrOutOfRange, http.StatusBadRequest, "OutOfRangeQueryParameterValue",
		"One of the query parameters specified in the request URI is outside the permissible range."},
	{bindings.ErrInvalidName, http.StatusBadRequest, "InvalidResourceName", "The specified resource name contains invalid characters."},
	{bindings.ErrUnavailable, http.StatusServiceUnavailable, "ServerBusy", "The server is currently unable to receive requests. Please retry your request."},
}

// Failure is the answer for an error of a service.
type Failure struct {
	Is            error
	Status        int
	Code, Message string
}

func among(list []Failure, err error) *Error {
	for _, f := range list {
		if errors.Is(err, f.Is) {
			return NewError(f.Status, f.Code, f.Message)
		}
	}
	return nil
}

// failure is the answer for an error of the call's service.
func (c *Call) failure(err error) *Error {
	if own := c.front.service.Failure; own != nil {
		return own(c, err)
	}
	return c.Common(err)
}

// Common is the answer for an error that the service has no other words for.
func (c *Call) Common(err error) *Error {
	if _, told := errors.AsType[*Error](err); !told {
		if e := among(c.front.service.Failures, err); e != nil {
			return e
		}
	}
	return asError(err)
}

// asError returns the answer for an error that all services have.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*storage.Error](err); ok {
		return blobError(e)
	}
	if e := among(conditions, err); e != nil {
		return e
	}
	return NewError(http.StatusInternalServerError, "InternalError",
		"The server encountered an internal error. Please retry the request.", "Reason", err.Error())
}

// document returns the error's XML body.
func (e *Error) document(requestID string, now time.Time) []byte {
	b := []byte(XMLHeader + "<Error>")
	b = AppendElement(b, "Code", e.Code)
	b = AppendElement(b, "Message", fmt.Sprintf("%s\nRequestId:%s\nTime:%s", e.Message, requestID, now.UTC().Format("2006-01-02T15:04:05.0000000Z")))
	for _, d := range e.Details {
		b = AppendElement(b, d.Name, d.Value)
	}
	return append(b, "</Error>"...)
}
