package bindingtest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// ServiceBusNamespace has the calls of a namespace that the suite needs.
type ServiceBusNamespace interface {
	servicebus.Namespace
	servicebus.Admin
}

// ServiceBusFeatures names what a Service Bus backend guarantees where backends
// are known to differ.
type ServiceBusFeatures struct {
	// Release: receivers can release messages.
	Release bool
	// SessionlessToDLQ: a message without a session is accepted by an entity that
	// requires sessions and dead-lettered there (spec messaging 1.4), not refused.
	SessionlessToDLQ bool
	// TransferDLQ: what cannot be forwarded goes to the transfer dead-letter queue
	// (1.7), not to the dead-letter queue.
	TransferDLQ bool
	// CreatedNames: a receiver reports its source by the names that entities were
	// created with, not as it was asked for.
	CreatedNames bool
	// IdleReceivers: between two calls of Receive a receiver takes nothing, not
	// even to give it back. Where it does, the next call may begin behind the
	// messages that were given back, and these then come after later ones.
	IdleReceivers bool
	// SessionsEnd: a receiver whose session's lock has ended says so.
	SessionsEnd bool
	// ExactCounts: counts are exact at every moment.
	ExactCounts bool
	// SmallEntities: MaxSizeInMegabytes 1 is a limit that a test can reach.
	SmallEntities bool
	// LargeHeaderToDLQ: application properties of more than 64 KB are accepted, and
	// the message dead-lettered.
	LargeHeaderToDLQ bool
	// WholeMilliseconds: times are kept to the millisecond, as on the wire.
	WholeMilliseconds bool
}

// ServiceBusBackend is one fresh, empty namespace under test.
type ServiceBusBackend struct {
	Namespace ServiceBusNamespace
	Features  ServiceBusFeatures

	// Do runs f where the namespace may be called, and returns when f and what it
	// caused have ended. Nil: anywhere will do.
	Do func(f func())
	// Now is the backend's time; nil when the tests must not compare times.
	Now func() time.Time
	// Advance moves the backend's time; nil for real time.
	Advance func(d time.Duration)

	// Patience is how long a Receive waits for a message that should be there, and
	// Quiet how long it listens to be sure that there is none. Zero: not at all.
	Patience, Quiet time.Duration

	// Cut breaks every connection to the namespace; clients can open new ones. Nil:
	// the backend has no connections.
	Cut func()
}

// RunServiceBus holds a backend to the contract of servicebus.Namespace and
// servicebus.Admin, and of servicebus.Management where the namespace
// implements it. open is called once for each subtest.
func RunServiceBus(t *testing.T, open func(t *testing.T) *ServiceBusBackend) {
	for _, test := range slices.Concat(busTests, busCountTests, busTimeTests, busTopicTests, busForwardTests, busSessionTests, busAdminTests) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			if test.needsTime && b.Advance == nil {
				t.Skip("the backend's time cannot be moved")
			}
			test.run(&busBench{T: t, ServiceBusBackend: b})
		})
	}
	runBusCutTests(t, open)
}

type busTest struct {
	name      string
	needsTime bool
	run       func(b *busBench)
}

// busBench makes tests read as scripts: each method is one call that must
// succeed, made where the backend wants it.
type busBench struct {
	*testing.T
	*ServiceBusBackend
}

// Short names: the scripts are full of them.
type (
	busMessage  = servicebus.Message
	busReceived = servicebus.Received
	busQueue    = servicebus.Queue
)

const (
	dlq  = "/$DeadLetterQueue"
	tdlq = "/$Transfer/$DeadLetterQueue"
)

func (b *busBench) do(f func(ctx context.Context)) {
	g := func() { f(context.Background()) }
	if b.Do == nil {
		g()
		return
	}
	b.Do(g)
}

func (b *busBench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// fails checks an error that the caller expects.
func (b *busBench) fails(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s = %v, want %v", what, err, want)
	}
}

func (b *busBench) queue(q busQueue) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context) { _, err = b.Namespace.CreateQueue(ctx, q) })
	b.must("CreateQueue", err)
}

