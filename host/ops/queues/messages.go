package queues

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/redrive"
)

func each(ctx context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	now, encoding, more := e.Host.Clock().Now(), encoding(e, entity), true
	origin, poison := queue.PoisonOrigin(entity)
	_, err := e.Host.AppStorage().QueueMessages(ctx, entity, 1, func(m *queue.Message) bool {
		body, err := encoding.Decode(m.Text)
		if err != nil {
			body = []byte(m.Text)
		}
		shown := ops.ShownMessage{ID: m.ID, MessageID: m.ID, State: "visible", DeliveryCount: m.DequeueCount, Enqueued: m.Inserted, Expires: m.Expires}
		if err != nil {
			shown.Reason = "its text is not " + string(encoding) + ": " + err.Error()
		}
		if poison {
			shown.Origin, shown.Reason = origin, poisonError(e, m.ID)
			if of, ok := redrive.BlobOf(e.Host, entity, m); ok {
				shown.Origin, shown.Properties = redrive.Origin(e.Host, entity), map[string]string{"function": of.Function, "blob": of.Path}
			}
		}
		if m.NextVisible.After(now) {
			shown.VisibleAt, shown.State = m.NextVisible, "hidden"
			if m.DequeueCount == 0 {
				shown.State = "scheduled"
			}
		}
		more = visit(&shown, body)
		return !more // the one message that is asked for ends the visit
	})
	return err
}

func release(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	found, err := e.Host.AppStorage().QueueMessage(ctx, m.Entity, m.ID)
	if err != nil {
		return m, ops.GoneFrom(m, err)
	}
	if !found.NextVisible.After(e.Host.Clock().Now()) {
		return m, ops.Refuse(http.StatusConflict, fmt.Sprintf("message %q of queue %s waits for nothing: it is visible", m.ID, m.Entity), "")
	}
	_, err = e.Host.AppStorage().ReleaseMessage(ctx, m.Entity, m.ID)
	return m, ops.GoneFrom(m, err)
}

func bury(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	name, ok := queue.PoisonName(m.Entity)
	if !ok {
		return m, ops.Refuse(http.StatusConflict, fmt.Sprintf("queue %q has no poison queue: it is one, or its name is too long", m.Entity), "")
	}
	storage := e.Host.AppStorage()
	if _, err := storage.QueueMessage(ctx, m.Entity, m.ID); err != nil {
		return m, ops.GoneFrom(m, err)
	}
	move := &redrive.Mover{From: storage.Queue(m.Entity), To: storage.Queue(name), Clock: e.Host.Clock(), Journal: e.Host.Journal(), Cause: "by hand"}
	if err := move.To.Create(ctx); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return m, err
	}
	taken, err := storage.SeizeMessage(ctx, m.Entity, m.ID, redrive.Lock)
	if err != nil {
		return m, ops.GoneFrom(m, err)
	}
	m.Target = name
	m.NewID, err = move.Move(ctx, taken)
	return m, err
}

func redriveAll(ctx context.Context, e *ops.Env, entity, id string) (ops.Redriven, error) {
	return RedriveQueue{Queue: entity, ID: id}.Do(ctx, e)
}
