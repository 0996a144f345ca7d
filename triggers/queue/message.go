package queue

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/triggers"
)

// ErrNotText is the conversion failure of a body that is not UTF-8 and goes to a
// text parameter.
var ErrNotText = errors.New("the message body is not UTF-8 text: bind it with dataType binary, or check the sender's encoding against extensions.queues.messageEncoding")

// ErrStream is what becomes of each delivery of a trigger with dataType stream (observed:
// host 4.1037).
var ErrStream = errors.New("the platform has no stream of a queue message: leave dataType out, or write binary")

// maxTime is the platform's latest date, which stands for "never".
var maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC)

// Message returns what a function receives for a body: the trigger's value by
// its dataType, and the metadata that a body alone gives. It is how an admin
// call hands its input to a queue function. Observed: host 4.1037.
func Message(body []byte, dataType string, now time.Time) triggers.Message {
	never := bindings.DateTimeOffset{Time: maxTime.Truncate(time.Second)}
	return message(body, dataType, true, map[string]any{
		"DequeueCount":    int64(0),
		"ExpirationTime":  never,
		"InsertionTime":   bindings.DateTimeOffset{Time: now.Truncate(time.Second)},
		"NextVisibleTime": never,
	})
}

// messageOf is Message for a message of the service.
//
// Source: QueueTriggerBinding.cs, for names and for what stands in when the
// service leaves a time out. Times are whole seconds, as the service gives them to clients.
func messageOf(m *queue.Message, body []byte, dataType string, members bool, now time.Time) triggers.Message {
	orMax := func(t time.Time) time.Time {
		if t.IsZero() {
			return maxTime
		}
		return t.Truncate(time.Second)
	}
	out := message(body, dataType, members, map[string]any{
		"Id":              m.ID,
		"DequeueCount":    m.DequeueCount,
		"ExpirationTime":  bindings.DateTimeOffset{Time: orMax(m.Expires)},
		"InsertionTime":   bindings.DateTimeOffset{Time: insertedOf(m, now)},
		"NextVisibleTime": bindings.DateTimeOffset{Time: orMax(m.NextVisible)},
		"PopReceipt":      m.PopReceipt,
	})
	out.ID = m.ID
	return out
}

// insertedOf is when a message was put; now where the service does not say.
func insertedOf(m *queue.Message, now time.Time) time.Time {
	if m.Inserted.IsZero() {
		return now
	}
	return m.Inserted.Truncate(time.Second)
}

// TimeDetail is a time among the details of a delivery, as the platform's log
// writes it: yyyy-MM-ddTHH:mm:ss.fffK of a time with an offset.
func TimeDetail(name string, t time.Time) triggers.Detail {
	return triggers.Detail{Name: name, Value: t.UTC().Format("2006-01-02T15:04:05.000-07:00")}
}

// message makes the value of a body. Members: those of a JSON object are metadata.
func message(body []byte, dataType string, members bool, metadata map[string]any) triggers.Message {
	text := utf8.Valid(body)
	if text {
		metadata["QueueTrigger"] = string(body)
	}
	if text && members {
		bindings.ApplyJSON(metadata, body)
	}
	out := triggers.Message{Metadata: metadata}
	switch {
	case strings.EqualFold(dataType, "stream") && len(body) == 0: // nothing to convert (observed: host 4.1037)
	case strings.EqualFold(dataType, "stream"):
		out.Err = ErrStream
	case triggers.IsBinary(dataType):
		out.Value = bindings.BytesValue(body)
	default:
		if text {
			out.Value = bindings.StringValue(string(body))
		} else {
			out.Err = ErrNotText
		}
	}
	return out
}
