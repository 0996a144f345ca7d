package azure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
)

// conditions gives the meaning of the service's codes in package bindings. The
// code decides, with any status (a wrong receipt is documented both as 400 and
// as 404).
func conditions(code string) error {
	switch queueerror.Code(code) {
	case queueerror.QueueNotFound:
		return bindings.ErrNotFound
	case queueerror.QueueBeingDeleted:
		return bindings.ErrBeingDeleted
	case queueerror.MessageNotFound:
		return bindings.ErrMessageNotFound
	case queueerror.PopReceiptMismatch:
		return queueapi.ErrPopReceiptMismatch
	case queueerror.RequestBodyTooLarge, queueerror.MessageTooLarge:
		return bindings.ErrTooLarge
	case queueerror.OutOfRangeQueryParameterValue, queueerror.InvalidQueryParameterValue:
		return bindings.ErrOutOfRange
	case queueerror.InvalidResourceName, queueerror.OutOfRangeInput:
		return bindings.ErrInvalidName
	}
	return nil
}

// ServiceError is a refusal by the service. errors.Is finds the condition of
// package bindings that it is an instance of, errors.As the SDK's error.
type ServiceError struct {
	Status int
	Code   string // the service's code; may be empty
	Method string
	URL    string // without its query, which may hold a signature

	condition error // nil: none
	response  *azcore.ResponseError
}

func (e *ServiceError) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, e.Code)
	if e.condition != nil {
		text = e.condition.Error() + ": " + text
	}
	if e.URL != "" {
		text += " from " + e.Method + " " + e.URL
	}
	return text
}

// Unwrap returns the condition and the SDK's error.
func (e *ServiceError) Unwrap() []error {
	if e.condition == nil {
		return []error{e.response}
	}
	return []error{e.condition, e.response}
}

// translate returns the error of a call in the terms of package bindings.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if r, ok := errors.AsType[*azcore.ResponseError](err); ok {
		e := &ServiceError{Status: r.StatusCode, Code: r.ErrorCode, condition: conditions(r.ErrorCode), response: r}
		if e.condition == nil && e.Status >= 500 {
			e.condition = bindings.ErrUnavailable
		}
		if r.RawResponse != nil && r.RawResponse.Request != nil {
			e.Method, e.URL = r.RawResponse.Request.Method, bare(r.RawResponse.Request.URL)
		}
		return e
	}
	transport := isTransport(err)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
		if address, parseErr := url.Parse(u.URL); parseErr == nil {
			err = fmt.Errorf("%s %s: %w", strings.ToUpper(u.Op), bare(address), u.Err)
		}
	}
	if transport {
		return &bindings.UnreachableError{Err: err}
	}
	return err
}

func bare(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }
