package hubs

import (
	"slices"
	"strconv"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Annotations that the service sets; the sender may set the key too.
const (
	annSequenceNumber wire.Symbol = "x-opt-sequence-number"
	annOffset         wire.Symbol = "x-opt-offset"
	annEnqueuedTime   wire.Symbol = "x-opt-enqueued-time"
	annPartitionKey   wire.Symbol = "x-opt-partition-key"
)

// formatBatch is the message-format of a batch: each data section of the body is a
// whole message.
const formatBatch = 0x80013700

// decode returns the events of a delivery, and the key by which their partition is
// picked, nil without.
func decode(format uint32, payload []byte) (events []*eventhubs.Event, key *string, err error) {
	m, err := parse(payload)
	if err != nil {
		return nil, nil, err
	}
	if format != formatBatch {
		e := eventOf(m)
		return []*eventhubs.Event{e}, e.PartitionKey, nil
	}
	key = keyOf(m)
	parts := m.DataSections()
	if parts == nil {
		return nil, nil, wire.Errorf(wire.CondDecodeError, "batch: the body is no data")
	}
	for _, part := range parts {
		if m, err = parse(part); err != nil {
			return nil, nil, err
		}
		e := eventOf(m)
		if key == nil {
			key = e.PartitionKey
		}
		events = append(events, e)
	}
	return events, key, nil
}

func parse(payload []byte) (*wire.Message, error) {
	m, err := wire.ParseMessage(payload)
	if err != nil {
		return nil, wire.Errorf(wire.CondDecodeError, "%v", err)
	}
	return m, nil
}

// eventOf makes an event of a message. It keeps slices of it.
func eventOf(m *wire.Message) *eventhubs.Event {
	var kept wire.Map
	for _, e := range m.MessageAnnotations {
		switch e.Key {
		case annSequenceNumber, annOffset, annEnqueuedTime, annPartitionKey:
		default:
			kept = append(kept, e)
		}
	}
	var delivery []byte
	if len(m.DeliveryAnnotations) > 0 {
		delivery = wire.AppendMapSection(nil, wire.DescDeliveryAnnotations, m.DeliveryAnnotations)
	}
	return &eventhubs.Event{
		Body:          values.Body(m),
		MessageID:     values.ID(m.Properties.MessageID),
		CorrelationID: values.ID(m.Properties.CorrelationID),
		ContentType:   string(m.Properties.ContentType.V),
		PartitionKey:  keyOf(m),
		Properties:    values.PlainMap(m.ApplicationProperties),
		Wire: &messaging.Wire{
			Header:                m.RawHeader,
			Annotations:           wire.AppendMapSection(nil, wire.DescMessageAnnotations, kept),
			Properties:            m.RawProperties,
			ApplicationProperties: m.RawApplicationProperties,
			Body:                  m.Body,
			Footer:                m.Footer,
			DeliveryAnnotations:   delivery,
		},
	}
}

// keyOf is the partition key of a message.
func keyOf(m *wire.Message) *string {
	for _, e := range m.MessageAnnotations {
		if e.Key != annPartitionKey {
			continue
		}
		switch key := e.Value.(type) {
		case string:
			return &key
		case []byte: // the client for Python sends a received annotation again as it keeps it
			s := string(key)
			return &s
		}
	}
	return nil
}

// outgoing is an event on its way to a client.
type outgoing struct {
	*eventhubs.ReceivedEvent
	settled bool
	metrics wire.Map // of the partition, among the delivery annotations
}

// Tag implements amqp.Outgoing.
func (o *outgoing) Tag() []byte { return strconv.AppendInt(nil, o.SequenceNumber, 10) }

// Settled implements amqp.Outgoing.
func (o *outgoing) Settled() bool { return o.settled }

// Append implements amqp.Outgoing: the sections as they came, with annotations of the
// service's own.
func (o *outgoing) Append(b []byte) []byte {
	own := wire.Map{
		{Key: annSequenceNumber, Value: o.SequenceNumber},
		{Key: annOffset, Value: o.Offset},
		{Key: annEnqueuedTime, Value: wire.TimestampOf(o.EnqueuedTime)},
	}
	if o.PartitionKey != nil {
		own = append(own, wire.Entry{Key: annPartitionKey, Value: *o.PartitionKey})
	}
	w := o.Wire
	if w == nil {
		return o.appendPlain(wire.AppendMapSection(o.appendDelivery(b, nil), wire.DescMessageAnnotations, own))
	}
	if len(w.Annotations) > 0 {
		d := wire.NewDecoder(w.Annotations)
		d.Descriptor()
		own = append(own, d.Map()...)
	}
	b = o.appendDelivery(append(b, w.Header...), w.DeliveryAnnotations)
	b = wire.AppendMapSection(b, wire.DescMessageAnnotations, own)
	for _, section := range [][]byte{w.Properties, w.ApplicationProperties, w.Body, w.Footer} {
		b = append(b, section...)
	}
	return b
}

// appendDelivery adds the delivery annotations: the sender's, a section, and the metrics.
func (o *outgoing) appendDelivery(b, theirs []byte) []byte {
	if o.metrics == nil {
		return append(b, theirs...)
	}
	all := slices.Clone(o.metrics)
	if len(theirs) > 0 {
		d := wire.NewDecoder(theirs)
		d.Descriptor()
		all = append(all, d.Map()...)
	}
	return wire.AppendMapSection(b, wire.DescDeliveryAnnotations, all)
}

// appendPlain adds the sections of an event that did not come over AMQP.
func (o *outgoing) appendPlain(b []byte) []byte {
	var p wire.Properties
	if o.MessageID != "" {
		p.MessageID = o.MessageID
	}
	if o.CorrelationID != "" {
		p.CorrelationID = o.CorrelationID
	}
	if o.ContentType != "" {
		p.ContentType = wire.Some(wire.Symbol(o.ContentType))
	}
	if o.MessageID != "" || o.CorrelationID != "" || o.ContentType != "" {
		b = p.Append(b)
	}
	if len(o.Properties) > 0 {
		b = wire.AppendMapSection(b, wire.DescApplicationProperties, values.WireMap(o.Properties))
	}
	return wire.AppendData(b, o.Body)
}
