package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Limits on what is decoded.
const (
	MaxDepth         = 32      // of lists, maps, arrays and descriptors in each other
	MaxEmptyElements = 1 << 16 // of all arrays whose elements have no bytes of their own
)

// ErrMalformed is wrapped by every error of decoding.
var ErrMalformed = errors.New("malformed AMQP data")

// Decoder reads values from bytes. The first error sticks: from then on
// everything reads as zero, so that a caller checks [Decoder.Err] once, at the end.
// The zero value is an empty input.
type Decoder struct {
	b     []byte
	err   error
	depth int
	empty int // array elements without bytes so far
}

// NewDecoder returns a decoder of b.
func NewDecoder(b []byte) Decoder { return Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Rest returns what has not been read.
func (d *Decoder) Rest() []byte { return d.b }

// More reports whether there is something left to read.
func (d *Decoder) More() bool { return d.err == nil && len(d.b) > 0 }

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	d.b = nil
}

var zeros [16]byte

// take returns the next n bytes; after an error, zeros (n at most 16) or nothing.
func (d *Decoder) take(n int) []byte {
	if n > len(d.b) {
		d.fail("%d bytes wanted, %d left", n, len(d.b))
		if n <= len(zeros) {
			return zeros[:n]
		}
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *Decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("it ends too early")
		return codeNull
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *Decoder) uint32() uint32 { return binary.BigEndian.Uint32(d.take(4)) }

func (d *Decoder) uint64() uint64 { return binary.BigEndian.Uint64(d.take(8)) }

// sized returns the bytes of a value whose length takes one byte or four.
func (d *Decoder) sized(long bool) []byte {
	if !long {
		return d.take(int(d.byte8()))
	}
	n := d.uint32()
	if uint64(n) > uint64(len(d.b)) {
		d.fail("%d bytes wanted, %d left", n, len(d.b))
		return nil
	}
	return d.take(int(n))
}

// byte8 is a length of one byte; 0 after an error.
func (d *Decoder) byte8() byte {
	if len(d.b) == 0 {
		d.fail("it ends too early")
		return 0
	}
	return d.byte()
}

// null reads a null if one is next.
func (d *Decoder) null() bool {
	if len(d.b) > 0 && d.b[0] == codeNull {
		d.b = d.b[1:]
		return true
	}
	return false
}

func (d *Decoder) wrong(want string, code byte) { d.fail("%s wanted, type 0x%02x found", want, code) }

// enter counts one level of nesting; leave gives it back.
func (d *Decoder) enter() bool {
	if d.depth >= MaxDepth {
		d.fail("nested deeper than %d", MaxDepth)
		return false
	}
	d.depth++
	return true
}

func (d *Decoder) leave() { d.depth-- }

// Bool reads a boolean.
func (d *Decoder) Bool() bool {
	switch c := d.byte(); c {
	case codeTrue:
		return true
	case codeFalse:
		return false
	case codeBool:
		return d.boolean()
	default:
		d.wrong("boolean", c)
		return false
	}
}

func (d *Decoder) boolean() bool {
	switch c := d.byte8(); c {
	case 0:
		return false
	case 1:
		return true
	default:
		d.fail("boolean 0x%02x", c)
		return false
	}
}

// Uint8 reads a ubyte.
func (d *Decoder) Uint8() uint8 {
	if c := d.byte(); c != codeUbyte {
		d.wrong("ubyte", c)
		return 0
	}
	return d.byte8()
}

// Uint16 reads a ushort.
func (d *Decoder) Uint16() uint16 {
	if c := d.byte(); c != codeUshort {
		d.wrong("ushort", c)
		return 0
	}
	return binary.BigEndian.Uint16(d.take(2))
}

// Uint32 reads a uint.
func (d *Decoder) Uint32() uint32 {
	switch c := d.byte(); c {
	case codeUint0:
		return 0
	case codeUint8:
		return uint32(d.byte8())
	case codeUint:
		return d.uint32()
	default:
		d.wrong("uint", c)
		return 0
	}
}

// Uint64 reads a ulong.
func (d *Decoder) Uint64() uint64 {
	switch c := d.byte(); c {
	case codeUlong0:
		return 0
	case codeUlong8:
		return uint64(d.byte8())
	case codeUlong:
		return d.uint64()
	default:
		d.wrong("ulong", c)
		return 0
	}
}

// Timestamp reads a timestamp.
func (d *Decoder) Timestamp() Timestamp {
	if c := d.byte(); c != codeTimestamp {
		d.wrong("timestamp", c)
		return 0
	}
	return Timestamp(d.uint64())
}

// Binary reads a binary. It returns a slice of the input.
func (d *Decoder) Binary() []byte {
	switch c := d.byte(); c {
	case codeBinary8, codeBinary32:
		return d.sized(c == codeBinary32)
	default:
		d.wrong("binary", c)
		return nil
	}
}

// String reads a string, which must be UTF-8.
func (d *Decoder) String() string {
	switch c := d.byte(); c {
	case codeString8, codeString32:
		return d.text(d.sized(c == codeString32))
	default:
		d.wrong("string", c)
		return ""
	}
}

func (d *Decoder) text(b []byte) string {
	if !utf8.Valid(b) {
		d.fail("a string that is not UTF-8")
		return ""
	}
	return string(b)
}

// Symbol reads a symbol.
func (d *Decoder) Symbol() Symbol {
	switch c := d.byte(); c {
	case codeSymbol8, codeSymbol32:
		return Symbol(d.sized(c == codeSymbol32))
	default:
		d.wrong("symbol", c)
		return ""
	}
}

// Symbols reads symbols: an array of them, or one.
func (d *Decoder) Symbols() []Symbol {
	switch v := d.Any().(type) {
	case Symbol:
		return []Symbol{v}
	case *Array:
		list := make([]Symbol, 0, len(v.Items))
		for _, item := range v.Items {
			s, ok := item.(Symbol)
			if !ok {
				d.fail("an array of symbols wanted, one of %T found", item)
				return nil
			}
			list = append(list, s)
		}
		return list
	default:
		d.fail("symbols wanted, %T found", v)
		return nil
	}
}

// Map reads a map.
func (d *Decoder) Map() Map {
	switch c := d.byte(); c {
	case codeMap8, codeMap32:
		return d.mapBody(c)
	default:
		d.wrong("map", c)
		return nil
	}
}

// Skip reads one value of any type without making anything of it.
func (d *Decoder) Skip() {
	c := d.byte()
	for n := 0; c == codeDescribed; n++ {
		if n >= MaxDepth {
			d.fail("nested deeper than %d", MaxDepth)
			return
		}
		if !d.enter() {
			return
		}
		d.Skip()
		d.leave()
		c = d.byte()
	}
	if d.err != nil {
		return
	}
	switch c >> 4 {
	case 0x4:
	case 0x5:
		d.take(1)
	case 0x6:
		d.take(2)
	case 0x7:
		d.take(4)
	case 0x8:
		d.take(8)
	case 0x9:
		d.take(16)
	case 0xa, 0xc, 0xe:
		d.sized(false)
	case 0xb, 0xd, 0xf:
		d.sized(true)
	default:
		d.fail("unknown type 0x%02x", c)
	}
}

// Descriptor reads the descriptor of a described type, as a number: a symbolic
// one that [DescriptorOf] does not know is 0.
func (d *Decoder) Descriptor() uint64 {
	if c := d.byte(); c != codeDescribed {
		d.wrong("described type", c)
		return 0
	}
	if len(d.b) > 0 {
		switch d.b[0] {
		case codeSymbol8, codeSymbol32:
			return DescriptorOf(d.Symbol())
		}
	}
	return d.Uint64()
}

// Any reads a value of any type.
func (d *Decoder) Any() any { return d.value(d.byte()) }

func (d *Decoder) value(code byte) any {
	if d.err != nil {
		return nil
	}
	switch code {
	case codeDescribed:
		if !d.enter() {
			return nil
		}
		v := &Described{Descriptor: d.Any()}
		v.Value = d.Any()
		d.leave()
		return v
	case codeNull:
		return nil
	case codeTrue:
		return true
	case codeFalse:
		return false
	case codeBool:
		return d.boolean()
	case codeUbyte:
		return d.byte8()
	case codeByte:
		return int8(d.byte8())
	case codeUint0:
		return uint32(0)
	case codeUint8:
		return uint32(d.byte8())
	case codeUint:
		return d.uint32()
	case codeUlong0:
		return uint64(0)
	case codeUlong8:
		return uint64(d.byte8())
	case codeUlong:
		return d.uint64()
	case codeTimestamp:
		return Timestamp(d.uint64())
	case codeUUID:
		return UUID(d.take(16))
	case codeBinary8, codeBinary32:
		return d.sized(code == codeBinary32)
	case codeString8, codeString32:
		return d.text(d.sized(code == codeString32))
	case codeSymbol8, codeSymbol32:
		return Symbol(d.sized(code == codeSymbol32))
	case codeList0:
		return List{}
	case codeList8, codeList32:
		return d.listBody(code)
	case codeMap8, codeMap32:
		return d.mapBody(code)
	case codeArray8, codeArray32:
		return d.arrayBody(code)
	default:
		return d.number(code)
	}
}

// number reads a value of a type that messages of clients rarely have.
func (d *Decoder) number(code byte) any {
	switch code {
	case codeUshort:
		return binary.BigEndian.Uint16(d.take(2))
	case codeShort:
		return int16(binary.BigEndian.Uint16(d.take(2)))
	case codeFloat:
		return math.Float32frombits(d.uint32())
	case codeDouble:
		return math.Float64frombits(d.uint64())
	case codeDecimal32:
		return Decimal32(d.take(4))
	case codeDecimal64:
		return Decimal64(d.take(8))
	case codeDecimal128:
		return Decimal128(d.take(16))
	case codeChar:
		return Char(d.uint32())
	case codeInt8:
		return int32(int8(d.byte8()))
	case codeInt:
		return int32(d.uint32())
	case codeLong8:
		return int64(int8(d.byte8()))
	case codeLong:
		return int64(d.uint64())
	default:
		d.fail("unknown type 0x%02x", code)
		return nil
	}
}

// compound returns a decoder of the inside of a list, map or array, and the
// count of its elements.
func (d *Decoder) compound(code byte) (in Decoder, count int) {
	long := code&0x10 != 0
	in = Decoder{b: d.sized(long), depth: d.depth + 1, empty: d.empty}
	in.err = d.err
	if in.depth > MaxDepth {
		in.fail("nested deeper than %d", MaxDepth)
	}
	var n uint32
	if long {
		n = in.uint32()
	} else {
		n = uint32(in.byte8())
	}
	array := code&0xf0 == 0xe0 || code&0xf0 == 0xf0
	if !array && uint64(n) > uint64(len(in.b)) {
		in.fail("%d elements in %d bytes", n, len(in.b))
	}
	if in.err != nil {
		n = 0
	}
	return in, int(n)
}

// done takes over the error of a compound's decoder.
func (d *Decoder) done(in *Decoder) {
	if in.err == nil && len(in.b) > 0 {
		in.fail("%d bytes left over in a list, map or array", len(in.b))
	}
	d.empty = in.empty
	if in.err != nil {
		d.err, d.b = in.err, nil
	}
}

func (d *Decoder) listBody(code byte) List {
	in, n := d.compound(code)
	list := make(List, 0, n)
	for ; n > 0 && in.err == nil; n-- {
		list = append(list, in.Any())
	}
	d.done(&in)
	return list
}

func (d *Decoder) mapBody(code byte) Map {
	in, n := d.compound(code)
	if n%2 != 0 {
		in.fail("a map of %d keys and values", n)
	}
	m := make(Map, 0, n/2)
	for ; n > 0 && in.err == nil; n -= 2 {
		key := in.Any()
		m = append(m, Entry{key, in.Any()})
	}
	d.done(&in)
	return m
}

func (d *Decoder) arrayBody(code byte) *Array {
	in, n := d.compound(code)
	a := &Array{Type: in.byte()}
	if a.Type == codeDescribed {
		a.Descriptor = in.Any()
		a.Type = in.byte()
	}
	switch {
	case a.Type == codeDescribed:
		in.fail("array elements with two descriptors")
	case a.Type>>4 == 0x4:
		if n > MaxEmptyElements-in.empty {
			in.fail("array of %d empty elements", n)
			break
		}
		in.empty += n
	case n > len(in.b):
		in.fail("%d elements in %d bytes", n, len(in.b))
	}
	if in.err != nil {
		n = 0
	}
	a.Items = make(List, 0, n)
	for ; n > 0 && in.err == nil; n-- {
		a.Items = append(a.Items, in.value(a.Type))
	}
	d.done(&in)
	return a
}
