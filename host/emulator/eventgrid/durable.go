package eventgrid

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the Grid that is kept in db: topics, subscriptions, and events with
// their attempts, as they were. Times are kept: what was due meanwhile is due. A
// request that was out when the process ended is made again, with the same count.
// An endpoint on probation stays on it. Nothing is sent before the first Configure.
//
// Each change is written through before Publish, CreateTopic, Subscribe and their
// like return. The outcome of an attempt is written when it is known; when it
// cannot be written, the event may be sent once more after a restart than its
// schedule says, and is never lost.
//
// The caller opens db, may keep more in it (keys of a Grid begin with "grid"), and
// closes it after Close.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Grid, error) {
	g := New(clk, opts)
	g.pump.held = true
	if err := g.kept.Open(db); err != nil {
		g.hooks.close()
		return nil, named(err)
	}
	return g, nil
}

const (
	keyPrefix = "grid"

	topicKind        = 't' // folded name; value: JSON of Topic
	subscriptionKind = 's' // folded topic, zero, folded name; value: JSON of subscriptionRecord
	eventKind        = 'e' // number; value: JSON of eventRecord
	stateKind        = 'd' // number; value: JSON of stateRecord
	healthKind       = 'h' // key of an endpoint; value: JSON of healthRecord

	declaredKey = keyPrefix + "!declared" // value: JSON of []Declared
	countersKey = keyPrefix + "!counters" // value: number of identifiers, of deliveries
)

// Keys are what a Grid has in a store.
var Keys = keep.Keys{Service: "Event Grid", Name: "Event Grid", Prefix: keyPrefix, Time: keyPrefix + "!time"} // read only

// kind describes the stored state of a Grid: see [keep.Kind].
func (g *Grid) kind() keep.Kind[*loader] {
	return keep.Kind[*loader]{Keys: Keys, Read: g.read, Take: g.takeLocked, Write: g.writeLocked, Count: g.countLocked}
}

func (g *Grid) countLocked(c *keep.Change) {
	c.Set([]byte(countersKey), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, g.ids.N), g.number))
}

// writeLocked writes everything. A request that is out is as if it had not been made.
func (g *Grid) writeLocked(w keep.Change) {
	defer func(before change) { g.writing = before }(g.writing)
	g.writing = change{w}
	for _, name := range slices.Sorted(maps.Keys(g.topics)) {
		t := g.topics[name]
		g.writing.saveTopic(t)
		for _, s := range t.subscriptions {
			g.writing.saveSubscription(s)
		}
	}
	for _, d := range g.live {
		g.writing.saveEvent(d)
	}
	for _, e := range g.endpoints.byKey {
		if e.failures > 0 {
			saved := e.saved
			g.writing.saveHealth(e)
			e.saved = saved // the image is not the store
		}
	}
	g.saveDeclared()
}

type subscriptionRecord struct {
	Subscription
	Order int
	State State
	Code  string    `json:",omitempty"`
	Until time.Time `json:",omitzero"`
}

// eventRecord is the constant part of a delivery.
type eventRecord struct {
	Topic, Subscription string
	Schema              Schema
	Published, Expires  time.Time
	Object              []byte          // the event as JSON, byte for byte
	Event               json.RawMessage `json:",omitempty"` // the same as older versions wrote it
}

// stateRecord is the part of a delivery that each attempt changes.
type stateRecord struct {
	Due, When time.Time
	Attempts  []Attempt `json:",omitempty"`
	Skipped   int       `json:",omitempty"`
	Outcome   Outcome   `json:",omitempty"`
	Status    int       `json:",omitempty"`
	Reason    Reason    `json:",omitempty"` // given up: the dead letter is not written yet
	Until     time.Time `json:",omitzero"`
}

// healthRecord is the health of an endpoint that has failed.
type healthRecord struct {
	Failures int
	Until    time.Time     `json:",omitzero"`
	Length   time.Duration `json:",omitempty"`
}

func recordKey(kind byte, rest string) []byte {
	return append(append([]byte(keyPrefix), kind), rest...)
}

func numberKey(kind byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(keyPrefix), kind), number)
}

func subscriptionKey(s *subscription) []byte {
	return recordKey(subscriptionKind, fold(s.topic.Name)+"\x00"+fold(s.Name))
}

// lock takes the mutex, and makes sure that memory agrees with the store. The
// mutex is held also when that fails.
func (g *Grid) lock() error {
	g.mu.Lock()
	return named(g.kept.Ready())
}

// unlock begins to write what the operation has changed, gives up the mutex, and
// returns when it is written; when there was nothing, when that is written of which
// the operation may have told.
func (g *Grid) unlock(ctx context.Context) error {
	c := g.writing
	g.writing = change{g.kept.Change()}
	commit, err := g.kept.Begin(&c.Change)
	g.mu.Unlock()
	if waitErr := g.kept.Wait(ctx, commit); err == nil {
		err = waitErr
	}
	return named(err)
}

func named(err error) error {
	if err != nil {
		return fmt.Errorf("event grid: %w", err)
	}
	return nil
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

func (c *change) saveTopic(t *topic) {
	c.Set(recordKey(topicKind, fold(t.Name)), marshal(t.Topic))
}

func (c *change) unsaveTopic(t *topic) { c.Delete(recordKey(topicKind, fold(t.Name))) }

func (c *change) saveSubscription(s *subscription) {
	if !c.Writable() {
		return
	}
	r := subscriptionRecord{Subscription: s.Subscription, State: s.state, Code: s.code, Until: s.until}
	for i, o := range s.topic.subscriptions {
		if o == s {
			r.Order = i
		}
	}
	c.Set(subscriptionKey(s), marshal(r))
}

// saveEvent keeps a new delivery.
func (c *change) saveEvent(d *delivery) {
	if !c.Writable() {
		return
	}
	c.Set(numberKey(eventKind, d.number), marshal(eventRecord{
		Topic: d.sub.topic.Name, Subscription: d.sub.Name, Schema: d.event.schema,
		Published: d.published, Expires: d.expires, Object: d.event.object(),
	}))
	c.saveState(d)
}

// saveState keeps what has become of a delivery. A request that is out is not known.
func (c *change) saveState(d *delivery) {
	if !c.Writable() {
		return
	}
	attempts := d.attempts
	if n := len(attempts); n > 0 && d.state == sending {
		attempts = attempts[:n-1]
	}
	c.Set(numberKey(stateKind, d.number), marshal(stateRecord{
		Due: d.due, When: d.when, Attempts: attempts, Skipped: d.skipped, Outcome: d.outcome, Status: d.status, Reason: d.reason, Until: d.until,
	}))
}

func (c *change) saveHealth(e *endpoint) {
	if c.Writable() {
		c.Set(recordKey(healthKind, e.key), marshal(healthRecord{e.failures, e.until, e.length}))
		e.saved = true
	}
}

func (c *change) unsaveHealth(e *endpoint) {
	c.Delete(recordKey(healthKind, e.key))
	e.saved = false
}

func (c *change) unsaveDelivery(d *delivery) {
	c.Delete(numberKey(eventKind, d.number))
	c.Delete(numberKey(stateKind, d.number))
}
