package redrive

import (
	"context"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	blobkind "github.com/redeliver/redeliver/host/kinds/blob"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// Origin is the queue that the messages of a poison queue came from: those of blobs come
// from the host's control queue. It is empty for other queues.
func Origin(h *host.Host, poison string) string {
	if poison == blobtrigger.PoisonQueue {
		if a := h.App(); a != nil {
			return blobtrigger.ControlQueue(a.ID)
		}
	}
	if origin, ok := queue.PoisonOrigin(poison); ok {
		return origin
	}
	return ""
}

// A PoisonBlob is the version of a blob that a poison message is about.
type PoisonBlob struct {
	blobtrigger.Poison
	Function, Path string

	listener *app.Function // nil: the app has none
	newer    bool          // see blobkind.Listener
}

// BlobOf reads a message of the queue of poison blobs; not ok: it is none.
func BlobOf(h *host.Host, entity string, m *queue.Message) (of PoisonBlob, ok bool) {
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
	of.Function, of.Path = of.FunctionID, of.Container+"/"+of.Blob
	if a := h.App(); a != nil {
		if of.listener, of.newer = blobkind.Listener(a, of.FunctionID); of.listener != nil {
			of.Function = of.listener.Name
		}
	}
	return of, true
}

// leadsToBlob says why a poison message would come to nothing on the control queue, where
// it would be deleted: its function or its blob is gone, or the blob is another by now,
// which has had a message of its own.
func leadsToBlob(ctx context.Context, h *host.Host, m *queue.Message) error {
	no := func(why, hint string) error {
		return &Refusal{Text: fmt.Sprintf("message %q stays: %s", m.ID, why), Hint: hint, Message: true}
	}
	of, ok := BlobOf(h, blobtrigger.PoisonQueue, m)
	if !ok {
		return no("it is no message of a blob trigger", "")
	}
	if of.listener == nil {
		return no(fmt.Sprintf("no function of the app listens as %s", of.FunctionID), `"redeliver ls functions" lists the functions`)
	}
	p, err := h.AppStorage().Container(of.Container).Blob(of.Blob).Properties(ctx, nil)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return no(fmt.Sprintf("the blob %s does not exist any more", of.Path), "")
	case err != nil:
		return err
	case p.ETag != of.ETag && !of.newer:
		return no(fmt.Sprintf("the blob %s has changed since; its new version has had deliveries of its own", of.Path), fmt.Sprintf("\"redeliver invoke %s %s\" runs the function for it", of.Function, of.Path))
	}
	return nil
}
