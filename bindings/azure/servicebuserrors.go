package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// translateBus returns the error of a call in the terms of package bindings.
// missing is the error for an answer "not found" or "gone" of $management,
// which is only a number.
func translateBus(ctx context.Context, err error, missing messaging.Condition) error {
	err = inTerms(ctx, err, func(err error) *messaging.Error { return refusalOf(err, missing) })
	if _, refused := errors.AsType[*refusedError](err); refused {
		return err
	}
	if sdk, ok := errors.AsType[*azservicebus.Error](err); ok && sdk.Code == azservicebus.CodeClosed {
		return fmt.Errorf("%w: %w", messaging.ErrClosed, err)
	}
	return err
}

// refusalOf finds out what the service has said; nil: nothing.
func refusalOf(err error, missing messaging.Condition) *messaging.Error {
	if errors.Is(err, azservicebus.ErrMessageTooLarge) {
		return messaging.NewError(messaging.ConditionMessageSizeExceeded, err.Error())
	}
	if noEntity.MatchString(err.Error()) {
		return messaging.NewError(messaging.ConditionNotFound, err.Error())
	}
	if refusal := peerRefusal(err, func(status int) messaging.Condition { return conditionOf(status, missing) }); refusal != nil {
		return refusal
	}
	if e, ok := errors.AsType[*azservicebus.Error](err); ok {
		switch e.Code {
		case azservicebus.CodeLockLost:
			return messaging.NewError(messaging.ConditionMessageLockLost, err.Error())
		case azservicebus.CodeNotFound:
			return messaging.NewError(missing, err.Error())
		case azservicebus.CodeTimeout:
			return messaging.NewError(messaging.ConditionTimeout, err.Error())
		case azservicebus.CodeUnauthorizedAccess:
			return messaging.NewError(messaging.ConditionUnauthorized, err.Error())
		case azservicebus.CodeConnectionLost:
			if condition := refusedBy(e.Error()); condition != "" {
				return messaging.NewError(condition, err.Error())
			}
			if m := rpcStatus.FindStringSubmatch(e.Error()); m != nil {
				status, _ := strconv.Atoi(m[1]) // digits
				return messaging.NewError(conditionOf(status, missing), m[2])
			}
		}
	}
	return nil
}

// noEntity matches what the service says of an entity that is not there. The status of
// such an answer also stands for a missing message.
var noEntity = regexp.MustCompile(`(?i)the messaging entity .* could not be found`)

// rpcStatus matches an answer of $management in the text of the client's error, which
// takes some for a lost connection and does not unwrap.
var rpcStatus = regexp.MustCompile(`rpc: failed, status code (\d+) and description: (.*)`)

// conditionOf is the condition that a status of $management stands for.
func conditionOf(status int, missing messaging.Condition) messaging.Condition {
	switch status {
	case http.StatusNotFound:
		return missing
	case http.StatusGone:
		return messaging.ConditionMessageLockLost
	case http.StatusUnauthorized:
		return messaging.ConditionUnauthorized
	case http.StatusForbidden:
		return messaging.ConditionMessageSizeExceeded
	case http.StatusConflict:
		return messaging.ConditionEntityAlreadyExists
	case http.StatusNotImplemented:
		return messaging.ConditionNotImplemented
	case http.StatusServiceUnavailable:
		return messaging.ConditionServerBusy
	case http.StatusBadRequest:
		return messaging.ConditionNotAllowed
	}
	return messaging.ConditionInternalError
}

func isLockLost(err error) bool {
	return errors.Is(err, messaging.ErrLockLost) || errors.Is(err, messaging.ErrSessionLockLost)
}

// sessionError says of a lost lock that it was the session's.
func sessionError(err error) error {
	if e, ok := errors.AsType[*refusedError](err); ok && e.refusal.Condition == messaging.ConditionMessageLockLost {
		return &refusedError{messaging.NewError(messaging.ConditionSessionLockLost, e.refusal.Text), e.sdk}
	}
	return err
}
