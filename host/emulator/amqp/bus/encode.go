package bus

import (
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// appendMessage adds m as a client gets it (spec messaging 3.5).
func appendMessage(b []byte, m *servicebus.Received) []byte {
	return appendSections(b, m, m.LockToken != (bindings.GUID{}))
}

func appendSections(b []byte, m *servicebus.Received, lockInAnnotations bool) []byte {
	b = appendHeader(b, m)
	b = appendDeliveryAnnotations(b, m, lockInAnnotations)
	b = appendAnnotations(b, m)
	b = appendProperties(b, m)
	w := m.Wire
	switch {
	case w != nil && !w.ApplicationPropertiesChanged:
		b = append(b, w.ApplicationProperties...)
	case len(m.ApplicationProperties) > 0:
		b = wire.AppendMapSection(b, wire.DescApplicationProperties, values.WireMap(m.ApplicationProperties))
	}
	if w == nil {
		return wire.AppendData(b, m.Body)
	}
	b = append(b, w.Body...)
	return append(b, w.Footer...)
}

// appendDeliveryAnnotations adds the sender's annotations, and the lock if it is wanted
// there. On a link the delivery tag says the same.
func appendDeliveryAnnotations(b []byte, m *servicebus.Received, lock bool) []byte {
	var theirs []byte
	if m.Wire != nil {
		theirs = m.Wire.DeliveryAnnotations
	}
	if !lock {
		return append(b, theirs...)
	}
	all := wire.Map{{Key: annLockToken, Value: wire.UUID(m.LockToken)}}
	if len(theirs) > 0 {
		d := wire.NewDecoder(theirs)
		d.Descriptor()
		all = append(all, d.Map()...)
	}
	return wire.AppendMapSection(b, wire.DescDeliveryAnnotations, all)
}

func appendHeader(b []byte, m *servicebus.Received) []byte {
	h := wire.Header{Priority: wire.DefaultPriority}
	if m.Wire != nil && len(m.Wire.Header) > 0 {
		if sent, err := wire.ParseHeader(m.Wire.Header); err == nil {
			h = sent
		}
	}
	h.TTL = wire.Opt[uint32]{}
	ttl := m.TimeToLive
	if !m.ExpiresAt.IsZero() {
		ttl = m.ExpiresAt.Sub(m.EnqueuedTime)
	}
	if ttl > 0 {
		h.TTL = wire.Some(uint32(min(ttl.Milliseconds(), math.MaxUint32)))
	}
	h.DeliveryCount = uint32(min(m.DeliveryCount, math.MaxUint32))
	h.FirstAcquirer = false
	return h.Append(b)
}

func appendAnnotations(b []byte, m *servicebus.Received) []byte {
	all := make(wire.Map, 0, 8)
	add := func(key wire.Symbol, v any) { all = append(all, wire.Entry{Key: key, Value: v}) }
	add(annSequenceNumber, m.SequenceNumber)
	if m.EnqueuedSequenceNumber != 0 {
		add(annEnqueueSequenceNumber, m.EnqueuedSequenceNumber)
	}
	if !m.EnqueuedTime.IsZero() {
		add(annEnqueuedTime, wire.TimestampOf(m.EnqueuedTime))
	}
	if !m.LockedUntil.IsZero() {
		add(annLockedUntil, wire.TimestampOf(m.LockedUntil))
	}
	if m.State != servicebus.StateActive {
		add(annMessageState, int32(m.State))
	}
	if !m.ScheduledEnqueueTime.IsZero() {
		add(annScheduledEnqueueTime, wire.TimestampOf(m.ScheduledEnqueueTime))
	}
	if m.PartitionKey != nil {
		add(annPartitionKey, *m.PartitionKey)
	}
	if m.TransactionPartitionKey != nil {
		add(annViaPartitionKey, *m.TransactionPartitionKey)
	}
	if m.DeadLetterSource != "" {
		add(annDeadLetterSource, m.DeadLetterSource)
	}
	if m.Wire != nil && len(m.Wire.Annotations) > 0 {
		d := wire.NewDecoder(m.Wire.Annotations)
		d.Descriptor()
		all = append(all, d.Map()...)
	}
	return wire.AppendMapSection(b, wire.DescMessageAnnotations, all)
}

// appendProperties adds the properties as they were sent, if nothing has changed and
// no expiry has to be told.
func appendProperties(b []byte, m *servicebus.Received) []byte {
	w := m.Wire
	unchanged := w != nil && !w.PropertiesChanged
	if unchanged && m.ExpiresAt.IsZero() {
		return append(b, w.Properties...)
	}
	var p wire.Properties
	if w != nil && len(w.Properties) > 0 {
		if sent, err := wire.ParseProperties(w.Properties); err == nil {
			p = sent
		}
	}
	if !unchanged {
		overlay(&p, &m.Message)
	}
	if !m.ExpiresAt.IsZero() {
		p.AbsoluteExpiryTime = wire.Some(wire.TimestampOf(m.ExpiresAt))
	}
	return p.Append(b)
}

// overlay sets the properties for which a message has plain fields. An identifier
// that still reads the same keeps its type.
func overlay(p *wire.Properties, m *servicebus.Message) {
	if idString(p.MessageID) != m.MessageID {
		p.MessageID = m.MessageID
	}
	if idString(p.CorrelationID) != m.CorrelationID {
		p.CorrelationID = nil
		if m.CorrelationID != "" {
			p.CorrelationID = m.CorrelationID
		}
	}
	set(&p.Subject, m.Subject)
	set(&p.To, m.To)
	set(&p.ReplyTo, m.ReplyTo)
	if string(p.ContentType.V) != m.ContentType {
		p.ContentType = wire.Opt[wire.Symbol]{V: wire.Symbol(m.ContentType), Set: m.ContentType != ""}
	}
	setOptional(&p.GroupID, m.SessionID)
	setOptional(&p.ReplyToGroupID, m.ReplyToSessionID)
}

func set(o *wire.Opt[string], s string) {
	if o.V != s {
		*o = wire.Opt[string]{V: s, Set: s != ""}
	}
}

func setOptional(o *wire.Opt[string], s *string) {
	*o = wire.Opt[string]{}
	if s != nil {
		*o = wire.Some(*s)
	}
}

// ticks is t as .NET counts: in 100 ns since the year 1.
func ticks(t time.Time) int64 {
	const unixEpoch = 621355968000000000
	return unixEpoch + t.Unix()*1e7 + int64(t.Nanosecond()/100)
}

// deliveryTag is the lock token in the order of bytes that .NET has for a GUID,
// which clients turn back.
func deliveryTag(g bindings.GUID) []byte {
	return []byte{g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]}
}
