package keep

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Keys are the part of a store that belongs to one service.
type Keys struct {
	Service string // for errors: "Cosmos DB"
	Name    string // of what is kept, for errors: "the Cosmos DB account"
	Prefix  string // begins every key, in a store and in an image; empty: see Kind.Drop
	Time    string // the key of the time of the last change; empty: see Kind.Count
}

// LastTime returns the time of the last change of the service that is kept in db, or
// the zero time when there was none. A clock that starts earlier would find the
// service's times in the future.
func (k Keys) LastTime(db *store.Store) (time.Time, error) {
	return timeOf(db, k.Time, k.Service, db.Dir())
}

// Kind is a service's description of its state. T is the type of everything that its
// keys hold. The service's mutex is held when its functions are called, unless they
// say otherwise.
type Kind[T any] struct {
	Keys

	// Read makes a state out of keys and changes nothing else. It fails with a
	// *store.CorruptError, in which dir names what was read. It may be called without
	// the mutex.
	Read func(r store.Reader, dir string) (T, error)

	// Take puts a state that Read has made in the place of the one in memory.
	Take func(fresh T, from Origin)

	// Write writes the whole state.
	Write func(c Change)

	// Drop removes all keys. Nil: the keys with the prefix.
	Drop func(c *Change)

	// Count writes what every change changes beside the time. Nil: there is nothing.
	Count func(c *Change)

	// Replaced is called after Restore and Load, failed ones too, without the
	// mutex. It may be nil.
	Replaced func()
}

// Origin says where a state comes from that the service takes.
type Origin struct {
	// Follow is set when the service's counters must go on from their present values,
	// so that no number is given twice.
	Follow bool

	// Epoch is the epoch of the store in which the state was made
	// ([store.View.Epoch]), 0 without one: identifiers of different epochs differ.
	Epoch uint64
}

// State is a service's state as a whole. A service embeds it, and so has its methods.
// They may be called concurrently.
type State[T any] struct {
	kind  Kind[T]
	kept  *Keeper
	epoch uint64 // of the state in memory
}

// New returns the state of a service that lives in memory only until [Keeper.Open],
// and its keeper. mu is the service's mutex.
func New[T any](clk clock.Clock, mu *sync.Mutex, kind Kind[T]) (*State[T], *Keeper) {
	s := &State[T]{kind: kind, kept: &Keeper{keys: kind.Keys, clk: clk, mu: mu, count: kind.Count}}
	s.kept.load, s.kept.check = s.load, s.Check
	return s, s.kept
}

// load reads the state from the service's store.
func (s *State[T]) load(v *store.View, dir string) error {
	fresh, err := s.kind.Read(v, dir)
	if err != nil {
		return fmt.Errorf("read %s: %w", s.kind.Name, err)
	}
	s.take(fresh, Origin{Follow: true, Epoch: v.Epoch()})
	return nil
}

func (s *State[T]) take(fresh T, from Origin) {
	s.kind.Take(fresh, from)
	s.epoch = from.Epoch
}

// Keys returns which keys hold the state.
func (s *State[T]) Keys() Keys { return s.kind.Keys }

// Check returns why the state could not be read from r, nil when it can be.
func (s *State[T]) Check(r store.Reader) error {
	_, err := s.kind.Read(r, "archive")
	return err
}

// Snapshot copies the state: the keys that a store would hold. It fails only when a
// store cannot be read.
func (s *State[T]) Snapshot() (*store.Image, error) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return nil, fmt.Errorf("snapshot of %s: %w", s.kind.Name, err)
	}
	image := store.NewImage(func(w store.Writer) {
		c := Change{to: w}
		s.kind.Write(c)
		s.kept.stamp(&c)
	})
	image.Epoch = s.epoch
	return image, nil
}

// Restore replaces the state by a snapshot of this or another service of its kind,
// identifiers included. Times are kept: what was due meanwhile is due. When it fails,
// because the snapshot or a store cannot be read or a store cannot be written, the old
// state stays.
func (s *State[T]) Restore(state *store.Image) error {
	return s.replace(state, Origin{Epoch: state.Epoch})
}

// Load is Restore for a service at work: its counters go on after the largest values
// of both states.
func (s *State[T]) Load(state *store.Image) error { return s.replace(state, Origin{Follow: true}) }

func (s *State[T]) replace(state *store.Image, from Origin) error {
	commit, err := s.begin(state, from)
	if s.kind.Replaced != nil {
		s.kind.Replaced()
	}
	if err == nil {
		err = s.kept.Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", s.kind.Name, err)
	}
	return nil
}

// begin puts another state in place, and begins to write it.
func (s *State[T]) begin(state *store.Image, from Origin) (commit Awaited, err error) {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return commit, err
	}
	replace, err := s.Replacing(state, from)
	if err != nil {
		return commit, err
	}
	c := s.kept.Change()
	c.Writable()
	if err := c.Err(); err != nil {
		return commit, err
	}
	replace(&c)
	return s.kept.Begin(&c)
}

// Replacing reads a state that is to take the place of this one. The function that it
// returns does that with a change that can be written, and cannot fail. It is for what
// is more than one service's keys: the mutex is held until then, and Ready was called.
func (s *State[T]) Replacing(state *store.Image, from Origin) (func(c *Change), error) {
	fresh, err := s.kind.Read(state, "snapshot")
	if err != nil {
		return nil, err
	}
	return func(c *Change) {
		if s.kind.Drop != nil {
			s.kind.Drop(c)
		} else {
			c.DeletePrefix([]byte(s.kind.Prefix))
		}
		if c.Writable() {
			state.CopyTo(c.to)
		}
		s.take(fresh, from)
	}, nil
}
