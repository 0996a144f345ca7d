// Package messaging holds what Service Bus and Event Hubs have in common: both speak
// AMQP, report failures by its conditions, and pass on the sections of a message as
// they came.
package messaging

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// Conditions that Service Bus reports, beside bindings.ErrNotFound, bindings.ErrAlreadyExists,
// bindings.ErrMessageNotFound, bindings.ErrTooLarge, bindings.ErrOutOfRange, bindings.ErrInvalidName and
// bindings.ErrUnavailable.
var (
	// ErrLockLost: the lock of the message has ended, or it was settled before.
	ErrLockLost = errors.New("lock lost")
	// ErrSessionLockLost: the lock of the session has ended.
	ErrSessionLockLost = errors.New("session lock lost")
	// ErrSessionLocked: another receiver has the session.
	ErrSessionLocked = errors.New("session locked")
	// ErrEntityDisabled: the entity's status forbids the operation.
	ErrEntityDisabled = errors.New("entity disabled")
	// ErrQuotaExceeded: the entity is full.
	ErrQuotaExceeded = errors.New("quota exceeded")
	// ErrNotAllowed: the entity does not have this operation.
	ErrNotAllowed = errors.New("not allowed")
	// ErrNotImplemented: the operation is not offered here.
	ErrNotImplemented = errors.New("not implemented")
	// ErrTimeout: what was waited for has not come.
	ErrTimeout = errors.New("timeout")
	// ErrRolledBack: the transaction was rolled back, or is unknown.
	ErrRolledBack = errors.New("transaction rolled back")
	// ErrClosed: the receiver was closed.
	ErrClosed = errors.New("closed")
)

// Condition is the service's name for a failure: the condition of the
// AMQP error that carries it.
type Condition string

// The conditions (spec messaging 3.9).
const (
	ConditionNotFound              Condition = "amqp:not-found"
	ConditionNotAllowed            Condition = "amqp:not-allowed"
	ConditionUnauthorized          Condition = "amqp:unauthorized-access"
	ConditionResourceLimitExceeded Condition = "amqp:resource-limit-exceeded"
	ConditionMessageSizeExceeded   Condition = "amqp:link:message-size-exceeded"
	ConditionInternalError         Condition = "amqp:internal-error"
	ConditionNotImplemented        Condition = "amqp:not-implemented"
	ConditionTimeout               Condition = "com.microsoft:timeout"
	ConditionServerBusy            Condition = "com.microsoft:server-busy"
	ConditionMessageLockLost       Condition = "com.microsoft:message-lock-lost"
	ConditionSessionLockLost       Condition = "com.microsoft:session-lock-lost"
	ConditionSessionCannotBeLocked Condition = "com.microsoft:session-cannot-be-locked"
	ConditionMessageNotFound       Condition = "com.microsoft:message-not-found"
	ConditionEntityDisabled        Condition = "com.microsoft:entity-disabled"
	ConditionEntityAlreadyExists   Condition = "com.microsoft:entity-already-exists"
	ConditionArgumentError         Condition = "com.microsoft:argument-error"
	ConditionArgumentOutOfRange    Condition = "com.microsoft:argument-out-of-range"
	ConditionTransactionUnknown    Condition = "amqp:transaction:unknown-id"
	ConditionTransactionRollback   Condition = "amqp:transaction:rollback"
	ConditionTransactionTimeout    Condition = "amqp:transaction:timeout"
)

