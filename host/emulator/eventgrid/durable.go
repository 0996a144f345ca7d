package eventgrid

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
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
// like return. What came of an attempt is written when it is known; when that
// cannot be written, the event may be sent once more after a restart than its
// schedule says, and is never lost.
//
// The caller opens db, may keep more in it (keys of a Grid begin with "grid"), and
// closes it after Close.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Grid, error) {
	g := New(clk, opts)
	g.kept, g.held = keep.New(clk, db), true
	g.writing = g.kept.Change()
	db.Check(func(v *store.View) error { return g.Check(v) })
	var err error
	clk.Inside("open Event Grid", func() {
		err = g.lock()
		g.mu.Unlock()
	})
	if err != nil {
		g.hooks.close()
		return nil, err
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
	timeKey     = keyPrefix + "!time"     // value: the time of the last change
)

type subscriptionRecord struct {
	Subscription
	Order int
	State State
	Code  string    `json:",omitempty"`
	Until time.Time `json:",omitzero"`
}

// eventRecord is what does not change of a delivery.
type eventRecord struct {
	Topic, Subscription string
	Schema              Schema
	Published, Expires  time.Time
	Object              []byte          // the event as JSON, byte for byte
	Event               json.RawMessage `json:",omitempty"` // the same as older versions wrote it
}

// stateRecord is what each attempt changes.
type stateRecord struct {
	Due, When time.Time
	Attempts  []Attempt `json:",omitempty"`
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

// lock takes the mutex and sees to it that what is in memory is what the store
// holds. The mutex is held also when that fails.
func (g *Grid) lock() error {
	g.mu.Lock()
	return named(g.kept.Ready(g.loadLocked))
}

// unlock begins to write what the operation has changed, gives up the mutex, and
// returns when it is written; when there was nothing, when that is written of which
// the operation may have told.
func (g *Grid) unlock(ctx context.Context) error {
	c := g.writing
	g.writing = g.kept.Change()
	if c.Written() {
		g.saveCountersLocked(&c)
	}
	commit, err := g.kept.Begin(&c)
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

// saveCountersLocked keeps what every change changes.
func (g *Grid) saveCountersLocked(c *keep.Change) {
	c.Set([]byte(countersKey), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, g.ids.n), g.number))
	c.SetTime(timeKey, g.now())
}

func (g *Grid) saveTopic(t *topic) {
	g.writing.Set(recordKey(topicKind, fold(t.Name)), marshal(t.Topic))
}

func (g *Grid) unsaveTopic(t *topic) { g.writing.Delete(recordKey(topicKind, fold(t.Name))) }

func (g *Grid) saveSubscription(s *subscription) {
	if !g.writing.Writable() {
		return
	}
	r := subscriptionRecord{Subscription: s.Subscription, State: s.state, Code: s.code, Until: s.until}
	for i, o := range s.topic.subscriptions {
		if o == s {
			r.Order = i
		}
	}
	g.writing.Set(subscriptionKey(s), marshal(r))
}

// saveEvent keeps a new delivery.
func (g *Grid) saveEvent(d *delivery) {
	if !g.writing.Writable() {
		return
	}
	g.writing.Set(numberKey(eventKind, d.number), marshal(eventRecord{
		Topic: d.sub.topic.Name, Subscription: d.sub.Name, Schema: d.event.schema,
		Published: d.published, Expires: d.expires, Object: d.event.object(),
	}))
	g.saveState(d)
}

// saveState keeps what has become of a delivery. A request that is out is not known.
func (g *Grid) saveState(d *delivery) {
	if !g.writing.Writable() {
		return
	}
	attempts := d.attempts
	if n := len(attempts); n > 0 && d.state == sending {
		attempts = attempts[:n-1]
	}
	g.writing.Set(numberKey(stateKind, d.number), marshal(stateRecord{
		Due: d.due, When: d.when, Attempts: attempts, Outcome: d.outcome, Status: d.status, Reason: d.reason, Until: d.until,
	}))
}

func (g *Grid) saveHealth(e *endpoint) {
	if g.writing.Writable() {
		g.writing.Set(recordKey(healthKind, e.key), marshal(healthRecord{e.failures, e.until, e.length}))
		e.saved = true
	}
}

func (g *Grid) unsaveHealth(e *endpoint) {
	g.writing.Delete(recordKey(healthKind, e.key))
	e.saved = false
}

func (g *Grid) unsaveDelivery(d *delivery) {
	g.writing.Delete(numberKey(eventKind, d.number))
	g.writing.Delete(numberKey(stateKind, d.number))
}

// LastTime returns the time of the last change of the Grid that is kept in db, or
// the zero time when there was none. A clock that starts earlier would find the
// Grid's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	return keep.TimeOf(db, timeKey, "Event Grid", db.Dir())
}
