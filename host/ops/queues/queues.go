package queues

import (
	"context"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/redrive"
)

// ListQueues lists the queues of the embedded storage account.
type ListQueues struct {
	ops.Op[Queues] `route:"GET /queues" needs:"storage"`
}

func (ListQueues) Do(ctx context.Context, e *ops.Env) (out Queues, err error) {
	out.Queues, err = infos(ctx, e)
	return out, err
}

// Queues are the queues of an account, sorted by name.
type Queues struct {
	Queues []QueueInfo `json:"queues"`
}

// QueueInfo is a queue of the embedded storage account.
type QueueInfo struct {
	Name      string `json:"name"`
	Count     int    `json:"count"`     // all messages
	Visible   int    `json:"visible"`   // a function could take them now
	Invisible int    `json:"invisible"` // in work, waiting for redelivery, or delayed
}

// SendMessage puts a message on a queue, encoded as the app expects it, and makes the
// queue when it is missing.
type SendMessage struct {
	ops.Op[Message] `route:"POST /queues/{name}/messages" verb:"send" status:"201" needs:"storage"`

	Queue  string        `path:"name"`
	Raw    bool          `query:"raw" usage:"do not encode the body"`
	Delay  time.Duration `query:"visibility" min:"0s" want:"a duration of 0 or more" hint:"for instance \"30s\"" flag:"delay" usage:"keep the message invisible for this long first, e.g. 30s"`
	TTL    string        `query:"ttl" usage:"let the message expire after this long, e.g. 10m, or never (default 168h)"`
	Create bool          `query:"create" usage:"make the queue though its name is near to another one"`
	Body   []byte        `body:"raw"`
}

func (in SendMessage) Do(ctx context.Context, e *ops.Env) (out Message, err error) {
	opts := queue.PutOptions{Visibility: in.Delay}
	if in.TTL != "" {
		if opts.TTL, err = timeToLive(in.TTL); err != nil {
			return out, ops.Refuse(http.StatusBadRequest, err.Error(), `for instance "10m"`)
		}
	}
	text := string(in.Body)
	if !in.Raw {
		text = encoding(e, in.Queue).Encode(in.Body)
	} else if !utf8.Valid(in.Body) {
		return out, ops.Refuse(http.StatusBadRequest, "a raw message must be text in UTF-8", "")
	}
	if !in.Create {
		if err := e.RefuseSlip(ctx, Service, in.Queue); err != nil {
			return out, err
		}
	}
	put, err := queue.PutOrCreate(ctx, e.Host.AppStorage().Queue(in.Queue), text, &opts)
	if errors.Is(err, bindings.ErrTooLarge) && len(text) > len(in.Body) {
		err = ops.Refuse(http.StatusRequestEntityTooLarge, err.Error(), sizeHint(len(in.Body)))
	}
	if err != nil {
		return out, err
	}
	put.Text = text
	if opts.Visibility == 0 {
		put.NextVisible = time.Time{}
	}
	return show(e, in.Queue, put), nil
}

// Message is a queue message as the control API shows it.
type Message struct {
	ID           string    `json:"id"`
	DequeueCount int64     `json:"dequeueCount"`
	Inserted     time.Time `json:"inserted"`
	Expires      time.Time `json:"expires,omitzero"`
	NextVisible  time.Time `json:"nextVisible,omitzero"` // only of a message that is not visible

	// Text is what the service holds; Body is the decoded body when it is text,
	// Binary (base64) when it is not. Undecodable says why neither is there.
	Text        string  `json:"text"`
	Body        *string `json:"body,omitempty"`
	Binary      []byte  `json:"binary,omitempty"`
	Undecodable string  `json:"undecodable,omitempty"`

	// LastError is the failure that brought a message into its poison queue, where
	// the host has seen it: host.Host.PoisonError.
	LastError string `json:"lastError,omitempty"`
}

// PeekQueue shows visible messages, or the one with an identifier, visible or not.
// Nothing changes. A queue that a function of the app reads or writes, and the poison queue of
// one that reads, is empty as long as it does not exist; any other is not found.
type PeekQueue struct {
	ops.Op[Peeked] `route:"GET /queues/{name}/messages" verb:"peek" needs:"storage"`

	Queue string `path:"name"`
	Max   int    `query:"max" min:"1" want:"a number of 1 or more" usage:"show at most this many messages (default all)"`
	ID    string `query:"id" usage:"show only the message with this ID, visible or not"`
}

func (in PeekQueue) Do(ctx context.Context, e *ops.Env) (Peeked, error) {
	out := Peeked{Queue: in.Queue, Messages: []Message{}}
	q := e.Host.AppStorage().Queue(in.Queue)
	found, err := look(ctx, e, in)
	if errors.Is(err, bindings.ErrNotFound) && in.ID == "" && implied(e, in.Queue) {
		return out, nil // nobody has put anything there
	}
	if err != nil {
		return out, err
	}
	for _, m := range found {
		out.Messages = append(out.Messages, show(e, in.Queue, m))
	}
	out.Count, err = q.Count(ctx)
	return out, err
}

// Peeked is the visible part of a queue. Count also counts what is invisible: in
// work, waiting for its redelivery, or delayed.
type Peeked struct {
	Queue    string    `json:"queue"`
	Count    int       `json:"count"`
	Messages []Message `json:"messages"`
}

// PurgeQueue removes all messages from a queue, invisible ones too.
type PurgeQueue struct {
	ops.Op[QueuePurged] `route:"DELETE /queues/{name}/messages" verb:"purge" needs:"storage" step:"purge"`

	Queue string `path:"name" step:"queue,place"`
}

func (in PurgeQueue) Do(ctx context.Context, e *ops.Env) (out QueuePurged, err error) {
	q := e.Host.AppStorage().Queue(in.Queue)
	out.Queue = in.Queue
	if out.Removed, err = q.Count(ctx); err != nil {
		return out, err
	}
	return out, q.Clear(ctx)
}

// QueuePurged says how many messages a queue held when it was emptied.
type QueuePurged struct {
	Queue   string `json:"queue"`
	Removed int    `json:"removed"`
}

// Changed is how many messages were removed.
func (p QueuePurged) Changed() int { return p.Removed }

// RedriveQueue moves the visible messages of a queue, or the one with an identifier, to
// another queue; 409 for a message in work.
type RedriveQueue struct {
	ops.Op[ops.Redriven] `route:"POST /queues/{name}/redrive" verb:"redrive" effect:"destroys" needs:"storage" clock:"own" step:"redrive"`

	Queue string `path:"name" step:"queue,place"`
	To    string `query:"to" usage:"queue to move to (default: where NAME came from)" step:"to,entity"` // without it the queue that a queue NAME-poison belongs to
	ID    string `query:"id" usage:"move only the message with this ID, as peek shows it" step:"messageId"`
}

func (in RedriveQueue) Do(ctx context.Context, e *ops.Env) (ops.Redriven, error) {
	var done redrive.Done
	err := e.Inside("redrive", func(within context.Context) (err error) {
		done, err = redrive.Messages(within, e.Host, in.Queue, in.To, in.ID, ctx.Err)
		return err
	})
	return ops.Redriven{From: in.Queue, To: done.To, ID: in.ID, NewID: done.NewID, Moved: done.Moved, Left: done.Left}, err
}
