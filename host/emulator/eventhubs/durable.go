package eventhubs

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
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
// With store.Options.Sync a write takes the disk's time, during which the clock
// stands still and others have their turn; otherwise the caller keeps the turn. A
// read then waits for the writes that it shows: no reader gets an event that a loss
// of power could take back.
//
// The caller opens db, may keep more in it (keys of a namespace begin with "hub"),
// and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Namespace, error) {
	ns := New(clk, opts)
	ns.kept = keep.New(clk, db)
	db.Check(func(v *store.View) error { return ns.Check(v) })
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

// readyLocked sees to it that what is in memory is what the store holds.
func (ns *Namespace) readyLocked() error { return ns.kept.Ready(ns.loadLocked) }

// commitLocked begins to write a change.
func (ns *Namespace) commitLocked(c *change) (keep.Awaited, error) {
	if c.Written() {
		c.SetTime(timeKey, ns.now())
	}
	return ns.kept.Begin(&c.Change)
}

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
type change struct{ keep.Change }

func (c *change) saveHub(h *hub) {
	if c.Writable() {
		c.Set(kindKey(hubKind, h.Name), plainJSON(hubRecord{h.Hub, h.created}))
	}
}

func (c *change) dropHub(h *hub) {
	if !c.Writable() {
		return
	}
	for _, kind := range []byte{hubKind, endKind, eventKind} {
		key := kindKey(kind, h.Name)
		c.DeletePrefix(key)
	}
}

func (c *change) saveEnd(p *partition) {
	if c.Writable() {
		c.Set(partitionKey(endKind, p), plainJSON(endRecord{p.next, p.offset, p.lastOffset, p.lastTime}))
	}
}

// roomForFacts is what an event takes in the store beside its payload, about.
const roomForFacts = 160

func (c *change) saveEvent(p *partition, r *eventhubs.ReceivedEvent) {
	if c.Writable() {
		b := make([]byte, 1, sizeOf(&r.Event)+roomForFacts)
		b[0] = eventFormat
		c.Set(eventKey(p, r.SequenceNumber), appendEvent(b, r))
	}
}

// dropEvents removes the events from one sequence number up to, and without, another.
func (c *change) dropEvents(p *partition, from, to int64) {
	if c.Writable() {
		c.DeleteRange(eventKey(p, from), eventKey(p, to))
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
	return keep.TimeOf(db, timeKey, "Event Hubs", db.Dir())
}
