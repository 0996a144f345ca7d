package bindingtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
)

// QueueFeatures names what a queue backend guarantees where the service
// promises nothing, or where backends are known to differ.
type QueueFeatures struct {
	// UniqueReceipts: messages of one Receive have different pop receipts.
	UniqueReceipts bool
	// OrderByVisibility: messages come by the time at which they became visible,
	// then by insertion, and released ones behind those already visible (S-13).
	OrderByVisibility bool
	// RecreateAtOnce: a queue can be created right after its deletion; elsewhere
	// ErrBeingDeleted may come for a while.
	RecreateAtOnce bool
	// ExactCount: Count leaves out what has expired.
	ExactCount bool
	// WholeSeconds: times are kept to the second, as on the wire.
	WholeSeconds bool
	// SplitsCharacters: long texts are only safe in ASCII, because the backend
	// decodes a body piece by piece and breaks characters that lie across two.
	SplitsCharacters bool
}

// QueueBackend is one fresh, empty account under test.
type QueueBackend struct {
	Account  queue.Account
	Features QueueFeatures

	// Do runs f where the account may be called, and returns when f and what it
	// caused have ended. Nil: anywhere will do.
	Do func(f func())
	// Now is the backend's time; nil when the tests must not compare times.
	Now func() time.Time
	// Advance moves the backend's time; nil for real time.
	Advance func(d time.Duration)
}

// RunQueue holds a backend to the contract of queue.Queue and
// queue.Account, and of queue.Waker where the account implements it. open
// is called once for each subtest.
func RunQueue(t *testing.T, open func(t *testing.T) *QueueBackend) {
	for _, test := range slices.Concat(queueTests, queueTimeTests) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := open(t)
			if test.needsTime && b.Advance == nil {
				t.Skip("the backend's time cannot be moved")
			}
			test.run(&queueBench{T: t, QueueBackend: b})
		})
	}
}

type queueTest struct {
	name      string
	needsTime bool
	run       func(b *queueBench)
}

// queueBench makes tests read as scripts: each method is one call that must
// succeed, made where the backend wants it.
type queueBench struct {
	*testing.T
	*QueueBackend
}

const name = "orders"

func (b *queueBench) do(f func(ctx context.Context, q queue.Queue)) {
	b.Helper()
	g := func() { f(context.Background(), b.Account.Queue(name)) }
	if b.Do == nil {
		g()
		return
	}
	b.Do(g)
}

func (b *queueBench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

func (b *queueBench) create() {
	b.Helper()
	var err error
	b.do(func(ctx context.Context, q queue.Queue) { err = q.Create(ctx) })
	b.must("Create", err)
}

func (b *queueBench) put(text string, opts *queue.PutOptions) (m *queue.Message) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context, q queue.Queue) { m, err = q.Put(ctx, text, opts) })
	b.must("Put", err)
	return m
}

func (b *queueBench) receive(n int, visibility time.Duration) (ms []*queue.Message) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context, q queue.Queue) { ms, err = q.Receive(ctx, n, visibility) })
	b.must("Receive", err)
	return ms
}

// receiveOne fails unless exactly one message is visible.
func (b *queueBench) receiveOne(visibility time.Duration) *queue.Message {
	b.Helper()
	ms := b.receive(queue.MaxReceive, visibility)
	if len(ms) != 1 {
		b.Fatalf("Receive = %d messages, want 1", len(ms))
	}
	return ms[0]
}

func (b *queueBench) receiveNone() {
	b.Helper()
	if ms := b.receive(1, time.Second); len(ms) != 0 {
		b.Fatalf("Receive = %d messages, want none", len(ms))
	}
}

func (b *queueBench) peek(n int) (ms []*queue.Message) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context, q queue.Queue) { ms, err = q.Peek(ctx, n) })
	b.must("Peek", err)
	return ms
}

func (b *queueBench) update(m *queue.Message, text *string, visibility time.Duration) *queue.Message {
	b.Helper()
	out, err := b.tryUpdate(m, text, visibility)
	b.must("Update", err)
	return out
}

func (b *queueBench) tryUpdate(m *queue.Message, text *string, visibility time.Duration) (out *queue.Message, err error) {
	b.do(func(ctx context.Context, q queue.Queue) {
		out, err = q.Update(ctx, m.ID, m.PopReceipt, text, visibility)
	})
	return out, err
}

func (b *queueBench) delete(m *queue.Message) (err error) {
	b.do(func(ctx context.Context, q queue.Queue) { err = q.Delete(ctx, m.ID, m.PopReceipt) })
	return err
}

func (b *queueBench) count() (n int) {
	b.Helper()
	var err error
	b.do(func(ctx context.Context, q queue.Queue) { n, err = q.Count(ctx) })
	b.must("Count", err)
	return n
}

func texts(ms []*queue.Message) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.Text
	}
	return out
}
