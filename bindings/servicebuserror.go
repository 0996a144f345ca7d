package bindings

import (
	"errors"
	"fmt"
	"net/http"
)

// Conditions that Service Bus reports, beside ErrNotFound, ErrAlreadyExists,
// ErrMessageNotFound, ErrTooLarge, ErrOutOfRange, ErrInvalidName and
// ErrUnavailable.
var (
	// ErrLockLost: the lock of the message has ended, or it was settled before.
	ErrLockLost = errors.New("lock lost")
	// ErrSessionLockLost: the lock of the session has ended.
	ErrSessionLockLost = errors.New("session lock lost")
	// ErrSessionLocked: somebody else has the session.
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
	// ErrRolledBack: the transaction was rolled back, or there is none of that name.
	ErrRolledBack = errors.New("transaction rolled back")
	// ErrClosed: the receiver was closed.
	ErrClosed = errors.New("closed")
)

// ServiceBusCondition is the service's name for a failure: the condition of the
// AMQP error that carries it.
type ServiceBusCondition string

// The conditions (spec messaging 3.9).
const (
	ConditionNotFound              ServiceBusCondition = "amqp:not-found"
	ConditionNotAllowed            ServiceBusCondition = "amqp:not-allowed"
	ConditionUnauthorized          ServiceBusCondition = "amqp:unauthorized-access"
	ConditionResourceLimitExceeded ServiceBusCondition = "amqp:resource-limit-exceeded"
	ConditionMessageSizeExceeded   ServiceBusCondition = "amqp:link:message-size-exceeded"
	ConditionInternalError         ServiceBusCondition = "amqp:internal-error"
	ConditionNotImplemented        ServiceBusCondition = "amqp:not-implemented"
	ConditionTimeout               ServiceBusCondition = "com.microsoft:timeout"
	ConditionServerBusy            ServiceBusCondition = "com.microsoft:server-busy"
	ConditionMessageLockLost       ServiceBusCondition = "com.microsoft:message-lock-lost"
	ConditionSessionLockLost       ServiceBusCondition = "com.microsoft:session-lock-lost"
	ConditionSessionCannotBeLocked ServiceBusCondition = "com.microsoft:session-cannot-be-locked"
	ConditionMessageNotFound       ServiceBusCondition = "com.microsoft:message-not-found"
	ConditionEntityDisabled        ServiceBusCondition = "com.microsoft:entity-disabled"
	ConditionEntityAlreadyExists   ServiceBusCondition = "com.microsoft:entity-already-exists"
	ConditionArgumentError         ServiceBusCondition = "com.microsoft:argument-error"
	ConditionArgumentOutOfRange    ServiceBusCondition = "com.microsoft:argument-out-of-range"
	ConditionTransactionUnknown    ServiceBusCondition = "amqp:transaction:unknown-id"
	ConditionTransactionRollback   ServiceBusCondition = "amqp:transaction:rollback"
	ConditionTransactionTimeout    ServiceBusCondition = "amqp:transaction:timeout"
)

// serviceBusConditions gives each condition its status and which error of this
// package it is.
var serviceBusConditions = map[ServiceBusCondition]struct {
	status int
	is     error
}{
	ConditionNotFound:              {http.StatusNotFound, ErrNotFound},
	ConditionNotAllowed:            {http.StatusBadRequest, ErrNotAllowed},
	ConditionUnauthorized:          {http.StatusUnauthorized, nil},
	ConditionResourceLimitExceeded: {http.StatusForbidden, ErrQuotaExceeded},
	ConditionMessageSizeExceeded:   {http.StatusForbidden, ErrTooLarge},
	ConditionInternalError:         {http.StatusInternalServerError, ErrUnavailable},
	ConditionNotImplemented:        {http.StatusNotImplemented, ErrNotImplemented},
	ConditionTimeout:               {http.StatusRequestTimeout, ErrTimeout},
	ConditionServerBusy:            {http.StatusServiceUnavailable, ErrUnavailable},
	ConditionMessageLockLost:       {http.StatusGone, ErrLockLost},
	ConditionSessionLockLost:       {http.StatusGone, ErrSessionLockLost},
	ConditionSessionCannotBeLocked: {http.StatusGone, ErrSessionLocked},
	ConditionMessageNotFound:       {http.StatusNotFound, ErrMessageNotFound},
	ConditionEntityDisabled:        {http.StatusBadRequest, ErrEntityDisabled},
	ConditionEntityAlreadyExists:   {http.StatusConflict, ErrAlreadyExists},
	ConditionArgumentError:         {http.StatusBadRequest, ErrInvalidArgument},
	ConditionArgumentOutOfRange:    {http.StatusBadRequest, ErrOutOfRange},
	ConditionTransactionUnknown:    {http.StatusBadRequest, ErrRolledBack},
	ConditionTransactionRollback:   {http.StatusConflict, ErrRolledBack},
	ConditionTransactionTimeout:    {http.StatusRequestTimeout, ErrTimeout},
	ConditionLinkStolen:            {http.StatusGone, ErrReaderStolen},
}

