package bindingtest

import (
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// busCountTests are the golden rows of spec messaging 1.3: what each event does
// to the stored delivery count.
var busCountTests = []busTest{
	{"CountWorkedExample", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", MaxDeliveryCount: 3})
		b.sendText("q", "a")
		r := b.receiver("q")
		for delivery := int64(1); delivery <= 3; delivery++ {
			m := b.receiveOne(r)
			b.expectCount("of the delivery", m, delivery-1)
			if m.DeliveryNumber() != delivery {
				b.Errorf("delivery number = %d, want %d", m.DeliveryNumber(), delivery)
			}
			b.abandon(r, m)
		}
		b.receiveNone(r) // there is no fourth delivery
		d := b.receiver("q" + dlq)
		m := b.receiveOne(d)
		b.expectReason(m, "MaxDeliveryCountExceeded")
		if text := m.ApplicationProperties[servicebus.DeadLetterErrorDescription]; text != "Message could not be consumed after 3 delivery attempts." {
			b.Errorf("description = %q", text)
		}
		b.expectCount("in the dead-letter queue", m, 3)
		if m.DeliveryNumber() != 4 {
			b.Errorf("delivery number in the dead-letter queue = %d, want 4", m.DeliveryNumber())
		}
		b.abandon(d, m)
		b.expectCount("after Abandon in the dead-letter queue", b.receiveOne(d), 3)
	}},
	{"CountDefaultMaximumIsTen", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		for range 10 {
			b.abandon(r, b.receiveOne(r))
		}
		b.receiveNone(r)
		b.expectCount("in the dead-letter queue", b.receiveOne(b.receiver("q"+dlq)), 10)
	}},
	{"CountAfterLockExpiry", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", MaxDeliveryCount: 2, LockDuration: 30 * time.Second})
		b.sendText("q", "a")
		r := b.receiver("q")
		b.receiveOne(r)
		b.Advance(30 * time.Second)
		b.expectCount("after one lock", b.receiveOne(r), 1)
		b.Advance(30 * time.Second)
		b.receiveNone(r)
		b.expectReason(b.receiveOne(b.receiver("q"+dlq)), "MaxDeliveryCountExceeded")
	}},
	{"CountAfterRelease", false, func(b *busBench) {
		if !b.Features.Release {
			b.Skip("the backend's receivers cannot release")
		}
		b.queue(busQueue{Name: "q", MaxDeliveryCount: 1})
		b.sendText("q", "a")
		r := b.receiver("q")
		for range 3 {
			m := b.receiveOne(r)
			b.expectCount("after Release", m, 0)
			b.release(r, m)
		}
		b.sendText("q", "b", "c")
		ms := b.receive(r, 2)
		b.release(r, ms[1])
		b.release(r, ms[0])
		b.expect("Receive", b.receive(r, 3), "a", "b", "c") // each in its old place
	}},
	{"CountAfterDefer", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.deferMessage(r, m)
		m = b.deferred(r, m.SequenceNumber)
		b.expectCount("after Defer", m, 1)
		b.deferMessage(r, m)
		m = b.deferred(r, m.SequenceNumber)
		b.expectCount("after Defer again", m, 2)
		b.abandon(r, m)
		m = b.deferred(r, m.SequenceNumber)
		b.expectCount("after Abandon of the deferred message", m, 3)
		if m.State != servicebus.StateDeferred {
			b.Errorf("state after Abandon = %v, want deferred", m.State)
		}
	}},
	{"CountDeferAtTheMaximumStays", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", MaxDeliveryCount: 1})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.deferMessage(r, m)
		m = b.deferred(r, m.SequenceNumber) // deferring does not dead-letter
		b.expectCount("after Defer", m, 1)
		b.abandon(r, m) // the next failure does
		b.expectReason(b.receiveOne(b.receiver("q"+dlq)), "MaxDeliveryCountExceeded")
	}},
	{"CountAfterDeadLetter", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		b.abandon(r, b.receiveOne(r))
		b.deadLetter(r, b.receiveOne(r))
		b.expectCount("in the dead-letter queue", b.receiveOne(b.receiver("q"+dlq)), 1)
	}},
	{"CountAfterPeekAndReceiveAndDelete", false, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r, err := b.tryReceiver("q", &servicebus.ReceiverOptions{Mode: servicebus.ReceiveAndDelete})
		b.must("Receiver", err)
		b.expectCount("peeked", b.peek(r, 0, 1)[0], 0)
		b.expectCount("received and deleted", b.receiveOne(r), 0)
	}},
	{"CountInADeadLetterQueue", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", LockDuration: 30 * time.Second, MaxDeliveryCount: 1})
		b.sendText("q", "a")
		r := b.receiver("q")
		b.deadLetter(r, b.receiveOne(r))
		d := b.receiver("q" + dlq)
		m := b.receiveOne(d)
		b.expectCount("at first", m, 0)
		b.abandon(d, m)
		m = b.receiveOne(d)
		b.expectCount("after Abandon", m, 0)
		b.Advance(30 * time.Second)
		m = b.receiveOne(d)
		b.expectCount("after the lock ended", m, 0)
		b.deferMessage(d, m)
		b.expectCount("after Defer", b.deferred(d, m.SequenceNumber), 0)
	}},
	{"CountAfterForward", false, func(b *busBench) {
		b.queue(busQueue{Name: "target"})
		b.queue(busQueue{Name: "q", ForwardDeadLetteredMessagesTo: "target", MaxDeliveryCount: 1})
		b.sendText("q", "a")
		r := b.receiver("q")
		b.abandon(r, b.receiveOne(r))
		b.expectCount("in the target", b.receiveOne(b.receiver("target")), 0)
	}},
	{"CountAfterSessionClose", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", &busMessage{Body: []byte("a"), SessionID: of("s")})
		s := b.accept("q", "s")
		b.receiveOne(s)
		b.close(s)
		b.expectCount("after Close", b.receiveOne(b.accept("q", "s")), 0)
	}},
	{"CountAfterSessionLockExpiry", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true, LockDuration: 30 * time.Second})
		b.send("q", &busMessage{Body: []byte("a"), SessionID: of("s")}, &busMessage{Body: []byte("b"), SessionID: of("s")})
		b.receiveOne(b.accept("q", "s"))
		b.Advance(30 * time.Second)
		ms := b.receive(b.accept("q", "s"), 2)
		b.expectCount("of the message that was locked", ms[0], 1)
		b.expectCount("of the one that was not", ms[1], 0)
	}},
}
