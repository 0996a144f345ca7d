package redrive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// Lock is how long a message that is being moved is invisible. It comes back then if the
// host dies on the way.
const Lock = 30 * time.Second

// Done is what a redrive came to.
type Done struct {
	To    string // the queue
	NewID string // of the one message that was asked for
	Moved int
	Left  int // messages in the poison queue afterwards
}

// A Refusal says why messages are not moved, and what to do; of a Message, that it stays.
type Refusal struct {
	Text, Hint string
	Message    bool
}

func (r *Refusal) Error() string { return r.Text }

// Messages moves messages from one queue to another, texts unchanged: all of them or, with
// an ID, one. Without a target they go to where the queue's messages came from. A text is
// put before its original is deleted, so that a crash leaves it in both queues and never
// loses it. Each move is a record of kind forwarded, with the old identifier as its message
// and the new one as a field. It ends early when gone says why the result is no longer
// waited for. It is called from inside the clock.
//
// Only messages that are there, and visible, at the beginning are moved: what a function
// poisons again meanwhile stays.
func Messages(ctx context.Context, h *host.Host, from, to, id string, gone func() error) (done Done, err error) {
	if done.To = to; to == "" {
		if done.To = Origin(h, from); done.To == "" {
			return done, &Refusal{Text: fmt.Sprintf("queue %q is not a poison queue: its name does not end in -poison", from), Hint: "name the target queue with to"}
		}
	}
	if done.To == from {
		return done, &Refusal{Text: fmt.Sprintf("queue %q cannot be redriven to itself", from)}
	}
	m := &Mover{From: h.AppStorage().Queue(from), To: h.AppStorage().Queue(done.To), Clock: h.Clock(), Journal: h.Journal(), gone: gone}
	if from == blobtrigger.PoisonQueue && done.To == Origin(h, from) {
		m.fits = func(ctx context.Context, m *queue.Message) error { return leadsToBlob(ctx, h, m) }
	}
	there, err := h.AppStorage().QueueCounts(ctx, from)
	if err != nil {
		return done, err
	}
	// A target that does not exist is more likely a slip than a wish.
	if exists, err := m.To.Exists(ctx); err != nil {
		return done, err
	} else if !exists && m.fits == nil {
		return done, &NoTargetError{done.To}
	} else if !exists { // the host's own control queue
		if err := m.To.Create(ctx); err != nil {
			return done, err
		}
	}
	switch {
	case id != "":
		done.NewID, err = m.one(ctx, h, id)
	case m.fits != nil:
		err = m.fitting(ctx, h)
	default:
		err = m.all(ctx, there.Visible)
	}
	if done.Moved = m.moved; err == nil {
		done.Left, err = m.From.Count(ctx)
	}
	if err != nil && done.Moved > 0 {
		err = fmt.Errorf("%w; moved before that: %d", err, done.Moved)
	}
	return done, err
}

// one moves the message with an identifier, and returns its new one.
func (m *Mover) one(ctx context.Context, h *host.Host, id string) (newID string, err error) {
	found, err := h.AppStorage().QueueMessage(ctx, m.From.Name(), id)
	if err != nil {
		return "", err
	}
	if found.NextVisible.After(m.Clock.Now()) {
		return "", &InvisibleError{queue: m.From.Name(), id: id, until: found.NextVisible}
	}
	if m.fits != nil {
		if err := m.fits(ctx, found); err != nil {
			return "", err
		}
	}
	taken, err := h.AppStorage().ReceiveByID(ctx, m.From.Name(), id, Lock)
	if err != nil {
		return "", err
	}
	return m.Move(ctx, taken)
}

// fitting moves the visible messages that come to something, oldest first.
func (m *Mover) fitting(ctx context.Context, h *host.Host) error {
	var ids []string
	now := m.Clock.Now()
	_, err := h.AppStorage().QueueMessages(ctx, m.From.Name(), 1, func(q *queue.Message) bool {
		if !q.NextVisible.After(now) {
			ids = append(ids, q.ID)
		}
		return false
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if m.gone() != nil {
			return nil
		}
		_, err := m.one(ctx, h, id)
		stays, hidden := (*Refusal)(nil), (*InvisibleError)(nil)
		if err != nil && !errors.As(err, &stays) && !errors.As(err, &hidden) && !errors.Is(err, bindings.ErrMessageNotFound) {
			return err
		}
		if err := m.Clock.Sleep(ctx, 0); err != nil { // as in all
			return err
		}
	}
	return nil
}
