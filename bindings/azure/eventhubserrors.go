package azure

import (
	"context"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// translateHub returns the error of a call in the terms of package bindings.
func translateHub(ctx context.Context, err error) error { return inTerms(ctx, err, hubRefusal) }

// hubRefusal finds out what the service has said; nil: nothing.
func hubRefusal(err error) *messaging.Error {
	if errors.Is(err, azeventhubs.ErrEventDataTooLarge) {
		return messaging.NewError(messaging.ConditionMessageSizeExceeded, err.Error())
	}
	if refusal := peerRefusal(err, hubCondition); refusal != nil {
		return refusal
	}
	e, ok := errors.AsType[*azeventhubs.Error](err)
	switch {
	case !ok:
	case e.Code == azeventhubs.ErrorCodeOwnershipLost:
		return messaging.NewError(messaging.ConditionLinkStolen, err.Error())
	case e.Code == azeventhubs.ErrorCodeConnectionLost:
		if condition := refusedBy(e.Error()); condition != "" {
			return messaging.NewError(condition, err.Error())
		}
	case e.Code == azeventhubs.ErrorCodeUnauthorizedAccess:
		return messaging.NewError(messaging.ConditionUnauthorized, err.Error())
	}
	return nil
}

// hubCondition is the condition that a status of $management stands for. It is asked
// about hubs and partitions only.
func hubCondition(status int) messaging.Condition {
	if status == http.StatusBadRequest {
		return messaging.ConditionArgumentOutOfRange // a partition
	}
	return conditionOf(status, messaging.ConditionNotFound)
}

// isPassing reports whether the same call may succeed later.
func isPassing(err error) bool {
	refusal := hubRefusal(err)
	return refusal == nil || refusal.Status >= http.StatusInternalServerError || refusal.Status == http.StatusRequestTimeout
}
