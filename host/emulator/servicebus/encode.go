package servicebus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
)

// plain returns the value of an application property as it is kept: an int as an
// int64. ok is false for a type that a message cannot carry.
func plain(v any) (out any, ok bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case uint:
		return uint64(v), true
	case nil, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64,
		string, []byte, time.Time, bindings.GUID, messaging.Encoded:
		return v, true
	}
	return nil, false
}

// plainProperties is plain for all values, in a map of its own.
func plainProperties(properties map[string]any) (map[string]any, error) {
	if properties == nil {
		return nil, nil
	}
	out := make(map[string]any, len(properties))
	for name, v := range properties {
		p, ok := plain(v)
		if !ok {
			return nil, refuse(messaging.ConditionArgumentError, "application property %q has the type %T, which a message cannot carry", name, v)
		}
		out[name] = p
	}
	return out, nil
}

// Tags of values, one for each type of plain.
const (
	tagNil = iota
	tagFalse
	tagTrue
	tagInt8
	tagInt16
	tagInt32
	tagInt64
	tagUint8
	tagUint16
	tagUint32
	tagUint64
	tagFloat32
	tagFloat64
	tagString
	tagBytes
	tagTime
	tagGUID
	tagEncoded
	tagDuration // in rules only
)

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, tagNil)
	case bool:
		if v {
			return append(b, tagTrue)
		}
		return append(b, tagFalse)
	case int8:
		return binary.AppendVarint(append(b, tagInt8), int64(v))
	case int16:
		return binary.AppendVarint(append(b, tagInt16), int64(v))
	case int32:
		return binary.AppendVarint(append(b, tagInt32), int64(v))
	case int64:
		return binary.AppendVarint(append(b, tagInt64), v)
	case uint8:
		return binary.AppendUvarint(append(b, tagUint8), uint64(v))
	case uint16:
		return binary.AppendUvarint(append(b, tagUint16), uint64(v))
	case uint32:
		return binary.AppendUvarint(append(b, tagUint32), uint64(v))
	case uint64:
		return binary.AppendUvarint(append(b, tagUint64), v)
	case float32:
		return binary.AppendUvarint(append(b, tagFloat32), uint64(math.Float32bits(v)))
	case float64:
		return binary.AppendUvarint(append(b, tagFloat64), math.Float64bits(v))
	case string:
		return fields.AppendString(append(b, tagString), v)
	case []byte:
		return fields.AppendBytes(append(b, tagBytes), v)
	case time.Time:
		return fields.AppendTime(append(b, tagTime), v)
	case bindings.GUID:
		return append(append(b, tagGUID), v[:]...)
	case messaging.Encoded:
		return fields.AppendBytes(append(b, tagEncoded), v)
	case time.Duration:
		return binary.AppendVarint(append(b, tagDuration), int64(v))
	}
	panic(fmt.Sprintf("servicebus: a property of type %T", v)) // plain let it in
}

func (r *valueReader) value() any {
	switch tag := r.Byte(); tag {
	case tagNil:
		return nil
	case tagFalse, tagTrue:
		return tag == tagTrue
	case tagInt8:
		return int8(r.Varint())
	case tagInt16:
		return int16(r.Varint())
	case tagInt32:
		return int32(r.Varint())
	case tagInt64:
		return r.Varint()
	case tagUint8:
		return uint8(r.Uvarint())
	case tagUint16:
		return uint16(r.Uvarint())
	case tagUint32:
		return uint32(r.Uvarint())
	case tagUint64:
		return r.Uvarint()
	case tagFloat32:
		return math.Float32frombits(uint32(r.Uvarint()))
	case tagFloat64:
		return math.Float64frombits(r.Uvarint())
	case tagString:
		return r.String()
	case tagBytes:
		return r.Bytes()
	case tagTime:
		return r.Time()
	case tagGUID:
		return r.guid()
	case tagEncoded:
		return messaging.Encoded(r.Bytes())
	case tagDuration:
		return time.Duration(r.Varint())
	}
	r.Fail()
	return nil
}

func appendProperties(b []byte, properties map[string]any) []byte {
	b = binary.AppendUvarint(b, uint64(len(properties)))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b = appendValue(fields.AppendString(b, name), properties[name])
	}
	return b
}

func (r *valueReader) properties() map[string]any {
	n := r.Uvarint()
	if n == 0 || n > uint64(r.Len()) {
		if n != 0 {
			r.Fail()
		}
		return nil
	}
	out := map[string]any{} // the number may be damage
	for range n {
		name := r.String()
		out[name] = r.value()
		if r.Bad() {
			return nil
		}
	}
	return out
}

