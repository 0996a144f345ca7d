package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Snapshot is the state of an account at one moment. It never changes and may
// be restored any number of times. Bodies of blobs are in memory, whether the
// account is or not: for large accounts there are Save and Load.
type Snapshot struct {
	queues store.Image
	blobs  blobsSnapshot
}

// Reset removes everything, so that the account is as New made it. Callers of
// OnArrival and OnChange stay. It fails as Restore does.
func (s *Storage) Reset() error {
	return s.Restore(&Snapshot{})
}

// Snapshot copies the account's state. It fails only when the account is kept in
// a store that cannot be read.
func (s *Storage) Snapshot() (*Snapshot, error) {
	queues, err := s.state.Snapshot()
	if err != nil {
		return nil, err
	}
	blobs, err := s.blobs.save()
	if err != nil {
		return nil, fmt.Errorf("snapshot of the storage account: %w", err)
	}
	return &Snapshot{*queues, blobs}, nil
}

// Restore replaces the account's state. Times in it are kept: what was due
// meanwhile has ended. It fails only when the account is kept in a store that
// cannot be written; then the old state stays.
func (s *Storage) Restore(snap *Snapshot) error {
	return s.replace(snap, keep.Origin{Epoch: snap.queues.Epoch})
}

func (s *Storage) replace(snap *Snapshot, from keep.Origin) error {
	commit, err := s.beginReplace(snap, from)
	if err == nil {
		err = s.kept.Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the storage account: %w", err)
	}
	return nil
}

// beginReplace replaces queues and blobs, and begins to write both as one batch.
func (s *Storage) beginReplace(snap *Snapshot, from keep.Origin) (commit keep.Awaited, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return commit, err
	}
	if err := s.blobs.kept.Ready(); err != nil {
		return commit, err
	}
	if s.kept.Opening() != s.blobs.kept.Opening() {
		return commit, keep.Unavailable(keep.ErrReplaced)
	}
	blobs, err := snap.blobs.copied(s.blobs.bodies, s.kept.Opening())
	if err != nil {
		return commit, err
	}
	c := change{s.kept.Change()}
	if err := keep.Replace(s.state, &c.Change, &snap.queues, from); err != nil {
		c.Discard()
		return commit, err
	}
	s.blobs.restoreLocked(blobs, &c)
	if commit, err = s.kept.Begin(&c.Change, s.blobs.kept); err == nil {
		s.blobs.keptBodies()
	}
	return commit, err
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
// the last ones that the saved account and this one had given.
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
	s.blobs.mu.Lock()
	snap.blobs.follow(s.blobs.account)
	s.blobs.mu.Unlock()
	return s.replace(snap, keep.Origin{Follow: true})
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
		kept.takeLocked(queuesState{}, keep.Origin{})
	}()
	return f(kept)
}
