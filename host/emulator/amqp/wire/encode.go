package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The Append functions add the smallest encoding of a value to b and return
// the extended slice, as in package strconv.

// AppendNull adds null.
func AppendNull(b []byte) []byte { return append(b, codeNull) }

// AppendBool adds a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, codeTrue)
	}
	return append(b, codeFalse)
}

// AppendUint8 adds a ubyte.
func AppendUint8(b []byte, v uint8) []byte { return append(b, codeUbyte, v) }

// AppendUint16 adds a ushort.
func AppendUint16(b []byte, v uint16) []byte { return append(b, codeUshort, byte(v>>8), byte(v)) }

// AppendUint32 adds a uint.
func AppendUint32(b []byte, v uint32) []byte {
	switch {
	case v == 0:
		return append(b, codeUint0)
	case v <= math.MaxUint8:
		return append(b, codeUint8, byte(v))
	default:
		return binary.BigEndian.AppendUint32(append(b, codeUint), v)
	}
}

// AppendUint64 adds a ulong.
func AppendUint64(b []byte, v uint64) []byte {
	switch {
	case v == 0:
		return append(b, codeUlong0)
	case v <= math.MaxUint8:
		return append(b, codeUlong8, byte(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, codeUlong), v)
	}
}

// AppendInt32 adds an int.
func AppendInt32(b []byte, v int32) []byte {
	if v == int32(int8(v)) {
		return append(b, codeInt8, byte(v))
	}
	return binary.BigEndian.AppendUint32(append(b, codeInt), uint32(v))
}

// AppendInt64 adds a long.
func AppendInt64(b []byte, v int64) []byte {
	if v == int64(int8(v)) {
		return append(b, codeLong8, byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, codeLong), uint64(v))
}

// AppendTimestamp adds a timestamp.
func AppendTimestamp(b []byte, v Timestamp) []byte {
	return binary.BigEndian.AppendUint64(append(b, codeTimestamp), uint64(v))
}

// AppendBinary adds a binary.
func AppendBinary(b, v []byte) []byte { return append(appendSize(b, codeBinary8, len(v)), v...) }

// AppendString adds a string.
func AppendString(b []byte, v string) []byte { return append(appendSize(b, codeString8, len(v)), v...) }

// AppendSymbol adds a symbol.
func AppendSymbol(b []byte, v Symbol) []byte { return append(appendSize(b, codeSymbol8, len(v)), v...) }

// appendSize adds the constructor and length of a value of n bytes; code is that for
// lengths of one byte.
func appendSize(b []byte, code byte, n int) []byte {
	if n <= math.MaxUint8 {
		return append(b, code, byte(n))
	}
	return binary.BigEndian.AppendUint32(append(b, code+0x10), uint32(n))
}

// AppendSymbols adds an array of symbols.
func AppendSymbols(b []byte, list []Symbol) []byte {
	items := make(List, len(list))
	for i, s := range list {
		items[i] = s
	}
	return AppendAny(b, &Array{Type: codeSymbol8, Items: items})
}

// AppendDescriptor adds the start of a described type: the value follows.
func AppendDescriptor(b []byte, descriptor uint64) []byte {
	return AppendUint64(append(b, codeDescribed), descriptor)
}

// NewArray returns an array of items, which have the type of zero; so has an
// array without items.
func NewArray[T any](items []T) *Array {
	a := &Array{Items: make(List, len(items))}
	for i, v := range items {
		a.Items[i] = v
	}
	var zero T
	a.Type = arrayCode(zero)
	return a
}

// arrayCode is the constructor of array elements like v: the widest of its type.
func arrayCode(v any) byte {
	switch v.(type) {
	case bool:
		return codeBool
	case uint8:
		return codeUbyte
	case uint16:
		return codeUshort
	case uint32:
		return codeUint
	case uint64:
		return codeUlong
	case int8:
		return codeByte
	case int16:
		return codeShort
	case int32:
		return codeInt
	case int64:
		return codeLong
	case float32:
		return codeFloat
	case float64:
		return codeDouble
	case Decimal32:
		return codeDecimal32
	case Decimal64:
		return codeDecimal64
	case Decimal128:
		return codeDecimal128
	case Char:
		return codeChar
	case Timestamp:
		return codeTimestamp
	case UUID:
		return codeUUID
	case []byte:
		return codeBinary32
	case string:
		return codeString32
	case Symbol:
		return codeSymbol32
	case List:
		return codeList32
	case Map:
		return codeMap32
	case *Array:
		return codeArray32
	default:
		return codeNull
	}
}

// AppendAny adds a value of any of the types in value.go. It panics on any other:
// values to be sent are made here or were decoded here.
func AppendAny(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return AppendNull(b)
	case bool:
		return AppendBool(b, v)
	case uint8:
		return AppendUint8(b, v)
	case uint16:
		return AppendUint16(b, v)
	case uint32:
		return AppendUint32(b, v)
	case uint64:
		return AppendUint64(b, v)
	case int32:
		return AppendInt32(b, v)
	case int64:
		return AppendInt64(b, v)
	case []byte:
		return AppendBinary(b, v)
	case string:
		return AppendString(b, v)
	case Symbol:
		return AppendSymbol(b, v)
	case List:
		if len(v) == 0 {
			return append(b, codeList0)
		}
		return appendList(b, v)
	case Map:
		return appendMap(b, v)
	case *Array:
		return appendArray(b, v)
	case *Described:
		return AppendAny(AppendAny(append(b, codeDescribed), v.Descriptor), v.Value)
	default:
		code := arrayCode(v)
		if code == codeNull {
			panic(fmt.Sprintf("wire: AppendAny(%T)", v))
		}
		return appendWide(append(b, code), code, v)
	}
}

