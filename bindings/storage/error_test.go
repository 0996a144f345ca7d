package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

func TestBlobErrorIsItsCondition(t *testing.T) {
	t.Parallel()
	sentinels := map[string]error{
		"not found": bindings.ErrNotFound, "container": storage.ErrContainerNotFound, "exists": bindings.ErrAlreadyExists,
		"condition": bindings.ErrConditionNotMet, "held": storage.ErrLeaseHeld, "lost": storage.ErrLeaseLost, "large": bindings.ErrTooLarge,
		"range": bindings.ErrOutOfRange, "name": bindings.ErrInvalidName, "unavailable": bindings.ErrUnavailable,
	}
	tests := []struct {
		code   storage.Code
		status int
		is     string // names of sentinels, sorted
	}{
		{storage.CodeBlobNotFound, 404, "not found"},
		{storage.CodeContainerNotFound, 404, "container, not found"},
		{storage.CodeCannotVerifyCopySource, 404, "not found"},
		{storage.CodeBlobAlreadyExists, 409, "exists"},
		{storage.CodeContainerAlreadyExists, 409, "exists"},
		{storage.CodeConditionNotMet, 412, "condition"},
		{storage.CodeSourceConditionNotMet, 412, "condition"},
		{storage.CodeAppendPositionConditionNotMet, 412, "condition"},
		{storage.CodeMaxBlobSizeConditionNotMet, 412, "condition"},
		{storage.CodeLeaseAlreadyPresent, 409, "held"},
		{storage.CodeLeaseIsBreakingAndCannotBeAcquired, 409, "held"},
		{storage.CodeLeaseIDMissing, 412, "held"},
		{storage.CodeLeaseIDMismatchWithBlobOperation, 412, "lost"},
		{storage.CodeLeaseIDMismatchWithContainerOperation, 412, "lost"},
		{storage.CodeLeaseIDMismatchWithLeaseOperation, 409, "lost"},
		{storage.CodeLeaseNotPresentWithBlobOperation, 412, "lost"},
		{storage.CodeLeaseNotPresentWithContainerOperation, 412, "lost"},
		{storage.CodeLeaseNotPresentWithLeaseOperation, 409, "lost"},
		{storage.CodeLeaseIsBreakingAndCannotBeChanged, 409, "lost"},
		{storage.CodeLeaseIsBrokenAndCannotBeRenewed, 409, "lost"},
		{storage.CodeRequestBodyTooLarge, 413, "large"},
		{storage.CodeInvalidRange, 416, "range"},
		{storage.CodeInvalidHeaderValue, 400, "range"},
		{storage.CodeInvalidResourceName, 400, "name"},
		{storage.CodeOutOfRangeInput, 400, "name"},
		{storage.CodeInvalidBlockList, 400, ""},
		{storage.CodeInvalidBlobType, 409, ""},
		{storage.CodeSnapshotsPresent, 409, ""},
		{storage.CodeMultipleConditionHeadersNotSupported, 400, ""},
		{storage.CodeUnsatisfiableCondition, 400, ""},
		{storage.CodeNotImplemented, 501, ""},
		{"ServerBusy", 500, "unavailable"},
	}
	for _, tt := range tests {
		e := storage.NewError(tt.code)
		err := fmt.Errorf("wrapped: %w", e)
		var is []string
		for name, sentinel := range sentinels {
			if errors.Is(err, sentinel) {
				is = append(is, name)
			}
		}
		slices.Sort(is)
		if got := strings.Join(is, ", "); e.Status != tt.status || got != tt.is {
			t.Errorf("%s: status %d, is %q; want %d, %q", tt.code, e.Status, got, tt.status, tt.is)
		}
		if storage.CodeOf(err) != tt.code || !strings.HasPrefix(e.Error(), string(tt.code)) {
			t.Errorf("%s: BlobCodeOf = %q, text %q", tt.code, storage.CodeOf(err), e)
		}
	}
	if got := storage.CodeOf(errors.New("other")); got != "" {
		t.Errorf("BlobCodeOf of another error = %q", got)
	}
}

// An answer that a client puts together has the code and status of the wire.
func TestBlobErrorFollowsItsStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  storage.Error
		is   error
		want bool
	}{
		{storage.Error{Code: "ResourceNotFound", Status: 404}, bindings.ErrNotFound, true},
		{storage.Error{Code: "ServerBusy", Status: 503}, bindings.ErrUnavailable, true},
		{storage.Error{Code: "AuthenticationFailed", Status: 403}, bindings.ErrUnavailable, false},
		{storage.Error{Code: storage.CodeConditionNotMet, Status: 304}, bindings.ErrConditionNotMet, true},
	} {
		if got := errors.Is(&tt.err, tt.is); got != tt.want {
			t.Errorf("errors.Is(%v, %v) = %v", &tt.err, tt.is, got)
		}
	}
}
