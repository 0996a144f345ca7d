package tables

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/redeliver/redeliver/bindings"
	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// row is one entity as it is kept. Its properties are one text, the same in memory and in
// a store: each is a name, a letter for its type, and its value. A million rows are a
// million texts and keys, not a tree of values each.
type row struct {
	key        tableapi.Key
	stamp      int64  // the Timestamp, in ticks since 1970
	properties string // of encode
}

// Letters of types.
const (
	textType   = 's'
	int32Type  = 'i'
	int64Type  = 'l'
	boolType   = 'b'
	doubleType = 'd'
	timeType   = 't'
	guidType   = 'g'
	binaryType = 'x'
)

// ticks is a moment in whole ticks since 1970. It holds every date of the service.
func ticks(t time.Time) int64 {
	return t.Unix()*int64(time.Second/tableapi.Tick) + int64(t.Nanosecond())/int64(tableapi.Tick)
}

// moment is the time of a number of ticks.
func moment(ticks int64) time.Time {
	const second = int64(time.Second / tableapi.Tick)
	s := ticks / second
	rest := ticks % second
	if rest < 0 {
		s, rest = s-1, rest+second
	}
	return time.Unix(s, rest*int64(tableapi.Tick)).UTC()
}

// encode writes properties.
func encode(properties []tableapi.Property) string {
	var b []byte
	for _, p := range properties {
		b = appendText(b, p.Name)
		switch v := p.Value.(type) {
		case string:
			b = appendText(append(b, textType), v)
		case int32:
			b = binary.AppendVarint(append(b, int32Type), int64(v))
		case int64:
			b = binary.AppendVarint(append(b, int64Type), v)
		case bool:
			b = append(b, boolType, 0)
			if v {
				b[len(b)-1] = 1
			}
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, doubleType), math.Float64bits(v))
		case time.Time:
			b = binary.AppendVarint(append(b, timeType), ticks(v))
		case bindings.GUID:
			b = append(append(b, guidType), v[:]...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, binaryType), uint64(len(v))), v...)
		}
	}
	return string(b)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// walk reads encoded properties one after the other.
type walk struct {
	rest string
	bad  bool // they are not what encode wrote
}

// next returns the next property, and false at the end. Its value is read when it is asked
// for: a filter passes over most.
func (w *walk) next() (name string, value encoded, more bool) {
	if w.rest == "" {
		return "", encoded{}, false
	}
	name = w.take(w.uvarint())
	letter := w.take(1)
	if letter == "" {
		return "", encoded{}, false
	}
	value.letter = letter[0]
	switch value.letter {
	case textType, binaryType:
		value.text = w.take(w.uvarint())
	case int32Type, int64Type, timeType:
		value.number = w.varint()
	case boolType:
		value.text = w.take(1)
	case doubleType:
		value.text = w.take(8)
	case guidType:
		value.text = w.take(16)
	default:
		w.bad = true
	}
	if w.bad {
		w.rest = ""
	}
	return name, value, !w.bad
}

func (w *walk) take(n uint64) string {
	if n > uint64(len(w.rest)) {
		w.bad, w.rest = true, ""
		return ""
	}
	s := w.rest[:n]
	w.rest = w.rest[n:]
	return s
}

func (w *walk) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(w.rest) && i < binary.MaxVarintLen64; i++ {
		c := w.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			w.rest = w.rest[i+1:]
			return v
		}
	}
	w.bad, w.rest = true, ""
	return 0
}

func (w *walk) varint() int64 {
	v := w.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// encoded is a value within a row.
type encoded struct {
	letter byte
	text   string
	number int64
}

// value reads it. Bytes are a copy.
func (e encoded) value() tableapi.Value {
	switch e.letter {
	case textType:
		return e.text
	case int32Type:
		return int32(e.number)
	case int64Type:
		return e.number
	case boolType:
		return e.text == "\x01"
	case doubleType:
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(e.text)))
	case timeType:
		return moment(e.number)
	case guidType:
		return bindings.GUID([]byte(e.text))
	}
	return []byte(e.text)
}

// property returns the value of a member, nil when there is none.
func (r *row) property(name string) tableapi.Value {
	switch name {
	case "PartitionKey":
		return r.key.Partition
	case "RowKey":
		return r.key.Row
	case "Timestamp":
		return moment(r.stamp)
	}
	w := walk{rest: r.properties}
	for n, v, ok := w.next(); ok; n, v, ok = w.next() {
		if n == name {
			return v.value()
		}
	}
	return nil
}

// entity makes a copy for a caller.
func (r *row) entity() tableapi.Entity {
	e := tableapi.Entity{PartitionKey: r.key.Partition, RowKey: r.key.Row, Timestamp: moment(r.stamp)}
	w := walk{rest: r.properties}
	for n, v, ok := w.next(); ok; n, v, ok = w.next() {
		e.Properties = append(e.Properties, tableapi.Property{Name: n, Value: v.value()})
	}
	return e
}

// whole reports whether the properties are what encode writes.
func (r *row) whole() bool {
	w := walk{rest: r.properties}
	for _, _, ok := w.next(); ok; _, _, ok = w.next() {
	}
	return !w.bad
}
