package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// QueueMessage is a message of a storage queue.
type QueueMessage struct {
	// Body is the message as it was sent; it need not be text.
	Body []byte
	// ID and PopReceipt identify the message and this receipt of it.
	ID, PopReceipt string
	// DequeueCount says how often the queue has handed the message out, this time
	// included.
	DequeueCount int64
	// InsertionTime, ExpirationTime and NextVisibleTime are times of the queue
	// service; zero when unknown.
	InsertionTime, ExpirationTime, NextVisibleTime time.Time
}

// Text returns the body as text.
func (m QueueMessage) Text() string { return string(m.Body) }

// Decode reads the body as JSON into the value that target points to.
func (m QueueMessage) Decode(target any) error {
	if err := json.Unmarshal(m.Body, target); err != nil {
		return fmt.Errorf("queue message: %w", err)
	}
	return nil
}

// QueueJSON registers a function as [App.Queue] does, for messages that hold
// JSON of type T. A message that does not fit fails the attempt as any other
// failure does: it is retried, and ends in the poison queue.
func QueueJSON[T any](a *App, name, queue string, h func(ctx context.Context, value T) error, opts ...QueueOption) {
	if h == nil {
		a.Queue(name, queue, nil, opts...)
		return
	}
	a.Queue(name, queue, func(ctx context.Context, m QueueMessage) error {
		var value T
		if err := m.Decode(&value); err != nil {
			return err
		}
		return h(ctx, value)
	}, opts...)
}

func newQueueMessage(r *call.Request) QueueMessage {
	msg := decoded(r, queueProperties)
	msg.Body = triggerInput(r).Bytes()
	return msg
}

// queueProperties is the message without its body, which a handler may change.
func queueProperties(r *call.Request) QueueMessage {
	m := Metadata(r.Metadata)
	msg := QueueMessage{
		ID:              m.Get("Id"),
		PopReceipt:      m.Get("PopReceipt"),
		DequeueCount:    r.DeliveryCount,
		InsertionTime:   parseTime(m.Get("InsertionTime")),
		ExpirationTime:  parseTime(m.Get("ExpirationTime")),
		NextVisibleTime: parseTime(m.Get("NextVisibleTime")),
	}
	if r.MessageID != "" { // metadata may hold a property of the body under this name
		msg.ID = r.MessageID
	}
	if msg.DequeueCount == 0 {
		msg.DequeueCount, _ = strconv.ParseInt(m.Get("DequeueCount"), 10, 64)
	}
	return msg
}

// parseTime reads an ISO 8601 time; zero when it is none.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
