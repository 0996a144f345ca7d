package store

import (
	"bytes"
	"errors"
)

// View is the keys at one moment. It may be used by several goroutines and must
// be closed.
type View struct {
	e        *engine
	index    index
	segments []*segment
	space    []byte // prefix of all keys
}

// View returns the keys as they are now, every batch that has begun included.
func (s *Store) View() (*View, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return newView(e, s.prefix), nil
}

// newView is a view for a user of the engine who is counted in.
func newView(e *engine, space []byte) *View {
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &View{e: e, index: e.index.copy(), segments: e.log.segments, space: space}
	for _, g := range v.segments {
		g.users.Add(1)
	}
	return v
}

// Epoch is how many states came before this one, by Load and Reset, since the store
// was made. The counters of owners for identifiers begin anew, or further back,
// with each; the epoch keeps identifiers apart, over restarts too.
func (v *View) Epoch() uint64 { return uint64(v.e.state - 1) }

// Get returns a copy of a key's value, or ErrNotFound.
func (v *View) Get(key []byte) ([]byte, error) {
	p, ok := v.index.get(within(v.space, key))
	if !ok {
		return nil, notFound(key)
	}
	return v.of(p).read(p)
}

func (v *View) of(p place) *segment { return v.segments[p.segment-v.segments[0].number] }

// Get returns a copy of a key's value as it is now, or ErrNotFound.
func (s *Store) Get(key []byte) ([]byte, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer e.release()
	return e.get(within(s.prefix, key))
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

// scanFiles calls f for each file that is referred to.
func (v *View) scanFiles(f func(FileID, *fileState) error) error {
	it := v.iter(refPrefix, PrefixEnd(refPrefix), nil)
	var err error
	for ok := it.Seek(refPrefix); ok && err == nil; ok = it.Next() {
		id, state, ok := decodeRef(it.Key(), it.Value())
		if !ok {
			err = corrupt(v.e.dir, "reference %x cannot be read", it.Key())
			break
		}
		err = f(id, state)
	}
	return errors.Join(err, it.Close())
}

// Close ends the view.
func (v *View) Close() error {
	for _, g := range v.segments {
		g.release()
	}
	v.e.release()
	return nil
}

// Iter walks over keys in order. It belongs to one goroutine, must be closed
// before its view, and stands nowhere until the first Seek.
type Iter struct {
	v          *View
	at         cursor
	start, end []byte // a nil end is none
	space      []byte
	val        []byte
	ahead      readAhead
	err        error
}

// Iter returns an iterator over the keys from start up to and without end; a
// nil end is the end of all keys.
func (v *View) Iter(start, end []byte) (*Iter, error) {
	checkKey(start)
	if end = within(v.space, end); end == nil {
		end = PrefixEnd(v.space)
	}
	return v.iter(within(v.space, start), end, v.space), nil
}

func (v *View) iter(start, end, space []byte) *Iter {
	return &Iter{v: v, start: start, end: end, space: space}
}

// Seek moves to the first key at or after key and reports whether there is one.
func (i *Iter) Seek(key []byte) bool {
	if key = within(i.space, key); bytes.Compare(key, i.start) < 0 {
		key = i.start
	}
	return i.stands(i.at.seek(&i.v.index, key))
}

// Next moves to the following key and reports whether there is one.
func (i *Iter) Next() bool { return i.stands(i.at.next()) }

func (i *Iter) stands(ok bool) bool {
	if !ok || i.err != nil || i.end != nil && bytes.Compare(i.at.key, i.end) >= 0 {
		return false
	}
	i.val, i.err = i.ahead.read(i.v.of(i.at.place), i.at.place)
	return i.err == nil
}

// Key is the key at which the iterator stands; valid until it moves.
func (i *Iter) Key() []byte { return i.at.key[len(i.space):] }

// Value is its value; valid until the iterator moves.
func (i *Iter) Value() []byte { return i.val }

// Close ends the iterator and returns what went wrong on the way: keys after a
// fault were not seen.
func (i *Iter) Close() error { return i.err }

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
