// Package values turns AMQP values into the values of the contracts below
// package bindings, and back.
package values

import (
	"bytes"
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Plain makes a decoded AMQP value one that properties of a message may have.
// Values without a plain type in Go keep their encoding.
func Plain(v any) any {
	switch v := v.(type) {
	case nil, bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32, float64, string, []byte:
		return v
	case wire.Timestamp:
		return v.Time()
	case wire.UUID:
		return bindings.GUID(v)
	default:
		return messaging.Encoded(wire.AppendAny(nil, v))
	}
}

// Wire is Plain's reverse. A value that properties may not have becomes null.
func Wire(v any) any {
	switch v := v.(type) {
	case time.Time:
		return wire.TimestampOf(v)
	case bindings.GUID:
		return wire.UUID(v)
	case int:
		return int64(v)
	case messaging.Encoded:
		d := wire.NewDecoder(v)
		if w := d.Any(); d.Err() == nil {
			return w
		}
		return nil
	case nil, bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32, float64, string, []byte:
		return v
	default:
		return nil
	}
}

// PlainMap makes an AMQP map properties; nil if it is empty. Keys that are no text
// are left out: the standard has none.
func PlainMap(m wire.Map) map[string]any {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]any, len(m))
	for _, e := range m {
		switch k := e.Key.(type) {
		case string:
			out[k] = Plain(e.Value)
		case wire.Symbol:
			out[string(k)] = Plain(e.Value)
		}
	}
	return out
}

// WireMap is PlainMap's reverse, in the order of keys.
func WireMap(properties map[string]any) wire.Map {
	m := make(wire.Map, 0, len(properties))
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		m = append(m, wire.Entry{Key: k, Value: Wire(properties[k])})
	}
	return m
}

// ID is a message-id or correlation-id as text; empty if there is none.
func ID(id any) string {
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

// Body is the bytes of a message's data sections, or the text of a string; nil if
// its body is neither.
func Body(m *wire.Message) []byte {
	if v, ok, _ := m.Value(); ok {
		switch v := v.(type) {
		case string:
			return []byte(v)
		case []byte:
			return v
		}
		return nil
	}
	switch parts := m.DataSections(); len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	default:
		return bytes.Join(parts, nil)
	}
}

// Integer is a number of any AMQP integer type that fits.
func Integer(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case uint32:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint8:
		return int64(v), true
	}
	return 0, false
}
