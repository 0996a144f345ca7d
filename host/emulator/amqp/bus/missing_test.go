package bus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestClaimForAMissingEntity: $cbs says of an audience that names no entity what the service
// says: status 404, and a text that the client for Java looks for, with its capital letter
// (spec messaging 3.2, 3.3; azure-core-amqp: ExceptionUtil).
func TestClaimForAMissingEntity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "Area/q"})
	w.topic(t, "t", "s")
	ctx, session := w.plain(t)
	for audience, want := range map[string]string{
		"amqp://host/area/Q":                             "",
		"amqps://host/area/q/":                           "",
		"sb://host/area/q/$management":                   "",
		"sb://host/area/q/$DeadLetterQueue":              "",
		"sb://host/area/q/$Transfer/$DeadLetterQueue":    "",
		"amqp://host/t":                                  "",
		"amqp://host/t/Subscriptions/S":                  "",
		"amqp://host/t/subscriptions/s/$deadletterqueue": "",
		"amqp://host/t/subscriptions/s/$management":      "",
		"sb://host/":                                      "", // the namespace
		"sb://host":                                       "",
		"sb://host/$management":                           "",
		"amqp://host/missing":                             "The messaging entity 'missing' could not be found.",
		"amqp://host/Missing/$management":                 "The messaging entity 'Missing' could not be found.",
		"amqp://host/missing/$DeadLetterQueue":            "The messaging entity 'missing/$DeadLetterQueue' could not be found.",
		"amqp://host/t/Subscriptions/missing":             "The messaging entity 't/Subscriptions/missing' could not be found.",
		"amqp://host/missing/Subscriptions/s/$management": "The messaging entity 'missing/Subscriptions/s' could not be found.",
		"amqp://host/not a name":                          "The messaging entity 'not a name' could not be found.",
	} {
		request := &goamqp.Message{Value: "token", ApplicationProperties: map[string]any{"operation": "put-token", "type": "jwt", "name": audience}}
		got := ask(t, ctx, session, "$cbs", request).ApplicationProperties
		status, text := int32(202), "Accepted"
		if want != "" {
			status, text = 404, want
		}
		if got["status-code"] != status || got["status-description"] != text {
			t.Errorf("claim for %s: %v %v, want %d %s", audience, got["status-code"], got["status-description"], status, text)
		}
		if condition, there := got["error-condition"]; there {
			t.Errorf("claim for %s: error-condition %v: the client for Python then tells its user neither status nor text", audience, condition)
		}
	}
}

// TestMissingEntityText: links and requests about an entity that is not there, or not any
// more, are refused with the service's text.
func TestMissingEntityText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "gone"})
	ctx, session := w.plain(t)
	want := func(what string, err error, text string) {
		t.Helper()
		var refused *goamqp.Error
		if link, ok := errors.AsType[*goamqp.LinkError](err); ok {
			err = link.RemoteErr
		}
		if !errors.As(err, &refused) || refused.Condition != goamqp.ErrCondNotFound || refused.Description != text {
			t.Errorf("%s: %v, want the text %q", what, err, text)
		}
	}
	receiver, err := session.NewReceiver(ctx, "gone", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.do(t, func(ctx context.Context) error { return w.ns.DeleteQueue(ctx, "gone") })
	_, err = receiver.Receive(ctx, nil)
	want("receive from a deleted queue", err, "The messaging entity 'gone' could not be found.")
	_, err = session.NewSender(ctx, "missing", nil)
	want("sender", err, "The messaging entity 'missing' could not be found.")
	_, err = session.NewReceiver(ctx, "Missing/$DeadLetterQueue", nil)
	want("receiver", err, "The messaging entity 'Missing' could not be found.")
	_, err = session.NewReceiver(ctx, "t/Subscriptions/s", nil)
	want("receiver of a subscription", err, "The messaging entity 't/Subscriptions/s' could not be found.")
	_, err = session.NewReceiver(ctx, "missing/$management", nil)
	want("management", err, "The messaging entity 'missing' could not be found.")
	_, err = session.NewReceiver(ctx, "missing", &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, "s1")}})
	want("session", err, "The messaging entity 'missing' could not be found.")
}

// TestCodeNotFound: the client for Go has a code for it, which it finds in the answer to its
// claim.
func TestCodeNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.topic(t, "t")
	ctx, c := w.client(t)
	wantNotFound := func(what string, err error) {
		t.Helper()
		if e, ok := errors.AsType[*azservicebus.Error](err); !ok || e.Code != azservicebus.CodeNotFound {
			t.Errorf("%s = %v, want CodeNotFound", what, err)
		}
	}
	s, err := c.NewSender("missing", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantNotFound("SendMessage", s.SendMessage(ctx, &azservicebus.Message{}, nil))
	_, err = receiverOf(t, c, "missing", nil).ReceiveMessages(ctx, 1, nil)
	wantNotFound("ReceiveMessages", err)
	_, err = c.AcceptSessionForQueue(ctx, "missing", "s", nil)
	wantNotFound("AcceptSessionForQueue", err)
	r, err := c.NewReceiverForSubscription("t", "missing", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.PeekMessages(ctx, 1, nil)
	wantNotFound("PeekMessages", err)
}
