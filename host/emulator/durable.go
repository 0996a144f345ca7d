package emulator

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the account that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used, every rule intact. Times are
// kept: what was due meanwhile has ended.
//
// All but the bodies of blobs lives in memory as with [New]; each change is written through
// before it is reported. When it cannot be written, the call fails with
// bindings.ErrUnavailable, nothing has happened as far as anybody can see, and
// the account is read again from db by the next call.
//
// With store.Options.Sync a write takes the disk's time, during which the clock
// stands still and others have their turn; otherwise the caller keeps the turn. A
// read then waits for the writes that it shows: nobody is told what a loss of power
// could take back.
//
// Load of db, by whomever, is refused when the account could not be read from the
// new state.
//
// The caller opens db, may keep more in it, and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Storage, error) {
	s := New(clk, opts)
	s.db = db
	s.blobs.keepIn(db)
	CheckLoads(db)
	var err error
	clk.Inside("open the storage account", func() { err = s.ready() })
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ready reads the state if it has not been read, or was replaced.
func (s *Storage) ready() error {
	s.mu.Lock()
	err := s.readyLocked()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	return s.blobs.readyLocked()
}

// readyLocked sees to it that what is in memory is what db holds.
func (s *Storage) readyLocked() error {
	if s.db == nil {
		return nil
	}
	opening, err := s.db.Ready()
	if err == nil && opening != s.opening {
		err = s.loadLocked()
	}
	if err != nil {
		return keep.Unavailable(err)
	}
	s.opening = opening
	return nil
}

// beginLocked begins to write a change. When there is none, it returns what has to
// be written before anybody may be told the state; nil is nothing.
//
// After an error memory is ahead of db, and is read again.
func (s *Storage) beginLocked(c *change) (keep.Awaited, error) {
	if c.batch == nil {
		if c.err != nil {
			s.opening = 0
		}
		return s.last.Pending(s.opening), c.err
	}
	c.batch.Set(idsKey, binary.BigEndian.AppendUint64(nil, s.ids.n))
	c.batch.Set(timeKey, fields.AppendTime(nil, s.now()))
	commit, err := s.db.Begin(c.batch)
	if err != nil {
		s.opening = 0
		return keep.Awaited{}, keep.Unavailable(err)
	}
	s.last.Begun(commit, s.db, s.opening)
	return keep.Own(commit), nil
}

// wait returns when the change is written. Others may call meanwhile: their
// changes follow, and are not written if this one is not.
func (s *Storage) wait(ctx context.Context, c keep.Awaited) error { return c.Wait(ctx, s.clk, s.db) }

// change collects what one operation writes to the state of an opening. Without a
// store it collects nothing.
type change struct {
	db      *store.Store
	opening uint64
	batch   *store.Batch
	err     error
}

func (c *change) set(key, value []byte) {
	if c.writable() {
		c.batch.Set(key, value)
	}
}

func (c *change) writable() bool {
	if c.db == nil || c.err != nil {
		return false
	}
	if c.batch == nil {
		c.batch, c.err = keep.NewBatch(c.db, c.opening)
	}
	return c.err == nil
}

// saveQueue writes a queue and what is kept about it.
func (c *change) saveQueue(name string, facts queueFacts) {
	if c.writable() {
		c.set(queueKey(name), facts.append([]byte{queueFormat}))
	}
}

func (c *change) saveProperties(p storage.ServiceProperties) { c.setJSON(propertiesKey, p) }

func (c *change) dropQueue(name string) {
	if c.writable() {
		c.batch.Delete(queueKey(name))
	}
	c.dropMessages(name)
}

func (c *change) dropMessages(name string) {
	if c.writable() {
		for _, kind := range []byte{textKind, stateKind} {
			prefix := messageKeys(kind, name)
			c.batch.DeleteRange(prefix, store.PrefixEnd(prefix))
		}
	}
}

func (c *change) saveText(name string, m *message) {
	if c.writable() {
		c.batch.Set(messageKey(textKind, name, m.sequence), m.appendText(nil))
	}
}

func (c *change) saveState(name string, m *message) {
	if c.writable() {
		c.batch.Set(messageKey(stateKind, name, m.sequence), m.appendState(nil))
	}
}

func (c *change) dropMessage(name string, m *message) {
	if c.writable() {
		c.batch.Delete(messageKey(textKind, name, m.sequence))
		c.batch.Delete(messageKey(stateKind, name, m.sequence))
	}
}

// saveAll saves queues that the store does not have, and so that there is a
// change even when there are none.
func (c *change) saveAll(queues map[string]*queueState) {
	c.writable()
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		c.saveQueue(name, queues[name].queueFacts)
		for _, m := range queues[name].inOrder() {
			c.saveText(name, m)
			c.saveState(name, m)
		}
	}
}

// dropAll removes every queue.
func (c *change) dropAll() {
	if c.writable() {
		for _, kind := range []byte{queueKind, textKind, stateKind} {
			c.batch.DeleteRange([]byte{kind, 0}, []byte{kind, 1})
		}
		c.batch.Delete(propertiesKey)
	}
}
