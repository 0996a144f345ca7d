package wire

import "time"

// A value of any AMQP type is one of these Go types:
//
//	null                     nil
//	boolean                  bool
//	ubyte ushort uint ulong  uint8 uint16 uint32 uint64
//	byte short int long      int8 int16 int32 int64
//	float double             float32 float64
//	decimal32, 64, 128       Decimal32 Decimal64 Decimal128
//	char                     Char
//	timestamp                Timestamp
//	uuid                     UUID
//	binary                   []byte
//	string                   string
//	symbol                   Symbol
//	list                     List
//	map                      Map
//	array                    *Array
//	described type           *Described

// Symbol is a string of a constrained domain, ASCII by the standard. Values of
// peers stay as they are.
type Symbol string

// Char is one Unicode character.
type Char rune

// Timestamp is milliseconds since 1970 in UTC.
type Timestamp int64

// TimestampOf returns t as a Timestamp, cut to milliseconds.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns t in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// UUID is a universally unique identifier, in the order of RFC 4122.
type UUID [16]byte

// Decimal32, Decimal64 and Decimal128 are decimal floats as they are on the
// wire. They are carried, not calculated with.
type (
	Decimal32  [4]byte
	Decimal64  [8]byte
	Decimal128 [16]byte
)

// List is a list of values.
type List []any

// Map is a map whose entries keep the order they have on the wire.
type Map []Entry

// Entry is a key of a Map with its value.
type Entry struct{ Key, Value any }

// Get returns the value of the first entry whose key is the string or the
// symbol key; nil if there is none.
func (m Map) Get(key string) any {
	for i := range m {
		switch k := m[i].Key.(type) {
		case string:
			if k == key {
				return m[i].Value
			}
		case Symbol:
			if string(k) == key {
				return m[i].Value
			}
		}
	}
	return nil
}

// Array is a list whose elements have one type. An empty one keeps the type of
// the elements it has not, in Type.
type Array struct {
	Type       byte // constructor, without a descriptor
	Descriptor any  // nil: the elements are not described
	Items      List
}

// Described is a value with the descriptor of its type, a Symbol or a uint64.
type Described struct{ Descriptor, Value any }

// Opt is a field that may be missing, or null, which is the same.
type Opt[T any] struct {
	V   T
	Set bool
}

// Some returns the field v.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Set: true} }

// Or returns the field's value, or d if it is missing.
func (o Opt[T]) Or(d T) T {
	if o.Set {
		return o.V
	}
	return d
}

// Constructors of primitive types.
const (
	codeDescribed  = 0x00
	codeNull       = 0x40
	codeTrue       = 0x41
	codeFalse      = 0x42
	codeUint0      = 0x43
	codeUlong0     = 0x44
	codeList0      = 0x45
	codeUbyte      = 0x50
	codeByte       = 0x51
	codeUint8      = 0x52
	codeUlong8     = 0x53
	codeInt8       = 0x54
	codeLong8      = 0x55
	codeBool       = 0x56
	codeUshort     = 0x60
	codeShort      = 0x61
	codeUint       = 0x70
	codeInt        = 0x71
	codeFloat      = 0x72
	codeChar       = 0x73
	codeDecimal32  = 0x74
	codeUlong      = 0x80
	codeLong       = 0x81
	codeDouble     = 0x82
	codeTimestamp  = 0x83
	codeDecimal64  = 0x84
	codeDecimal128 = 0x94
	codeUUID       = 0x98
	codeBinary8    = 0xa0
	codeString8    = 0xa1
	codeSymbol8    = 0xa3
	codeBinary32   = 0xb0
	codeString32   = 0xb1
	codeSymbol32   = 0xb3
	codeList8      = 0xc0
	codeMap8       = 0xc1
	codeList32     = 0xd0
	codeMap32      = 0xd1
	codeArray8     = 0xe0
	codeArray32    = 0xf0
)
