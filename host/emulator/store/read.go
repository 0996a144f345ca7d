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
	return e.read(g, p)
}

// read returns a copy of a value.
func (e *engine) read(g *segment, p place) ([]byte, error) {
	b := make([]byte, checkSize+p.size)
	if err := e.readAt(g, b, p.at); err != nil {
		return nil, err
	}
	return value(g, p, b)
}

func value(g *segment, p place, b []byte) ([]byte, error) {
	v, ok := checked(b)
	if !ok {
		return nil, fmt.Errorf("read: %w", corrupt(g.name, "the value at %d is not what was written", p.at))
	}
	return v, nil
}

// readAt reads all that is asked for.
func (e *engine) readAt(g *segment, b []byte, at int64) error {
	n, err := g.f.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("read: %w", corrupt(g.name, "it ends at %d", at+int64(n)))
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
func (r *readAhead) read(e *engine, g *segment, p place) ([]byte, error) {
	size := checkSize + p.size
	behind := p.at - r.from
	if r.g == g && behind >= 0 && behind+int64(size) <= int64(len(r.b)) {
		return value(g, p, r.b[behind:behind+int64(size)])
	}
	near := r.g == g && behind >= 0 && behind <= int64(len(r.b))+aheadBytes
	if !near || size > aheadBytes {
		r.g, r.from, r.b = g, p.at, r.b[:0]
		r.one = append(r.one[:0], make([]byte, size)...)
		if err := e.readAt(g, r.one, p.at); err != nil {
			return nil, err
		}
		return value(g, p, r.one)
	}
	b := append(r.b[:0], make([]byte, aheadBytes)...)
	n, err := g.f.ReadAt(b, p.at)
	if n < size {
		r.g, r.b = nil, r.b[:0]
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read: %w", corrupt(g.name, "it ends at %d", p.at+int64(n)))
		}
		return nil, fmt.Errorf("read: %w", explain(g.name, err))
	}
	r.from, r.b = p.at, b[:n]
	return value(g, p, r.b[:size])
}
