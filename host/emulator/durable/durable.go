package durable

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Open returns the engine that is kept in db: empty if nothing is there yet, and otherwise
// as it was when it was last used. Times are kept: what was due meanwhile is due. A turn
// that was out when the process ended is made again, and an activity is delivered again,
// its delivery counted one up. [keep.Keeper.Open] tells what this means for calls.
//
// The caller opens db, may keep more in it (keys of an engine begin with "durable"), and
// closes it after the last call.
func Open(clk clock.Clock, db *store.Store, opts *Options) (*Engine, error) {
	e := New(clk, opts)
	if err := e.kept.Open(db); err != nil {
		return nil, err
	}
	return e, nil
}

const (
	keyPrefix = "durable"

	instanceKind = 'i' // value: JSON of record
	historyKind  = 'h' // place in the history; value: JSON of eventRecord
	messageKind  = 'm' // number; value: JSON of messageRecord
	activityKind = 'a' // number of the activity, execution; value: number, JSON of activityRecord
	alarmKind    = 't' // number; value: JSON of alarmRecord

	countersKey = keyPrefix + "!counters" // value: identifiers, order
)

// Keys are what an engine has in a store.
var Keys = keep.Keys{Service: "Durable Functions", Name: "the task hubs", Prefix: keyPrefix, Time: keyPrefix + "!time"} // read only

// kind describes the stored state of an engine: see [keep.Kind].
func (e *Engine) kind() keep.Kind[*state] {
	return keep.Kind[*state]{Keys: Keys, Read: e.read, Take: e.takeLocked, Write: e.writeLocked, Count: e.countLocked}
}

func (e *Engine) countLocked(c *keep.Change) {
	if e.st.ids.N == 0 && e.st.order == 0 {
		return // nothing was ever there
	}
	c.Set([]byte(countersKey), binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, e.st.ids.N), e.st.order))
}

// writeLocked writes everything. A turn or an activity that is out is as if it were not.
func (e *Engine) writeLocked(w keep.Change) {
	c := change{w}
	for _, key := range sortedKeys(e.st.hubs) {
		h := e.st.hubs[key]
		for inst := range h.sorted.Behind(0) {
			c.saveInstance(inst)
			c.saveHistory(inst, 0)
			for _, m := range inst.inbox {
				c.saveMessage(inst, m)
			}
			for _, a := range inst.alarms {
				c.saveAlarm(a)
			}
		}
		for _, a := range h.sortedActivities() {
			c.saveActivity(a)
		}
	}
}

// eventRecord is the stored form of an event.
type eventRecord struct {
	Type   durable.EventType
	ID     int
	Time   time.Time
	Played bool `json:"-"`

	Name        string            `json:",omitempty"`
	Version     string            `json:",omitempty"`
	InstanceID  string            `json:",omitempty"`
	ExecutionID string            `json:",omitempty"`
	Parent      *durable.Parent   `json:",omitempty"`
	Input       *string           `json:",omitempty"`
	Task        int               `json:",omitempty"`
	Result      *string           `json:",omitempty"`
	Reason      *string           `json:",omitempty"`
	Details     *string           `json:",omitempty"`
	Failure     *durable.Failure  `json:",omitempty"`
	FireAt      time.Time         `json:",omitzero"`
	Status      durable.Status    `json:",omitempty"`
	Data        *string           `json:",omitempty"`
	Tags        map[string]string `json:",omitempty"`
	Generation  int               `json:",omitempty"`
	Starts      int               `json:",omitempty"`
}

type messageRecord struct {
	Execution string `json:",omitempty"`
	Event     eventRecord
}

type alarmRecord struct {
	At     time.Time
	Number int
	Event  eventRecord
}

// key begins with the kind, the hub and the instance, each with its length.
func key(kind byte, hub, instance string, rest ...uint64) []byte {
	b := make([]byte, 0, len(keyPrefix)+len(hub)+len(instance)+8+8*len(rest))
	b = append(append(b, keyPrefix...), kind)
	b = append(binary.AppendUvarint(b, uint64(len(hub))), hub...)
	b = append(binary.AppendUvarint(b, uint64(len(instance))), instance...)
	for _, n := range rest {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

func (inst *instance) key(kind byte, rest ...uint64) []byte {
	return key(kind, inst.hub.key, inst.ID, rest...)
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

// save has an instance written at the end of the operation.
func (op *operation) save(inst *instance) { op.dirty[inst] = true }

// saveDirty writes the instances that were changed.
func (op *operation) saveDirty() {
	if len(op.dirty) == 0 || !op.Writable() {
		return
	}
	for inst := range op.dirty {
		op.saveInstance(inst)
	}
}

func (c *change) saveInstance(inst *instance) {
	if c.Writable() {
		c.Set(inst.key(instanceKind), marshal(instanceRecord{inst.hub.name, inst.entity, inst.record}))
	}
}

// instanceRecord is the stored form of an instance.
type instanceRecord struct {
	Hub    string
	Entity bool `json:",omitempty"`
	record
}

func (c *change) dropInstance(inst *instance) { c.Delete(inst.key(instanceKind)) }

// append writes events behind the history.
func (op *operation) append(inst *instance, events ...durable.Event) {
	from := len(inst.history)
	inst.history = append(inst.history, events...)
	if inst.places == nil {
		inst.places = map[int]int{}
	}
	for i := from; i < len(inst.history); i++ {
		if id := inst.history[i].ID; id >= 0 {
			inst.places[id] = i
		}
	}
	op.saveHistory(inst, from)
}

func (c *change) saveHistory(inst *instance, from int) {
	for i := from; i < len(inst.history) && c.Writable(); i++ {
		c.Set(inst.key(historyKind, uint64(i)), marshal(eventRecord(inst.history[i])))
	}
}

// rewrite writes a history that was altered.
func (op *operation) rewrite(inst *instance) { op.saveHistory(inst, 0) }

// dropHistory empties the history.
func (op *operation) dropHistory(inst *instance) {
	if len(inst.history) > 0 {
		op.DeleteRange(inst.key(historyKind, 0), inst.key(historyKind, uint64(len(inst.history))))
	}
	inst.history, inst.places = nil, nil
}

func (c *change) saveMessage(inst *instance, m *message) {
	if c.Writable() {
		c.Set(inst.key(messageKind, m.seq), marshal(messageRecord{m.execution, eventRecord(m.event)}))
	}
}

func (c *change) dropMessage(inst *instance, m *message) { c.Delete(inst.key(messageKind, m.seq)) }

func (a *activity) key() []byte {
	return append(key(activityKind, a.hub.key, a.instance, uint64(a.number)), a.execution...)
}

func (c *change) saveActivity(a *activity) {
	if c.Writable() {
		c.Set(a.key(), append(binary.BigEndian.AppendUint64(nil, a.seq), marshal(a.activityRecord)...))
	}
}

func (c *change) dropActivity(a *activity) { c.Delete(a.key()) }

// lasting reports whether an alarm is kept: waits of turns follow from the rest.
func (a *alarm) lasting() bool { return a.number >= 0 || a.event.Type == durable.EventRaised }

func (c *change) saveAlarm(a *alarm) {
	if a.lasting() && c.Writable() {
		c.Set(a.inst.key(alarmKind, a.seq), marshal(alarmRecord{a.at, a.number, eventRecord(a.event)}))
	}
}

func (c *change) dropAlarm(a *alarm) {
	if a.lasting() {
		c.Delete(a.inst.key(alarmKind, a.seq))
	}
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // texts, numbers and times always marshal
		panic(err)
	}
	return b
}
