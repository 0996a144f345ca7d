package cosmos

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the account that is kept in db: empty if nothing is there yet, and
// otherwise as it was when it was last used, feeds and their positions included.
// [keep.Keeper.Open] tells what this means for calls. So no feed shows a change
// that a loss of power could take back, and no checkpoint is ahead of its feed.
//
// The caller opens db, may keep more in it (keys of an account begin with
// "cosmos"), and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Account, error) {
	a := New(clk, opts)
	if err := a.kept.Open(db); err != nil {
		return nil, err
	}
	return a, nil
}

// Keys are "cosmos", their kind, and what names the thing. Resource identifiers
// have one length and hold no zero byte.
const (
	keyPrefix     = "cosmos"
	databaseKind  = 'd' // name; value: its identifier
	containerKind = 'c' // identifier; value: JSON of cosmos.ContainerInfo
	sequenceKind  = 'n' // identifier, zero, range; value: the LSN that was given last
	itemKind      = 'i' // identifier, zero, key, zero, id; value: JSON of itemRecord

	idsKey = keyPrefix + "ids" // value: the number of identifiers that have been given
)

// Keys are what an account has in a store.
var Keys = keep.Keys{Service: "Cosmos DB", Name: "the Cosmos DB account", Prefix: keyPrefix, Time: keyPrefix + "time"} // read only

// kind describes the stored state of an account: see [keep.Kind].
func (a *Account) kind() keep.Kind[state] {
	return keep.Kind[state]{Keys: Keys, Read: readState, Take: a.takeLocked, Write: a.writeLocked, Count: a.countLocked}
}

func (a *Account) countLocked(c *keep.Change) {
	c.Set([]byte(idsKey), binary.BigEndian.AppendUint64(nil, a.state.ids.n))
}

// writeLocked writes everything.
func (a *Account) writeLocked(w keep.Change) {
	c := change{w}
	for _, name := range slices.Sorted(maps.Keys(a.state.databases)) {
		c.saveDatabase(name, a.state.databases[name])
	}
	for _, k := range a.state.containers {
		c.saveContainer(k)
		for _, r := range k.ranges {
			c.saveSequence(k, r)
		}
		for _, d := range k.items {
			c.saveItem(k, d)
		}
	}
}

// itemRecord is the stored form of a document.
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

// sortFeed puts the entries of a range that was read in the order of their
// modification. In one transaction it is the order of the etags, which are counted.
func (r *feedRange) sortFeed() {
	slices.SortFunc(r.feed, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.lsn, y.lsn), cmp.Compare(x.doc.etag, y.doc.etag))
	})
	r.count()
}
