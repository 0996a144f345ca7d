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
		string, []byte, time.Time, bindings.GUID, bindings.ServiceBusEncoded:
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
			return nil, refuse(bindings.ConditionArgumentError, "application property %q has the type %T, which a message cannot carry", name, v)
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
		return appendString(append(b, tagString), v)
	case []byte:
		return appendBytes(append(b, tagBytes), v)
	case time.Time:
		return appendTime(append(b, tagTime), v)
	case bindings.GUID:
		return append(append(b, tagGUID), v[:]...)
	case bindings.ServiceBusEncoded:
		return appendBytes(append(b, tagEncoded), v)
	case time.Duration:
		return binary.AppendVarint(append(b, tagDuration), int64(v))
	}
	panic(fmt.Sprintf("servicebus: a property of type %T", v)) // plain let it in
}

func (r *valueReader) value() any {
	switch tag := r.byte(); tag {
	case tagNil:
		return nil
	case tagFalse, tagTrue:
		return tag == tagTrue
	case tagInt8:
		return int8(r.varint())
	case tagInt16:
		return int16(r.varint())
	case tagInt32:
		return int32(r.varint())
	case tagInt64:
		return r.varint()
	case tagUint8:
		return uint8(r.uvarint())
	case tagUint16:
		return uint16(r.uvarint())
	case tagUint32:
		return uint32(r.uvarint())
	case tagUint64:
		return r.uvarint()
	case tagFloat32:
		return math.Float32frombits(uint32(r.uvarint()))
	case tagFloat64:
		return math.Float64frombits(r.uvarint())
	case tagString:
		return r.string()
	case tagBytes:
		return r.bytes()
	case tagTime:
		return r.time()
	case tagGUID:
		return r.guid()
	case tagEncoded:
		return bindings.ServiceBusEncoded(r.bytes())
	case tagDuration:
		return time.Duration(r.varint())
	}
	r.bad = true
	return nil
}

func appendProperties(b []byte, properties map[string]any) []byte {
	b = binary.AppendUvarint(b, uint64(len(properties)))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b = appendValue(appendString(b, name), properties[name])
	}
	return b
}

func (r *valueReader) properties() map[string]any {
	n := r.uvarint()
	if n == 0 || n > uint64(len(r.b)) {
		r.bad = r.bad || n != 0
		return nil
	}
	out := make(map[string]any, n)
	for range n {
		name := r.string()
		out[name] = r.value()
	}
	return out
}

