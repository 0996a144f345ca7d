// Package values turns AMQP values into those that the contracts of package
// bindings speak of, and back.
package values

import (
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Plain makes a decoded AMQP value one that properties of a message may have. What
// Go has no plain type for keeps its encoding.
func Plain(v any) any {
	switch v := v.(type) {
	case nil, bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32, float64, string, []byte:
		return v
	case wire.Timestamp:
		return v.Time()
	case wire.UUID:
		return bindings.GUID(v)
	default:
		return bindings.ServiceBusEncoded(wire.AppendAny(nil, v))
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
	case bindings.ServiceBusEncoded:
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
