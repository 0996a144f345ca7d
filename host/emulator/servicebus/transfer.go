package servicebus

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// leaving is a message that was received and deleted, and may not have reached the
// client.
type leaving struct {
	q *queue
	m *message
}

// leave remembers messages that a server has received and deleted.
func (r *receiver) leave(q *queue, m *message) {
	if r.leaves == nil {
		r.leaves = map[int64]leaving{}
	}
	r.leaves[m.seq] = leaving{q, m}
}

// Transferred implements servicebus.Link.
func (r *receiver) Transferred(messages ...*servicebus.Received) {
	// Nothing is written: the messages are gone already.
	_ = r.transferred(context.Background(), messages, "completed", func(*operation, leaving) {})
}

// GiveBack implements servicebus.Link.
func (r *receiver) GiveBack(ctx context.Context, messages ...*servicebus.Received) error {
	return r.transferred(ctx, messages, "released", func(op *operation, l leaving) {
		l.q.insert(l.m)
		l.q.owner.grow(l.m.size)
		op.saveMessage(l.q, l.m)
		op.touch(l.q)
		l.q.putBack(op, l.m)
	})
}

// transferred ends the leaving of messages. One whose queue has gone meanwhile has
// gone with it.
func (r *receiver) transferred(ctx context.Context, messages []*servicebus.Received, decision string, do func(*operation, leaving)) error {
	op := operations.Get().(*operation)
	defer operations.Put(op)
	err := op.begin(r.ns)
	for _, got := range messages {
		l, ok := r.leaves[got.SequenceNumber]
		if !ok || err != nil || l.q.gone != nil {
			continue
		}
		delete(r.leaves, got.SequenceNumber)
		op.note(journal.Record{Kind: journal.Settled, Source: l.q.name, MessageID: l.m.content.MessageID, MessageNumber: l.m.seq, DeliveryCount: l.m.count + 1, Decision: decision})
		do(op, l)
	}
	if finishErr := op.finish(ctx); finishErr != nil {
		err = finishErr
	}
	return err
}
