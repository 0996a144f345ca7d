package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Snapshot is the state of an account at one moment. It never changes and may
// be restored any number of times. Bodies of blobs are in memory, whether the
// account is or not: for large accounts there are Save and Load.
type Snapshot struct {
	ids        ids
	queues     map[string]queueSnapshot
	properties storage.ServiceProperties
	blobs      blobsSnapshot
}

type queueSnapshot struct {
	sequence uint64
	messages []message // by insertion; no timers, no places
	facts    queueFacts
}

// Reset removes everything, so that the account is as New made it. Callers of
// OnArrival and OnChange stay. It fails as Restore does.
func (s *Storage) Reset() error {
	return s.Restore(&Snapshot{ids: ids{seed: s.opts.Seed}})
}

// Snapshot copies the account's state. It fails only when the account is kept in
// a store that cannot be read.
func (s *Storage) Snapshot() (*Snapshot, error) {
	snap, err := s.snapshotQueues()
	if err != nil {
		return nil, fmt.Errorf("copy the storage account: %w", err)
	}
	if snap.blobs, err = s.blobs.save(); err != nil {
		return nil, fmt.Errorf("copy the storage account: %w", err)
	}
	return snap, nil
}

func (s *Storage) snapshotQueues() (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readyLocked(); err != nil {
		return nil, err
	}
	snap := &Snapshot{ids: s.ids, queues: make(map[string]queueSnapshot, len(s.queues)), properties: s.properties}
	for name, state := range s.queues {
		q := queueSnapshot{sequence: state.sequence, messages: make([]message, 0, len(state.byID)), facts: state.queueFacts}
		for _, m := range state.inOrder() {
			c := *m
			c.arrival, c.byVisible, c.byExpiry = nil, 0, 0
			q.messages = append(q.messages, c)
		}
		snap.queues[name] = q
	}
	return snap, nil
}

// queueStates makes queues out of a snapshot.
func (snap *Snapshot) queueStates() map[string]*queueState {
	queues := make(map[string]*queueState, len(snap.queues))
	for name, from := range snap.queues {
		state := newQueueState()
		state.sequence, state.queueFacts = from.sequence, from.facts
		for _, m := range from.messages {
			state.add(&m)
		}
		queues[name] = state
	}
	return queues
}

// Restore replaces the account's state. Times in it are kept: what was due
// meanwhile has ended. It fails only when the account is kept in a store that
// cannot be written; then the old state stays.
func (s *Storage) Restore(snap *Snapshot) error {
	commit, err := s.restore(snap)
	if err == nil {
		err = s.wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the storage account: %w", err)
	}
	return nil
}

// restore replaces queues and blobs, and begins to write both as one batch.
func (s *Storage) restore(snap *Snapshot) (keep.Awaited, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	if err := s.readyLocked(); err != nil {
		return keep.Awaited{}, err
	}
	if err := s.blobs.readyLocked(); err != nil {
		return keep.Awaited{}, err
	}
	if s.opening != s.blobs.opening {
		return keep.Awaited{}, keep.Unavailable(keep.ErrReplaced)
	}
	blobs, err := snap.blobs.copied(s.blobs.bodies, s.opening)
	if err != nil {
		return keep.Awaited{}, err
	}
	c := &change{db: s.db, opening: s.opening}
	s.restoreQueuesLocked(snap, c)
	s.blobs.restoreLocked(blobs, c)
	commit, err := s.beginLocked(c)
	if err != nil {
		s.blobs.opening = 0
		return keep.Awaited{}, err
	}
	s.blobs.kept()
	s.blobs.last = s.last
	return commit, nil
}

func (s *Storage) restoreQueuesLocked(snap *Snapshot, c *change) {
	s.ids, s.properties = snap.ids, snap.properties
	s.takeLocked(snap.queueStates())
	c.dropAll()
	c.saveAll(s.queues)
	c.saveProperties(s.properties)
}

// Save writes everything in the account to w, for Load in this or any other
// process. An account that shares its store with others saves them too.
func (s *Storage) Save(w io.Writer) error {
	if s.db != nil {
		return s.db.Save(w)
	}
	return inMemory(func(db *store.Store) error {
		if err := s.CopyTo(db); err != nil {
			return err
		}
		return db.Save(w)
	})
}

// Load replaces everything in the account by what Save wrote, all of it or,
// when it fails, nothing. Times are kept, as with Restore; identifiers follow
// those that the saved account and this one had given.
func (s *Storage) Load(r io.Reader) error {
	if s.db != nil {
		if err := s.db.Load(r); err != nil {
			return err
		}
		return s.ready()
	}
	return inMemory(func(db *store.Store) error {
		CheckLoads(db)
		if err := db.Load(r); err != nil {
			return err
		}
		return s.CopyFrom(db)
	})
}

// inMemory calls f with an empty store that is gone afterwards.
func inMemory(f func(db *store.Store) error) (err error) {
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db)
}

// CopyTo makes db hold the account as it is now, for Open and CopyFrom. db must not
// be the account's own, and holds no other account; what else is in it stays.
func (s *Storage) CopyTo(db *store.Store) error {
	snap, err := s.Snapshot()
	if err != nil {
		return err
	}
	return s.through(db, func(kept *Storage) error { return kept.Restore(snap) })
}

// CopyFrom is Load from an account that db holds, or from none.
func (s *Storage) CopyFrom(db *store.Store) error {
	var snap *Snapshot
	err := s.through(db, func(kept *Storage) (err error) {
		snap, err = kept.Snapshot()
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	snap.ids.n = max(snap.ids.n, s.ids.n)
	snap.ids.seed = s.opts.Seed
	s.mu.Unlock()
	s.blobs.mu.Lock()
	snap.blobs.follow(s.blobs.account)
	s.blobs.mu.Unlock()
	return s.Restore(snap)
}

// through calls f with an account like this one that is kept in db.
func (s *Storage) through(db *store.Store, f func(kept *Storage) error) (err error) {
	kept, err := Open(s.clk, db, &Options{Seed: s.opts.Seed})
	if err != nil {
		return err
	}
	defer func() { // nothing is to arrive there
		kept.mu.Lock()
		defer kept.mu.Unlock()
		kept.takeLocked(nil)
	}()
	return f(kept)
}
