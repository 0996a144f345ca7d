package blob

import (
	"context"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
)

// errNotListening: the web hook of a function whose listener does not run.
var errNotListening = errors.New("the function does not listen")

// Queue adds a control message for a version of a blob that Event Grid has told
// of, to a function whose source is EventGrid. There is no receipt: an event
// that comes twice runs the function twice, with the version of that moment. A
// blob that the function's pattern does not match is left out.
//
// Source: spec storage 9.1; BlobTriggerQueueWriter.cs, HttpRequestProcessor.cs.
func (s *Shared) Queue(ctx context.Context, f *Function, container, name, etag string, kind blob.Type) error {
	if _, ok := f.Pattern.Match(container, name); !ok {
		return nil
	}
	s.mu.Lock()
	running := s.core != nil
	s.mu.Unlock()
	if !running {
		return errNotListening
	}
	m := &controlMessage{
		Type: controlType, FunctionID: f.ID, BlobType: string(kind), ContainerName: container, BlobName: name, ETag: `"` + etag + `"`,
	}
	control := ControlQueue(s.hostID)
	if _, err := queue.PutOrCreate(ctx, s.host.Queues.Queue(control), queue.Base64.Encode(m.encode()), nil); err != nil {
		return fmt.Errorf("queue blob %s/%s for %s: %w", container, name, f.ID, err)
	}
	s.opts.Watcher.Notify(control)
	return nil
}
