package bindingtest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// busTests are named by behaviour. The rules come from spec messaging 1 and from
// the comments in package bindings.
var busTests = []busTest{
	{"SendReceiveComplete", false, func(b *busBench) {
		b.queue(busQueue{Name: "Orders"})
		b.sendText("orders", "a", "b")
		r := b.receiver("ORDERS")
		if b.Features.CreatedNames && r.Source() != "Orders" {
			b.Errorf("Source = %q, want Orders, as it was created", r.Source())
		}
		ms := b.receive(r, 2)
		b.expect("Receive", ms, "a", "b")
		if ms[0].SequenceNumber >= ms[1].SequenceNumber {
			b.Errorf("sequence numbers %d, %d do not ascend", ms[0].SequenceNumber, ms[1].SequenceNumber)
		}
		for _, m := range ms {
			if m.EnqueuedSequenceNumber != 0 || m.LockToken == (bindings.GUID{}) || m.LockedUntil.IsZero() || m.EnqueuedTime.IsZero() || m.State != servicebus.StateActive {
				b.Errorf("Receive = %+v, want its numbers, times and a lock", m)
			}
			if m.DeliveryCount != 0 || m.DeliveryNumber() != 1 {
				b.Errorf("first delivery has count %d and number %d, want 0 and 1", m.DeliveryCount, m.DeliveryNumber())
			}
		}
		b.receiveNone(r)
		b.complete(r, ms...)
		b.counts("orders", servicebus.Counts{})
	}},
	{"FieldsComeThrough", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		sent := busMessage{
			MessageID: "id", Body: []byte{0, 1, 255}, CorrelationID: "correlation", Subject: "subject", To: "to", ReplyTo: "reply",
			ContentType: "text/plain", SessionID: of("session"), ReplyToSessionID: of("other"), PartitionKey: of("session"),
			ApplicationProperties: map[string]any{"text": "ä", "yes": true, "number": int64(-5), "float": 1.5},
		}
		b.send("q", &sent)
		sent.ApplicationProperties["late"] = "the sender's map is the sender's"
		m := b.receiveOne(b.receiver("q"))
		delete(sent.ApplicationProperties, "late")
		text := func(p *string) string {
			if p == nil {
				return "none"
			}
			return *p
		}
		if m.MessageID != "id" || string(m.Body) != string(sent.Body) || m.CorrelationID != "correlation" || m.Subject != "subject" || m.To != "to" ||
			m.ReplyTo != "reply" || m.ContentType != "text/plain" || text(m.SessionID) != "session" || text(m.ReplyToSessionID) != "other" || text(m.PartitionKey) != "session" {
			b.Errorf("Receive = %+v, want what was sent", m)
		}
		if !maps.Equal(m.ApplicationProperties, sent.ApplicationProperties) {
			b.Errorf("application properties = %v, want %v", m.ApplicationProperties, sent.ApplicationProperties)
		}
	}},
	{"ReceiveAndDelete", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r, err := b.tryReceiver("q", &servicebus.ReceiverOptions{Mode: servicebus.ReceiveAndDelete})
		b.must("Receiver", err)
		m := b.receiveOne(r)
		if m.LockToken != (bindings.GUID{}) || !m.LockedUntil.IsZero() {
			b.Errorf("Receive = %+v, want no lock", m)
		}
		b.fails("Complete", b.call(func(ctx context.Context) error { return r.Complete(ctx, m) }), messaging.ErrNotAllowed)
		b.counts("q", servicebus.Counts{})
	}},
	{"PeekChangesNothing", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b", "c", "d")
		r := b.receiver("q")
		locked := b.receiveOne(r)
		ms := b.peek(r, 0, 10)
		b.expect("Peek", ms, "a", "b", "c", "d")
		for _, m := range ms {
			if m.LockToken != (bindings.GUID{}) || m.DeliveryCount != 0 || m.State != servicebus.StateActive {
				b.Errorf("Peek = %+v, want no lock, count 0, active", m)
			}
		}
		b.expect("Peek from the third", b.peek(r, ms[2].SequenceNumber, 10), "c", "d")
		b.expect("Peek of two", b.peek(r, 0, 2), "a", "b")
		b.deferMessage(r, locked)
		if got := b.peek(r, 0, 1)[0]; got.State != servicebus.StateDeferred {
			b.Errorf("state of a deferred message = %v", got.State)
		}
		b.expect("Receive", b.receive(r, 3), "b", "c", "d")
	}},
	{"AbandonedComesFirstAgain", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b", "c")
		r := b.receiver("q")
		ms := b.receive(r, 2)
		b.abandon(r, ms[1])
		b.abandon(r, ms[0])
		b.expect("Receive", b.receive(r, 3), "a", "b", "c")
	}},
	{"AbandonMergesProperties", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.send("q", &busMessage{Body: []byte("a"), ApplicationProperties: map[string]any{"old": "1", "changed": "1"}})
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.must("Abandon", b.call(func(ctx context.Context) error {
			return r.Abandon(ctx, m, map[string]any{"changed": "2", "new": "2"})
		}))
		m = b.receiveOne(r)
		want := map[string]any{"old": "1", "changed": "2", "new": "2"}
		if !maps.Equal(m.ApplicationProperties, want) {
			b.Errorf("properties after Abandon = %v, want %v", m.ApplicationProperties, want)
		}
	}},
	{"SettledTwiceIsLockLost", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.complete(r, m)
		for what, f := range map[string]func(ctx context.Context) error{
			"Complete":   func(ctx context.Context) error { return r.Complete(ctx, m) },
			"Abandon":    func(ctx context.Context) error { return r.Abandon(ctx, m, nil) },
			"Defer":      func(ctx context.Context) error { return r.Defer(ctx, m, nil) },
			"DeadLetter": func(ctx context.Context) error { return r.DeadLetter(ctx, m, "", "", nil) },
			"Renew":      func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err },
		} {
			b.fails(what+" of a settled message", b.call(f), messaging.ErrLockLost)
		}
	}},
	{"LocksOutliveTheirReceiver", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.close(r)
		if _, ok := b.Namespace.(servicebus.Management); ok {
			b.fails("Receive after Close", b.call(func(ctx context.Context) error { _, err := r.Receive(ctx, 1, 0); return err }), messaging.ErrClosed)
		}
		other := b.receiver("q")
		b.receiveNone(other)
		b.complete(other, m)
		b.counts("q", servicebus.Counts{})
	}},
	{"DeferredOnlyByNumber", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b")
		r := b.receiver("q")
		ms := b.receive(r, 2)
		b.deferMessage(r, ms[0])
		b.counts("q", servicebus.Counts{Active: 1, Deferred: 1})
		b.receiveNone(r)
		a := ms[0].SequenceNumber
		_, err := b.tryDeferred(r, a, a+1000)
		b.fails("ReceiveDeferred with an unknown number", err, bindings.ErrMessageNotFound)
		_, err = b.tryDeferred(r, ms[1].SequenceNumber)
		b.fails("ReceiveDeferred of a message that is not deferred", err, bindings.ErrMessageNotFound)
		m := b.deferred(r, a)
		if m.State != servicebus.StateDeferred || m.SequenceNumber != a || m.LockToken == (bindings.GUID{}) {
			b.Errorf("ReceiveDeferred = %+v, want state deferred, its number and a lock", m)
		}
		_, err = b.tryDeferred(r, a)
		b.fails("ReceiveDeferred of a locked message", err, bindings.ErrMessageNotFound)
		b.abandon(r, m)
		b.receiveNone(r)
		b.complete(r, b.deferred(r, a), ms[1])
		b.counts("q", servicebus.Counts{})
	}},
	{"DeadLetterByTheApplication", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.send("q", &busMessage{MessageID: "id", Body: []byte("a"), ApplicationProperties: map[string]any{"mine": "1"}})
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.must("DeadLetter", b.call(func(ctx context.Context) error {
			return r.DeadLetter(ctx, m, "because", "it was so", map[string]any{"more": "2"})
		}))
		b.counts("q", servicebus.Counts{DeadLetter: 1})
		b.receiveNone(r)
		d := b.receiveOne(b.receiver("q" + strings.ToLower(dlq)))
		want := map[string]any{"mine": "1", "more": "2", servicebus.DeadLetterReason: "because", servicebus.DeadLetterErrorDescription: "it was so"}
		if !maps.Equal(d.ApplicationProperties, want) {
			b.Errorf("properties in the dead-letter queue = %v, want %v", d.ApplicationProperties, want)
		}
		if d.MessageID != "id" || string(d.Body) != "a" || d.DeadLetterSource != "" {
			b.Errorf("in the dead-letter queue: %+v, want the same message without a source", d)
		}
	}},
	{"NothingLeavesADeadLetterQueueForAnother", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		b.deadLetter(r, b.receiveOne(r))
		d := b.receiver("q" + dlq)
		m := b.receiveOne(d)
		b.fails("DeadLetter in a dead-letter queue", b.call(func(ctx context.Context) error { return d.DeadLetter(ctx, m, "", "", nil) }), messaging.ErrNotAllowed)
		b.abandon(d, m)
		m = b.receiveOne(d)
		b.deferMessage(d, m)
		b.receiveNone(d)
		b.complete(d, b.deferred(d, m.SequenceNumber))
		b.counts("q", servicebus.Counts{})
	}},
	{"TextsOfADeadLetterAreLimited", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		long := strings.Repeat("x", servicebus.MaxDeadLetterText)
		b.fails("DeadLetter with a long reason", b.call(func(ctx context.Context) error { return r.DeadLetter(ctx, m, long+"x", "", nil) }), bindings.ErrOutOfRange)
		b.must("DeadLetter", b.call(func(ctx context.Context) error { return r.DeadLetter(ctx, m, long, long, nil) }))
	}},
	{"NothingIsSentToASubQueue", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.topic(servicebus.Topic{Name: "t"})
		b.subscription(servicebus.Subscription{Topic: "t", Name: "s"}, nil)
		for _, path := range []string{"q" + dlq, "q" + tdlq, "t/Subscriptions/s" + dlq, "t/Subscriptions/s"} {
			b.fails("Send to "+path, b.trySend(path, text1("a")), messaging.ErrNotAllowed)
		}
	}},
	{"MissingEntities", false, func(b *busBench) {
		b.topic(servicebus.Topic{Name: "t"})
		b.fails("Send", b.trySend("missing", text1("a")), bindings.ErrNotFound)
		for _, path := range []string{"missing", "missing" + dlq, "t/Subscriptions/missing", "missing/Subscriptions/s"} {
			_, err := b.tryReceiver(path, nil)
			b.fails("Receiver on "+path, err, bindings.ErrNotFound)
		}
		_, err := b.tryReceiver("t", nil)
		b.fails("Receiver on a topic", err, messaging.ErrNotAllowed)
	}},
	{"SendIsAtomic", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		large := &busMessage{Body: make([]byte, 256<<10+1)}
		b.fails("Send with one that is too large", b.trySend("q", text1("a"), large), bindings.ErrTooLarge)
		r := b.receiver("q")
		b.receiveNone(r)
		b.close(r)
		b.send("q", text1("a"), text1("b"), text1("c"))
		b.expect("Receive", b.receive(b.receiver("q"), 3), "a", "b", "c")
	}},
	{"IdentifiersAreLimited", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		long := strings.Repeat("ä", messaging.MaxID)
		b.send("q", &busMessage{MessageID: long, SessionID: &long, PartitionKey: &long})
		over := long + "x"
		for what, m := range map[string]*busMessage{
			"message id": {MessageID: over}, "session id": {SessionID: &over}, "partition key": {PartitionKey: &over},
		} {
			if err := b.trySend("q", m); err == nil {
				b.Errorf("Send with a %s of %d characters succeeded", what, messaging.MaxID+1)
			}
		}
	}},
	{"MessageWithoutIdentifierGetsOne", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresDuplicateDetection: true})
		b.send("q", &busMessage{}, &busMessage{})
		ms := b.receive(b.receiver("q"), 2)
		if ms[0].MessageID == "" || ms[0].MessageID == ms[1].MessageID {
			b.Errorf("identifiers %q, %q, want two that differ", ms[0].MessageID, ms[1].MessageID)
		}
	}},
	{"LargeHeaderIsDeadLettered", false, func(b *busBench) {
		if !b.Features.LargeHeaderToDLQ {
			b.Skip("the backend refuses such a message")
		}
		b.queue(busQueue{Name: "q"})
		b.send("q", &busMessage{Body: []byte("a"), ApplicationProperties: map[string]any{"x": strings.Repeat("x", servicebus.MaxHeader)}})
		b.receiveNone(b.receiver("q"))
		b.expectReason(b.receiveOne(b.receiver("q"+dlq)), "HeaderSizeExceeded")
	}},
	{"FullEntityRefuses", false, func(b *busBench) {
		if !b.Features.SmallEntities {
			b.Skip("the backend's smallest entity is too large to fill")
		}
		b.queue(busQueue{Name: "q", MaxSizeInMegabytes: 1})
		for range 4 {
			b.send("q", &busMessage{Body: make([]byte, 255<<10)})
		}
		b.fails("Send to a full queue", b.trySend("q", &busMessage{Body: make([]byte, 255<<10)}), messaging.ErrQuotaExceeded)
		r := b.receiver("q")
		b.complete(r, b.receiveOne(r))
		b.send("q", &busMessage{Body: make([]byte, 255<<10)})
	}},
	{"MoreAskedForThanThereCanBe", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		var ms []*busReceived
		b.must("Receive", b.call(func(ctx context.Context) (err error) { ms, err = r.Receive(ctx, 1<<20, b.Patience); return err }))
		b.expect("Receive", ms, "a")
	}},
	{"ManyMessagesInOrder", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		var want []string
		for i := range 300 {
			text := strconv.Itoa(i)
			want = append(want, text)
			b.sendText("q", text)
		}
		r := b.receiver("q")
		ms := b.receive(r, 300)
		if !b.Features.IdleReceivers {
			slices.SortFunc(ms, bySequence)
		}
		b.expect("Receive", ms, want...)
		for _, m := range ms {
			b.expectCount("at first", m, 0)
		}
		for i := range ms {
			b.complete(r, ms[(i*7)%300])
		}
		b.counts("q", servicebus.Counts{})
	}},
}
