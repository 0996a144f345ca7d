package storage

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Snapshot is the state of an account at one moment. It never changes and may
// be restored any number of times. Bodies of blobs are in memory, whether the
// account is or not: for large accounts there are Save and Load.
type Snapshot struct{ states []account.State } // in the order of the services; none: all are empty

// Reset removes everything, so that the account is as New made it. Callers of
// OnArrival and OnChange stay. It fails as Restore does.
func (s *Storage) Reset() error {
	return s.Restore(&Snapshot{})
}

// Snapshot copies the account's state. It fails only when the account is kept in
// a store that cannot be read.
func (s *Storage) Snapshot() (*Snapshot, error) {
	snap := &Snapshot{}
	for _, service := range s.services() {
		state, err := service.Copy()
		if err != nil {
			return nil, err
		}
		snap.states = append(snap.states, state)
	}
	return snap, nil
}

// Restore replaces the account's state. Times in it are kept: what was due
// meanwhile has ended. It fails only when the account is kept in a store that
// cannot be written; then the old state stays.
func (s *Storage) Restore(snap *Snapshot) error { return s.replace(snap, false) }

func (s *Storage) replace(snap *Snapshot, follow bool) error {
	commit, err := s.beginReplace(snap, follow)
	if err == nil {
		err = s.queueService.Keeper().Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the storage account: %w", err)
	}
	return nil
}

// beginReplace replaces the states of all services, and begins to write them as one batch.
func (s *Storage) beginReplace(snap *Snapshot, follow bool) (commit keep.Awaited, err error) {
	services := s.services()
	var keepers []*keep.Keeper
	for _, service := range services {
		service.Mutex().Lock()
		defer service.Mutex().Unlock()
		keepers = append(keepers, service.Keeper())
	}
	for _, k := range keepers {
		if err := k.Ready(); err != nil {
			return commit, err
		}
	}
	var replace []func(*keep.Change)
	for i, service := range services {
		if keepers[i].Opening() != keepers[0].Opening() {
			return commit, keep.Unavailable(keep.ErrReplaced)
		}
		var state account.State
		if len(snap.states) > 0 {
			state = snap.states[i]
		}
		do, err := service.Replacing(state, follow)
		if err != nil {
			return commit, err
		}
		replace = append(replace, do)
	}
	c := keepers[0].Change()
	c.Writable()
	if err := c.Err(); err != nil {
		return commit, err
	}
	for _, do := range replace {
		do(&c)
	}
	return keepers[0].Begin(&c, keepers[1:]...)
}

// CheckLoads makes every later Load of db refuse a state that an account could not
// be read from, as Open does.
func CheckLoads(db *store.Store) {
	services := New(clock.System(), nil).services()
	db.Check(func(v *store.View) error {
		var errs []error
		for _, service := range services {
			errs = append(errs, service.Check(v))
		}
		return errors.Join(errs...)
	})
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

// ready reads what has not been read, or was replaced.
func (s *Storage) ready() error {
	for _, service := range s.services() {
		if err := ready(service); err != nil {
			return err
		}
	}
	return nil
}

func ready(service account.Service) error {
	service.Mutex().Lock()
	defer service.Mutex().Unlock()
	return service.Keeper().Ready()
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
	return s.replace(snap, true)
}

// through calls f with an account like this one that is kept in db.
func (s *Storage) through(db *store.Store, f func(kept *Storage) error) (err error) {
	kept, err := Open(s.clk, db, &Options{Seed: s.opts.Seed})
	if err != nil {
		return err
	}
	defer kept.Rest() // nothing is to arrive there
	return f(kept)
}
