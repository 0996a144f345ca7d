package bus_test

import (
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestAddresses: relative, absolute, with slashes, in any case; transactions and
// non-exclusive sessions are refused.
func TestAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "a/b"})
	w.topic(t, "t", "s")
	ctx, session := w.plain(t)
	for _, address := range []string{"a/b", "/A/B", "amqps://host/a/b", "sb://host:5671/a/b/", "amqp://host/A/b", "t", "a/b/$management", "t/Subscriptions/s/$Management", "a/b/$deadletterqueue/$management", "$cbs", "amqp://host/$cbs"} {
		if _, err := session.NewSender(ctx, address, nil); err != nil {
			t.Errorf("NewSender(%s): %v", address, err)
		}
	}
	for _, address := range []string{"a/b", "a/b/$DeadLetterQueue", "a/b/$Transfer/$DeadLetterQueue", "amqp://host/t/SUBSCRIPTIONS/S", "t/subscriptions/s/$deadletterqueue"} {
		if _, err := session.NewReceiver(ctx, address, nil); err != nil {
			t.Errorf("NewReceiver(%s): %v", address, err)
		}
	}
	for address, want := range map[string]goamqp.ErrCond{"t/Subscriptions/missing": goamqp.ErrCondNotFound, "missing/$management": goamqp.ErrCondNotFound, "t/$DeadLetterQueue": goamqp.ErrCondNotFound} {
		if _, err := session.NewReceiver(ctx, address, nil); !isCondition(err, want) {
			t.Errorf("NewReceiver(%s) = %v, want %s", address, err, want)
		}
	}
	shared := goamqp.NewLinkFilter("com.microsoft:non-exclusive-session-filter:list", 0x137000000E, []any{"s"})
	if _, err := session.NewReceiver(ctx, "a/b", &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{shared}}); !isCondition(err, goamqp.ErrCondNotImplemented) {
		t.Errorf("non-exclusive session = %v", err)
	}
}
