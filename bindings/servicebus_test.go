package bindings_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestParseServiceBusPath(t *testing.T) {
	t.Parallel()
	type path = bindings.ServiceBusPath
	for _, test := range []struct {
		in   string
		want path
		text string // of the path
	}{
		{"Orders", path{Entity: "Orders"}, "Orders"},
		{"/orders/", path{Entity: "orders"}, "orders"},
		{"amqps://localhost:5671/orders", path{Entity: "orders"}, "orders"},
		{"sb://name.servicebus.windows.net/a/b", path{Entity: "a/b"}, "a/b"},
		{"a/b/$deadletterqueue", path{Entity: "a/b", SubQueue: bindings.ServiceBusDeadLetter}, "a/b/$DeadLetterQueue"},
		{"q/$Transfer/$DEADLETTERQUEUE", path{Entity: "q", SubQueue: bindings.ServiceBusTransferDeadLetter}, "q/$Transfer/$DeadLetterQueue"},
		{"t/subscriptions/S", path{Entity: "t", Subscription: "S"}, "t/Subscriptions/S"},
		{"a/b/Subscriptions/s/$DeadLetterQueue", path{Entity: "a/b", Subscription: "s", SubQueue: bindings.ServiceBusDeadLetter}, "a/b/Subscriptions/s/$DeadLetterQueue"},
	} {
		got, err := bindings.ParseServiceBusPath(test.in)
		if err != nil || got != test.want || got.String() != test.text {
			t.Errorf("ParseServiceBusPath(%q) = %+v (%s), %v, want %+v (%s)", test.in, got, got, err, test.want, test.text)
		}
		if again, err := bindings.ParseServiceBusPath(strings.ToUpper(test.text)); err != nil || again.Key() != got.Key() {
			t.Errorf("the key of %s depends on case: %q and %q, %v", test.text, again.Key(), got.Key(), err)
		}
	}
	for _, bad := range []string{
		"\xd5/Subscriptions/a", "\u0130/subscriptions/a",
		"", "/", "amqps://host", "amqps://host/", "$cbs", "a b", "a//b", "-a", "a.", "q/$management", "$DeadLetterQueue", "/$DeadLetterQueue",
		"t/Subscriptions/", "t/subscriptions/a/b", "/subscriptions/s", "q/$Transfer", strings.Repeat("a", 261), "t/Subscriptions/" + strings.Repeat("s", 51),
	} {
		if got, err := bindings.ParseServiceBusPath(bad); !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ParseServiceBusPath(%q) = %+v, %v, want ErrInvalidName", bad, got, err)
		}
	}
	for in, want := range map[string]string{"q/$management": "q", "q/$DeadLetterQueue/$Management/": "q/$DeadLetterQueue", "q": ""} {
		path, ok := bindings.CutServiceBusManagement(in)
		if ok != (want != "") || ok && path != want {
			t.Errorf("CutServiceBusManagement(%q) = %q, %v, want %q", in, path, ok, want)
		}
	}
}

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

func TestGUID(t *testing.T) {
	t.Parallel()
	const text = "00112233-4455-6677-8899-aabbccddeeff"
	g, err := bindings.ParseGUID("{" + text + "}")
	if err != nil || g.String() != text {
		t.Errorf("ParseGUID = %v, %v, want %s", g, err, text)
	}
	if _, err := bindings.ParseGUID("nonsense"); err == nil {
		t.Error("ParseGUID(nonsense) succeeded")
	}
}

func TestServiceBusCountsTotal(t *testing.T) {
	t.Parallel()
	counts := bindings.ServiceBusCounts{Active: 1, Deferred: 2, Scheduled: 4, DeadLetter: 8, Transfer: 16, TransferDeadLetter: 32}
	if got := counts.Total(); got != 63 {
		t.Errorf("Total of %+v = %d, want 63", counts, got)
	}
}
