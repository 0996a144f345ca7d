package redrive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// A Mover moves messages from one queue to another. It is used from inside the clock.
type Mover struct {
	From, To queue.Queue
	Clock    clock.Clock
	Journal  *journal.Journal
	Cause    string // of the records; empty: redrive

	gone  func() error // why the result is no longer waited for
	moved int
	fits  func(ctx context.Context, m *queue.Message) error // says why a message would come to nothing; nil: none does
}

// all moves up to n messages, oldest first.
func (m *Mover) all(ctx context.Context, n int) error {
	begun := m.Clock.Now()
	for m.moved < n && m.gone() == nil {
		next, err := m.From.Peek(ctx, 1)
		if err != nil || len(next) == 0 || next[0].Inserted.After(begun) {
			return err
		}
		taken, err := m.From.Receive(ctx, 1, Lock)
		if err != nil || len(taken) == 0 {
			return err
		}
		if _, err := m.Move(ctx, taken[0]); err != nil {
			return err
		}
		// A long queue must not keep all others from their turn.
		if err := m.Clock.Sleep(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// Move moves one message that was received, and returns its new identifier.
func (m *Mover) Move(ctx context.Context, old *queue.Message) (newID string, err error) {
	opts := &queue.PutOptions{}
	if old.Expires.IsZero() {
		opts.TTL = queue.NeverExpires
	}
	put, err := m.To.Put(ctx, old.Text, opts)
	if err != nil {
		_, releaseErr := m.From.Update(ctx, old.ID, old.PopReceipt, nil, 0)
		return "", errors.Join(err, releaseErr)
	}
	m.Journal.Append(journal.Record{
		Kind: journal.Forwarded, Service: journal.Queues, Source: m.From.Name(), Target: m.To.Name(), MessageID: old.ID, Cause: cmp.Or(m.Cause, "redrive"),
		Fields: []journal.Field{{Key: "new_message_id", Value: put.ID}},
	})
	if err := m.From.Delete(ctx, old.ID, old.PopReceipt); err != nil {
		return "", fmt.Errorf("message %q is in both queues now: %w", old.ID, err)
	}
	m.moved++
	return put.ID, nil
}

// NoTargetError says that the target of a redrive does not exist.
type NoTargetError struct{ queue string }

func (e *NoTargetError) Error() string {
	return fmt.Sprintf("target queue %q: %v", e.queue, bindings.ErrNotFound)
}

func (e *NoTargetError) Unwrap() error { return bindings.ErrNotFound }

// InvisibleError says that a message cannot be taken now.
type InvisibleError struct {
	queue, id string
	until     time.Time
}

func (e *InvisibleError) Error() string {
	return fmt.Sprintf("queue %q: message %q is in work or delayed, until %s", e.queue, e.id, e.until.Format(time.RFC3339))
}
