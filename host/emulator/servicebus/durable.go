package servicebus

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/fields"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the namespace that is kept in db: empty if nothing is there yet,
// and otherwise as it was when it was last used, every rule intact. Times are
// kept: locks, schedules and lives that have ended meanwhile have ended. Receivers
// are not kept; what they had locked stays locked until the locks end.
// [keep.Keeper.Open] tells what this means for calls. Sessions are lost when the
// namespace is read again.
//
// The caller opens db, may keep more in it (keys of a namespace begin with
// "bus"), and closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Namespace, error) {
	ns := New(clk, opts)
	if err := ns.kept.Open(db); err != nil {
		return nil, err
	}
	return ns, nil
}

// errReloaded is the error of a queue whose state was read anew.
var errReloaded = errors.New("read again from the store")

// Keys are "bus", their kind, the key of an entity, a zero byte, and the name of
// the thing in the entity. A message has two: one for its constant part, and a
// short one for the part that each receive changes; its number is unique in the
// three queues of an entity, so that it moves from one to another by its state
// alone.
const (
	keyPrefix    = "bus"
	entityKind   = 'e' // value: JSON of entityRecord
	sequenceKind = 'n' // value: the number that was given last
	contentKind  = 'c' // number of the message
	stateKind    = 's' // number of the message
	sessionKind  = 'x' // name of the session
	seenKind     = 'd' // key of duplicate detection; value: a time

	idsKey = keyPrefix + "ids" // value: the number of identifiers that have been given
)

// Keys are what a namespace has in a store.
var Keys = keep.Keys{Service: "Service Bus", Name: "the Service Bus namespace", Prefix: keyPrefix, Time: keyPrefix + "time"} // read only

// kind describes the stored state of a namespace: see [keep.Kind].
func (ns *Namespace) kind() keep.Kind[*state] {
	return keep.Kind[*state]{
		Keys: Keys, Take: ns.takeLocked, Write: ns.writeLocked, Replaced: ns.tellUntold,
		Read: func(r store.Reader, dir string) (*state, error) {
			l := &loader{state: &state{topology: newTopology()}, owner: ns, view: r, dir: dir}
			return l.state, l.load()
		},
		Count: func(c *keep.Change) {
			c.Set([]byte(idsKey), binary.BigEndian.AppendUint64(nil, ns.ids.N))
		},
	}
}

// writeLocked writes everything.
func (ns *Namespace) writeLocked(w keep.Change) {
	c := change{w}
	for _, e := range ns.sorted() {
		c.saveEntity(e)
		c.saveSequence(e.main)
		for _, id := range e.seen.order {
			c.saveSeen(e, id, e.seen.at[id])
		}
		for _, q := range e.queues() {
			for _, id := range slices.Sorted(maps.Keys(q.sessions.byID)) {
				c.saveSession(q.sessions.byID[id])
			}
			q.all.from(0, func(m *message) bool {
				c.saveMessage(q, m)
				return true
			})
		}
	}
}

// Formats of values, their first byte.
const (
	contentFormat = 1
	stateFormat   = 1
	sessionFormat = 1
)

func kindKey(kind byte, e string) []byte {
	b := make([]byte, 0, len(keyPrefix)+len(e)+2+16)
	b = append(append(b, keyPrefix...), kind)
	return append(append(b, e...), 0)
}

func messageKey(kind byte, e string, seq int64) []byte {
	return binary.BigEndian.AppendUint64(kindKey(kind, e), uint64(seq))
}

// entityRecord is the stored form of an entity itself.
type entityRecord struct {
	Queue            *servicebus.Queue        `json:",omitempty"`
	Topic            *servicebus.Topic        `json:",omitempty"`
	Subscription     *servicebus.Subscription `json:",omitempty"`
	Rules            []ruleRecord             `json:",omitempty"`
	Created, Updated time.Time
}

