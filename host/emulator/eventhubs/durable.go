package eventhubs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Open returns the namespace that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used. Readers are not kept: consumers
// know where they are.
//
// The namespace lives in memory as one made by [New] does; each change is written
// through before it is reported. When it cannot be written, the call fails with
// bindings.ErrUnavailable, nothing has happened as far as anybody can see, and the
// namespace is read again from db by the next call.
//
// The caller opens db, may keep more in it (keys of a namespace begin with "hub"),
// and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Namespace, error) {
	ns := New(clk, opts)
	ns.db = db
	db.Check(func(v *store.View) error { _, err := ns.read(v, "archive"); return err })
	var err error
	clk.Inside("open the Event Hubs namespace", func() {
		ns.mu.Lock()
		defer ns.mu.Unlock()
		err = ns.readyLocked()
	})
	if err != nil {
		return nil, err
	}
	return ns, nil
}

// readyLocked sees to it that what is in memory is what db holds.
func (ns *Namespace) readyLocked() error {
	if ns.db == nil {
		return nil
	}
	opening, err := ns.db.Ready()
	if err == nil && opening != ns.opening {
		err = ns.loadLocked()
	}
	if err != nil {
		return unavailable(err)
	}
	ns.opening = opening
	return nil
}

// commitLocked begins to write a change. It returns nil when there is none.
func (ns *Namespace) commitLocked(c *change) (*store.Commit, error) {
	if c.batch == nil {
		return nil, c.err
	}
	c.batch.Set([]byte(timeKey), timeValue(ns.now()))
	commit, err := ns.db.Begin(c.batch)
	if err != nil {
		return nil, unavailable(err)
	}
	return commit, nil
}

// wait returns when the change is written. With store.Options.Sync it takes the
// disk's time, during which others have their turn.
func (ns *Namespace) wait(ctx context.Context, commit *store.Commit) (err error) {
	switch {
	case commit == nil:
		return nil
	case ns.db.Sync():
		ns.clk.Outside(ctx, "write to disk", func() { err = commit.Wait() })
	default:
		err = commit.Wait()
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", bindings.ErrUnavailable, err) }

// Keys are "hub", their kind, the name of a hub in lower case, a zero byte, and for
// what belongs to a partition its number.
const (
	keyPrefix = "hub"
	hubKind   = 'h' // value: JSON of hubRecord
	endKind   = 'n' // partition; value: where it ends
	eventKind = 'e' // partition, sequence number; value: the event

	timeKey = keyPrefix + "time" // value: the time of the last change
)

func kindKey(kind byte, hub string) []byte {
	b := make([]byte, 0, len(keyPrefix)+len(hub)+2+12)
	b = append(append(b, keyPrefix...), kind)
	return append(append(b, strings.ToLower(hub)...), 0)
}

func partitionKey(kind byte, p *partition) []byte {
	return binary.BigEndian.AppendUint32(kindKey(kind, p.hub.Name), uint32(p.number))
}

func eventKey(p *partition, seq int64) []byte {
	return binary.BigEndian.AppendUint64(partitionKey(eventKind, p), uint64(seq))
}

// hubRecord is what is kept of a hub itself.
type hubRecord struct {
	Hub
	Created time.Time
}

// endRecord is where a partition ends: of one whose events have all gone it is all
// that is known.
type endRecord struct {
	Next, Offset int64
	LastOffset   string
	LastTime     time.Time
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct {
	db    *store.Store
	batch *store.Batch
	err   error
}

func (c *change) written() bool { return c.batch != nil }

func (c *change) writable() bool {
	if c.db == nil || c.err != nil {
		return false
	}
	if c.batch == nil {
		if c.batch, c.err = c.db.NewBatch(); c.err != nil {
			c.batch, c.err = nil, unavailable(c.err)
			return false
		}
	}
	return true
}

func (c *change) saveHub(h *hub) {
	if c.writable() {
		c.batch.Set(kindKey(hubKind, h.Name), plainJSON(hubRecord{h.Hub, h.created}))
	}
}

func (c *change) dropHub(h *hub) {
	if !c.writable() {
		return
	}
	for _, kind := range []byte{hubKind, endKind, eventKind} {
		key := kindKey(kind, h.Name)
		c.batch.DeleteRange(key, store.PrefixEnd(key))
	}
}

func (c *change) saveEnd(p *partition) {
	if c.writable() {
		c.batch.Set(partitionKey(endKind, p), plainJSON(endRecord{p.next, p.offset, p.lastOffset, p.lastTime}))
	}
}

func (c *change) saveEvent(p *partition, r *bindings.ReceivedEvent) {
	if c.writable() {
		c.batch.Set(eventKey(p, r.SequenceNumber), appendEvent([]byte{eventFormat}, r))
	}
}

// dropEvents removes the events from one sequence number up to, and without, another.
func (c *change) dropEvents(p *partition, from, to int64) {
	if c.writable() {
		c.batch.DeleteRange(eventKey(p, from), eventKey(p, to))
	}
}

func plainJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil { // plain values
		panic(err)
	}
	return text
}

// LastTime returns the time of the last change of the namespace that is kept in db,
// or the zero time when there was none.
func LastTime(db *store.Store) (time.Time, error) {
	value, err := db.Get([]byte(timeKey))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if len(value) != 12 {
		return time.Time{}, &store.CorruptError{Path: db.Dir(), Err: fmt.Errorf("the time of the last change of Event Hubs has %d bytes", len(value))}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint32(value[8:]))).UTC(), nil
}

func timeValue(t time.Time) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(t.Unix())), uint32(t.Nanosecond()))
}
