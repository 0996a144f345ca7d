package messaging_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// TestStatusOfEveryCondition is the table of spec messaging 3.9: conditions and the
// statuses that $management and the administration report for them.
func TestStatusOfEveryCondition(t *testing.T) {
	t.Parallel()
	for condition, want := range map[messaging.Condition]int{
		"amqp:not-found": 404, "amqp:not-allowed": 400, "amqp:unauthorized-access": 401,
		"amqp:resource-limit-exceeded": 403, "amqp:link:message-size-exceeded": 403,
		"amqp:internal-error": 500, "amqp:not-implemented": 501,
		"com.microsoft:timeout": 408, "com.microsoft:server-busy": 503,
		"com.microsoft:message-lock-lost": 410, "com.microsoft:session-lock-lost": 410, "com.microsoft:session-cannot-be-locked": 410,
		"com.microsoft:message-not-found": 404, "com.microsoft:entity-disabled": 400, "com.microsoft:entity-already-exists": 409,
		"com.microsoft:argument-error": 400, "com.microsoft:argument-out-of-range": 400,
	} {
		if got := messaging.NewError(condition, "").Status; got != want {
			t.Errorf("status of %s = %d, want %d", condition, got, want)
		}
	}
}

func TestServiceBusErrorIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition messaging.Condition
		status    int
		is        error
	}{
		{messaging.ConditionNotFound, 404, bindings.ErrNotFound},
		{messaging.ConditionMessageNotFound, 404, bindings.ErrMessageNotFound},
		{messaging.ConditionMessageLockLost, 410, messaging.ErrLockLost},
		{messaging.ConditionSessionLockLost, 410, messaging.ErrSessionLockLost},
		{messaging.ConditionSessionCannotBeLocked, 410, messaging.ErrSessionLocked},
		{messaging.ConditionEntityDisabled, 400, messaging.ErrEntityDisabled},
		{messaging.ConditionEntityAlreadyExists, 409, bindings.ErrAlreadyExists},
		{messaging.ConditionMessageSizeExceeded, 403, bindings.ErrTooLarge},
		{messaging.ConditionResourceLimitExceeded, 403, messaging.ErrQuotaExceeded},
		{messaging.ConditionServerBusy, 503, bindings.ErrUnavailable},
		{"amqp:never-heard-of", 500, nil},
	} {
		err := messaging.NewError(test.condition, "text")
		if err.Status != test.status {
			t.Errorf("status of %s = %d, want %d", test.condition, err.Status, test.status)
		}
		wrapped := fmt.Errorf("queue %q: %w", "q", err)
		if test.is != nil && !errors.Is(wrapped, test.is) {
			t.Errorf("%v is not %v", wrapped, test.is)
		}
		if errors.Is(wrapped, bindings.ErrInvalidName) {
			t.Errorf("%v is ErrInvalidName", wrapped)
		}
		if got := messaging.ErrorOf(wrapped); got != err {
			t.Errorf("ServiceBusErrorOf(%v) = %v", wrapped, got)
		}
		if test.is == nil {
			continue
		}
		if got := messaging.ErrorOf(fmt.Errorf("q: %w", test.is)); got.Condition != test.condition {
			t.Errorf("ServiceBusErrorOf(%v) = %v, want %s", test.is, got, test.condition)
		}
	}
	if got := messaging.ErrorOf(nil); got != nil {
		t.Errorf("ServiceBusErrorOf(nil) = %v", got)
	}
	if got := messaging.ErrorOf(errors.New("disk")); got.Condition != messaging.ConditionInternalError {
		t.Errorf("ServiceBusErrorOf(disk) = %v, want %s", got, messaging.ConditionInternalError)
	}
}
