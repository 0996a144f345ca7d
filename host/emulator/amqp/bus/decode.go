package bus

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// decodeMessage makes an AMQP message one for the namespace. It keeps slices of
// payload.
func decodeMessage(payload []byte) (*servicebus.Message, error) {
	m, err := wire.ParseMessage(payload)
	if err != nil {
		return nil, wire.Errorf(wire.CondDecodeError, "%v", err)
	}
	p := &m.Properties
	out := &servicebus.Message{
		Body:             values.Body(m),
		MessageID:        idString(p.MessageID),
		SessionID:        optional(p.GroupID),
		ReplyToSessionID: optional(p.ReplyToGroupID),
		CorrelationID:    idString(p.CorrelationID),
		Subject:          p.Subject.V,
		To:               p.To.V,
		ReplyTo:          p.ReplyTo.V,
		ContentType:      string(p.ContentType.V),
		TimeToLive:       timeToLive(m),
		Wire: &messaging.Wire{
			Header:                m.RawHeader,
			Properties:            m.RawProperties,
			ApplicationProperties: m.RawApplicationProperties,
			Body:                  m.Body,
			Footer:                m.Footer,
		},
	}
	var kept wire.Map
	for _, e := range m.MessageAnnotations {
		switch e.Key {
		case annScheduledEnqueueTime:
			if at, ok := e.Value.(wire.Timestamp); ok {
				out.ScheduledEnqueueTime = at.Time()
			}
		case annPartitionKey:
			out.PartitionKey = text(e.Value)
		case annViaPartitionKey:
			out.TransactionPartitionKey = text(e.Value)
		default:
			if !isOurs(e.Key) {
				kept = append(kept, e)
			}
		}
	}
	out.Wire.Annotations = wire.AppendMapSection(nil, wire.DescMessageAnnotations, kept)
	if theirs := slices.DeleteFunc(m.DeliveryAnnotations, func(e wire.Entry) bool { return isOurs(e.Key) }); len(theirs) > 0 {
		out.Wire.DeliveryAnnotations = wire.AppendMapSection(nil, wire.DescDeliveryAnnotations, theirs)
	}
	out.ApplicationProperties = values.PlainMap(m.ApplicationProperties)
	return out, nil
}

// timeToLive is the header's. Clients for whom it is too small for what they want
// give creation and expiry.
func timeToLive(m *wire.Message) time.Duration {
	ttl := m.Header.TTL
	if !ttl.Set {
		return 0
	}
	p := &m.Properties
	if ttl.V == math.MaxUint32 && p.AbsoluteExpiryTime.Set && p.CreationTime.Set {
		ms := int64(p.AbsoluteExpiryTime.V) - int64(p.CreationTime.V)
		if ms > int64(math.MaxInt64/time.Millisecond) {
			return 0 // as good as for ever
		}
		return time.Duration(max(ms, 0)) * time.Millisecond
	}
	return time.Duration(ttl.V) * time.Millisecond
}

// idString is a message-id or correlation-id as text.
func idString(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case uint64:
		return strconv.FormatUint(id, 10)
	case wire.UUID:
		return bindings.GUID(id).String()
	case []byte:
		return hex.EncodeToString(id)
	default:
		return ""
	}
}

func optional(o wire.Opt[string]) *string {
	if !o.Set {
		return nil
	}
	return &o.V
}

func text(v any) *string {
	switch v := v.(type) {
	case string:
		return &v
	case []byte: // the client for Python sends a received annotation again as it keeps it
		s := string(v)
		return &s
	}
	return nil
}
