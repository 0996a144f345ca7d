package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web/control"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// redriveLock is how long a message that is being moved is invisible. It comes
// back then if the host dies on the way.
const redriveLock = 30 * time.Second

// redrive moves messages from one queue to another, texts unchanged. A text is
// put before its original is deleted, so that a crash leaves it in both queues
// and never loses it. Each move is a record of kind forwarded, with the old
// identifier as its message and the new one as a field.
//
// Only messages that are there, and visible, at the beginning are moved: what a
// function poisons again meanwhile stays.
func (s *Server) redriveQueue(ctx context.Context, in control.RedriveQueue) (control.Redriven, error) {
	out := control.Redriven{From: in.Queue, To: in.To, ID: in.ID}
	if out.To == "" {
		if out.To = s.origin(out.From); out.To == "" {
			return out, refuse(http.StatusBadRequest, fmt.Sprintf("queue %q is not a poison queue: its name does not end in -poison", out.From), "name the target queue with to")
		}
	}
	if out.To == out.From {
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("queue %q cannot be redriven to itself", out.From), "")
	}
	m := &mover{
		from: s.host.AppStorage().Queue(out.From), to: s.host.AppStorage().Queue(out.To),
		clk: s.host.Clock(), journal: s.host.Journal(), gone: ctx.Err,
	}
	if out.From == blobtrigger.PoisonQueue && out.To == s.origin(out.From) {
		m.fits = s.leadsToBlob
	}
	err := s.inside("redrive", func(ctx context.Context) (err error) {
		there, err := s.host.AppStorage().QueueCounts(ctx, out.From)
		if err != nil {
			return err
		}
		// A target that does not exist is more likely a slip than a wish.
		if exists, err := m.to.Exists(ctx); err != nil {
			return err
		} else if !exists && m.fits == nil {
			return &noTargetError{out.To}
		} else if !exists { // the host's own control queue
			if err := m.to.Create(ctx); err != nil {
				return err
			}
		}
		switch {
		case out.ID != "":
			out.NewID, err = s.redriveOne(ctx, m, out.ID)
		case m.fits != nil:
			err = s.redriveFitting(ctx, m)
		default:
			err = m.all(ctx, there.Visible)
		}
		out.Moved = m.moved
		if err != nil {
			return err
		}
		out.Left, err = m.from.Count(ctx)
		return err
	})
	if err != nil && out.Moved > 0 {
		err = fmt.Errorf("%w; moved before that: %d", err, out.Moved)
	}
	return out, err
}

// redriveOne moves the message with an identifier, and returns its new one.
func (s *Server) redriveOne(ctx context.Context, m *mover, id string) (newID string, err error) {
	found, err := s.host.AppStorage().QueueMessage(ctx, m.from.Name(), id)
	if err != nil {
		return "", err
	}
	if found.NextVisible.After(m.clk.Now()) {
		return "", &invisibleError{queue: m.from.Name(), id: id, until: found.NextVisible}
	}
	if m.fits != nil {
		if err := m.fits(ctx, found); err != nil {
			return "", err
		}
	}
	taken, err := s.host.AppStorage().ReceiveByID(ctx, m.from.Name(), id, redriveLock)
	if err != nil {
		return "", err
	}
	return m.move(ctx, taken)
}

// mover moves messages from one queue to another.
type mover struct {
	from, to queue.Queue
	clk      clock.Clock
	journal  *journal.Journal
	gone     func() error // why the result is no longer waited for
	moved    int
	cause    string                                            // of the records; empty: redrive
	fits     func(ctx context.Context, m *queue.Message) error // says why a message would come to nothing; nil: none does
}

// all moves up to n messages, oldest first.
func (m *mover) all(ctx context.Context, n int) error {
	begun := m.clk.Now()
	for m.moved < n && m.gone() == nil {
		next, err := m.from.Peek(ctx, 1)
		if err != nil || len(next) == 0 || next[0].Inserted.After(begun) {
			return err
		}
		taken, err := m.from.Receive(ctx, 1, redriveLock)
		if err != nil || len(taken) == 0 {
			return err
		}
		if _, err := m.move(ctx, taken[0]); err != nil {
			return err
		}
		// A long queue must not keep all others from their turn.
		if err := m.clk.Sleep(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// move moves one message that was received, and returns its new identifier.
func (m *mover) move(ctx context.Context, old *queue.Message) (newID string, err error) {
	opts := &queue.PutOptions{}
	if old.Expires.IsZero() {
		opts.TTL = queue.NeverExpires
	}
	put, err := m.to.Put(ctx, old.Text, opts)
	if err != nil {
		_, releaseErr := m.from.Update(ctx, old.ID, old.PopReceipt, nil, 0)
		return "", errors.Join(err, releaseErr)
	}
	m.journal.Append(journal.Record{
		Kind: journal.Forwarded, Service: journal.Queues, Source: m.from.Name(), Target: m.to.Name(), MessageID: old.ID, Cause: cmp.Or(m.cause, "redrive"),
		Fields: []journal.Field{{Key: "new_message_id", Value: put.ID}},
	})
	if err := m.from.Delete(ctx, old.ID, old.PopReceipt); err != nil {
		return "", fmt.Errorf("message %q is in both queues now: %w", old.ID, err)
	}
	m.moved++
	return put.ID, nil
}

// noTargetError says that the target of a redrive does not exist.
type noTargetError struct{ queue string }

func (e *noTargetError) Error() string {
	return fmt.Sprintf("target queue %q: %v", e.queue, bindings.ErrNotFound)
}

func (e *noTargetError) Unwrap() error { return bindings.ErrNotFound }

// invisibleError says that a message cannot be taken now.
type invisibleError struct {
	queue, id string
	until     time.Time
}

func (e *invisibleError) Error() string {
	return fmt.Sprintf("queue %q: message %q is in work or delayed, until %s", e.queue, e.id, e.until.Format(time.RFC3339))
}
