package servicebus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

func TestParseServiceBusPath(t *testing.T) {
	t.Parallel()
	type path = servicebus.Path
	for _, test := range []struct {
		in   string
		want path
		text string // of the path
	}{
		{"Orders", path{Entity: "Orders"}, "Orders"},
		{"/orders/", path{Entity: "orders"}, "orders"},
		{"amqps://localhost:5671/orders", path{Entity: "orders"}, "orders"},
		{"sb://name.servicebus.windows.net/a/b", path{Entity: "a/b"}, "a/b"},
		{"a~b.c-d_e", path{Entity: "a~b.c-d_e"}, "a~b.c-d_e"},
		{"a/b/$deadletterqueue", path{Entity: "a/b", SubQueue: servicebus.DeadLetterQueue}, "a/b/$DeadLetterQueue"},
		{"q/$Transfer/$DEADLETTERQUEUE", path{Entity: "q", SubQueue: servicebus.TransferDeadLetterQueue}, "q/$Transfer/$DeadLetterQueue"},
		{"t/subscriptions/S", path{Entity: "t", Subscription: "S"}, "t/Subscriptions/S"},
		{"a/b/Subscriptions/s/$DeadLetterQueue", path{Entity: "a/b", Subscription: "s", SubQueue: servicebus.DeadLetterQueue}, "a/b/Subscriptions/s/$DeadLetterQueue"},
	} {
		got, err := servicebus.ParsePath(test.in)
		if err != nil || got != test.want || got.String() != test.text {
			t.Errorf("ParseServiceBusPath(%q) = %+v (%s), %v, want %+v (%s)", test.in, got, got, err, test.want, test.text)
		}
		if again, err := servicebus.ParsePath(strings.ToUpper(test.text)); err != nil || again.Key() != got.Key() {
			t.Errorf("the key of %s depends on case: %q and %q, %v", test.text, again.Key(), got.Key(), err)
		}
	}
	for _, bad := range []string{
		"\xd5/Subscriptions/a", "\u0130/subscriptions/a",
		"", "/", "amqps://host", "amqps://host/", "$cbs", "a b", "a//b", "-a", "a.", "q/$management", "$DeadLetterQueue", "/$DeadLetterQueue",
		"~a", "a~", "t/Subscriptions/a~b", "t/Subscriptions/", "t/subscriptions/a/b", "/subscriptions/s", "q/$Transfer", strings.Repeat("a", 261), "t/Subscriptions/" + strings.Repeat("s", 51),
	} {
		if got, err := servicebus.ParsePath(bad); !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ParseServiceBusPath(%q) = %+v, %v, want ErrInvalidName", bad, got, err)
		}
	}
	for in, want := range map[string]string{"q/$management": "q", "q/$DeadLetterQueue/$Management/": "q/$DeadLetterQueue", "q": ""} {
		path, ok := messaging.CutManagement(in)
		if ok != (want != "") || ok && path != want {
			t.Errorf("CutServiceBusManagement(%q) = %q, %v, want %q", in, path, ok, want)
		}
	}
}

func TestServiceBusCountsTotal(t *testing.T) {
	t.Parallel()
	counts := servicebus.Counts{Active: 1, Deferred: 2, Scheduled: 4, DeadLetter: 8, Transfer: 16, TransferDeadLetter: 32}
	if got := counts.Total(); got != 63 {
		t.Errorf("Total of %+v = %d, want 63", counts, got)
	}
}
