package hosttest

import (
	"context"
	"errors"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
)

// queueCalls are the calls of a Host about storage queues.
type queueCalls struct{ h *Host }

// Send puts a message with that body on a queue, which is made when it does not
// exist, in the encoding of the app (messageEncoding). Deliveries that it
// starts run before Send returns; time does not move. It returns the message's
// ID.
func (k queueCalls) Send(queue, body string) string {
	k.h.tb.Helper()
	return k.h.SendRaw(queue, k.h.encoding().Encode([]byte(body)))
}

// SendWith is Send with a delay before the first delivery and a time to live; nil
// options mean Send.
func (k queueCalls) SendWith(queue, body string, opts *queueapi.PutOptions) string {
	k.h.tb.Helper()
	return k.h.put(queue, opts, k.h.encoding().Encode([]byte(body)))[0]
}

// SendAll is Send for several messages that arrive together: none is received
// before the last is there. It returns their IDs.
func (k queueCalls) SendAll(queue string, bodies ...string) []string {
	k.h.tb.Helper()
	texts := make([]string, len(bodies))
	for i, body := range bodies {
		texts[i] = k.h.encoding().Encode([]byte(body))
	}
	return k.h.put(queue, nil, texts...)
}

// SendRaw is Send for the raw wire text: what a foreign client put.
func (k queueCalls) SendRaw(queue, text string) string {
	k.h.tb.Helper()
	return k.h.put(queue, nil, text)[0]
}

// put puts messages on a queue in one turn.
func (k queueCalls) put(queue string, opts *queueapi.PutOptions, texts ...string) []string {
	k.h.tb.Helper()
	queueMeant(k.h, queue)
	if len(texts) == 0 {
		k.h.tb.Fatalf("hosttest: send to %q: no message is given", queue)
	}
	ids := make([]string, len(texts))
	var err error
	k.h.do("send to "+queue, func() {
		for i, text := range texts {
			var m *queueapi.Message
			if m, err = queueapi.PutOrCreate(context.Background(), k.h.Services().Storage().Queue(queue), text, opts); err != nil {
				return
			}
			ids[i] = m.ID
		}
	})
	if err != nil {
		k.h.tb.Fatalf("hosttest: send to %q: %v", queue, err)
	}
	isSure(k.h, "look "+queue)
	return ids
}

// Bodies returns the bodies of all visible messages of a queue, in the order of
// their delivery. A queue of the app's bindings that does not exist has none; one that
// nothing names ends the test, since it would be empty whatever happens: CreateQueue makes
// one that only code knows.
func (k queueCalls) Bodies(queue string) []string {
	k.h.tb.Helper()
	return k.h.bodies(queue, k.h.Messages(queue))
}

func (k queueCalls) bodies(queue string, messages []*queueapi.Message) []string {
	k.h.tb.Helper()
	bodies := []string{}
	for _, m := range messages {
		body, err := k.h.encoding().Decode(m.Text)
		if err != nil {
			k.h.tb.Fatalf("hosttest: queue %q: message %s: %v", queue, m.ID, err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

// Messages returns all visible messages of a queue, in the order of their delivery, as the
// service holds them.
func (k queueCalls) Messages(queue string) []*queueapi.Message {
	k.h.tb.Helper()
	queueThere(k.h, queue)
	ctx := context.Background()
	var err error
	var messages []*queueapi.Message
	k.h.do("peek "+queue, func() { messages, err = k.h.Services().Storage().VisibleMessages(ctx, queue, 0) })
	if err != nil && !errors.Is(err, bindings.ErrNotFound) {
		k.h.tb.Fatalf("hosttest: peek %q: %v", queue, err)
	}
	return messages
}

// Hidden returns all invisible messages of a queue (in work, waiting for
// redelivery, delayed), in the order in which they will be visible. NextVisible
// says from when, DequeueCount how often they were delivered.
func (k queueCalls) Hidden(queue string) []*queueapi.Message {
	k.h.tb.Helper()
	queueThere(k.h, queue)
	var err error
	var messages []*queueapi.Message
	k.h.do("look at "+queue, func() { messages, err = k.h.Services().Storage().HiddenMessages(context.Background(), queue) })
	if err != nil && !errors.Is(err, bindings.ErrNotFound) {
		k.h.tb.Fatalf("hosttest: look at %q: %v", queue, err)
	}
	return messages
}

// HiddenBodies returns the bodies of the messages of [Host.Hidden].
func (k queueCalls) HiddenBodies(queue string) []string {
	k.h.tb.Helper()
	return k.h.bodies(queue, k.h.Hidden(queue))
}

// Queues returns the names of the storage queues.
func (k queueCalls) Queues() (names []string) {
	k.h.tb.Helper()
	var err error
	k.h.do("list queues", func() { names, err = k.h.Services().Storage().Queues(context.Background()) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: list queues: %v", err)
	}
	return names
}

// WantQueue fails the test unless the visible messages of a queue have exactly
// these bodies, in this order, and for a slip of the name of one of the app's queues.
func (k queueCalls) WantQueue(queue string, want ...string) {
	k.h.tb.Helper()
	if got := k.h.Bodies(queue); !slices.Equal(got, want) {
		k.h.tb.Errorf("queue %q holds %q, want %q", queue, got, want)
	}
}

// WantHidden fails the test unless the invisible messages of a queue (in
// work, waiting for redelivery, delayed) have exactly these bodies, in the
// order in which they will be visible. Hidden says when that is.
func (k queueCalls) WantHidden(queue string, want ...string) {
	k.h.tb.Helper()
	got := k.h.HiddenBodies(queue)
	if !slices.Equal(got, want) {
		k.h.tb.Errorf("queue %q hides %q, want %q", queue, got, want)
	}
}

// CreateQueue makes a storage queue, unless it is there.
func (k queueCalls) CreateQueue(name string) {
	k.h.tb.Helper()
	create(k.h, "queue "+name, func(ctx context.Context) error {
		return k.h.Services().Storage().Queue(name).Create(ctx)
	})
}

func (k queueCalls) encoding() queueapi.Encoding {
	k.h.tb.Helper()
	a := k.h.ran()
	if a == nil {
		return queueapi.Base64
	}
	e, err := queueapi.ParseEncoding(a.Config.Queues.MessageEncoding)
	if err != nil {
		k.h.tb.Fatalf("hosttest: %v", err)
	}
	return e
}
