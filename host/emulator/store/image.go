package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Reader is where keys are read from: a View, or an Image.
type Reader interface {
	// Get returns a copy of a key's value, or ErrNotFound.
	Get(key []byte) ([]byte, error)

	// Scan calls f for each key from start up to and without end, in order, until f
	// returns an error, which becomes Scan's. The slices are valid during the call. A
	// nil end is the end of all keys.
	Scan(start, end []byte, f func(key, value []byte) error) error
}

// Writer takes keys: a Batch, or an Image that is being made. It copies keys and
// values.
type Writer interface {
	Set(key, value []byte)
	Delete(key []byte)
	DeleteRange(start, end []byte)
}

// Image is keys in memory, without a store: the state of a service at one moment.
// It never changes, and may be read concurrently. The zero value has no keys.
type Image struct {
	// Epoch is the epoch of the state that was copied ([View.Epoch]), 0 where it is
	// unknown.
	Epoch uint64

	pairs []pair // by key
}

type pair struct{ key, value []byte }

// NewImage returns the image of what fill writes.
func NewImage(fill func(w Writer)) *Image {
	d := draft{}
	fill(d)
	i := &Image{pairs: make([]pair, 0, len(d))}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		i.pairs = append(i.pairs, pair{[]byte(key), d[key]})
	}
	return i
}

// ImageOf copies the keys that begin with prefix.
func ImageOf(r Reader, prefix string) (*Image, error) {
	i := &Image{}
	err := r.Scan([]byte(prefix), PrefixEnd([]byte(prefix)), func(key, value []byte) error {
		i.pairs = append(i.pairs, pair{bytes.Clone(key), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// CopyTo writes all keys.
func (i *Image) CopyTo(w Writer) {
	for _, p := range i.pairs {
		w.Set(p.key, p.value)
	}
}

// Get implements Reader.
func (i *Image) Get(key []byte) ([]byte, error) {
	if at, ok := i.find(key); ok {
		return bytes.Clone(i.pairs[at].value), nil
	}
	return nil, fmt.Errorf("key %q: %w", key, ErrNotFound)
}

// Scan implements Reader.
func (i *Image) Scan(start, end []byte, f func(key, value []byte) error) error {
	at, _ := i.find(start)
	for ; at < len(i.pairs) && (end == nil || bytes.Compare(i.pairs[at].key, end) < 0); at++ {
		if err := f(i.pairs[at].key, i.pairs[at].value); err != nil {
			return err
		}
	}
	return nil
}

func (i *Image) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(i.pairs, key, func(p pair, key []byte) int { return bytes.Compare(p.key, key) })
}

// draft is an image that is being made.
type draft map[string][]byte

func (d draft) Set(key, value []byte) { d[string(key)] = bytes.Clone(value) }
func (d draft) Delete(key []byte)     { delete(d, string(key)) }

func (d draft) DeleteRange(start, end []byte) {
	for key := range d {
		if key >= string(start) && (end == nil || key < string(end)) {
			delete(d, key)
		}
	}
}
