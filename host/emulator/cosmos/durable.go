package cosmos

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
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
	a.kept = keep.New(clk, db)
	db.Check(func(v *store.View) error { return a.Check(v) })
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

// readyLocked sees to it that what is in memory is what the store holds.
func (a *Account) readyLocked() error { return a.kept.Ready(a.loadLocked) }

// commitLocked begins to write a change.
func (a *Account) commitLocked(c *change) (keep.Awaited, error) {
	if c.Written() {
		a.saveCountsLocked(c)
	}
	return a.kept.Begin(&c.Change)
}

// saveCountsLocked keeps what every change changes.
func (a *Account) saveCountsLocked(c *change) {
	c.Set([]byte(idsKey), binary.BigEndian.AppendUint64(nil, a.state.ids.n))
	c.SetTime(timeKey, a.now())
}

// Keys are "cosmos", their kind, and what names the thing. Resource identifiers
// have one length and hold no zero byte.
const (
	keyPrefix     = "cosmos"
	databaseKind  = 'd' // name; value: its identifier
	containerKind = 'c' // identifier; value: JSON of cosmos.ContainerInfo
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

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

func (c *change) set(key []byte, v any) {
	if !c.Writable() {
		return
	}
	text, err := json.Marshal(v)
	if err != nil { // plain values, and documents that were checked
		panic(err)
	}
	c.Set(key, text)
}

func (c *change) saveDatabase(name, rid string) { c.set(kindKey(databaseKind, name), rid) }

func (c *change) saveContainer(k *container) { c.set(kindKey(containerKind, k.info.RID), k.info) }

func (c *change) saveSequence(k *container, r *feedRange) {
	if c.Writable() {
		c.Set(kindKey(sequenceKind, k.info.RID, r.ID), binary.BigEndian.AppendUint64(nil, r.lsn))
	}
}

func itemKey(k *container, d *document) []byte {
	return kindKey(itemKind, k.info.RID, string(d.key), d.id)
}

func (c *change) saveItem(k *container, d *document) {
	c.set(itemKey(k, d), itemRecord{string(d.content), d.rid, d.etag, d.lsn, d.modified})
}

func (c *change) dropItem(k *container, d *document) {
	if c.Writable() {
		c.Delete(itemKey(k, d))
	}
}

func (c *change) dropItems(k *container) {
	if c.Writable() {
		c.DeletePrefix(kindKey(itemKind, k.info.RID, ""))
	}
}

func (c *change) dropContainer(k *container) {
	if !c.Writable() {
		return
	}
	c.Delete(kindKey(containerKind, k.info.RID))
	for _, kind := range []byte{sequenceKind, itemKind} {
		key := kindKey(kind, k.info.RID, "")
		c.DeletePrefix(key)
	}
}

func (c *change) dropAll() {
	if c.Writable() {
		c.DeletePrefix([]byte(keyPrefix))
	}
}

// LastTime returns the time of the last change of the account that is kept in db,
// or the zero time when there was none. A clock that starts earlier would find the
// account's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	return keep.TimeOf(db, timeKey, "Cosmos DB", db.Dir())
}

// sortFeed puts the entries of a range that was read in the order of their
// modification. In one transaction it is that of the etags, which are counted.
func (r *feedRange) sortFeed() {
	slices.SortFunc(r.feed, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.lsn, y.lsn), cmp.Compare(x.doc.etag, y.doc.etag))
	})
}
