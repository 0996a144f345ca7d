package eventgrid

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Open returns the Grid that is kept in db: topics, subscriptions, and events with
// their attempts, as they were. Times are kept: what was due meanwhile is due. A
// request that was out when the process ended is made again, with the same count;
// the health of endpoints begins anew. Nothing is sent before the first Configure.
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
	g.db, g.held = db, true
	db.Check(func(v *store.View) error { _, err := g.read(v, "archive"); return err })
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
	Event               json.RawMessage
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

func recordKey(kind byte, rest string) []byte {
	return append(append([]byte(keyPrefix), kind), rest...)
}

func numberKey(kind byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(keyPrefix), kind), number)
}

func subscriptionKey(s *subscription) []byte {
	return recordKey(subscriptionKind, fold(s.topic.Name)+"\x00"+fold(s.Name))
}

// lock takes the mutex and sees to it that what is in memory is what db holds. The
// mutex is held also when that fails.
func (g *Grid) lock() error {
	g.mu.Lock()
	if g.db == nil {
		return nil
	}
	opening, err := g.db.Ready()
	if err == nil && opening != g.opening {
		err = g.loadLocked()
	}
	if err != nil {
		return unavailable(err)
	}
	g.opening = opening
	return nil
}

func unavailable(err error) error {
	return fmt.Errorf("event grid: %w: %w", bindings.ErrUnavailable, err)
}

// set and unset collect what one operation writes.
func (g *Grid) set(key, value []byte) {
	if b := g.writableLocked(); b != nil {
		b.Set(key, value)
	}
}

func (g *Grid) unset(key []byte) {
	if b := g.writableLocked(); b != nil {
		b.Delete(key)
	}
}

func (g *Grid) writableLocked() *store.Batch {
	if g.db == nil || g.writeErr != nil {
		return nil
	}
	if g.batch == nil {
		g.batch, g.writeErr = g.db.NewBatch()
	}
	return g.batch
}

// unlock begins to write what was collected, gives up the mutex, and returns when
// it is written.
func (g *Grid) unlock(ctx context.Context) (err error) {
	batch := g.batch
	err, g.batch, g.writeErr = g.writeErr, nil, nil
	var commit *store.Commit
	if batch != nil && err == nil {
		batch.Set([]byte(countersKey), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, g.ids.n), g.number))
		now := g.now()
		batch.Set([]byte(timeKey), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(now.Unix())), uint32(now.Nanosecond())))
		commit, err = g.db.Begin(batch)
	}
	g.mu.Unlock()
	switch {
	case commit == nil:
	case g.db.Sync():
		g.clk.Outside(ctx, "write to disk", func() { err = commit.Wait() })
	default:
		err = commit.Wait()
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

func (g *Grid) saveTopic(t *topic)   { g.set(recordKey(topicKind, fold(t.Name)), marshal(t.Topic)) }
func (g *Grid) unsaveTopic(t *topic) { g.unset(recordKey(topicKind, fold(t.Name))) }

func (g *Grid) saveSubscription(s *subscription) {
	if g.db == nil {
		return
	}
	r := subscriptionRecord{Subscription: s.Subscription, State: s.state, Code: s.code, Until: s.until}
	for i, o := range s.topic.subscriptions {
		if o == s {
			r.Order = i
		}
	}
	g.set(subscriptionKey(s), marshal(r))
}

// saveEvent keeps a new delivery.
func (g *Grid) saveEvent(d *delivery) {
	if g.db == nil {
		return
	}
	g.set(numberKey(eventKind, d.number), marshal(eventRecord{
		Topic: d.sub.topic.Name, Subscription: d.sub.Name, Schema: d.event.schema,
		Published: d.published, Expires: d.expires, Event: d.event.appendJSON(nil),
	}))
	g.saveState(d)
}

// saveState keeps what has become of a delivery.
func (g *Grid) saveState(d *delivery) {
	if g.db == nil {
		return
	}
	g.set(numberKey(stateKind, d.number), marshal(stateRecord{
		Due: d.due, When: d.when, Attempts: d.attempts, Outcome: d.outcome, Status: d.status, Reason: d.reason, Until: d.until,
	}))
}

func (g *Grid) unsaveDelivery(d *delivery) {
	g.unset(numberKey(eventKind, d.number))
	g.unset(numberKey(stateKind, d.number))
}

// LastTime returns the time of the last change of the Grid that is kept in db, or
// the zero time when there was none. A clock that starts earlier would find the
// Grid's times in the future.
func LastTime(db *store.Store) (time.Time, error) {
	value, err := db.Get([]byte(timeKey))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if len(value) != 12 {
		return time.Time{}, &store.CorruptError{Path: db.Dir(), Err: fmt.Errorf("the time of the last change of Event Grid has %d bytes", len(value))}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint32(value[8:]))).UTC(), nil
}
