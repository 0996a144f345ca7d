package storage

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the account that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used, every rule intact. Times are
// kept: what was due meanwhile has ended.
//
// All but the bodies of blobs lives in memory as with [New]. [keep.Keeper.Open]
// tells what this means for calls.
//
// The caller opens db, may keep more in it, and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Storage, error) {
	s := New(clk, opts)
	s.db = db
	s.blobs.bodies = newStoreBodies(db)
	err := s.kept.Open(db)
	if err == nil {
		err = s.blobs.kept.Open(db)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ready reads the state if it has not been read, or was replaced.
func (s *Storage) ready() error {
	s.mu.Lock()
	err := s.kept.Ready()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	return s.blobs.kept.Ready()
}

// kind describes the stored state of the queues: see [keep.Kind].
func (s *Storage) kind() keep.Kind[queuesState] {
	return keep.Kind[queuesState]{
		Keys: keep.Keys{Name: "the storage account"},
		Read: readQueues, Take: s.takeLocked, Write: s.writeLocked,
		Count: func(c *keep.Change) {
			c.Set(idsKey, binary.BigEndian.AppendUint64(nil, s.ids.N))
			setTime(c, s.now())
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
func (s *Storage) writeLocked(w keep.Change) {
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

func (c *change) saveProperties(p storage.ServiceProperties) { c.setJSON(propertiesKey, p) }

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
