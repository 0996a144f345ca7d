package queues

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// maxMessageBody limits the document around a text of 64 KiB, in which each
// character may be escaped.
const maxMessageBody = 1 << 20

const (
	maxVisibilitySeconds = int64(queue.MaxVisibilityTimeout / time.Second)
	defaultTTLSeconds    = int64(queue.DefaultMessageTTL / time.Second)
	neverSeconds         = -1
)

// never is the expiry of a message that has none (docs: Put Message).
func never() time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }

func putMessage(c *rest.Call) error {
	text, err := messageText(c)
	if err != nil {
		return err
	}
	if text == nil {
		return rest.ErrInvalidXML("want an element MessageText")
	}
	visibility, refused := c.Query.Number("visibilitytimeout", 0, 0, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	ttl, refused := c.Query.Number("messagettl", defaultTTLSeconds, math.MinInt64, math.MaxInt64)
	switch {
	case refused != nil:
		return refused
	case ttl < 1 && ttl != neverSeconds:
		return rest.ErrInvalidParameter("messagettl", c.Query.Get("messagettl"), "Value must be greater than or equal to 1, or -1 to indicate an infinite TTL.")
	case ttl != neverSeconds && visibility >= ttl:
		return rest.ErrInvalidParameter("visibilitytimeout", c.Query.Get("visibilitytimeout"), "messagettl must be greater than visibilitytimeout.")
	}
	opts := &queue.PutOptions{Visibility: time.Duration(visibility) * time.Second, TTL: queue.NeverExpires}
	if ttl != neverSeconds && ttl <= int64(math.MaxInt64/time.Second) {
		opts.TTL = time.Duration(ttl) * time.Second
	}
	var m *queue.Message
	err = c.Inside(func(ctx context.Context) (err error) {
		m, err = c.Account.Queues.Queue(c.Path[0]).Put(ctx, *text, opts)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusCreated, messagesDocument([]*queue.Message{m}, putAnswer))
}

func getMessages(c *rest.Call) error {
	n, refused := c.Query.Number("numofmessages", 1, 1, queue.MaxReceive)
	if refused != nil {
		return refused
	}
	visibility, refused := c.Query.Number("visibilitytimeout", int64(queue.DefaultVisibility/time.Second), 1, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	var ms []*queue.Message
	err := c.Inside(func(ctx context.Context) (err error) {
		ms, err = c.Account.Queues.Queue(c.Path[0]).Receive(ctx, int(n), time.Duration(visibility)*time.Second)
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range ms {
		c.Pins().Hold(pinOf(c, m.ID), time.Duration(visibility)*time.Second)
	}
	return c.Answer(http.StatusOK, messagesDocument(ms, getAnswer))
}

func peekMessages(c *rest.Call) error {
	n, refused := c.Query.Number("numofmessages", 1, 1, queue.MaxReceive)
	if refused != nil {
		return refused
	}
	var ms []*queue.Message
	err := c.Inside(func(ctx context.Context) (err error) {
		ms, err = c.Account.Queues.Queue(c.Path[0]).Peek(ctx, int(n))
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, messagesDocument(ms, peekAnswer))
}

func updateMessage(c *rest.Call) error {
	text, err := messageText(c)
	if err != nil {
		return err
	}
	receipt, refused := popReceipt(c.Query)
	if refused != nil {
		return refused
	}
	if !c.Query.Has("visibilitytimeout") {
		return rest.ErrMissingParameter("visibilitytimeout")
	}
	visibility, refused := c.Query.Number("visibilitytimeout", 0, 0, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	var m *queue.Message
	err = c.Inside(func(ctx context.Context) (err error) {
		m, err = c.Account.Queues.Queue(c.Path[0]).Update(ctx, c.Path[2], receipt, text, time.Duration(visibility)*time.Second)
		return err
	})
	if err != nil {
		return err
	}
	c.Pins().Hold(pinOf(c, m.ID), time.Duration(visibility)*time.Second)
	c.W.Header().Set("X-Ms-Popreceipt", m.PopReceipt)
	c.W.Header().Set("X-Ms-Time-Next-Visible", rest.WireTime(m.NextVisible))
	return c.Answer(http.StatusNoContent, nil)
}

func deleteMessage(c *rest.Call) error {
	receipt, refused := popReceipt(c.Query)
	if refused != nil {
		return refused
	}
	return c.NoContent(func(ctx context.Context) error {
		err := c.Account.Queues.Queue(c.Path[0]).Delete(ctx, c.Path[2], receipt)
		if err == nil {
			c.Pins().Release(pinOf(c, c.Path[2]))
		}
		return err
	})
}

func clearMessages(c *rest.Call) error {
	return c.NoContent(func(ctx context.Context) error {
		err := c.Account.Queues.Queue(c.Path[0]).Clear(ctx)
		unpinQueue(c, err)
		return err
	})
}

// pinOf is the key under which the clock is pinned for a message.
func pinOf(c *rest.Call, id string) string {
	return "message " + id + pinnedQueue(c)
}

// pinnedQueue is how the keys of a queue's messages end.
func pinnedQueue(c *rest.Call) string { return " of queue " + c.Path[0] + " of " + c.Account.Name }

// unpinQueue lets go of the messages of a queue that were removed together.
func unpinQueue(c *rest.Call, err error) {
	if err == nil {
		c.Pins().ReleaseFunc(func(key string) bool { return strings.HasSuffix(key, pinnedQueue(c)) })
	}
}

func popReceipt(p rest.Parameters) (string, *rest.Error) {
	receipt := p.Get("popreceipt")
	if receipt == "" {
		return "", rest.ErrMissingParameter("popreceipt")
	}
	return receipt, nil
}

// messageText reads the body of a put or an update; nil when there is none, or
// no text in it.
func messageText(c *rest.Call) (*string, error) {
	b, err := c.Body(maxMessageBody)
	if e, ok := errors.AsType[*rest.Error](err); ok && e.Status == http.StatusRequestEntityTooLarge {
		return nil, rest.ErrBodyTooLarge(queue.MaxMessageText) // of which the client is told
	}
	if err != nil || len(b) == 0 {
		return nil, err
	}
	text, refused := rest.ParseMessage(b)
	if refused != nil {
		return nil, refused
	}
	if text != nil && len(*text) > queue.MaxMessageText {
		return nil, rest.ErrBodyTooLarge(queue.MaxMessageText)
	}
	return text, nil
}

// messageAnswer says which elements a message has in an answer.
type messageAnswer struct{ receipt, count bool }

var (
	putAnswer  = messageAnswer{receipt: true}
	getAnswer  = messageAnswer{receipt: true, count: true}
	peekAnswer = messageAnswer{count: true}
)

func messagesDocument(ms []*queue.Message, with messageAnswer) []byte {
	size := 128
	for _, m := range ms {
		size += len(m.Text) + len(m.Text)/16 + 512
	}
	b := append(make([]byte, 0, size), rest.XMLHeader+"<QueueMessagesList>"...)
	for _, m := range ms {
		expires := m.Expires
		if expires.IsZero() || expires.After(never()) {
			expires = never()
		}
		b = append(b, "<QueueMessage>"...)
		b = rest.AppendElement(b, "MessageId", m.ID)
		b = rest.AppendElement(b, "InsertionTime", rest.WireTime(m.Inserted))
		b = rest.AppendElement(b, "ExpirationTime", rest.WireTime(expires))
		if with.receipt {
			b = rest.AppendElement(b, "PopReceipt", m.PopReceipt)
			b = rest.AppendElement(b, "TimeNextVisible", rest.WireTime(m.NextVisible))
		}
		if with.count {
			b = rest.AppendElement(b, "DequeueCount", strconv.FormatInt(m.DequeueCount, 10))
			b = rest.AppendElement(b, "MessageText", m.Text)
		}
		b = append(b, "</QueueMessage>"...)
	}
	return append(b, "</QueueMessagesList>"...)
}