func (b *busBench) topic(t servicebus.Topic) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context) { _, err = b.Namespace.CreateTopic(ctx, t) })
	b.must("CreateTopic", err)
}

func (b *busBench) subscription(s servicebus.Subscription, rule *servicebus.Rule) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context) { _, err = b.Namespace.CreateSubscription(ctx, s, rule) })
	b.must("CreateSubscription", err)
}

func (b *busBench) info(name string) (q *servicebus.QueueInfo) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context) { q, err = b.Namespace.GetQueue(ctx, name) })
	b.must("GetQueue", err)
	return q
}

// counts compares the counts of a queue, where the backend counts exactly.
func (b *busBench) counts(name string, want servicebus.Counts) {
	b.Helper()
	if got := b.info(name).Counts; b.Features.ExactCounts && got != want {
		b.Errorf("counts of %s = %+v, want %+v", name, got, want)
	}
}

func (b *busBench) trySend(entity string, ms ...*busMessage) (err error) {
	b.do(func(ctx context.Context) { err = b.Namespace.Send(ctx, entity, ms...) })
	return err
}

func (b *busBench) send(entity string, ms ...*busMessage) {
	b.Helper()
	b.must("Send", b.trySend(entity, ms...))
}

// sendText sends one message for each text, which is its identifier too.
func (b *busBench) sendText(entity string, texts ...string) {
	b.Helper()
	for _, text := range texts {
		b.send(entity, text1(text))
	}
}

func text1(text string) *busMessage { return &busMessage{MessageID: text, Body: []byte(text)} }

func (b *busBench) tryReceiver(source string, opts *servicebus.ReceiverOptions) (r servicebus.Receiver, err error) {
	b.do(func(ctx context.Context) { r, err = b.Namespace.Receiver(ctx, source, opts) })
	if err == nil {
		b.Cleanup(func() { b.do(func(ctx context.Context) { _ = r.Close(ctx) }) })
	}
	return r, err
}

// receiver opens a receiver in peek-lock mode.
func (b *busBench) receiver(source string) servicebus.Receiver {
	b.Helper()
	r, err := b.tryReceiver(source, nil)
	b.must("Receiver", err)
	return r
}

// receive takes n messages, in as many calls as it takes. The messages of each call
// must be in order.
func (b *busBench) receive(r servicebus.Receiver, n int) []*busReceived {
	b.Helper()
	var out []*busReceived
	for len(out) < n {
		var ms []*busReceived
		var err error
		b.do(func(ctx context.Context) { ms, err = r.Receive(ctx, n-len(out), b.Patience) })
		b.must("Receive", err)
		if len(ms) == 0 {
			b.Fatalf("Receive from %s = %q only, want %d messages", r.Source(), bodies(out), n)
		}
		if !slices.IsSortedFunc(ms, bySequence) {
			b.Errorf("one Receive from %s = %q, which is not the order of sequence numbers", r.Source(), bodies(ms))
		}
		out = append(out, ms...)
	}
	return out
}

func (b *busBench) receiveOne(r servicebus.Receiver) *busReceived {
	b.Helper()
	return b.receive(r, 1)[0]
}

func (b *busBench) receiveNone(r servicebus.Receiver) {
	b.Helper()
	var ms []*busReceived
	var err error
	b.do(func(ctx context.Context) { ms, err = r.Receive(ctx, 10, b.Quiet) })
	b.must("Receive", err)
	if len(ms) != 0 {
		b.Fatalf("Receive from %s = %q, want none", r.Source(), bodies(ms))
	}
}

// call makes one call with a context and returns its error.
func (b *busBench) call(f func(ctx context.Context) error) (err error) {
	b.do(func(ctx context.Context) { err = f(ctx) })
	return err
}

func (b *busBench) complete(r servicebus.Receiver, ms ...*busReceived) {
	b.Helper()
	for _, m := range ms {
		b.must("Complete", b.call(func(ctx context.Context) error { return r.Complete(ctx, m) }))
	}
}

