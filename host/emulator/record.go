package emulator

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// Keys begin with their kind. A message has two: what seldom changes, its text
// among it, and what each receive changes, which is short.
const (
	queueKind = 'q' // name
	textKind  = 't' // name 0 sequence
	stateKind = 's' // name 0 sequence
)

// idsKey holds the number of identifiers that have been given, propertiesKey the
// settings of the queue service as JSON.
var (
	idsKey        = []byte("ids")
	propertiesKey = []byte("properties")
)

// Formats of values, their first byte.
const (
	queueFormat = 1
	textFormat  = 1
	stateFormat = 1
)

func queueKey(name string) []byte { return append([]byte{queueKind, 0}, name...) }

// append adds the facts as JSON, nothing when there are none.
func (f queueFacts) append(b []byte) []byte {
	if len(f.metadata) == 0 && len(f.policies) == 0 {
		return b
	}
	text, err := json.Marshal(storedFacts{f.metadata, f.policies})
	if err != nil {
		panic("emulator: facts of a queue that JSON does not have: " + err.Error())
	}
	return append(b, text...)
}

func (f *queueFacts) parse(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	var stored storedFacts
	if json.Unmarshal(b, &stored) != nil {
		return false
	}
	f.metadata, f.policies = stored.Metadata, stored.Policies
	return true
}

type storedFacts struct {
	Metadata map[string]string       `json:",omitempty"`
	Policies []bindings.AccessPolicy `json:",omitempty"`
}

func messageKeys(kind byte, name string) []byte {
	return append(append([]byte{kind, 0}, name...), 0)
}

func messageKey(kind byte, name string, sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(messageKeys(kind, name), sequence)
}

func parseMessageKey(key []byte) (name string, sequence uint64, ok bool) {
	n := len(key) - 8
	if n < 4 || key[1] != 0 || key[n-1] != 0 {
		return "", 0, false
	}
	return string(key[2 : n-1]), binary.BigEndian.Uint64(key[n:]), true
}

func (m *message) appendText(b []byte) []byte {
	b = append(b, textFormat)
	b = appendString(b, m.id)
	b = appendTime(b, m.inserted)
	b = appendTime(b, m.expires)
	return append(b, m.text...)
}

func (m *message) parseText(b []byte) bool {
	r := valueReader{b: b}
	ok := r.byte() == textFormat
	m.id, m.inserted, m.expires = r.string(), r.time(), r.time()
	m.text = string(r.b)
	return ok && !r.bad
}

func (m *message) appendState(b []byte) []byte {
	b = append(b, stateFormat)
	b = appendString(b, m.receipt)
	b = binary.AppendVarint(b, m.count)
	b = appendTime(b, m.visible)
	b = binary.AppendUvarint(b, m.order)
	b = binary.AppendVarint(b, int64(m.lock))
	if m.arrived {
		return append(b, 1)
	}
	return append(b, 0)
}

func (m *message) parseState(b []byte) bool {
	r := valueReader{b: b}
	ok := r.byte() == stateFormat
	m.receipt, m.count, m.visible = r.string(), r.varint(), r.time()
	m.order, m.lock = r.uvarint(), time.Duration(r.varint())
	m.arrived = r.byte() == 1
	return ok && !r.bad && len(r.b) == 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
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

func (r *valueReader) string() string {
	return string(r.take(int(min(r.uvarint(), 1<<30))))
}

func (r *valueReader) duration() time.Duration { return time.Duration(r.varint()) }

// done reports whether everything was there, and nothing else.
func (r *valueReader) done() bool { return !r.bad && len(r.b) == 0 }

func (r *valueReader) time() time.Time { return time.Unix(r.varint(), int64(r.uvarint())).UTC() }
