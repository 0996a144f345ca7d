package eventhubs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/triggers"
)

// Message returns what a function receives for a body: how an admin call hands its
// input to a function. Batch: it takes batches, and the body is a member of one.
func Message(body []byte, dataType string, batch bool) triggers.Message {
	return valueOf(body, dataType, batch, true, map[string]any{})
}

// messageOf is Message for one event. An event without a message id is named by its
// partition and sequence number.
func (p *pump) messageOf(e *eventhubs.ReceivedEvent) triggers.Message {
	metadata := map[string]any{"PartitionContext": p.partitionContext()}
	for _, d := range metadataOf(e) {
		if d.value != nil {
			metadata[d.name] = d.value
		}
	}
	m := p.valueOf(e, metadata)
	m.ID, m.Number = p.idOf(e), e.SequenceNumber+1
	return m
}

// batchOf makes the messages of a batch. Its metadata come from the first one: each
// name of a single event with "Array" behind it, and the values of all.
func (p *pump) batchOf(events []*eventhubs.ReceivedEvent) []triggers.Message {
	out := make([]triggers.Message, len(events))
	columns := map[string][]any{}
	for i, e := range events {
		out[i] = p.valueOf(e, map[string]any{})
		out[i].ID, out[i].Number, out[i].Metadata = p.idOf(e), e.SequenceNumber+1, nil
		for _, d := range metadataOf(e) {
			if at, ok := d.value.(time.Time); ok {
				d.value = bindings.PlainTimeJSON(at)
			}
			columns[d.name] = append(columns[d.name], d.value)
		}
	}
	arrays := map[string]any{"PartitionContext": p.partitionContext()}
	for name, values := range columns {
		arrays[name+"Array"] = asJSON(values)
	}
	out[0].Metadata = arrays
	return out
}

func (p *pump) idOf(e *eventhubs.ReceivedEvent) string {
	if e.MessageID != "" {
		return e.MessageID
	}
	return p.partition + "/" + strconv.FormatInt(e.SequenceNumber, 10)
}

// partitionContext says which partition the events are from.
func (p *pump) partitionContext() json.RawMessage {
	return asJSON(struct {
		FullyQualifiedNamespace, EventHubName, ConsumerGroup, PartitionId string //nolint:revive // the platform's name
		IsCheckpointingAfterInvocation                                    bool
	}{p.hubs.FullyQualifiedNamespace(), p.hub, p.opts.ConsumerGroup, p.partition, p.checkpoints()})
}

// valueOf makes the trigger's value of an event of the service.
func (p *pump) valueOf(e *eventhubs.ReceivedEvent, metadata map[string]any) triggers.Message {
	out := valueOf(e.Body, p.opts.DataType, p.opts.Batch, !p.opts.TextMembers || p.opts.Value == nil && !triggers.IsBinary(p.opts.DataType), metadata)
	if p.opts.Value != nil {
		out.Value, out.Err = p.opts.Value(e), nil
	}
	return out
}

// valueOf makes the trigger's value. Bytes that are no UTF-8 become U+FFFD in a text (WEH:
// src/Config/EventHubExtensionConfigProvider.cs ConvertEventDataToString).
// Members: those of a JSON body are metadata.
func valueOf(body []byte, dataType string, batch, members bool, metadata map[string]any) triggers.Message {
	out := triggers.Message{Metadata: metadata}
	text := bindings.Text(body)
	if members {
		bindings.ApplyJSON(metadata, []byte(text))
	}
	switch {
	case triggers.IsBinary(dataType):
		out.Value = bindings.BytesValue(body)
	case batch && !strings.EqualFold(dataType, "string"):
		var err error
		if out.Value, err = bindings.Element(text); err != nil {
			out.Err = fmt.Errorf("the event does not fit: %w", err)
		}
	default:
		out.Value = bindings.StringValue(text)
	}
	return out
}

type datum struct {
	name  string
	value any // nil: the event does not have it
}

// metadataOf returns the binding data of an event under the platform's names (spec
// messaging 6.1).
//
// Source: src/Triggers/EventHubTriggerBindingStrategy.cs.
func metadataOf(e *eventhubs.ReceivedEvent) []datum {
	var key any
	if e.PartitionKey != nil {
		key = *e.PartitionKey
	}
	enqueued := e.EnqueuedTime.UTC()
	offset := numericOffset(e.Offset)
	return []datum{
		{"PartitionKey", key},
		{"Offset", offset},
		{"OffsetString", e.Offset},
		{"SequenceNumber", e.SequenceNumber},
		{"EnqueuedTimeUtc", enqueued},
		{"Properties", asJSON(plain(e.Properties))},
		{"SystemProperties", asJSON(systemProperties(e, key, json.Number(offset)))},
	}
}

// systemProperties is what the message itself says in AMQP's names, and what the platform
// repeats of the rest, the offset as a number. The sender's own annotations are not among it.
//
// Source: azure-sdk-for-net, Azure.Messaging.EventHubs, src/Amqp/AmqpSystemProperties.cs.
func systemProperties(e *eventhubs.ReceivedEvent, key any, offset json.Number) map[string]any {
	out := map[string]any{
		"x-opt-sequence-number": e.SequenceNumber, "x-opt-offset": e.Offset,
		"x-opt-enqueued-time": bindings.DateTimeOffset{Time: e.EnqueuedTime.UTC()},
		"SequenceNumber":      e.SequenceNumber, "Offset": offset, "OffsetString": e.Offset, "PartitionKey": key,
		"EnqueuedTimeUtc": bindings.PlainTimeJSON(e.EnqueuedTime),
	}
	if key != nil {
		out["x-opt-partition-key"] = key
	}
	for name, text := range map[string]string{"message-id": e.MessageID, "correlation-id": e.CorrelationID, "content-type": e.ContentType} {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// numericOffset is an offset for those who read it as a number: -1 for one that is none,
// as in a hub with geo-replication (spec drift-2026 C-24).
func numericOffset(offset string) string {
	if _, err := strconv.ParseInt(offset, 10, 64); err != nil {
		return "-1"
	}
	return offset
}

// plain makes properties values that JSON has.
func plain(properties map[string]any) map[string]any {
	out := make(map[string]any, len(properties))
	for name, v := range properties {
		switch w := v.(type) {
		case bindings.GUID:
			v = w.String()
		case messaging.Encoded:
			v = []byte(w)
		}
		if _, err := json.Marshal(v); err != nil { // a float that JSON does not have
			v = fmt.Sprint(v)
		}
		out[name] = v
	}
	return out
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // plain values
		panic(err)
	}
	return raw
}
