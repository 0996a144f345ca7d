package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
	blobkind "github.com/redeliver/redeliver/host/kinds/blob"
	"github.com/redeliver/redeliver/host/web/api"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// origin is the queue that the messages of a poison queue came from: those of blobs come
// from the host's control queue. It is empty for other queues.
func (s *Server) origin(poison string) string {
	if poison == blobtrigger.PoisonQueue {
		if a := s.host.App(); a != nil {
			return blobtrigger.ControlQueue(a.ID)
		}
	}
	if origin, ok := queue.PoisonOrigin(poison); ok {
		return origin
	}
	return ""
}

// poisonBlob is the version of a blob that a poison message is about.
type poisonBlob struct {
	blobtrigger.Poison
	function, path string
	listener       *app.Function // nil: the app has none
	newer          bool          // see blobkind.Listener
}

func (s *Server) poisonBlob(entity string, m *queue.Message) (of poisonBlob, ok bool) {
	if entity != blobtrigger.PoisonQueue {
		return of, false
	}
	body, err := queue.Base64.Decode(m.Text)
	if err == nil {
		of.Poison, err = blobtrigger.ReadPoison(body)
	}
	if err != nil {
		return of, false
	}
	of.function, of.path = of.FunctionID, of.Container+"/"+of.Blob
	if a := s.host.App(); a != nil {
		if of.listener, of.newer = blobkind.Listener(a, of.FunctionID); of.listener != nil {
			of.function = of.listener.Name
		}
	}
	return of, true
}

// leadsToBlob says why a poison message would come to nothing on the control queue, where
// it would be deleted: its function or its blob is gone, or the blob is another by now,
// which has had a message of its own.
func (s *Server) leadsToBlob(ctx context.Context, m *queue.Message) error {
	no := func(why, hint string) error {
		return refuse(http.StatusConflict, fmt.Sprintf("message %q stays: %s", m.ID, why), hint)
	}
	of, ok := s.poisonBlob(blobtrigger.PoisonQueue, m)
	if !ok {
		return no("it is no message of a blob trigger", "")
	}
	if of.listener == nil {
		return no(fmt.Sprintf("no function of the app listens as %s", of.FunctionID), `"redeliver ls functions" lists the functions`)
	}
	p, err := s.host.AppStorage().Container(of.Container).Blob(of.Blob).Properties(ctx, nil)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return no(fmt.Sprintf("the blob %s does not exist any more", of.path), "")
	case err != nil:
		return err
	case p.ETag != of.ETag && !of.newer:
		return no(fmt.Sprintf("the blob %s has changed since; its new version has had deliveries of its own", of.path), fmt.Sprintf("\"redeliver invoke %s %s\" runs the function for it", of.function, of.path))
	}
	return nil
}

// redriveFitting moves the visible messages that come to something, oldest first.
func (s *Server) redriveFitting(ctx context.Context, m *mover) error {
	var ids []string
	now := m.clk.Now()
	_, err := s.host.AppStorage().QueueMessages(ctx, m.from.Name(), 1, func(q *queue.Message) bool {
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
		_, err := s.redriveOne(ctx, m, id)
		stays, hidden := (*api.Error)(nil), (*invisibleError)(nil)
		if err != nil && !errors.As(err, &stays) && !errors.As(err, &hidden) && !errors.Is(err, bindings.ErrMessageNotFound) {
			return err
		}
		if err := m.clk.Sleep(ctx, 0); err != nil { // as in mover.all
			return err
		}
	}
	return nil
}
