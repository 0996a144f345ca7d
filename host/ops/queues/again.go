package queues

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// again sends a message that is still in its queue, or in its poison queue.
func again(ctx context.Context, e *ops.Env, entity, id string) (newID string, err error) {
	storage := e.Host.AppStorage()
	m, err := storage.QueueMessage(ctx, entity, id)
	if errors.Is(err, bindings.ErrMessageNotFound) || errors.Is(err, bindings.ErrNotFound) {
		at, copied := poisonCopy(e, id)
		if copied == "" {
			return "", ops.Spent(entity, id)
		}
		m, err = storage.QueueMessage(ctx, at, copied)
	}
	if errors.Is(err, bindings.ErrMessageNotFound) || errors.Is(err, bindings.ErrNotFound) {
		return "", ops.Spent(entity, id)
	} else if err != nil {
		return "", err
	}
	put, err := queue.PutOrCreate(ctx, storage.Queue(entity), m.Text, nil)
	if err != nil {
		return "", err
	}
	return put.ID, nil
}

// poisonCopy is where the copy of a poison message is, and its identity.
func poisonCopy(e *ops.Env, id string) (at, copied string) {
	e.Records(func(rec *journal.Record) {
		if rec.MessageID != id {
			return
		}
		for _, f := range rec.Fields {
			if f.Key == "new_message_id" {
				at, copied = rec.Target, f.Value
			}
		}
	}, journal.Settled, journal.Forwarded)
	return at, copied
}
