package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/redrive"
	"github.com/redeliver/redeliver/host/web/view"
)

func (s *Server) eachOfQueue(ctx context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	now, encoding, more := s.host.Clock().Now(), s.encoding(entity), true
	origin, poison := queue.PoisonOrigin(entity)
	_, err := s.host.AppStorage().QueueMessages(ctx, entity, 1, func(m *queue.Message) bool {
		body, err := encoding.Decode(m.Text)
		if err != nil {
			body = []byte(m.Text)
		}
		shown := view.ShownMessage{ID: m.ID, MessageID: m.ID, State: "visible", DeliveryCount: m.DequeueCount, Enqueued: m.Inserted, Expires: m.Expires}
		if err != nil {
			shown.Reason = "its text is not " + string(encoding) + ": " + err.Error()
		}
		if poison {
			shown.Origin, shown.Reason = origin, s.poisonError(m.ID)
			if of, ok := redrive.BlobOf(s.host, entity, m); ok {
				shown.Origin, shown.Properties = redrive.Origin(s.host, entity), map[string]string{"function": of.Function, "blob": of.Path}
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

func (s *Server) releaseOfQueue(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	found, err := s.host.AppStorage().QueueMessage(ctx, m.Entity, m.ID)
	if err != nil {
		return m, goneFrom(m, err)
	}
	if !found.NextVisible.After(s.host.Clock().Now()) {
		return m, refuse(http.StatusConflict, fmt.Sprintf("message %q of queue %s waits for nothing: it is visible", m.ID, m.Entity), "")
	}
	_, err = s.host.AppStorage().ReleaseMessage(ctx, m.Entity, m.ID)
	return m, goneFrom(m, err)
}

func (s *Server) poisonOfQueue(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	name, ok := queue.PoisonName(m.Entity)
	if !ok {
		return m, refuse(http.StatusConflict, fmt.Sprintf("queue %q has no poison queue: it is one, or its name is too long", m.Entity), "")
	}
	storage := s.host.AppStorage()
	if _, err := storage.QueueMessage(ctx, m.Entity, m.ID); err != nil {
		return m, goneFrom(m, err)
	}
	move := &redrive.Mover{From: storage.Queue(m.Entity), To: storage.Queue(name), Clock: s.host.Clock(), Journal: s.host.Journal(), Cause: "by hand"}
	if err := move.To.Create(ctx); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return m, err
	}
	taken, err := storage.SeizeMessage(ctx, m.Entity, m.ID, redrive.Lock)
	if err != nil {
		return m, goneFrom(m, err)
	}
	m.Target = name
	m.NewID, err = move.Move(ctx, taken)
	return m, err
}

// goneFrom is the error of an operation on a message, of which there may be none.
func goneFrom(m view.MessageMoved, err error) error {
	if errors.Is(err, bindings.ErrMessageNotFound) {
		return gone(m.Entity, m.ID)
	}
	return err
}
