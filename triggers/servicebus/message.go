package servicebus

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
)

// maxTime is the platform's latest date, which stands for "never".
var maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC)

// Message returns what a function receives for a body: how an admin call hands
// its input to a function. Batch: it takes batches, and the body is a member of one.
func Message(body []byte, contentType, dataType string, batch bool) triggers.Message {
	return valueOf(&servicebus.Message{Body: body, ContentType: contentType}, dataType, batch, true, map[string]any{})
}

// messageOf is Message for a message of the service. actions is [Options.SessionActions],
// nil without.
func (o *Options) messageOf(m *servicebus.Received, actions json.RawMessage) triggers.Message {
	metadata := map[string]any{}
	if actions != nil {
		metadata[sessionActions] = actions
	}
	for _, p := range metadataOf(m) {
		metadata[p.name] = p.value
	}
	out := o.valueOf(m, metadata)
	out.ID, out.Number = m.MessageID, m.SequenceNumber
	return out
}

// valueOf makes the trigger's value of a message of the service.
func (o *Options) valueOf(m *servicebus.Received, metadata map[string]any) triggers.Message {
	out := valueOf(&m.Message, o.DataType, o.Batch, !o.TextMembers || o.Value == nil && !triggers.IsBinary(o.DataType), metadata)
	if o.Value != nil {
		out.Value, out.Err = o.Value(m), nil
	}
	return out
}

// valueOf makes the trigger's value. A body that is not UTF-8 does not fit a text
// parameter (WSB: src/Triggers/Converters/MessageToStringConverter.cs).
// Members: those of a JSON body are metadata.
func valueOf(m *servicebus.Message, dataType string, batch, members bool, metadata map[string]any) triggers.Message {
	text := utf8.Valid(m.Body)
	if text && members {
		bindings.ApplyJSON(metadata, m.Body)
	}
	out := triggers.Message{Metadata: metadata}
	switch {
	case triggers.IsBinary(dataType):
		out.Value = bindings.BytesValue(m.Body)
	case !text:
		out.Err = fmt.Errorf("the message with content type %q is not UTF-8 text: bind it with dataType binary", m.ContentType)
	case batch && !strings.EqualFold(dataType, "string"):
		var err error
		if out.Value, err = bindings.Element(string(m.Body)); err != nil {
			out.Err = fmt.Errorf("the message with content type %q does not fit: %w", m.ContentType, err)
		}
	default:
		out.Value = bindings.StringValue(string(m.Body))
	}
	return out
}

// batchOf makes the messages of a batch. Its metadata come from the first one: each
// name of a single message with "Array" behind it, and the values of all. actions is
// [Options.SessionActions], nil without.
func (o *Options) batchOf(batch []*servicebus.Received, actions json.RawMessage) []triggers.Message {
	out := make([]triggers.Message, len(batch))
	arrays := map[string]any{}
	columns := map[string][]any{}
	for i, m := range batch {
		out[i] = o.valueOf(m, map[string]any{})
		out[i].ID, out[i].Number, out[i].Count = m.MessageID, m.SequenceNumber, m.DeliveryNumber()
		out[i].Metadata = nil
		for _, p := range metadataOf(m) {
			if columns[p.name] == nil {
				columns[p.name] = make([]any, len(batch))
			}
			if at, ok := p.value.(time.Time); ok {
				p.value = bindings.PlainTimeJSON(at)
			}
			columns[p.name][i] = p.value
		}
	}
	for name, values := range columns {
		if raw, err := json.Marshal(values); err == nil {
			arrays[name+"Array"] = json.RawMessage(raw)
		}
	}
	if actions != nil {
		arrays[sessionActions] = actions
		arrays["SessionIdArray"] = sessionsOf(batch)
	}
	out[0].Metadata = arrays
	return out
}

// sessionActions is the name of [Options.SessionActions] in the metadata.
const sessionActions = "SessionActions"

