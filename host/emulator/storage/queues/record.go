package queues

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
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
	Metadata map[string]string      `json:",omitempty"`
	Policies []storage.AccessPolicy `json:",omitempty"`
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
	b = fields.AppendString(b, m.id.String())
	b = fields.AppendTime(b, m.at(inserted))
	b = fields.AppendTime(b, m.at(expires))
	return append(b, m.text...)
}

func (m *message) parseText(b []byte) bool {
	r := fields.NewReader(b)
	ok := r.Byte() == textFormat
	id, err := bindings.ParseGUID(r.String())
	m.id = id
	m.set(inserted, r.Time())
	m.set(expires, r.Time())
	m.text = string(r.Rest())
	return ok && err == nil && !r.Bad()
}

func (m *message) appendState(b []byte) []byte {
	b = append(b, stateFormat)
	b = fields.AppendString(b, m.receipt.String())
	b = binary.AppendVarint(b, int64(m.count))
	b = fields.AppendTime(b, m.at(visible))
	b = binary.AppendUvarint(b, m.order)
	b = binary.AppendVarint(b, int64(m.lock))
	return fields.AppendBool(b, m.arrived)
}

func (m *message) parseState(b []byte) bool {
	r := fields.NewReader(b)
	ok := r.Byte() == stateFormat
	ok = m.receipt.parse(r.String()) && ok
	m.count = int32(r.Varint())
	m.set(visible, r.Time())
	m.order, m.lock = r.Uvarint(), time.Duration(r.Varint())
	m.arrived = r.Bool()
	return ok && r.Done()
}
