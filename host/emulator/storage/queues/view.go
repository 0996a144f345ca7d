package queues

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// An operator looks at queues as no client of the service can: by the identifier
// of a message, and at what is invisible. The calls below are for the control
// API; triggers and bindings have no use for them, and the cloud does not offer
// them. They may be called concurrently, and return the errors of queue.Queue.

// Counts says how many messages a queue holds.
type Counts struct {
	Visible   int // a receive would get them now
	Invisible int // in work, waiting for redelivery, or delayed

	Oldest time.Time // when the oldest of them was put; zero: there is none
}

// QueueCounts counts the messages of a queue. The cost grows with its depth.
func (s *Service) QueueCounts(ctx context.Context, name string) (Counts, error) {
	var n Counts
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "QueueCounts"}, false, func(now time.Time, state *queueState, _ *effects) error {
		for _, m := range state.byVisible.All() {
			if m.at(visible).After(now) {
				n.Invisible++
			} else {
				n.Visible++
			}
			if put := m.at(inserted); n.Oldest.IsZero() || put.Before(n.Oldest) {
				n.Oldest = put
			}
		}
		return nil
	})
	if err != nil {
		return Counts{}, err
	}
	return n, nil
}

// QueueMessage returns the message of that identifier, visible or not, and
// changes nothing. It has no pop receipt; NextVisible is set. It fails with
// ErrMessageNotFound when there is none.
func (s *Service) QueueMessage(ctx context.Context, name, id string) (*queueapi.Message, error) {
	var out *queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "QueueMessage", MessageID: id}, false, func(_ time.Time, state *queueState, _ *effects) error {
		m, ok := state.message(id)
		if !ok {
			return fmt.Errorf("message %q: %w", id, bindings.ErrMessageNotFound)
		}
		out = m.copy()
		out.PopReceipt = ""
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// VisibleMessages returns the messages of a queue that a receive would get now, in the
// order of their delivery, at most so many; 0 for all. Unlike a Peek it has no limit of its
// own. They have no pop receipt and no NextVisible.
func (s *Service) VisibleMessages(ctx context.Context, name string, most int) ([]*queueapi.Message, error) {
	if most == 0 {
		most = math.MaxInt
	}
	var out []*queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "Peek"}, false, func(now time.Time, state *queueState, _ *effects) error {
		out = state.peek(now, most)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// HiddenMessages returns the messages of a queue that a receive would not get now, in
// work, waiting for redelivery or delayed, in the order in which they will be visible.
// They have no pop receipt; NextVisible is set.
func (s *Service) HiddenMessages(ctx context.Context, name string) ([]*queueapi.Message, error) {
	var out []*queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "HiddenMessages"}, false, func(now time.Time, state *queueState, _ *effects) error {
		for _, m := range state.byVisible.All() {
			if m.at(visible).After(now) {
				c := m.copy()
				c.PopReceipt = ""
				out = append(out, c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b *queueapi.Message) int {
		return cmp.Or(a.NextVisible.Compare(b.NextVisible), a.Inserted.Compare(b.Inserted), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// ReceiveByID is Receive for the one message of that identifier. It fails with
// ErrMessageNotFound when the message is not there, or not visible.
func (s *Service) ReceiveByID(ctx context.Context, name, id string, visibility time.Duration) (*queueapi.Message, error) {
	if err := checkVisibility(visibility, time.Second); err != nil {
		return nil, err
	}
	var out *queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "Receive", MessageID: id}, false, func(now time.Time, state *queueState, e *effects) error {
		m, ok := state.message(id)
		if !ok || m.at(visible).After(now) {
			return fmt.Errorf("message %q: %w", id, bindings.ErrMessageNotFound)
		}
		state.take(now, &s.ids, m, visibility, e.note)
		e.saveState(name, m)
		out = m.copy()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
