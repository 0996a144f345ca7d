package queues

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/journal"
)

// queue is a handle on one queue of an account. It serves the calls of
// queue.Queue: parameters are checked here, the rules are queueState's.
//
// Reference: Queue Service REST API, "Operations on Messages" and "Operations on
// Queues".
type queue struct {
	s       *Service
	name    string
	nameErr error
	epoch   *epoch.Epoch // the epoch of the handle's holder; nil: it does not end
}

func (q *queue) Name() string { return q.name }

func (q *queue) Create(ctx context.Context) error {
	return q.operate(ctx, account.FaultPoint{Op: "Create"}, true, func(_ time.Time, state *queueState, e *effects) error {
		if state == nil {
			q.s.queues[q.name] = newQueueState()
			e.saveQueue(q.name, queueFacts{})
		}
		return nil
	})
}

func (q *queue) Exists(ctx context.Context) (exists bool, err error) {
	err = q.operate(ctx, account.FaultPoint{Op: "Exists"}, true, func(_ time.Time, state *queueState, _ *effects) error {
		exists = state != nil
		return nil
	})
	return exists && err == nil, err
}

func (q *queue) DeleteQueue(ctx context.Context) error {
	return q.operate(ctx, account.FaultPoint{Op: "DeleteQueue"}, false, func(_ time.Time, state *queueState, e *effects) error {
		state.stop()
		delete(q.s.queues, q.name)
		e.dropQueue(q.name)
		return nil
	})
}

func (q *queue) Put(ctx context.Context, text string, opts *queueapi.PutOptions) (*queueapi.Message, error) {
	visibility, ttl := time.Duration(0), time.Duration(queueapi.DefaultMessageTTL)
	if opts != nil {
		visibility = opts.Visibility
		if opts.TTL != 0 {
			ttl = opts.TTL
		}
	}
	switch {
	case len(text) > queueapi.MaxMessageText:
		return nil, tooLarge(text)
	case ttl < time.Second && ttl != queueapi.NeverExpires:
		return nil, fmt.Errorf("%w: time to live %v: want 1s or more, or never", bindings.ErrOutOfRange, ttl)
	case ttl != queueapi.NeverExpires && visibility >= ttl:
		return nil, fmt.Errorf("%w: visibility timeout %v: want less than the time to live %v", bindings.ErrOutOfRange, visibility, ttl)
	}
	if err := checkVisibility(visibility, 0); err != nil {
		return nil, err
	}
	var out *queueapi.Message
	err := q.operate(ctx, account.FaultPoint{Op: "Put"}, false, func(now time.Time, state *queueState, e *effects) error {
		m := state.put(now, &q.s.ids, text, visibility, ttl)
		q.s.expectArrival(q.name, m, visibility, e)
		e.note(journal.Enqueued, m)
		e.records[len(e.records)-1].Delay = visibility
		e.moved = true
		e.saveText(q.name, m)
		e.saveState(q.name, m)
		out = m.copy()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out == nil { // it was lost
		out = &queueapi.Message{Text: text}
	}
	return out, nil
}

func (q *queue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queueapi.Message, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	if err := checkVisibility(visibility, time.Second); err != nil {
		return nil, err
	}
	var out []*queueapi.Message
	err := q.operate(ctx, account.FaultPoint{Op: "Receive"}, false, func(now time.Time, state *queueState, e *effects) error {
		for _, m := range state.receive(now, &q.s.ids, n, visibility, e.note) {
			e.saveState(q.name, m)
			e.moved = true
			out = append(out, m.copy())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (q *queue) Peek(ctx context.Context, n int) ([]*queueapi.Message, error) {
	if err := checkCount(n); err != nil {
		return nil, err
	}
	var out []*queueapi.Message
	err := q.operate(ctx, account.FaultPoint{Op: "Peek"}, false, func(now time.Time, state *queueState, _ *effects) error {
		out = state.peek(now, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (q *queue) Update(ctx context.Context, id, popReceipt string, text *string, visibility time.Duration) (*queueapi.Message, error) {
	if err := checkVisibility(visibility, 0); err != nil {
		return nil, err
	}
	if text != nil && len(*text) > queueapi.MaxMessageText {
		return nil, tooLarge(*text)
	}
	var out *queueapi.Message
	err := q.operate(ctx, account.FaultPoint{Op: "Update", MessageID: id}, false, func(now time.Time, state *queueState, e *effects) error {
		m, err := state.find(id, popReceipt)
		if err != nil {
			return fmt.Errorf("message %q: %w", id, err)
		}
		state.update(now, &q.s.ids, m, text, visibility)
		if text != nil {
			e.saveText(q.name, m)
		}
		e.saveState(q.name, m)
		q.s.expectArrival(q.name, m, visibility, e)
		e.moved = true
		out = m.copy()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out == nil { // it was lost
		out = &queueapi.Message{ID: id, PopReceipt: popReceipt, NextVisible: q.s.now().Add(visibility)}
	}
	return out, nil
}

func (q *queue) Delete(ctx context.Context, id, popReceipt string) error {
	return q.operate(ctx, account.FaultPoint{Op: "Delete", MessageID: id}, false, func(_ time.Time, state *queueState, e *effects) error {
		m, err := state.find(id, popReceipt)
		if err != nil {
			return fmt.Errorf("message %q: %w", id, err)
		}
		state.remove(m)
		e.dropMessage(q.name, m)
		return nil
	})
}

func (q *queue) Clear(ctx context.Context) error {
	return q.operate(ctx, account.FaultPoint{Op: "Clear"}, false, func(_ time.Time, state *queueState, e *effects) error {
		state.stop()
		empty := newQueueState()
		empty.sequence, empty.queueFacts = state.sequence, state.queueFacts
		q.s.queues[q.name] = empty
		e.dropMessages(q.name)
		e.records = append(e.records, journal.Record{
			Kind: journal.Purged, Service: journal.Queues, Source: q.name,
			Fields: []journal.Field{{Key: "messages", Value: strconv.Itoa(len(state.byID))}},
		})
		return nil
	})
}

func (q *queue) Count(ctx context.Context) (n int, err error) {
	err = q.operate(ctx, account.FaultPoint{Op: "Count"}, false, func(_ time.Time, state *queueState, _ *effects) error {
		n = len(state.byID)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func checkCount(n int) error {
	if n < 1 || n > queueapi.MaxReceive {
		return fmt.Errorf("%w: number of messages %d: want 1 to %d", bindings.ErrOutOfRange, n, queueapi.MaxReceive)
	}
	return nil
}

func checkVisibility(d, least time.Duration) error {
	if d < least || d > queueapi.MaxVisibilityTimeout {
		return fmt.Errorf("%w: visibility timeout %v: want %v to %v", bindings.ErrOutOfRange, d, least, queueapi.MaxVisibilityTimeout)
	}
	return nil
}

func tooLarge(text string) error {
	return fmt.Errorf("%w: text of %d bytes: want at most %d", bindings.ErrTooLarge, len(text), queueapi.MaxMessageText)
}