// serviceBusConditions gives each condition its status and which error of this
// package it is.
var conditions = map[Condition]struct {
	status int
	is     error
}{
	ConditionNotFound:              {http.StatusNotFound, bindings.ErrNotFound},
	ConditionNotAllowed:            {http.StatusBadRequest, ErrNotAllowed},
	ConditionUnauthorized:          {http.StatusUnauthorized, nil},
	ConditionResourceLimitExceeded: {http.StatusForbidden, ErrQuotaExceeded},
	ConditionMessageSizeExceeded:   {http.StatusForbidden, bindings.ErrTooLarge},
	ConditionInternalError:         {http.StatusInternalServerError, bindings.ErrUnavailable},
	ConditionNotImplemented:        {http.StatusNotImplemented, ErrNotImplemented},
	ConditionTimeout:               {http.StatusRequestTimeout, ErrTimeout},
	ConditionServerBusy:            {http.StatusServiceUnavailable, bindings.ErrUnavailable},
	ConditionMessageLockLost:       {http.StatusGone, ErrLockLost},
	ConditionSessionLockLost:       {http.StatusGone, ErrSessionLockLost},
	ConditionSessionCannotBeLocked: {http.StatusGone, ErrSessionLocked},
	ConditionMessageNotFound:       {http.StatusNotFound, bindings.ErrMessageNotFound},
	ConditionEntityDisabled:        {http.StatusBadRequest, ErrEntityDisabled},
	ConditionEntityAlreadyExists:   {http.StatusConflict, bindings.ErrAlreadyExists},
	ConditionArgumentError:         {http.StatusBadRequest, bindings.ErrInvalidArgument},
	ConditionArgumentOutOfRange:    {http.StatusBadRequest, bindings.ErrOutOfRange},
	ConditionTransactionUnknown:    {http.StatusBadRequest, ErrRolledBack},
	ConditionTransactionRollback:   {http.StatusConflict, ErrRolledBack},
	ConditionTransactionTimeout:    {http.StatusRequestTimeout, ErrTimeout},
	ConditionLinkStolen:            {http.StatusGone, ErrReaderStolen},
}

// Error is a failure that the service reports. errors.Is holds for the
// error of this package that its condition stands for.
type Error struct {
	Condition Condition
	Status    int    // as $management and the administration server report it
	Text      string // says more than the condition, in our words

	// ServiceText is the service's own text, where clients look for it; servers
	// send it instead of Text. Empty: there is none.
	ServiceText string
}

// NewError returns the failure with that condition and its usual status.
// An unknown condition has status 500.
func NewError(c Condition, text string) *Error {
	known, ok := conditions[c]
	if !ok {
		known.status = http.StatusInternalServerError
	}
	return &Error{Condition: c, Status: known.status, Text: text}
}

// NewEntityNotFound returns the failure that there is no entity of that name or path. Its
// text is compared by clients: for Java (azure-core-amqp: ExceptionUtil) with a
// capital letter, for JavaScript (@azure/core-amqp: errors) without regard to case.
func NewEntityNotFound(entity string) *Error {
	e := NewError(ConditionNotFound, fmt.Sprintf("the messaging entity %q could not be found", entity))
	e.ServiceText = fmt.Sprintf("The messaging entity '%s' could not be found.", entity)
	return e
}

// ClientText is the text that a server sends to its client.
func (e *Error) ClientText() string {
	if e.ServiceText != "" {
		return e.ServiceText
	}
	return e.Text
}

func (e *Error) Error() string {
	if e.Text == "" {
		return string(e.Condition)
	}
	return e.Text + " (" + string(e.Condition) + ")"
}

// Is reports whether the failure is one of the conditions of this package.
func (e *Error) Is(target error) bool {
	is := conditions[e.Condition].is
	return is != nil && is == target
}

// ErrorOf returns the error that a server sends to its client for err: the *Error
// in it; for an error of this package its condition; else amqp:internal-error. It
// returns nil for nil.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, bindings.ErrUnavailable):
		return NewError(ConditionServerBusy, err.Error())
	case errors.Is(err, bindings.ErrInvalidName):
		return NewError(ConditionArgumentError, err.Error())
	}
	for condition, known := range conditions { // each error but bindings.ErrUnavailable stands in it once
		if known.is != nil && errors.Is(err, known.is) {
			return NewError(condition, err.Error())
		}
	}
	return NewError(ConditionInternalError, err.Error())
}

// ErrReaderStolen: a reader of the same or a higher owner level has the partition
// (amqp:link:stolen).
var ErrReaderStolen = errors.New("partition taken over by another reader")

// ConditionLinkStolen is how the service names ErrReaderStolen.
const ConditionLinkStolen Condition = "amqp:link:stolen"
