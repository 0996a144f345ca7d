package bindings_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestServiceBusErrorIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition bindings.ServiceBusCondition
		status    int
		is        error
	}{
		{bindings.ConditionNotFound, 404, bindings.ErrNotFound},
		{bindings.ConditionMessageNotFound, 404, bindings.ErrMessageNotFound},
		{bindings.ConditionMessageLockLost, 410, bindings.ErrLockLost},
		{bindings.ConditionSessionLockLost, 410, bindings.ErrSessionLockLost},
		{bindings.ConditionSessionCannotBeLocked, 410, bindings.ErrSessionLocked},
		{bindings.ConditionEntityDisabled, 400, bindings.ErrEntityDisabled},
		{bindings.ConditionEntityAlreadyExists, 409, bindings.ErrAlreadyExists},
		{bindings.ConditionMessageSizeExceeded, 403, bindings.ErrTooLarge},
		{bindings.ConditionResourceLimitExceeded, 403, bindings.ErrQuotaExceeded},
		{bindings.ConditionServerBusy, 503, bindings.ErrUnavailable},
		{"amqp:never-heard-of", 500, nil},
	} {
		err := bindings.NewServiceBusError(test.condition, "text")
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
		if got := bindings.ServiceBusErrorOf(wrapped); got != err {
			t.Errorf("ServiceBusErrorOf(%v) = %v", wrapped, got)
		}
		if test.is == nil {
			continue
		}
		if got := bindings.ServiceBusErrorOf(fmt.Errorf("q: %w", test.is)); got.Condition != test.condition {
			t.Errorf("ServiceBusErrorOf(%v) = %v, want %s", test.is, got, test.condition)
		}
	}
	if got := bindings.ServiceBusErrorOf(nil); got != nil {
		t.Errorf("ServiceBusErrorOf(nil) = %v", got)
	}
	if got := bindings.ServiceBusErrorOf(errors.New("disk")); got.Condition != bindings.ConditionInternalError {
		t.Errorf("ServiceBusErrorOf(disk) = %v, want %s", got, bindings.ConditionInternalError)
	}
}