// ServiceBusError is a failure that the service reports. errors.Is holds for the
// error of this package that its condition stands for.
type ServiceBusError struct {
	Condition ServiceBusCondition
	Status    int    // as $management and the administration door report it
	Text      string // says more than the condition, in our words

	// ServiceText is the service's own text, where clients look for it; doors tell it
	// instead of Text. Empty: there is none.
	ServiceText string
}

// NewServiceBusError returns the failure with that condition and its usual status.
// An unknown condition has status 500.
func NewServiceBusError(c ServiceBusCondition, text string) *ServiceBusError {
	known, ok := serviceBusConditions[c]
	if !ok {
		known.status = http.StatusInternalServerError
	}
	return &ServiceBusError{Condition: c, Status: known.status, Text: text}
}

// NewEntityNotFound returns the failure that there is no entity of that name or path. Its
// text is compared by clients: for Java (azure-core-amqp: ExceptionUtil) with a
// capital letter, for JavaScript (@azure/core-amqp: errors) without regard to case.
func NewEntityNotFound(entity string) *ServiceBusError {
	e := NewServiceBusError(ConditionNotFound, fmt.Sprintf("the messaging entity %q could not be found", entity))
	e.ServiceText = fmt.Sprintf("The messaging entity '%s' could not be found.", entity)
	return e
}

// DoorText is what a door tells its client.
func (e *ServiceBusError) DoorText() string {
	if e.ServiceText != "" {
		return e.ServiceText
	}
	return e.Text
}

func (e *ServiceBusError) Error() string {
	if e.Text == "" {
		return string(e.Condition)
	}
	return e.Text + " (" + string(e.Condition) + ")"
}

// Is reports whether the failure is one of the conditions of this package.
func (e *ServiceBusError) Is(target error) bool {
	is := serviceBusConditions[e.Condition].is
	return is != nil && is == target
}

// ServiceBusErrorOf returns what a door tells its client of err: the
// *ServiceBusError in it; for an error of this package the condition that stands
// for it; for anything else amqp:internal-error. It returns nil for nil.
func ServiceBusErrorOf(err error) *ServiceBusError {
	if err == nil {
		return nil
	}
	var e *ServiceBusError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, ErrUnavailable):
		return NewServiceBusError(ConditionServerBusy, err.Error())
	case errors.Is(err, ErrInvalidName):
		return NewServiceBusError(ConditionArgumentError, err.Error())
	}
	for condition, known := range serviceBusConditions { // each error but ErrUnavailable stands in it once
		if known.is != nil && errors.Is(err, known.is) {
			return NewServiceBusError(condition, err.Error())
		}
	}
	return NewServiceBusError(ConditionInternalError, err.Error())
}

// ErrReaderStolen: a reader of the same or a higher owner level has the partition
// (amqp:link:stolen).
var ErrReaderStolen = errors.New("partition taken over by another reader")

// ConditionLinkStolen is how the service names ErrReaderStolen.
const ConditionLinkStolen ServiceBusCondition = "amqp:link:stolen"
