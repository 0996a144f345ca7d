package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// Snapshot is the state of an account at one moment. It never changes and may
// be restored any number of times.
type Snapshot struct {
	ids    ids
	queues map[string]queueSnapshot
}

type queueSnapshot struct {
	sequence uint64
	messages []message // by insertion; no timers, no places
}

// Reset removes everything, so that the account is as New made it. Callers of
// OnArrival stay. It fails as Restore does.
func (s *Storage) Reset() error {
	return s.Restore(&Snapshot{ids: ids{seed: s.opts.Seed}})
}

// Snapshot copies the account's state.
func (s *Storage) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshotLocked()
}

func (s *Storage) snapshotLocked() *Snapshot {
	snap := &Snapshot{ids: s.ids, queues: make(map[string]queueSnapshot, len(s.queues))}
	for name, state := range s.queues {
		q := queueSnapshot{sequence: state.sequence, messages: make([]message, 0, len(state.byID))}
		for _, m := range state.inOrder() {
			c := *m
			c.arrival, c.byVisible, c.byExpiry = nil, 0, 0
			q.messages = append(q.messages, c)
		}
		snap.queues[name] = q
	}
	return snap
}

// queueStates makes queues out of a snapshot.
func (snap *Snapshot) queueStates() map[string]*queueState {
	queues := make(map[string]*queueState, len(snap.queues))
	for name, from := range snap.queues {
		state := newQueueState()
		state.sequence = from.sequence
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

func (s *Storage) restore(snap *Snapshot) (*store.Commit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readyLocked(); err != nil {
		return nil, err
	}
	s.ids = snap.ids
	s.takeLocked(snap.queueStates())
	c := change{db: s.db}
	c.dropAll()
	c.saveAll(s.queues)
	return s.beginLocked(&c)
}

// Save writes everything in the account to w, for Load in this or any other
// process.
func (s *Storage) Save(w io.Writer) (err error) {
	db := s.db
	if db == nil {
		if db, err = store.OpenMemory(nil); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if err := s.copyTo(db); err != nil {
			return err
		}
	}
	return db.Save(w)
}

func (s *Storage) copyTo(db *store.Store) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := &Storage{clk: s.clk, db: db, ids: s.ids}
	c := change{db: db}
	c.saveAll(s.queues)
	commit, err := to.beginLocked(&c)
	if err != nil || commit == nil {
		return err
	}
	return commit.Wait()
}

// Load replaces everything in the account by what Save wrote, all of it or,
// when it fails, nothing. Times are kept, as with Restore; identifiers follow
// those that the saved account and this one had given.
func (s *Storage) Load(r io.Reader) (err error) {
	if s.db != nil {
		if err := s.db.Load(r); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.readyLocked()
	}
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Load(r); err != nil {
		return err
	}
	queues, n, err := readQueues(db)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = ids{seed: s.opts.Seed, n: max(s.ids.n, n)}
	s.takeLocked(queues)
	return nil
}
