package azure

import (
	"encoding/hex"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// outgoingEvents returns events as the client sends them.
func outgoingEvents(events []*eventhubs.Event) ([]*azeventhubs.EventData, error) {
	out := make([]*azeventhubs.EventData, len(events))
	for i, e := range events {
		properties, err := outgoingProperties(e.Properties)
		if err != nil {
			return nil, err
		}
		out[i] = &azeventhubs.EventData{Body: e.Body, MessageID: given(e.MessageID), ContentType: given(e.ContentType), Properties: properties}
		if e.CorrelationID != "" {
			out[i].CorrelationID = e.CorrelationID
		}
	}
	return out, nil
}

// incomingEvent returns an event of the client as package bindings has it.
func incomingEvent(e *azeventhubs.ReceivedEventData) *eventhubs.ReceivedEvent {
	out := &eventhubs.ReceivedEvent{
		Event: eventhubs.Event{
			Body: e.Body, MessageID: value(e.MessageID), CorrelationID: idText(e.CorrelationID), ContentType: value(e.ContentType),
			PartitionKey: e.PartitionKey, Properties: incomingProperties(e.Properties),
		},
		SequenceNumber: e.SequenceNumber, Offset: e.Offset, EnqueuedTime: utc(e.EnqueuedTime),
	}
	raw := e.RawAMQPMessage
	if raw == nil {
		return out
	}
	if e.Body == nil {
		out.Body = wholeBody(raw.Body.Data, raw.Body.Value)
	}
	if e.MessageID == nil && raw.Properties != nil {
		out.MessageID = idText(raw.Properties.MessageID)
	}
	return out
}

// idText is a message or correlation id, which AMQP has in four types, as text.
func idText(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case uint64:
		return strconv.FormatUint(id, 10)
	case amqp.UUID:
		return bindings.GUID(id).String()
	case []byte:
		return hex.EncodeToString(id)
	}
	return ""
}
