// Package fields is the encoding of the values that services keep in a store:
// fields one after the other, without names or types. Append functions write them,
// a [Reader] reads them back in the same order.
//
// A value's first byte says which fields follow; it is its owner's. Records that
// change their form often, or are few, are JSON instead.
package fields

import (
	"bytes"
	"encoding/binary"
	"time"
)

// maxLength of a text or bytes; more is damage.
const maxLength = 1 << 30

// AppendString writes a text.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendBytes writes bytes; nil are the same as none.
func AppendBytes(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// AppendOptional writes a text that may be absent, which is not the same as empty.
func AppendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, 0)
	}
	return AppendString(append(b, 1), *s)
}

// AppendBool writes one byte.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendTime writes a moment without its zone. It keeps every one that a time.Time
// can be, the zero one included.
func AppendTime(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

// Reader reads what was appended. When something is not there it returns zero
// values, and Bad says so.
type Reader struct {
	b   []byte
	bad bool
}

// NewReader returns a reader of one value, which must not change meanwhile.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Bad reports whether something was not there, or cannot be what was written.
func (r *Reader) Bad() bool { return r.bad }

// Fail makes the reader bad: for owners who find something that cannot be.
func (r *Reader) Fail() { r.bad = true }

// Done reports whether everything was there, and nothing else.
func (r *Reader) Done() bool { return !r.bad && len(r.b) == 0 }

// Len is how many bytes are left.
func (r *Reader) Len() int { return len(r.b) }

// Rest takes all that is left. It is a part of the value.
func (r *Reader) Rest() []byte { return r.Take(len(r.b)) }

// Take takes n bytes, nil when they are not there. They are a part of the value.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads what AppendBool wrote.
func (r *Reader) Bool() bool { return r.Byte() == 1 }

// Uvarint reads what binary.AppendUvarint wrote.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		n = -1
	}
	r.Take(n)
	return v
}

// Varint reads what binary.AppendVarint wrote.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		n = -1
	}
	r.Take(n)
	return v
}

// String reads what AppendString wrote.
func (r *Reader) String() string { return string(r.Take(r.length())) }

// Bytes reads what AppendBytes wrote: a copy, not nil when it is empty.
func (r *Reader) Bytes() []byte { return bytes.Clone(r.Take(r.length())) }

func (r *Reader) length() int { return int(min(r.Uvarint(), maxLength)) }

// Optional reads what AppendOptional wrote.
func (r *Reader) Optional() *string {
	if r.Byte() == 0 {
		return nil
	}
	s := r.String()
	return &s
}

// Duration reads a time.Duration that was written as a varint.
func (r *Reader) Duration() time.Duration { return time.Duration(r.Varint()) }

// Time reads what AppendTime wrote, in UTC.
func (r *Reader) Time() time.Time { return time.Unix(r.Varint(), int64(r.Uvarint())).UTC() }
