package queues

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// QueueMessages returns up to n messages that want accepts, visible or not, in the order
// in which they were put. They have no pop receipt; NextVisible is set. Nothing changes.
// want must be quick, and must not change or keep what it is given.
func (s *Service) QueueMessages(ctx context.Context, name string, n int, want func(*queueapi.Message) bool) ([]*queueapi.Message, error) {
	var out []*queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "QueueMessages"}, false, func(_ time.Time, state *queueState, _ *effects) error {
		for _, m := range state.inOrder() {
			if len(out) == n {
				return nil
			}
			c := m.copy()
			c.PopReceipt = ""
			if want(c) {
				out = append(out, c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ReleaseMessage ends the wait of a message that is in work, waits for its redelivery or
// is delayed: it is visible now, as if its time were over. Who has it in work keeps the
// pop receipt, until somebody else receives it. A visible message stays as it is.
func (s *Service) ReleaseMessage(ctx context.Context, name, id string) (*queueapi.Message, error) {
	var out *queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "ReleaseMessage", MessageID: id}, false, func(now time.Time, state *queueState, e *effects) error {
		m, ok := state.message(id)
		if !ok {
			return fmt.Errorf("message %q: %w", id, bindings.ErrMessageNotFound)
		}
		if m.at(visible).After(now) {
			m.set(visible, now)
			state.byVisible.Fix(m)
			e.saveState(name, m)
			s.expectArrival(name, m, 0, e)
			e.moved = true
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

// SeizeMessage is ReceiveByID for a message that need not be visible: who has it in work
// has lost it.
func (s *Service) SeizeMessage(ctx context.Context, name, id string, visibility time.Duration) (*queueapi.Message, error) {
	if err := checkVisibility(visibility, time.Second); err != nil {
		return nil, err
	}
	var out *queueapi.Message
	err := s.queue(name).operate(ctx, account.FaultPoint{Op: "Receive", MessageID: id}, false, func(now time.Time, state *queueState, e *effects) error {
		m, ok := state.message(id)
		if !ok {
			return fmt.Errorf("message %q: %w", id, bindings.ErrMessageNotFound)
		}
		if m.arrival != nil { // nobody is to be told of it any more
			m.arrival.Stop()
			m.arrival = nil
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
