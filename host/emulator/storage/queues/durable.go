package queues

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Rest forgets the queues of a service that nobody uses any more, so that nothing arrives
// in them or expires. What a store holds stays.
func (s *Service) Rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeLocked(queuesState{}, keep.Origin{})
}

// kind describes the stored state of the queues: see [keep.Kind].
func (s *Service) kind() keep.Kind[queuesState] {
	return keep.Kind[queuesState]{
		Keys: keep.Keys{Name: "the storage account"},
		Read: readQueues, Take: s.takeLocked, Write: s.writeLocked,
		Count: func(c *keep.Change) {
			c.Set(idsKey, binary.BigEndian.AppendUint64(nil, s.ids.N))
			account.SetTime(c, s.now())
		},
		Drop: func(c *keep.Change) {
			for _, kind := range []byte{queueKind, textKind, stateKind} {
				c.DeletePrefix([]byte{kind, 0})
			}
			c.Delete(propertiesKey)
		},
	}
}

// writeLocked writes everything about queues.
func (s *Service) writeLocked(w keep.Change) {
	c := change{w}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		c.saveQueue(name, s.queues[name].queueFacts)
		for _, m := range s.queues[name].inOrder() {
			c.saveText(name, m)
			c.saveState(name, m)
		}
	}
	c.saveProperties(s.properties)
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

// saveQueue writes a queue and what is kept about it.
func (c *change) saveQueue(name string, facts queueFacts) {
	if c.Writable() {
		c.Set(queueKey(name), facts.append([]byte{queueFormat}))
	}
}

func (c *change) saveProperties(p storage.ServiceProperties) {
	account.SetJSON(&c.Change, propertiesKey, p)
}

func (c *change) dropQueue(name string) {
	if c.Writable() {
		c.Delete(queueKey(name))
	}
	c.dropMessages(name)
}

func (c *change) dropMessages(name string) {
	if c.Writable() {
		for _, kind := range []byte{textKind, stateKind} {
			c.DeletePrefix(messageKeys(kind, name))
		}
	}
}

func (c *change) saveText(name string, m *message) {
	if c.Writable() {
		c.Set(messageKey(textKind, name, m.sequence), m.appendText(nil))
	}
}

func (c *change) saveState(name string, m *message) {
	if c.Writable() {
		c.Set(messageKey(stateKind, name, m.sequence), m.appendState(nil))
	}
}

func (c *change) dropMessage(name string, m *message) {
	if c.Writable() {
		c.Delete(messageKey(textKind, name, m.sequence))
		c.Delete(messageKey(stateKind, name, m.sequence))
	}
}