// sessionActions is when the lock of the session ends, nil where it is not told.
func (p *pump) sessionActions() json.RawMessage {
	s, ok := p.receiver.(servicebus.Session)
	if !ok || !p.opts.SessionActions {
		return nil
	}
	raw, _ := json.Marshal(map[string]time.Time{"SessionLockedUntil": s.LockedUntil().UTC()}) // a time has a JSON form
	return raw
}

// sessionsOf names the session of each message.
func sessionsOf(batch []*servicebus.Received) []string {
	out := make([]string, len(batch))
	for i, m := range batch {
		if m.SessionID != nil {
			out[i] = *m.SessionID
		}
	}
	return out
}

type metadatum struct {
	name  string
	value any
}

// metadataOf returns the binding data of a message under the platform's names
// (spec messaging 2.5). Missing properties are left out.
//
// Source: src/Triggers/ServiceBusTriggerBindingStrategy.cs.
func metadataOf(m *servicebus.Received) []metadatum {
	expires := m.ExpiresAt
	if expires.IsZero() {
		expires = maxTime
	}
	properties := propertiesJSON(m.ApplicationProperties)
	out := []metadatum{
		{"DeliveryCount", m.DeliveryNumber()},
		{"LockToken", m.LockToken.String()},
		{"ExpiresAtUtc", expires.UTC()},
		{"ExpiresAt", bindings.DateTimeOffset{Time: expires.UTC()}},
		{"EnqueuedTimeUtc", m.EnqueuedTime.UTC()},
		{"EnqueuedTime", bindings.DateTimeOffset{Time: m.EnqueuedTime.UTC()}},
		{"MessageId", m.MessageID},
		{"SequenceNumber", m.SequenceNumber},
		{"ApplicationProperties", properties},
		{"UserProperties", properties},
	}
	for _, p := range []struct{ name, value string }{
		{"DeadLetterSource", m.DeadLetterSource},
		{"ContentType", m.ContentType},
		{"ReplyTo", m.ReplyTo},
		{"To", m.To},
		{"CorrelationId", m.CorrelationID},
		{"Subject", m.Subject},
		{"Label", m.Subject},
	} {
		if p.value != "" {
			out = append(out, metadatum{p.name, p.value})
		}
	}
	for _, p := range []struct {
		name  string
		value *string
	}{
		{"SessionId", m.SessionID},
		{"ReplyToSessionId", m.ReplyToSessionID},
		{"PartitionKey", m.PartitionKey},
		{"TransactionPartitionKey", m.TransactionPartitionKey},
	} {
		if p.value != nil {
			out = append(out, metadatum{p.name, *p.value})
		}
	}
	return out
}

// details are the fields that the platform logs of a message in each invocation,
// behind its ID and its delivery count (spec messaging 2.5).
//
// Source: tests/ServiceBusEndToEndTests.cs.
func (p *pump) details(m *servicebus.Received) []triggers.Detail {
	out := []triggers.Detail{
		{Name: "EnqueuedTime", Value: m.EnqueuedTime.UTC().Format(time.RFC3339Nano)},
		{Name: "LockedUntil", Value: m.LockedUntil.UTC().Format(time.RFC3339Nano)},
	}
	if p.session != nil && m.SessionID != nil {
		out = append(out, triggers.Detail{Name: "SessionId", Value: *m.SessionID})
	}
	return out
}

// propertiesJSON writes application properties as one JSON object.
func propertiesJSON(properties map[string]any) json.RawMessage {
	plain := make(map[string]any, len(properties))
	for name, v := range properties {
		switch v := v.(type) {
		case bindings.GUID:
			plain[name] = v.String()
		case messaging.Encoded:
			plain[name] = []byte(v)
		default:
			plain[name] = v
		}
	}
	raw, err := json.Marshal(plain)
	if err != nil { // a float that JSON does not have
		for name, v := range plain {
			if _, err := json.Marshal(v); err != nil {
				plain[name] = fmt.Sprint(v)
			}
		}
		raw, _ = json.Marshal(plain)
	}
	return raw
}