// ruleRecord is a rule whose properties and parameters, of many types, are bytes.
type ruleRecord struct {
	servicebus.Rule
	Properties, FilterParameters, ActionParameters []byte
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

func (c *change) saveSequence(q *queue) {
	if c.Writable() {
		c.Set(kindKey(sequenceKind, q.owner.key), binary.BigEndian.AppendUint64(nil, uint64(q.next)))
	}
}

func (c *change) saveMessage(q *queue, m *message) {
	if c.Writable() {
		c.Set(messageKey(contentKind, q.owner.key, m.seq), appendContent([]byte{contentFormat}, m.content))
		c.saveState(q, m)
	}
}

func (c *change) saveState(q *queue, m *message) {
	if c.Writable() {
		c.Set(messageKey(stateKind, q.owner.key, m.seq), appendState([]byte{stateFormat}, q, m))
	}
}

func (c *change) dropMessage(q *queue, m *message) {
	if c.Writable() {
		c.Delete(messageKey(contentKind, q.owner.key, m.seq))
		c.Delete(messageKey(stateKind, q.owner.key, m.seq))
	}
}

// dropMessages removes the messages that were in a queue, which is empty now: as
// ranges, with messages of the entity's other queues between.
func (c *change) dropMessages(q *queue, list []*message) {
	if !c.Writable() {
		return
	}
	var others []int64
	for _, other := range q.owner.queues() {
		if other == q {
			continue
		}
		for _, m := range other.messages(func(*message) bool { return true }) {
			others = append(others, m.seq)
		}
	}
	slices.Sort(others)
	for len(list) > 0 {
		first := list[0].seq
		at, _ := slices.BinarySearch(others, first)
		n := len(list)
		if at < len(others) {
			n, _ = slices.BinarySearchFunc(list, others[at], func(m *message, seq int64) int { return cmp.Compare(m.seq, seq) })
		}
		last := list[n-1].seq
		for _, kind := range []byte{contentKind, stateKind} {
			c.DeleteRange(messageKey(kind, q.owner.key, first), messageKey(kind, q.owner.key, last+1))
		}
		list = list[n:]
	}
}

// saveSession keeps what a session has beside its messages, if it has anything.
func (c *change) saveSession(s *session) {
	if !c.Writable() {
		return
	}
	key := append(kindKey(sessionKind, s.q.owner.key), s.id...)
	if s.state == nil && !s.held() {
		c.Delete(key)
		return
	}
	c.Set(key, appendSession([]byte{sessionFormat}, s))
}

func (c *change) saveSeen(e *entity, id string, at time.Time) {
	if c.Writable() {
		c.Set(append(kindKey(seenKind, e.key), id...), fields.AppendTime(nil, at))
	}
}

func (c *change) dropSeen(e *entity, id string) {
	if c.Writable() {
		c.Delete(append(kindKey(seenKind, e.key), id...))
	}
}

func (c *change) saveEntity(e *entity) {
	if !c.Writable() {
		return
	}
	r := entityRecord{Queue: e.queue, Topic: e.topic, Subscription: e.subscription, Created: e.created, Updated: e.updated}
	for _, rule := range e.rules {
		r.Rules = append(r.Rules, rule.record())
	}
	text, err := json.Marshal(r)
	if err != nil { // plain values
		panic(err)
	}
	c.Set(kindKey(entityKind, e.key), text)
}

func (c *change) dropEntity(e *entity) {
	if !c.Writable() {
		return
	}
	for _, kind := range []byte{entityKind, sequenceKind, contentKind, stateKind, sessionKind, seenKind} {
		key := kindKey(kind, e.key)
		c.DeletePrefix(key)
	}
}

// record takes the properties and parameters out of a rule.
func (r *rule) record() ruleRecord {
	out := ruleRecord{Rule: *r.description()}
	out.Properties = appendProperties(nil, out.Filter.Correlation.Properties)
	out.FilterParameters = appendProperties(nil, out.Filter.SQL.Parameters)
	out.Filter.Correlation.Properties, out.Filter.SQL.Parameters = nil, nil
	if out.Action != nil {
		out.ActionParameters = appendProperties(nil, out.Action.Parameters)
		out.Action.Parameters = nil
	}
	return out
}

// rule is the reverse; it fails for a rule that does not compile.
func (r ruleRecord) rule(newID func() bindings.GUID) (*rule, error) {
	read := func(b []byte) (map[string]any, error) {
		v := newReader(b)
		p := v.properties()
		if v.Bad() {
			return nil, errors.New("its values cannot be read")
		}
		return p, nil
	}
	var err error
	if r.Filter.Correlation.Properties, err = read(r.Properties); err != nil {
		return nil, err
	}
	if r.Filter.SQL.Parameters, err = read(r.FilterParameters); err != nil {
		return nil, err
	}
	if r.Action != nil {
		if r.Action.Parameters, err = read(r.ActionParameters); err != nil {
			return nil, err
		}
	}
	return compile(r.Rule, newID)
}
