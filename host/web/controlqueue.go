package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/web/control"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// encoding is how bodies in a queue are encoded: what the app says, of several the one that
// receives from it, and the platform's default before an app runs and for the queues of
// the blob trigger.
func (s *Server) encoding(name string) queue.Encoding {
	a := s.host.App()
	for _, h := range s.apps() {
		if other := h.App(); other != nil && receives(other, strings.TrimSuffix(name, "-poison")) {
			a = other
		}
	}
	if a != nil && name != blobtrigger.PoisonQueue && name != blobtrigger.ControlQueue(a.ID) {
		return queue.Encoding(a.Config.Queues.MessageEncoding)
	}
	return queue.Base64
}

// receives reports whether a function of the app is triggered by a queue.
func receives(a *app.App, queue string) bool {
	return slices.ContainsFunc(a.Functions, func(f *app.Function) bool {
		if f.Trigger == nil {
			return false
		}
		kind := served.Of(f.Trigger.Type)
		return kind != nil && kind.Keeper == "queue" && strings.EqualFold(f.Trigger.String("queueName"), queue)
	})
}

// poisonError is why a message became poison, by the app whose function gave it up.
func (s *Server) poisonError(id string) string {
	for _, h := range s.apps() {
		if text := h.PoisonError(id); text != "" {
			return text
		}
	}
	return ""
}

// inside runs a call of a service under the host's clock.
func (s *Server) inside(name string, f func(ctx context.Context) error) error {
	var err error
	s.host.Clock().Inside(name, func() { err = f(context.Background()) })
	return err
}

func (s *Server) listQueues(ctx context.Context, _ control.ListQueues) (out control.Queues, err error) {
	out.Queues, err = s.queueInfos(ctx)
	return out, err
}

func (s *Server) sendMessage(ctx context.Context, in control.SendMessage) (out control.Message, err error) {
	opts := queue.PutOptions{Visibility: in.Delay}
	if in.TTL != "" {
		if opts.TTL, err = timeToLive(in.TTL); err != nil {
			return out, refuse(http.StatusBadRequest, err.Error(), `for instance "10m"`)
		}
	}
	text := string(in.Body)
	if !in.Raw {
		text = s.encoding(in.Queue).Encode(in.Body)
	} else if !utf8.Valid(in.Body) {
		return out, refuse(http.StatusBadRequest, "a raw message must be text in UTF-8", "")
	}
	if !in.Create {
		if err := s.refuseSlip(ctx, "queue", in.Queue); err != nil {
			return out, err
		}
	}
	put, err := queue.PutOrCreate(ctx, s.host.AppStorage().Queue(in.Queue), text, &opts)
	if errors.Is(err, bindings.ErrTooLarge) && len(text) > len(in.Body) {
		err = refuse(http.StatusRequestEntityTooLarge, err.Error(), sizeHint(len(in.Body)))
	}
	if err != nil {
		return out, err
	}
	put.Text = text
	if opts.Visibility == 0 {
		put.NextVisible = time.Time{}
	}
	return s.show(in.Queue, put), nil
}

// sizeHint says why a body of so many bytes does not fit in Base64.
func sizeHint(body int) string {
	hint := fmt.Sprintf("the body has %d bytes before Base64; %d bytes fit", body, queue.MaxMessageText/4*3)
	if body <= queue.MaxMessageText {
		hint += ": --raw (raw=true) sends the body as it is, for an app whose messageEncoding is none"
	}
	return hint
}

// timeToLive reads the life of a message.
func timeToLive(v string) (time.Duration, error) {
	if v == "never" {
		return queue.NeverExpires, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second {
		return 0, errors.New(`ttl must be a duration of 1s or more, or "never"`)
	}
	return d, nil
}

func (s *Server) peekQueue(ctx context.Context, in control.PeekQueue) (control.Peeked, error) {
	out := control.Peeked{Queue: in.Queue, Messages: []control.Message{}}
	q := s.host.AppStorage().Queue(in.Queue)
	found, err := s.look(ctx, in)
	if err != nil {
		return out, err
	}
	for _, m := range found {
		out.Messages = append(out.Messages, s.show(in.Queue, m))
	}
	out.Count, err = q.Count(ctx)
	return out, err
}

// look returns visible messages, or the one message with an identifier, visible
// or not.
func (s *Server) look(ctx context.Context, in control.PeekQueue) ([]*queue.Message, error) {
	if in.ID == "" {
		return s.host.AppStorage().VisibleMessages(ctx, in.Queue, in.Max)
	}
	m, err := s.host.AppStorage().QueueMessage(ctx, in.Queue, in.ID)
	if err != nil {
		return nil, err
	}
	if !m.NextVisible.After(s.host.Clock().Now()) {
		m.NextVisible = time.Time{}
	}
	return []*queue.Message{m}, nil
}

func (s *Server) purgeQueue(ctx context.Context, in control.PurgeQueue) (out control.QueuePurged, err error) {
	q := s.host.AppStorage().Queue(in.Queue)
	out.Queue = in.Queue
	if out.Removed, err = q.Count(ctx); err != nil {
		return out, err
	}
	return out, q.Clear(ctx)
}

// show decodes a message of a queue as the app would.
func (s *Server) show(name string, m *queue.Message) control.Message {
	out := control.Message{ID: m.ID, DequeueCount: m.DequeueCount, Inserted: m.Inserted, Expires: m.Expires, NextVisible: m.NextVisible, Text: m.Text, LastError: s.poisonError(m.ID)}
	body, err := s.encoding(name).Decode(m.Text)
	switch {
	case err != nil:
		out.Undecodable = err.Error()
	case utf8.Valid(body):
		text := string(body)
		out.Body = &text
	default:
		out.Binary = body
	}
	return out
}
