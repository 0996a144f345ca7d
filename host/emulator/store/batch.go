package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// Batch collects changes that take effect together or not at all. Later ones
// win. It belongs to one goroutine and ends with Begin, or with Discard.
//
// Keys are ordered by their bytes and must not be empty or begin with a zero
// byte: those are the store's own. Keys and values are copied.
type Batch struct {
	e      *engine
	b      *pebble.Batch
	space  []byte         // prefix of all keys
	delta  map[FileID]int // references of files
	frees  bool           // it removes something
	ranges []keyRange     // that it removes
	adds   int            // bytes of the keys and values that it sets
}

// keyRange is the keys from start up to and without end.
type keyRange struct{ start, end []byte }

// NewBatch returns an empty batch. It fails when the store is closed or has
// failed.
func (s *Store) NewBatch() (*Batch, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	return &Batch{e: e, b: e.db.NewBatch(), space: s.prefix}, nil
}

// Set gives a key its value.
func (b *Batch) Set(key, value []byte) {
	checkKey(key)
	must(b.b.Set(within(b.space, key), value, nil))
	b.adds += len(key) + len(value)
}

// Delete removes a key, which need not exist.
func (b *Batch) Delete(key []byte) {
	checkKey(key)
	must(b.b.Delete(within(b.space, key), nil))
	b.frees = true
}

// DeleteRange removes the keys from start up to and without end, however many
// there are, for the cost of one.
func (b *Batch) DeleteRange(start, end []byte) {
	checkKey(start)
	r := keyRange{slices.Clone(within(b.space, start)), slices.Clone(within(b.space, end))}
	must(b.b.DeleteRange(r.start, r.end, nil))
	b.ranges = append(b.ranges, r)
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
	_ = b.b.Close() // it only says that the batch is gone
	b.e.release()
}

// Commit is a batch that has begun.
type Commit struct {
	e    *engine
	b    *pebble.Batch
	dead []FileID // files whose last reference goes with the batch

	once sync.Once
	err  error
	done atomic.Bool
}

// Begin starts to commit a batch and does not wait for the disk. From here on reads
// see it. Batches become durable in the order of their Begin: when one is done, all
// before it are done. The caller must call Wait.
//
// A failure ends the use of the store until Recover: what was begun and not
// done may or may not have been written. A batch that keeps or releases a file
// that is not there is refused with ErrNotFound, and only it.
//
// While the store refuses writes, as on a full disk, it fails with ErrFailed for
// the reason of that, and what can be read stays as it is. A batch that removes
// something is taken as long as the room lasts that the store keeps for it.
func (s *Store) Begin(b *Batch) (*Commit, error) {
	s.growReserve(b)
	if err := s.toWritable(b); err != nil {
		b.e.release()
		return nil, fmt.Errorf("write: %w", err)
	}
	c, err := begin(b)
	if err != nil {
		b.e.release()
		return nil, fmt.Errorf("write: %w", err)
	}
	s.noteRemoved(b)
	return c, nil
}

func begin(b *Batch) (c *Commit, err error) {
	if err := b.e.failed(); err != nil {
		return nil, err
	}
	c = &Commit{e: b.e, b: b.b}
	b.e.order.Lock()
	defer b.e.order.Unlock()
	if len(b.delta) > 0 {
		b.e.files.mu.Lock()
		defer b.e.files.mu.Unlock()
		if c.dead, err = b.e.files.referLocked(b.b, b.delta); err != nil {
			return nil, err
		}
	}
	// The engine panics after a fatal failure, with its locks held.
	defer func() {
		if r := recover(); r != nil {
			b.e.lose()
			cause, ok := r.(error)
			if !ok {
				cause = fmt.Errorf("engine: %v", r)
			}
			c, err = nil, b.e.fail(cause)
		}
	}()
	b.e.batches++
	must(b.b.Set(batchesKey, binary.BigEndian.AppendUint64(nil, b.e.batches), nil))
	if err := b.e.db.ApplyNoSyncWait(b.b, pebble.Sync); err != nil {
		return nil, b.e.fail(err)
	}
	return c, nil
}

// Wait returns when the batch is durable, or has failed. The caller of Begin calls
// it; others may call it too, at any time, and get the same answer.
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
	err := c.b.SyncWait()
	if err == nil {
		err = c.e.failed() // the engine is not told what happens to its log
	}
	if err != nil {
		return fmt.Errorf("write: %w", c.e.fail(err))
	}
	c.e.files.remove(c.dead)
	err, c.b = c.b.Close(), nil
	if err != nil {
		return fmt.Errorf("write: %w", c.e.fail(err))
	}
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
		panic("store: a key must not be empty or begin with a zero byte")
	}
}

// must is for calls on a batch in memory, which fail only when it has been
// committed before.
func must(err error) {
	if err != nil {
		panic(errors.Join(errors.New("store: batch used after Begin"), err))
	}
}
