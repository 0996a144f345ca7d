package cosmos

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Open returns the account that is kept in db: empty if nothing is there yet, and
// otherwise as it was when it was last used, feeds and their positions included.
//
// The account lives in memory as one made by [New] does; each change is written
// through before it is reported. When it cannot be written, the call fails with
// bindings.ErrUnavailable, and the account is read again from db by the next call.
//
// With store.Options.Sync a write takes the disk's time, during which the clock
// stands still and others have their turn; otherwise the caller keeps the turn. A
// read then waits for the writes that it shows: no feed shows a change that a loss
// of power could take back, and so no checkpoint is ahead of its feed.
//
// The caller opens db, may keep more in it (keys of an account begin with
// "cosmos"), and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Account, error) {
	a := New(clk, opts)
	a.db = db
	db.Check(func(v *store.View) error { return newLoader(v, "archive").load() })
	var err error
	clk.Inside("open the Cosmos DB account", func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		err = a.readyLocked()
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// readyLocked sees to it that what is in memory is what db holds.
func (a *Account) readyLocked() error {
	if a.db == nil {
		return nil
	}
	opening, err := a.db.Ready()
	if err == nil && opening != a.opening {
		err = a.loadLocked()
	}
	if err != nil {
		return unavailable(err)
	}
	a.opening = opening
	return nil
}

// commitLocked begins to write a change. When there is none, it returns what has to
// be written before anybody may be told the state.
//
// After an error memory is ahead of db, and is read again.
func (a *Account) commitLocked(c *change) (awaited, error) {
	if c.batch == nil {
		if c.err != nil {
			a.opening = 0
		}
		return a.pendingLocked(), c.err
	}
	c.batch.Set([]byte(idsKey), binary.BigEndian.AppendUint64(nil, a.state.ids.n))
	c.batch.Set([]byte(timeKey), timeValue(a.now()))
	commit, err := a.db.Begin(c.batch)
	if err != nil {
		a.opening = 0
		return awaited{}, unavailable(err)
	}
	if a.db.Sync() {
		a.last, a.lastOpening = commit, a.opening
	}
	return awaited{commit: commit, own: true}, nil
}

// awaited is a commit that is waited for; the zero value is none.
type awaited struct {
	commit *store.Commit
	own    bool // of the operation that waits
}

// pendingLocked is the last commit of this state, if a loss of power could still
// take it back.
func (a *Account) pendingLocked() awaited {
	if a.last == nil || a.lastOpening != a.opening || a.last.Durable() {
		a.last = nil
		return awaited{}
	}
	return awaited{commit: a.last}
}

// wait returns when the change is written. Others may call meanwhile: their
// changes follow, and are not written if this one is not. It gives others their
// turn for the sake of its own commit only: whether that of another is done already
// depends on the disk, and the order of turns must not.
func (a *Account) wait(ctx context.Context, c awaited) (err error) {
	switch {
	case c.commit == nil:
		return nil
	case c.own && a.db.Sync():
		a.clk.Outside(ctx, "write to disk", func() { err = c.commit.Wait() })
	default:
		err = c.commit.Wait()
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", bindings.ErrUnavailable, err) }

// Keys are "cosmos", their kind, and what names the thing. Resource identifiers
// have one length and hold no zero byte.
const (
	keyPrefix     = "cosmos"
	databaseKind  = 'd' // name; value: its identifier
	containerKind = 'c' // identifier; value: JSON of bindings.CosmosContainerInfo
	sequenceKind  = 'n' // identifier, zero, range; value: the LSN that was given last
	itemKind      = 'i' // identifier, zero, key, zero, id; value: JSON of itemRecord

	idsKey  = keyPrefix + "ids"  // value: the number of identifiers that have been given
	timeKey = keyPrefix + "time" // value: the time of the last change
)

// itemRecord is what is kept of a document.
type itemRecord struct {
	Content   string // its characters stay as they are
	RID, ETag string
	LSN       uint64
	Modified  time.Time
}

func kindKey(kind byte, parts ...string) []byte {
	b := append([]byte(keyPrefix), '.', kind)
	for i, p := range parts {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, p...)
	}
	return b
}

// errReplaced is what they get who still have something of a state that is no
// more.
var errReplaced = errors.New("the state was replaced") // read only

// change collects what one operation writes to the state of an opening. Without a
// store it collects nothing.
type change struct {
	db      *store.Store
	opening uint64
	batch   *store.Batch
	err     error
}

func (c *change) writable() bool {
	if c.db == nil || c.err != nil {
		return false
	}
	if c.batch == nil {
		batch, err := c.db.NewBatch()
		if err != nil {
			c.err = unavailable(err)
			return false
		}
		if now, err := c.db.Opening(); err != nil || now != c.opening { // it may be replaced at any moment
			batch.Discard()
			c.err = unavailable(errReplaced)
			return false
		}
		c.batch = batch
	}
	return true
}

// discard ends a change that is not written.
func (c *change) discard() {
	if c.batch != nil {
		c.batch.Discard()
		c.batch = nil
	}
}

func (c *change) set(key []byte, v any) {
	if !c.writable() {
		return
	}
	text, err := json.Marshal(v)
	if err != nil { // plain values, and documents that were checked
		panic(err)
	}
	c.batch.Set(key, text)
}

func (c *change) saveDatabase(name, rid string) { c.set(kindKey(databaseKind, name), rid) }

func (c *change) saveContainer(k *container) { c.set(kindKey(containerKind, k.info.RID), k.info) }

func (c *change) saveSequence(k *container, r *feedRange) {
	if c.writable() {
		c.batch.Set(kindKey(sequenceKind, k.info.RID, r.ID), binary.BigEndian.AppendUint64(nil, r.lsn))
	}
}

func itemKey(k *container, d *document) []byte {
	return kindKey(itemKind, k.info.RID, string(d.key), d.id)
}

func (c *change) saveItem(k *container, d *document) {
	c.set(itemKey(k, d), itemRecord{string(d.content), d.rid, d.etag, d.lsn, d.modified})
}

func (c *change) dropItem(k *container, d *document) {
	if c.writable() {
		c.batch.Delete(itemKey(k, d))
	}
}

func (c *change) dropContainer(k *container) {
	if !c.writable() {
		return
	}
	c.batch.Delete(kindKey(containerKind, k.info.RID))
	for _, kind := range []byte{sequenceKind, itemKind} {
		key := kindKey(kind, k.info.RID, "")
		c.batch.DeleteRange(key, store.PrefixEnd(key))
	}
}

func (c *change) dropAll() {
	if c.writable() {
		c.batch.DeleteRange([]byte(keyPrefix), store.PrefixEnd([]byte(keyPrefix)))
	}
}

// LastTime returns the time of the last change of the account that is kept in db,
// or the zero time when there was none. A clock that starts earlier would find the
// account's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	value, err := db.Get([]byte(timeKey))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if len(value) != 12 {
		return time.Time{}, &store.CorruptError{Path: db.Dir(), Err: fmt.Errorf("the time of the last change of Cosmos DB has %d bytes", len(value))}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint32(value[8:]))).UTC(), nil
}

func timeValue(t time.Time) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(t.Unix())), uint32(t.Nanosecond()))
}

// sortFeed puts the entries of a range that was read in the order of their
// modification. In one transaction it is that of the etags, which are counted.
func (r *feedRange) sortFeed() {
	slices.SortFunc(r.feed, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.lsn, y.lsn), cmp.Compare(x.doc.etag, y.doc.etag))
	})
}