func appendList(b []byte, list List) []byte {
	c := beginCompound(b, codeList8)
	for _, v := range list {
		c.b = AppendAny(c.b, v)
	}
	return c.end(len(list))
}

func appendMap(b []byte, m Map) []byte {
	c := beginCompound(b, codeMap8)
	for _, e := range m {
		c.b = AppendAny(AppendAny(c.b, e.Key), e.Value)
	}
	return c.end(2 * len(m))
}

func appendArray(b []byte, a *Array) []byte {
	code := a.Type
	if len(a.Items) > 0 {
		code = arrayCode(a.Items[0])
	} else if code == codeDescribed || code == 0 {
		code = codeNull
	}
	c := beginCompound(b, codeArray8)
	if a.Descriptor != nil {
		c.b = AppendAny(append(c.b, codeDescribed), a.Descriptor)
	}
	c.b = append(c.b, code)
	for _, v := range a.Items {
		c.b = appendWide(c.b, code, v)
	}
	return c.end(len(a.Items))
}

// appendWide adds v without its constructor, which is code, one that arrayCode
// returns. It panics when v is of another type.
func appendWide(b []byte, code byte, v any) []byte {
	switch code {
	case codeNull:
		return b
	case codeBool:
		if v.(bool) {
			return append(b, 1)
		}
		return append(b, 0)
	case codeUbyte:
		return append(b, v.(uint8))
	case codeByte:
		return append(b, byte(v.(int8)))
	case codeUshort:
		return binary.BigEndian.AppendUint16(b, v.(uint16))
	case codeShort:
		return binary.BigEndian.AppendUint16(b, uint16(v.(int16)))
	case codeUint:
		return binary.BigEndian.AppendUint32(b, v.(uint32))
	case codeInt:
		return binary.BigEndian.AppendUint32(b, uint32(v.(int32)))
	case codeFloat:
		return binary.BigEndian.AppendUint32(b, math.Float32bits(v.(float32)))
	case codeChar:
		return binary.BigEndian.AppendUint32(b, uint32(v.(Char)))
	case codeUlong:
		return binary.BigEndian.AppendUint64(b, v.(uint64))
	case codeLong:
		return binary.BigEndian.AppendUint64(b, uint64(v.(int64)))
	case codeDouble:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.(float64)))
	case codeTimestamp:
		return binary.BigEndian.AppendUint64(b, uint64(v.(Timestamp)))
	case codeDecimal32:
		d := v.(Decimal32)
		return append(b, d[:]...)
	case codeDecimal64:
		d := v.(Decimal64)
		return append(b, d[:]...)
	case codeDecimal128:
		d := v.(Decimal128)
		return append(b, d[:]...)
	case codeUUID:
		d := v.(UUID)
		return append(b, d[:]...)
	case codeBinary32:
		return append(binary.BigEndian.AppendUint32(b, uint32(len(v.([]byte)))), v.([]byte)...)
	case codeString32:
		return append(binary.BigEndian.AppendUint32(b, uint32(len(v.(string)))), v.(string)...)
	case codeSymbol32:
		return append(binary.BigEndian.AppendUint32(b, uint32(len(v.(Symbol)))), v.(Symbol)...)
	default: // codeList32, codeMap32, codeArray32
		return appendWideCompound(b, v)
	}
}

// appendWideCompound adds a list, map or array in its four-byte form, without
// the constructor.
func appendWideCompound(b []byte, v any) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	n := 0
	switch v := v.(type) {
	case List:
		n = len(v)
		for _, item := range v {
			b = AppendAny(b, item)
		}
	case Map:
		n = 2 * len(v)
		for _, e := range v {
			b = AppendAny(AppendAny(b, e.Key), e.Value)
		}
	case *Array:
		code := v.Type
		if len(v.Items) > 0 {
			code = arrayCode(v.Items[0])
		}
		n = len(v.Items)
		if v.Descriptor != nil {
			b = AppendAny(append(b, codeDescribed), v.Descriptor)
		}
		b = append(b, code)
		for _, item := range v.Items {
			b = appendWide(b, code, item)
		}
	default:
		panic(fmt.Sprintf("wire: %T among array elements of another type", v))
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	binary.BigEndian.PutUint32(b[start+4:], uint32(n))
	return b
}

// compound is a list, map or array under construction: written in the short
// form, and moved to the long one if it outgrows that.
type compound struct {
	b     []byte
	start int
}

func beginCompound(b []byte, code byte) compound {
	return compound{b: append(b, code, 0, 0), start: len(b)}
}

func (c *compound) end(count int) []byte {
	b := c.b
	inner := len(b) - c.start - 3
	if inner+1 <= math.MaxUint8 && count <= math.MaxUint8 {
		b[c.start+1], b[c.start+2] = byte(inner+1), byte(count)
		return b
	}
	b = append(b, 0, 0, 0, 0, 0, 0)
	copy(b[c.start+9:], b[c.start+3:c.start+3+inner])
	b[c.start] += 0x10
	binary.BigEndian.PutUint32(b[c.start+1:], uint32(inner+4))
	binary.BigEndian.PutUint32(b[c.start+5:], uint32(count))
	return b
}
