package servicebus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// Snapshot is the state of a namespace at one moment. It never changes and may be
// restored any number of times, by any namespace.
type Snapshot struct {
	pairs []pair // by key, as a store would have them
}

type pair struct{ key, value []byte }

// Set implements writer.
func (s *Snapshot) Set(key, value []byte) {
	s.pairs = append(s.pairs, pair{bytes.Clone(key), bytes.Clone(value)})
}

// Delete implements writer: what is not set is not there.
func (s *Snapshot) Delete([]byte) {}

// DeleteRange implements writer.
func (s *Snapshot) DeleteRange(_, _ []byte) {}

// Get implements view.
func (s *Snapshot) Get(key []byte) ([]byte, error) {
	if i, ok := s.find(key); ok {
		return s.pairs[i].value, nil
	}
	return nil, fmt.Errorf("key %q: %w", key, store.ErrNotFound)
}

// Scan implements view.
func (s *Snapshot) Scan(start, end []byte, f func(key, value []byte) error) error {
	i, _ := s.find(start)
	for ; i < len(s.pairs) && (end == nil || bytes.Compare(s.pairs[i].key, end) < 0); i++ {
		if err := f(s.pairs[i].key, s.pairs[i].value); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s.pairs, key, func(p pair, key []byte) int { return bytes.Compare(p.key, key) })
}

// Snapshot copies the state. It fails only when a store cannot be read.
func (ns *Namespace) Snapshot() (*Snapshot, error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return nil, fmt.Errorf("snapshot of the Service Bus namespace: %w", err)
	}
	s := &Snapshot{}
	ns.writeLocked(&change{to: s})
	slices.SortFunc(s.pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	return s, nil
}

// writeLocked writes everything.
func (ns *Namespace) writeLocked(c *change) {
	for _, key := range slices.Sorted(maps.Keys(ns.entities)) {
		e := ns.entities[key]
		c.saveEntity(e)
		c.saveSequence(e.main)
		for _, id := range e.seen.order {
			c.saveSeen(e, id, e.seen.at[id])
		}
		for _, q := range e.queues() {
			for _, id := range slices.Sorted(maps.Keys(q.sessions)) {
				c.saveSession(q, q.sessions[id])
			}
			q.all.from(0, func(m *message) bool {
				c.saveMessage(q, m)
				return true
			})
		}
	}
	c.to.Set([]byte(idsKey), binary.BigEndian.AppendUint64(nil, ns.ids.n))
}

// Restore replaces the state by that of a snapshot, identifiers included. Times
// are kept: what was due meanwhile has ended. Plain receivers go on, if their
// queues are there; sessions are lost, as after a restart. It fails only when the
// namespace is kept in a store that cannot be written; then the old state stays.
func (ns *Namespace) Restore(s *Snapshot) error {
	commit, err := ns.restore(s)
	if err == nil {
		err = ns.wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the Service Bus namespace: %w", err)
	}
	return nil
}

func (ns *Namespace) restore(s *Snapshot) (*store.Commit, error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return nil, err
	}
	fresh, err := ns.read(s, "snapshot")
	if err != nil {
		return nil, err
	}
	c := change{db: ns.db}
	if c.writable() {
		c.to.DeleteRange([]byte(keyPrefix), store.PrefixEnd([]byte(keyPrefix)))
		for _, p := range s.pairs {
			c.to.Set(p.key, p.value)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	ns.takeLocked(fresh)
	return ns.commitLocked(&c)
}

// Save writes the state to w, for Load in this or any other process. A namespace
// in a store is saved with it; see store.Store.Save.
func (ns *Namespace) Save(w io.Writer) (err error) {
	snap, err := ns.Snapshot()
	if err != nil {
		return err
	}
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	batch, err := db.NewBatch()
	if err != nil {
		return err
	}
	for _, p := range snap.pairs {
		batch.Set(p.key, p.value)
	}
	if err := db.Apply(batch); err != nil {
		return err
	}
	return db.Save(w)
}

// Load replaces the state by what Save wrote, or what there is of a namespace in a
// saved store: all of it or, when it fails, nothing.
func (ns *Namespace) Load(r io.Reader) (err error) {
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Load(r); err != nil {
		return err
	}
	v, err := db.View()
	if err != nil {
		return err
	}
	snap := &Snapshot{}
	err = v.Scan([]byte(keyPrefix), store.PrefixEnd([]byte(keyPrefix)), func(key, value []byte) error {
		snap.Set(key, value)
		return nil
	})
	if err = errors.Join(err, v.Close()); err != nil {
		return err
	}
	return ns.Restore(snap)
}
