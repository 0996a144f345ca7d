package servicebus

import (
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/ops"
)

// show is a message as peeked, with its lock if it has one.
func show(m *servicebus.Received, locks map[int64]emulator.Held) BusMessage {
	out := BusMessage{
		SequenceNumber: m.SequenceNumber, MessageID: m.MessageID, State: m.State.String(), FailedDeliveries: m.DeliveryCount,
		Enqueued: m.EnqueuedTime, Expires: m.ExpiresAt, DeadLetterSource: m.DeadLetterSource,
		SessionID: m.SessionID, Subject: m.Subject, ContentType: m.ContentType, CorrelationID: m.CorrelationID, To: m.To, ReplyTo: m.ReplyTo,
	}
	if m.State == servicebus.StateScheduled {
		out.ScheduledFor = m.ScheduledEnqueueTime
	}
	if h, ok := locks[m.SequenceNumber]; ok {
		out.LockedUntil = h.Until
		if m.State == servicebus.StateActive {
			out.State = "locked"
		}
	}
	for name, v := range m.ApplicationProperties {
		text, isText := v.(string)
		switch {
		case isText && name == servicebus.DeadLetterReason:
			out.DeadLetterReason = text
		case isText && name == servicebus.DeadLetterErrorDescription:
			out.DeadLetterDescription = text
		default:
			if out.Properties == nil {
				out.Properties = map[string]any{}
			}
			out.Properties[name] = ops.PlainValue(v)
		}
	}
	if utf8.Valid(m.Body) {
		text := string(m.Body)
		out.Body = &text
	} else {
		out.Binary = m.Body
	}
	return out
}