// appendContent writes a message as it was sent. A body that is the end of its
// wire section is not written twice.
func appendContent(b []byte, m *servicebus.Message) []byte {
	for _, s := range []string{m.MessageID, m.CorrelationID, m.Subject, m.To, m.ReplyTo, m.ContentType} {
		b = fields.AppendString(b, s)
	}
	for _, s := range []*string{m.SessionID, m.ReplyToSessionID, m.PartitionKey, m.TransactionPartitionKey} {
		b = fields.AppendOptional(b, s)
	}
	b = binary.AppendVarint(b, int64(m.TimeToLive))
	b = fields.AppendTime(b, m.ScheduledEnqueueTime)
	b = appendProperties(b, m.ApplicationProperties)
	w := m.Wire
	if w == nil {
		return fields.AppendBytes(append(b, 0), m.Body)
	}
	flags := byte(1)
	if w.PropertiesChanged {
		flags |= 2
	}
	if w.ApplicationPropertiesChanged {
		flags |= 4
	}
	inside := bytes.HasSuffix(w.Body, m.Body)
	if inside {
		flags |= 8
	}
	if len(w.DeliveryAnnotations) > 0 {
		flags |= 16
	}
	b = append(b, flags)
	if flags&16 != 0 {
		b = fields.AppendBytes(b, w.DeliveryAnnotations)
	}
	for _, section := range [][]byte{w.Header, w.Annotations, w.Properties, w.ApplicationProperties, w.Body, w.Footer} {
		b = fields.AppendBytes(b, section)
	}
	if inside {
		return binary.AppendUvarint(b, uint64(len(m.Body)))
	}
	return fields.AppendBytes(b, m.Body)
}

func (r *valueReader) content() *servicebus.Message {
	m := &servicebus.Message{}
	for _, s := range []*string{&m.MessageID, &m.CorrelationID, &m.Subject, &m.To, &m.ReplyTo, &m.ContentType} {
		*s = r.String()
	}
	for _, s := range []**string{&m.SessionID, &m.ReplyToSessionID, &m.PartitionKey, &m.TransactionPartitionKey} {
		*s = r.Optional()
	}
	m.TimeToLive = time.Duration(r.Varint())
	m.ScheduledEnqueueTime = r.Time()
	m.ApplicationProperties = r.properties()
	flags := r.Byte()
	if flags&1 == 0 {
		m.Body = r.Bytes()
		return m
	}
	w := &messaging.Wire{PropertiesChanged: flags&2 != 0, ApplicationPropertiesChanged: flags&4 != 0}
	if flags&16 != 0 {
		w.DeliveryAnnotations = r.Bytes()
	}
	for _, section := range []*[]byte{&w.Header, &w.Annotations, &w.Properties, &w.ApplicationProperties, &w.Body, &w.Footer} {
		*section = r.Bytes()
	}
	m.Wire = w
	if flags&8 == 0 {
		m.Body = r.Bytes()
		return m
	}
	n := r.Uvarint()
	if n > uint64(len(w.Body)) {
		r.Fail()
		return m
	}
	m.Body = w.Body[uint64(len(w.Body))-n:]
	return m
}

// subQueues gives each queue of an entity its number in the store.
var subQueues = [...]servicebus.SubQueue{servicebus.MainQueue, servicebus.DeadLetterQueue, servicebus.TransferDeadLetterQueue}

// appendState writes what receives and settlements change.
func appendState(b []byte, q *queue, m *message) []byte {
	b = fields.AppendBool(append(b, byte(slices.Index(subQueues[:], q.sub)), byte(m.state)), m.outside)
	b = binary.AppendVarint(b, m.enqSeq)
	b = fields.AppendTime(b, m.enqueued)
	b = fields.AppendTime(b, m.expires)
	b = binary.AppendVarint(b, m.count)
	b = binary.AppendVarint(b, int64(m.hops))
	b = fields.AppendString(b, m.source)
	b = append(b, m.token[:]...)
	return fields.AppendTime(b, m.until)
}

// state reads what appendState wrote, and the number of the queue.
func (r *valueReader) state(m *message) (sub int) {
	sub = int(r.Byte())
	m.state, m.outside = servicebus.State(r.Byte()), r.Bool()
	m.enqSeq, m.enqueued, m.expires = r.Varint(), r.Time(), r.Time()
	m.count, m.hops, m.source = r.Varint(), int(r.Varint()), r.String()
	m.token, m.until = r.guid(), r.Time()
	if sub >= len(subQueues) || m.state > servicebus.StateScheduled || r.Len() > 0 {
		r.Fail()
	}
	return sub
}

func appendSession(b []byte, s *session) []byte {
	b = fields.AppendBool(fields.AppendBool(b, s.state != nil), s.outside)
	b = fields.AppendBytes(b, s.state)
	b = fields.AppendTime(b, s.set)
	return fields.AppendTime(b, s.until)
}

func (r *valueReader) session(s *session) {
	has, outside := r.Bool(), r.Bool()
	if state := r.Bytes(); has {
		s.state = append([]byte{}, state...)
	}
	s.set, s.until, s.outside = r.Time(), r.Time(), outside
	s.lastUntil = s.until
}

// valueReader reads what was appended.
type valueReader struct{ fields.Reader }

func newReader(b []byte) valueReader { return valueReader{fields.NewReader(b)} }

func (r *valueReader) guid() (g bindings.GUID) {
	copy(g[:], r.Take(len(g)))
	return g
}
