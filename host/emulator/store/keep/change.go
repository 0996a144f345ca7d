package keep

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// Change collects what one operation writes. Without a store it collects nothing.
type Change struct {
	of    *Keeper // nil: it goes into an image
	batch *store.Batch
	to    store.Writer // the batch, or an image
	err   error
}

// Writable reports whether what is set is collected. Services ask before they
// encode anything.
func (c *Change) Writable() bool {
	if c.to != nil {
		return true
	}
	if c.of == nil || c.of.db == nil || c.err != nil {
		return false
	}
	batch, err := c.of.newBatch()
	if err != nil {
		c.err = Unavailable(err)
		return false
	}
	c.batch, c.to = batch, batch
	return true
}

// newBatch returns a batch for the state that was read, and no other: the state may be
// replaced at any moment.
func (k *Keeper) newBatch() (*store.Batch, error) {
	batch, err := k.db.NewBatch()
	if err == nil && !k.db.IsOpening(k.opening) {
		batch.Discard()
		err = ErrReplaced
	}
	return batch, err
}

// Written reports whether there is anything to be written to a store.
func (c *Change) Written() bool { return c.batch != nil }

// Set gives a key its value.
func (c *Change) Set(key, value []byte) {
	if c.Writable() {
		c.to.Set(key, value)
	}
}

// Delete removes a key.
func (c *Change) Delete(key []byte) {
	if c.Writable() {
		c.to.Delete(key)
	}
}

// DeletePrefix removes all keys that begin so.
func (c *Change) DeletePrefix(prefix []byte) { c.DeleteRange(prefix, store.PrefixEnd(prefix)) }

// DeleteRange removes the keys from start up to and without end.
func (c *Change) DeleteRange(start, end []byte) {
	if c.Writable() {
		c.to.DeleteRange(start, end)
	}
}

// Keep adds a reference to a file of the store, as [store.Batch.Keep] does. An image
// has no files.
func (c *Change) Keep(id store.FileID) {
	if c.Writable() {
		c.batch.Keep(id)
	}
}

// Release takes a reference from a file of the store.
func (c *Change) Release(id store.FileID) {
	if c.Writable() {
		c.batch.Release(id)
	}
}

// Err returns why the change cannot be written, nil when it can.
func (c *Change) Err() error { return c.err }

// Discard ends a change that will not be begun.
func (c *Change) Discard() {
	if c.batch != nil {
		c.batch.Discard()
	}
	*c = Change{of: c.of}
}

// setTime gives a key a time.
func (c *Change) setTime(key string, t time.Time) {
	value := binary.BigEndian.AppendUint64(make([]byte, 0, 12), uint64(t.Unix()))
	c.Set([]byte(key), binary.BigEndian.AppendUint32(value, uint32(t.Nanosecond())))
}

// timeOf returns what setTime wrote, or the zero time when it never did. service and
// dir are for the error when something else is there, a *store.CorruptError.
func timeOf(r interface {
	Get(key []byte) ([]byte, error)
}, key, service, dir string) (time.Time, error) {
	value, err := r.Get([]byte(key))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if len(value) != 12 {
		return time.Time{}, &store.CorruptError{Path: dir, Err: fmt.Errorf("the time of the last change of %s has %d bytes", service, len(value))}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint32(value[8:]))).UTC(), nil
}
