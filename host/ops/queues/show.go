package queues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// encoding is how bodies in a queue are encoded: what the app says, of several the one that
// receives from it, and the platform's default before an app runs and for the queues of
// the blob trigger.
func encoding(e *ops.Env, name string) queue.Encoding {
	a := e.Host.App()
	for _, h := range e.Apps() {
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

// implied reports whether bindings of the apps name a queue: one that functions read or
// write, its poison queue, or that of blobs.
func implied(e *ops.Env, queue string) bool {
	named := func(b *app.Binding) bool {
		for kind, names := range bound {
			if b.Is(kind) {
				return slices.ContainsFunc(names(b), func(name string) bool { return strings.EqualFold(name, queue) })
			}
		}
		return false
	}
	for _, h := range e.Apps() {
		if a := h.App(); a != nil && slices.ContainsFunc(a.Functions, func(f *app.Function) bool { return slices.ContainsFunc(f.Bindings, named) }) {
			return true
		}
	}
	return false
}

// poisonError is why a message became poison, by the app whose function gave it up.
func poisonError(e *ops.Env, id string) string {
	for _, h := range e.Apps() {
		if text := h.PoisonError(id); text != "" {
			return text
		}
	}
	return ""
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

// look returns visible messages, or the one message with an identifier, visible
// or not.
func look(ctx context.Context, e *ops.Env, in PeekQueue) ([]*queue.Message, error) {
	if in.ID == "" {
		return e.Host.AppStorage().VisibleMessages(ctx, in.Queue, in.Max)
	}
	m, err := e.Host.AppStorage().QueueMessage(ctx, in.Queue, in.ID)
	if err != nil {
		return nil, err
	}
	if !m.NextVisible.After(e.Host.Clock().Now()) {
		m.NextVisible = time.Time{}
	}
	return []*queue.Message{m}, nil
}

// show decodes a message of a queue as the app would.
func show(e *ops.Env, name string, m *queue.Message) Message {
	out := Message{ID: m.ID, DequeueCount: m.DequeueCount, Inserted: m.Inserted, Expires: m.Expires, NextVisible: m.NextVisible, Text: m.Text, LastError: poisonError(e, m.ID)}
	body, err := encoding(e, name).Decode(m.Text)
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

func infos(ctx context.Context, e *ops.Env) ([]QueueInfo, error) {
	out := []QueueInfo{}
	names, err := e.Host.AppStorage().Queues(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		n, err := e.Host.AppStorage().QueueCounts(ctx, name)
		if errors.Is(err, bindings.ErrNotFound) {
			continue // deleted meanwhile
		} else if err != nil {
			return nil, err
		}
		out = append(out, QueueInfo{Name: name, Count: n.Visible + n.Invisible, Visible: n.Visible, Invisible: n.Invisible})
	}
	return out, nil
}
