package store

import (
	"errors"
	"fmt"
	"io"
)

func notFound(key []byte) error { return fmt.Errorf("key %q: %w", key, ErrNotFound) }

// get returns a copy of the value of a key.
func (e *engine) get(key []byte) ([]byte, error) {
	e.mu.RLock()
	p, ok := e.index.get(key)
	if !ok {
		e.mu.RUnlock()
		return nil, notFound(key)
	}
	g := e.log.of(p)
	g.users.Add(1)
	e.mu.RUnlock()
	defer g.release()
	return g.read(p)
}

// read returns a copy of a value.
func (g *segment) read(p place) ([]byte, error) {
	b := make([]byte, checkSize+p.size)
	if err := g.readAt(b, p.at); err != nil {
		return nil, err
	}
	return g.value(p, b)
}

// value is the value at a place, of which b is all there is.
func (g *segment) value(p place, b []byte) ([]byte, error) {
	v, ok := checked(b)
	if !ok {
		return nil, fmt.Errorf("read: %w", corrupt(g.name, "the value at %d is not what was written", p.at))
	}
	return v, nil
}

// readAt reads all that is asked for.
func (g *segment) readAt(b []byte, at int64) error {
	n, err := g.f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return g.short(at+int64(n), err)
}

// short says why a read has ended before all that was asked for.
func (g *segment) short(at int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = corrupt(g.name, "it ends at %d", at)
	}
	return fmt.Errorf("read: %w", explain(g.name, err))
}

// readAhead reads values in the order of their keys. Keys of one kind often lie in the log
// in this order: then many are read at once.
type readAhead struct {
	g    *segment
	from int64
	b    []byte // what lies there
	one  []byte // a value that was read alone
}

// aheadBytes is how much is read at once, and how far apart values may lie for that.
const aheadBytes = 64 << 10

// read returns a value, which is valid until the next.
func (r *readAhead) read(g *segment, p place) ([]byte, error) {
	size := checkSize + p.size
	behind := p.at - r.from
	if r.g == g && behind >= 0 && behind+int64(size) <= int64(len(r.b)) {
		return g.value(p, r.b[behind:behind+int64(size)])
	}
	near := r.g == g && behind >= 0 && behind <= int64(len(r.b))+aheadBytes
	if !near || size > aheadBytes {
		r.g, r.from, r.b = g, p.at, r.b[:0]
		r.one = append(r.one[:0], make([]byte, size)...)
		if err := g.readAt(r.one, p.at); err != nil {
			return nil, err
		}
		return g.value(p, r.one)
	}
	b := append(r.b[:0], make([]byte, aheadBytes)...)
	n, err := g.f.ReadAt(b, p.at)
	if n < size {
		r.g = nil
		return nil, g.short(p.at+int64(n), err)
	}
	r.from, r.b = p.at, b[:n]
	return g.value(p, r.b[:size])
}
