package bindings_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestBlobErrorIsItsCondition(t *testing.T) {
	t.Parallel()
	sentinels := map[string]error{
		"not found": bindings.ErrNotFound, "container": bindings.ErrContainerNotFound, "exists": bindings.ErrAlreadyExists,
		"condition": bindings.ErrConditionNotMet, "held": bindings.ErrLeaseHeld, "lost": bindings.ErrLeaseLost, "large": bindings.ErrTooLarge,
		"range": bindings.ErrOutOfRange, "name": bindings.ErrInvalidName, "unavailable": bindings.ErrUnavailable,
	}
	tests := []struct {
		code   bindings.BlobCode
		status int
		is     string // names of sentinels, sorted
	}{
		{bindings.CodeBlobNotFound, 404, "not found"},
		{bindings.CodeContainerNotFound, 404, "container, not found"},
		{bindings.CodeCannotVerifyCopySource, 404, "not found"},
		{bindings.CodeBlobAlreadyExists, 409, "exists"},
		{bindings.CodeContainerAlreadyExists, 409, "exists"},
		{bindings.CodeConditionNotMet, 412, "condition"},
		{bindings.CodeSourceConditionNotMet, 412, "condition"},
		{bindings.CodeAppendPositionConditionNotMet, 412, "condition"},
		{bindings.CodeMaxBlobSizeConditionNotMet, 412, "condition"},
		{bindings.CodeLeaseAlreadyPresent, 409, "held"},
		{bindings.CodeLeaseIsBreakingAndCannotBeAcquired, 409, "held"},
		{bindings.CodeLeaseIDMissing, 412, "held"},
		{bindings.CodeLeaseIDMismatchWithBlobOperation, 412, "lost"},
		{bindings.CodeLeaseIDMismatchWithContainerOperation, 412, "lost"},
		{bindings.CodeLeaseIDMismatchWithLeaseOperation, 409, "lost"},
		{bindings.CodeLeaseNotPresentWithBlobOperation, 412, "lost"},
		{bindings.CodeLeaseNotPresentWithContainerOperation, 412, "lost"},
		{bindings.CodeLeaseNotPresentWithLeaseOperation, 409, "lost"},
		{bindings.CodeLeaseIsBreakingAndCannotBeChanged, 409, "lost"},
		{bindings.CodeLeaseIsBrokenAndCannotBeRenewed, 409, "lost"},
		{bindings.CodeRequestBodyTooLarge, 413, "large"},
		{bindings.CodeInvalidRange, 416, "range"},
		{bindings.CodeInvalidHeaderValue, 400, "range"},
		{bindings.CodeInvalidResourceName, 400, "name"},
		{bindings.CodeOutOfRangeInput, 400, "name"},
		{bindings.CodeInvalidBlockList, 400, ""},
		{bindings.CodeInvalidBlobType, 409, ""},
		{bindings.CodeSnapshotsPresent, 409, ""},
		{bindings.CodeMultipleConditionHeadersNotSupported, 400, ""},
		{bindings.CodeUnsatisfiableCondition, 400, ""},
		{bindings.CodeNotImplemented, 501, ""},
		{"ServerBusy", 500, "unavailable"},
	}
	for _, tt := range tests {
		e := bindings.NewBlobError(tt.code)
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
		if bindings.BlobCodeOf(err) != tt.code || !strings.HasPrefix(e.Error(), string(tt.code)) {
			t.Errorf("%s: BlobCodeOf = %q, text %q", tt.code, bindings.BlobCodeOf(err), e)
		}
	}
	if got := bindings.BlobCodeOf(errors.New("other")); got != "" {
		t.Errorf("BlobCodeOf of another error = %q", got)
	}
}

// An answer that a client puts together has the code and status of the wire.
func TestBlobErrorFollowsItsStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  bindings.BlobError
		is   error
		want bool
	}{
		{bindings.BlobError{Code: "ResourceNotFound", Status: 404}, bindings.ErrNotFound, true},
		{bindings.BlobError{Code: "ServerBusy", Status: 503}, bindings.ErrUnavailable, true},
		{bindings.BlobError{Code: "AuthenticationFailed", Status: 403}, bindings.ErrUnavailable, false},
		{bindings.BlobError{Code: bindings.CodeConditionNotMet, Status: 304}, bindings.ErrConditionNotMet, true},
	} {
		if got := errors.Is(&tt.err, tt.is); got != tt.want {
			t.Errorf("errors.Is(%v, %v) = %v", &tt.err, tt.is, got)
		}
	}
}
