package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Batch collects changes that take effect together or not at all. Later ones
// win. It belongs to one goroutine and ends with Begin, or with Discard.
//
// Keys are ordered by their bytes and must not be empty or begin with a zero
// byte: those are the store's own. Keys and values are copied.
type Batch struct {
	e     *engine
	frame []byte
	space []byte         // prefix of all keys
	delta map[FileID]int // references of files
	frees bool           // it removes something
	adds  int            // bytes of the keys and values that it sets
}

// frames are the frames of batches that have ended, for the next ones: a frame with a body
// in it would grow, and be copied, three times.
var frames = sync.Pool{New: func() any { return &Batch{frame: newFrame()} }}

// frameKept is the size of a frame that is worth keeping.
const frameKept = 64 << 10

// end gives the frame of a batch back, which has been written or refused.
func (b *Batch) end() {
	if cap(b.frame) <= frameKept {
		frames.Put(&Batch{frame: b.frame})
	}
	b.frame = nil
}

// NewBatch returns an empty batch. It fails when the store is closed or has
// failed.
func (s *Store) NewBatch() (*Batch, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return newBatch(e, s.prefix), nil
}

func newBatch(e *engine, space []byte) *Batch {
	b := frames.Get().(*Batch)
	*b = Batch{e: e, frame: b.frame[:frameHead], space: space}
	return b
}

// Set gives a key its value.
func (b *Batch) Set(key, value []byte) {
	checkKey(key)
	b.frame = appendSet(b.frame, b.space, key, value)
	b.adds += len(key) + len(value)
}

// Delete removes a key, which need not exist.
func (b *Batch) Delete(key []byte) {
	checkKey(key)
	b.frame = appendDelete(b.frame, b.space, key)
	b.frees = true
}

// DeleteRange removes the keys from start up to and without end, however many
// there are, for the cost of one on the disk.
func (b *Batch) DeleteRange(start, end []byte) {
	checkKey(start)
	if end != nil && bytes.Compare(start, end) >= 0 {
		return // an empty end is not that of all keys
	}
	if end = within(b.space, end); end == nil {
		end = PrefixEnd(b.space)
	}
	b.frame = appendRange(b.frame, within(b.space, start), end)
	b.frees = true
}

// Keep adds one reference to a file. A file that Finish has returned stays for
// as long as it has references, once it has got the first.
func (b *Batch) Keep(id FileID) { b.refer(id, 1) }

// Release takes one reference from a file. The last one takes the file with it
// when the batch is committed; readers that have it open can go on.
func (b *Batch) Release(id FileID) {
	b.refer(id, -1)
	b.frees = true
}

func (b *Batch) refer(id FileID, n int) {
	if b.delta == nil {
		b.delta = map[FileID]int{}
	}
	b.delta[id] += n
}

// Discard ends a batch that will not be begun.
func (b *Batch) Discard() {
	b.end()
	b.e.release()
}

// Commit is a batch that has begun.
type Commit struct {
	e      *engine
	number uint64   // of its frame
	dead   []FileID // files whose last reference goes with the batch

	once sync.Once
	err  error
	done atomic.Bool
}

// Begin starts to commit a batch and does not wait for the disk. From here on reads
// see it. Batches become durable in the order of their Begin: when one is done, all
// before it are done. The caller must call Wait.
//
// When the batch cannot be written it is refused, with ErrReadOnly for the reason of that,
// and what can be read stays as it is. The store then refuses writes for as long as they
// would fail. On a full disk a batch that removes something is taken as long as the room
// lasts that the store keeps for it. A batch that keeps or releases a file that is not
// there is refused with ErrNotFound, and only it.
func (s *Store) Begin(b *Batch) (*Commit, error) {
	c, err := s.begin(b)
	b.end()
	if err != nil {
		b.e.release()
		return nil, fmt.Errorf("write: %w", err)
	}
	return c, nil
}

// unwrittenError says that a batch was not written, and that nothing has changed.
type unwrittenError struct{ error }

func (e unwrittenError) Unwrap() error { return e.error }

// begin writes a batch.
func (e *engine) begin(b *Batch) (*Commit, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.failed(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	frame := b.frame
	if len(b.delta) > 0 {
		e.files.mu.Lock()
		defer e.files.mu.Unlock()
		var err error
		if frame, err = e.files.referencesLocked(slices.Clip(frame), b.delta); err != nil {
			return nil, err
		}
	}
	if len(frame) > frameMost {
		return nil, fmt.Errorf("a batch of %d bytes, at most %d", len(frame), frameMost)
	}
	if err := e.addLocked(frame); err != nil {
		if e.failed() != nil {
			return nil, e.writeError(err)
		}
		return nil, unwrittenError{explain(e.dir, err)}
	}
	c := &Commit{e: e, number: e.log.number}
	if len(b.delta) > 0 {
		c.dead = e.files.referLocked(b.delta)
	}
	return c, nil
}

// Wait returns when the batch is durable, or has failed. The caller of Begin calls
// it; others may call it too, at any time, and get the same answer. A failure ends the use
// of the store until Ready: what was begun and not done is not in it then.
func (c *Commit) Wait() error {
	c.once.Do(func() {
		c.err = c.wait()
		c.done.Store(true)
	})
	return c.err
}

// Durable reports whether Wait would return nil at once.
func (c *Commit) Durable() bool { return c.done.Load() && c.err == nil }

func (c *Commit) wait() error {
	defer c.e.release()
	if err := c.e.syncTo(c.number); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	c.e.files.remove(c.dead)
	return nil
}

// Apply is Begin and Wait.
func (s *Store) Apply(b *Batch) error {
	c, err := s.Begin(b)
	if err != nil {
		return err
	}
	return c.Wait()
}

func checkKey(key []byte) {
	if len(key) == 0 || key[0] == 0 {
		panic(errors.New("store: a key must not be empty or begin with a zero byte"))
	}
}
