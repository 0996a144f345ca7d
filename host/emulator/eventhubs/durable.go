package eventhubs

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the namespace that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used. Readers are not kept: consumers
// know where they are. [keep.Keeper.Open] tells what this means for calls. So no
// reader gets an event that a loss of power could take back.
//
// The caller opens db, may keep more in it (keys of a namespace begin with "hub"),
// and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Namespace, error) {
	ns := New(clk, opts)
	if err := ns.kept.Open(db); err != nil {
		return nil, err
	}
	return ns, nil
}

// Keys are "hub", their kind, the name of a hub in lower case, a zero byte, and for
// what belongs to a partition its number.
const (
	keyPrefix = "hub"
	hubKind   = 'h' // value: JSON of hubRecord
	endKind   = 'n' // partition; value: where it ends
	eventKind = 'e' // partition, sequence number; value: the event
)

// Keys are what a namespace has in a store.
var Keys = keep.Keys{Service: "Event Hubs", Name: "the Event Hubs namespace", Prefix: keyPrefix, Time: keyPrefix + "time"} // read only

// kind describes the stored state of a namespace: see [keep.Kind].
func (ns *Namespace) kind() keep.Kind[map[string]*hub] {
	return keep.Kind[map[string]*hub]{Keys: Keys, Read: ns.read, Take: ns.takeLocked, Write: ns.writeLocked}
}

// writeLocked writes everything.
func (ns *Namespace) writeLocked(w keep.Change) {
	c := change{w}
	for _, key := range slices.Sorted(maps.Keys(ns.hubs)) {
		h := ns.hubs[key]
		c.saveHub(h)
		for _, p := range h.partitions {
			if p.next == 0 {
				continue // as in a store: nothing was ever sent to it
			}
			c.saveEnd(p)
			for _, r := range p.events {
				c.saveEvent(p, r)
			}
		}
	}
}

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

// hubRecord is the stored form of a hub itself.
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

// roomForFacts is the approximate size of an event in the store, without its
// payload.
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