func (b *busBench) abandon(r servicebus.Receiver, m *busReceived) {
	b.Helper()
	b.must("Abandon", b.call(func(ctx context.Context) error { return r.Abandon(ctx, m, nil) }))
}

func (b *busBench) deferMessage(r servicebus.Receiver, m *busReceived) {
	b.Helper()
	b.must("Defer", b.call(func(ctx context.Context) error { return r.Defer(ctx, m, nil) }))
}

func (b *busBench) deadLetter(r servicebus.Receiver, m *busReceived) {
	b.Helper()
	b.must("DeadLetter", b.call(func(ctx context.Context) error { return r.DeadLetter(ctx, m, "reason", "description", nil) }))
}

// release releases a message, or abandons it where that is not possible.
func (b *busBench) release(r servicebus.Receiver, m *busReceived) {
	b.Helper()
	if !b.Features.Release {
		b.abandon(r, m)
		return
	}
	b.must("Release", b.call(func(ctx context.Context) error { return r.Release(ctx, m) }))
}

func (b *busBench) tryDeferred(r servicebus.Receiver, seqs ...int64) (ms []*busReceived, err error) {
	b.do(func(ctx context.Context) { ms, err = r.ReceiveDeferred(ctx, seqs...) })
	return ms, err
}

func (b *busBench) deferred(r servicebus.Receiver, seq int64) *busReceived {
	b.Helper()
	ms, err := b.tryDeferred(r, seq)
	b.must("ReceiveDeferred", err)
	if len(ms) != 1 {
		b.Fatalf("ReceiveDeferred = %d messages, want 1", len(ms))
	}
	return ms[0]
}

func (b *busBench) peek(r servicebus.Receiver, from int64, n int) (ms []*busReceived) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context) { ms, err = r.Peek(ctx, from, n) })
	b.must("Peek", err)
	return ms
}

func (b *busBench) tryAccept(source string, id *string) (s servicebus.Session, err error) {
	b.do(func(ctx context.Context) {
		wait := b.Patience
		if id == nil && wait == 0 {
			wait = b.Quiet
		}
		s, err = b.Namespace.AcceptSession(ctx, source, &servicebus.SessionOptions{SessionID: id, Wait: wait})
	})
	if err == nil {
		b.Cleanup(func() { b.do(func(ctx context.Context) { _ = s.Close(ctx) }) })
	}
	return s, err
}

func (b *busBench) accept(source, id string) servicebus.Session {
	b.Helper()
	s, err := b.tryAccept(source, &id)
	b.must("AcceptSession", err)
	return s
}

func (b *busBench) close(r servicebus.Receiver) {
	b.Helper()
	b.must("Close", b.call(r.Close))
}

// expect compares bodies in order.
func (b *busBench) expect(what string, ms []*busReceived, want ...string) {
	b.Helper()
	if got := bodies(ms); !slices.Equal(got, want) {
		b.Errorf("%s = %q, want %q", what, got, want)
	}
}

// expectCount compares a stored delivery count.
func (b *busBench) expectCount(what string, m *busReceived, want int64) {
	b.Helper()
	if m.DeliveryCount != want {
		b.Errorf("delivery count %s = %d, want %d", what, m.DeliveryCount, want)
	}
}

// expectReason compares what dead-lettering wrote into a message.
func (b *busBench) expectReason(m *busReceived, reason string) {
	b.Helper()
	if got := m.ApplicationProperties[servicebus.DeadLetterReason]; got != reason {
		b.Errorf("dead-letter reason of %q = %v, want %q", m.Body, got, reason)
	}
	if text, _ := m.ApplicationProperties[servicebus.DeadLetterErrorDescription].(string); text == "" {
		b.Errorf("message %q has no dead-letter description", m.Body)
	}
}

func bySequence(a, b *busReceived) int { return cmp.Compare(a.SequenceNumber, b.SequenceNumber) }

func bodies(ms []*busReceived) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = string(m.Body)
	}
	return out
}

func of[T any](v T) *T { return &v }
