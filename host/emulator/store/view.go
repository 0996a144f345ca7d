package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// View is the keys at one moment. It may be used by several goroutines and must
// be closed.
type View struct {
	e     *engine
	snap  *pebble.Snapshot
	space []byte // prefix of all keys
}

// View returns the keys as they are now, every batch that has begun included.
func (s *Store) View() (*View, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return &View{e: e, snap: e.db.NewSnapshot(), space: s.prefix}, nil
}

// Epoch is how many states came before this one, by Load and Reset, since the store
// was made. The counters of owners for identifiers begin anew, or further back,
// with each; the epoch keeps identifiers apart, over restarts too.
func (v *View) Epoch() uint64 { return uint64(v.e.state - 1) }

// Get returns a copy of a key's value, or ErrNotFound.
func (v *View) Get(key []byte) ([]byte, error) { return get(v.e, v.snap, within(v.space, key)) }

// Get returns a copy of a key's value as it is now, or ErrNotFound.
func (s *Store) Get(key []byte) ([]byte, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer e.release()
	return get(e, e.db, within(s.prefix, key))
}

func get(e *engine, from pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, fmt.Errorf("key %q: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read: %w", e.readError(e.dir, err))
	}
	value = bytes.Clone(value)
	return value, closer.Close()
}

// Scan calls f for each key from start up to and without end, in order, until f
// returns an error, which becomes Scan's. The slices are valid during the call.
// A nil end is the end of all keys.
func (v *View) Scan(start, end []byte, f func(key, value []byte) error) error {
	it, err := v.Iter(start, end)
	if err != nil {
		return err
	}
	for ok := it.Seek(start); ok; ok = it.Next() {
		if err = f(it.Key(), it.Value()); err != nil {
			break
		}
	}
	return errors.Join(err, it.Close())
}

// Close ends the view.
func (v *View) Close() error {
	err := v.snap.Close()
	v.e.release()
	return err
}

// Iter walks over keys in order. It belongs to one goroutine, must be closed
// before its view, and stands nowhere until the first Seek.
type Iter struct {
	e     *engine
	it    *pebble.Iterator
	space []byte
	val   []byte
	err   error
}

// Iter returns an iterator over the keys from start up to and without end; a
// nil end is the end of all keys.
func (v *View) Iter(start, end []byte) (*Iter, error) {
	checkKey(start)
	if end = within(v.space, end); end == nil {
		end = PrefixEnd(v.space)
	}
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: within(v.space, start), UpperBound: end})
	if err != nil {
		return nil, fmt.Errorf("read: %w", v.e.readError(v.e.dir, err))
	}
	return &Iter{e: v.e, it: it, space: v.space}, nil
}

// Seek moves to the first key at or after key and reports whether there is one.
func (i *Iter) Seek(key []byte) bool { return i.at(i.it.SeekGE(within(i.space, key))) }

// Next moves to the following key and reports whether there is one.
func (i *Iter) Next() bool { return i.at(i.it.Next()) }

func (i *Iter) at(ok bool) bool {
	if !ok || i.err != nil {
		return false
	}
	i.val, i.err = i.it.ValueAndErr()
	return i.err == nil
}

// Key is the key at which the iterator stands; valid until it moves.
func (i *Iter) Key() []byte { return i.it.Key()[len(i.space):] }

// Value is its value; valid until the iterator moves.
func (i *Iter) Value() []byte { return i.val }

// Close ends the iterator and returns what went wrong on the way: keys after a
// fault were not seen.
func (i *Iter) Close() error {
	err := errors.Join(i.err, i.it.Close())
	if err != nil {
		return fmt.Errorf("read: %w", i.e.readError(i.e.dir, err))
	}
	return nil
}

// PrefixEnd returns the first key after all keys that begin with prefix, or nil
// when there is none.
func PrefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
