package azure

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// outgoing returns messages as the client sends them.
func outgoing(messages []*servicebus.Message) ([]*azservicebus.Message, error) {
	out := make([]*azservicebus.Message, len(messages))
	for i, m := range messages {
		if err := checkIdentifiers(m); err != nil {
			return nil, err
		}
		properties, err := outgoingProperties(m.ApplicationProperties)
		if err != nil {
			return nil, err
		}
		out[i] = &azservicebus.Message{
			Body: m.Body, MessageID: given(m.MessageID), SessionID: m.SessionID, ReplyToSessionID: m.ReplyToSessionID,
			CorrelationID: given(m.CorrelationID), Subject: given(m.Subject), To: given(m.To), ReplyTo: given(m.ReplyTo),
			ContentType: given(m.ContentType), PartitionKey: m.PartitionKey, ApplicationProperties: properties,
		}
		if m.TimeToLive > 0 {
			out[i].TimeToLive = &m.TimeToLive
		}
		if !m.ScheduledEnqueueTime.IsZero() {
			out[i].ScheduledEnqueueTime = &m.ScheduledEnqueueTime
		}
	}
	return out, nil
}

// checkIdentifiers refuses what other clients refuse; this one does not look.
func checkIdentifiers(m *servicebus.Message) error {
	for name, id := range map[string]*string{"message id": &m.MessageID, "session id": m.SessionID, "partition key": m.PartitionKey} {
		if id != nil && utf8.RuneCountInString(*id) > messaging.MaxID {
			return messaging.NewError(messaging.ConditionArgumentOutOfRange, fmt.Sprintf("a %s has up to %d characters", name, messaging.MaxID))
		}
	}
	return nil
}

// incoming returns a message of the client as package bindings has it.
func incoming(m *azservicebus.ReceivedMessage) *servicebus.Received {
	out := &servicebus.Received{
		Message: servicebus.Message{
			Body: m.Body, MessageID: m.MessageID, SessionID: m.SessionID, ReplyToSessionID: m.ReplyToSessionID,
			CorrelationID: value(m.CorrelationID), Subject: value(m.Subject), To: value(m.To), ReplyTo: value(m.ReplyTo),
			ContentType: value(m.ContentType), PartitionKey: m.PartitionKey, TimeToLive: value(m.TimeToLive),
			ScheduledEnqueueTime: utc(m.ScheduledEnqueueTime), ApplicationProperties: incomingProperties(m.ApplicationProperties),
		},
		SequenceNumber: value(m.SequenceNumber), EnqueuedSequenceNumber: value(m.EnqueuedSequenceNumber),
		EnqueuedTime: utc(m.EnqueuedTime), ExpiresAt: utc(m.ExpiresAt), LockedUntil: utc(m.LockedUntil),
		LockToken: bindings.GUID(m.LockToken), State: servicebus.State(m.State), DeadLetterSource: value(m.DeadLetterSource),
	}
	if out.TimeToLive == 0 {
		out.ExpiresAt = time.Time{} // the client adds nothing to the enqueued time, and calls that the end
	}
	if m.DeliveryCount > 0 { // the client has added one to the header, in peeked messages too
		out.DeliveryCount = int64(m.DeliveryCount) - 1
	}
	raw := m.RawAMQPMessage
	if m.Body == nil && raw != nil {
		out.Body = wholeBody(raw.Body.Data, raw.Body.Value)
	}
	if raw != nil { // the client has no field for this
		if key, ok := raw.MessageAnnotations["x-opt-via-partition-key"].(string); ok {
			out.TransactionPartitionKey = &key
		}
	}
	return out
}
