package rest

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
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

// wireTime writes a time as documents and headers have it, to the second.
func wireTime(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

func putMessage(c *call) error {
	text, err := c.messageText()
	if err != nil {
		return err
	}
	if text == nil {
		return errInvalidXML("want an element MessageText")
	}
	visibility, refused := c.query.number("visibilitytimeout", 0, 0, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	ttl, refused := c.query.number("messagettl", defaultTTLSeconds, math.MinInt64, math.MaxInt64)
	switch {
	case refused != nil:
		return refused
	case ttl < 1 && ttl != neverSeconds:
		return errInvalidParameter("messagettl", c.query.Get("messagettl"), "Value must be greater than or equal to 1, or -1 to indicate an infinite TTL.")
	case ttl != neverSeconds && visibility >= ttl:
		return errInvalidParameter("visibilitytimeout", c.query.Get("visibilitytimeout"), "messagettl must be greater than visibilitytimeout.")
	}
	opts := &queue.PutOptions{Visibility: time.Duration(visibility) * time.Second, TTL: queue.NeverExpires}
	if ttl != neverSeconds && ttl <= int64(math.MaxInt64/time.Second) {
		opts.TTL = time.Duration(ttl) * time.Second
	}
	var m *queue.Message
	err = c.inside(func(ctx context.Context) (err error) {
		m, err = c.account.Queues.Queue(c.path[0]).Put(ctx, *text, opts)
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, messagesDocument([]*queue.Message{m}, putAnswer))
}

func getMessages(c *call) error {
	n, refused := c.query.number("numofmessages", 1, 1, queue.MaxReceive)
	if refused != nil {
		return refused
	}
	visibility, refused := c.query.number("visibilitytimeout", int64(queue.DefaultVisibility/time.Second), 1, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	var ms []*queue.Message
	err := c.inside(func(ctx context.Context) (err error) {
		ms, err = c.account.Queues.Queue(c.path[0]).Receive(ctx, int(n), time.Duration(visibility)*time.Second)
		return err
	})
	if err != nil {
		return err
	}
	for _, m := range ms {
		c.front.pins.Hold(c.pinOf(m.ID), time.Duration(visibility)*time.Second)
	}
	return c.answer(http.StatusOK, messagesDocument(ms, getAnswer))
}

func peekMessages(c *call) error {
	n, refused := c.query.number("numofmessages", 1, 1, queue.MaxReceive)
	if refused != nil {
		return refused
	}
	var ms []*queue.Message
	err := c.inside(func(ctx context.Context) (err error) {
		ms, err = c.account.Queues.Queue(c.path[0]).Peek(ctx, int(n))
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, messagesDocument(ms, peekAnswer))
}

func updateMessage(c *call) error {
	text, err := c.messageText()
	if err != nil {
		return err
	}
	receipt, refused := c.query.popReceipt()
	if refused != nil {
		return refused
	}
	if !c.query.Has("visibilitytimeout") {
		return errMissingParameter("visibilitytimeout")
	}
	visibility, refused := c.query.number("visibilitytimeout", 0, 0, maxVisibilitySeconds)
	if refused != nil {
		return refused
	}
	var m *queue.Message
	err = c.inside(func(ctx context.Context) (err error) {
		m, err = c.account.Queues.Queue(c.path[0]).Update(ctx, c.path[2], receipt, text, time.Duration(visibility)*time.Second)
		return err
	})
	if err != nil {
		return err
	}
	c.front.pins.Hold(c.pinOf(m.ID), time.Duration(visibility)*time.Second)
	c.w.Header().Set("X-Ms-Popreceipt", m.PopReceipt)
	c.w.Header().Set("X-Ms-Time-Next-Visible", wireTime(m.NextVisible))
	return c.answer(http.StatusNoContent, nil)
}

func deleteMessage(c *call) error {
	receipt, refused := c.query.popReceipt()
	if refused != nil {
		return refused
	}
	return c.noContent(func(ctx context.Context) error {
		err := c.account.Queues.Queue(c.path[0]).Delete(ctx, c.path[2], receipt)
		if err == nil {
			c.front.pins.Release(c.pinOf(c.path[2]))
		}
		return err
	})
}

func clearMessages(c *call) error {
	return c.noContent(func(ctx context.Context) error {
		err := c.account.Queues.Queue(c.path[0]).Clear(ctx)
		c.unpinQueue(err)
		return err
	})
}

// pinOf is the key under which the clock is pinned for a message.
func (c *call) pinOf(id string) string {
	return "message " + id + c.pinnedQueue()
}

// pinnedQueue is how the keys of a queue's messages end.
func (c *call) pinnedQueue() string { return " of queue " + c.path[0] + " of " + c.account.Name }

// unpinQueue lets go of the messages of a queue that were removed together.
func (c *call) unpinQueue(err error) {
	if err == nil {
		c.front.pins.ReleaseFunc(func(key string) bool { return strings.HasSuffix(key, c.pinnedQueue()) })
	}
}

func (p parameters) popReceipt() (string, *Error) {
	receipt := p.Get("popreceipt")
	if receipt == "" {
		return "", errMissingParameter("popreceipt")
	}
	return receipt, nil
}

// messageText reads the body of a put or an update; nil when there is none, or
// no text in it.
func (c *call) messageText() (*string, error) {
	b, err := c.body(maxMessageBody)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusRequestEntityTooLarge {
		return nil, errBodyTooLarge(queue.MaxMessageText) // of which the client is told
	}
	if err != nil || len(b) == 0 {
		return nil, err
	}
	text, refused := parseMessage(b)
	if refused != nil {
		return nil, refused
	}
	if text != nil && len(*text) > queue.MaxMessageText {
		return nil, errBodyTooLarge(queue.MaxMessageText)
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
	b := append(make([]byte, 0, size), xmlHeader+"<QueueMessagesList>"...)
	for _, m := range ms {
		expires := m.Expires
		if expires.IsZero() || expires.After(never()) {
			expires = never()
		}
		b = append(b, "<QueueMessage>"...)
		b = appendElement(b, "MessageId", m.ID)
		b = appendElement(b, "InsertionTime", wireTime(m.Inserted))
		b = appendElement(b, "ExpirationTime", wireTime(expires))
		if with.receipt {
			b = appendElement(b, "PopReceipt", m.PopReceipt)
			b = appendElement(b, "TimeNextVisible", wireTime(m.NextVisible))
		}
		if with.count {
			b = appendElement(b, "DequeueCount", strconv.FormatInt(m.DequeueCount, 10))
			b = appendElement(b, "MessageText", m.Text)
		}
		b = append(b, "</QueueMessage>"...)
	}
	return append(b, "</QueueMessagesList>"...)
}