// appendContent writes a message as it was sent. A body that is the end of its
// wire section is not written twice.
func appendContent(b []byte, m *bindings.ServiceBusMessage) []byte {
	for _, s := range []string{m.MessageID, m.CorrelationID, m.Subject, m.To, m.ReplyTo, m.ContentType} {
		b = appendString(b, s)
	}
	for _, s := range []*string{m.SessionID, m.ReplyToSessionID, m.PartitionKey, m.TransactionPartitionKey} {
		b = appendOptional(b, s)
	}
	b = binary.AppendVarint(b, int64(m.TimeToLive))
	b = appendTime(b, m.ScheduledEnqueueTime)
	b = appendProperties(b, m.ApplicationProperties)
	w := m.Wire
	if w == nil {
		return appendBytes(append(b, 0), m.Body)
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
	b = append(b, flags)
	for _, section := range [][]byte{w.Header, w.Annotations, w.Properties, w.ApplicationProperties, w.Body, w.Footer} {
		b = appendBytes(b, section)
	}
	if inside {
		return binary.AppendUvarint(b, uint64(len(m.Body)))
	}
	return appendBytes(b, m.Body)
}

func (r *valueReader) content() *bindings.ServiceBusMessage {
	m := &bindings.ServiceBusMessage{}
	for _, s := range []*string{&m.MessageID, &m.CorrelationID, &m.Subject, &m.To, &m.ReplyTo, &m.ContentType} {
		*s = r.string()
	}
	for _, s := range []**string{&m.SessionID, &m.ReplyToSessionID, &m.PartitionKey, &m.TransactionPartitionKey} {
		*s = r.optional()
	}
	m.TimeToLive = time.Duration(r.varint())
	m.ScheduledEnqueueTime = r.time()
	m.ApplicationProperties = r.properties()
	flags := r.byte()
	if flags&1 == 0 {
		m.Body = r.bytes()
		return m
	}
	w := &bindings.ServiceBusWire{PropertiesChanged: flags&2 != 0, ApplicationPropertiesChanged: flags&4 != 0}
	for _, section := range []*[]byte{&w.Header, &w.Annotations, &w.Properties, &w.ApplicationProperties, &w.Body, &w.Footer} {
		*section = r.bytes()
	}
	m.Wire = w
	if flags&8 == 0 {
		m.Body = r.bytes()
		return m
	}
	n := r.uvarint()
	if n > uint64(len(w.Body)) {
		r.bad = true
		return m
	}
	m.Body = w.Body[uint64(len(w.Body))-n:]
	return m
}

// subQueues gives each queue of an entity its number in the store.
var subQueues = [...]bindings.ServiceBusSubQueue{bindings.ServiceBusMain, bindings.ServiceBusDeadLetter, bindings.ServiceBusTransferDeadLetter}

// appendState writes what receives and settlements change.
func appendState(b []byte, q *queue, m *message) []byte {
	b = append(b, byte(slices.Index(subQueues[:], q.sub)), byte(m.state), flag(m.outside))
	b = binary.AppendVarint(b, m.enqSeq)
	b = appendTime(b, m.enqueued)
	b = appendTime(b, m.expires)
	b = binary.AppendVarint(b, m.count)
	b = binary.AppendVarint(b, int64(m.hops))
	b = appendString(b, m.source)
	b = append(b, m.token[:]...)
	return appendTime(b, m.until)
}

// state reads what appendState wrote, and the number of the queue.
func (r *valueReader) state(m *message) (sub int) {
	sub = int(r.byte())
	m.state, m.outside = bindings.ServiceBusState(r.byte()), r.byte() == 1
	m.enqSeq, m.enqueued, m.expires = r.varint(), r.time(), r.time()
	m.count, m.hops, m.source = r.varint(), int(r.varint()), r.string()
	m.token, m.until = r.guid(), r.time()
	r.bad = r.bad || sub >= len(subQueues) || len(r.b) > 0
	return sub
}

func appendSession(b []byte, s *session) []byte {
	b = append(b, flag(s.state != nil), flag(s.outside))
	b = appendBytes(b, s.state)
	b = appendTime(b, s.set)
	return appendTime(b, s.until)
}

func (r *valueReader) session(s *session) {
	has, outside := r.byte() == 1, r.byte() == 1
	if state := r.bytes(); has {
		s.state = append([]byte{}, state...)
	}
	s.set, s.until, s.outside = r.time(), r.time(), outside
	s.lastUntil = s.until
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBytes(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, 0)
	}
	return appendString(append(b, 1), *s)
}

// appendTime keeps every time that a time.Time can be, the zero one included.
func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

// valueReader reads what was appended; bad says that something was not there.
type valueReader struct {
	b   []byte
	bad bool
}

func (r *valueReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *valueReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *valueReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		n = -1
	}
	r.take(n)
	return v
}

func (r *valueReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		n = -1
	}
	r.take(n)
	return v
}

func (r *valueReader) string() string { return string(r.take(int(min(r.uvarint(), 1<<30)))) }

// bytes returns a copy, nil when it is empty.
func (r *valueReader) bytes() []byte { return bytes.Clone(r.take(int(min(r.uvarint(), 1<<30)))) }

func (r *valueReader) optional() *string {
	if r.byte() == 0 {
		return nil
	}
	s := r.string()
	return &s
}

func (r *valueReader) time() time.Time { return time.Unix(r.varint(), int64(r.uvarint())).UTC() }

func (r *valueReader) guid() (g bindings.GUID) {
	copy(g[:], r.take(len(g)))
	return g
}
