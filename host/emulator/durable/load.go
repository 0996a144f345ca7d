package durable

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// takeLocked puts another state in the place of the one in memory. Turns and activities
// that are out belong to the state before, and change nothing any more.
func (e *Engine) takeLocked(fresh *state, from keep.Origin) {
	if from.Follow {
		fresh.ids.N, fresh.order = max(fresh.ids.N, e.st.ids.N), max(fresh.order, e.st.order)
	}
	fresh.ids.Seed = seeded.Epoch(e.opts.Seed, from.Epoch)
	e.put(fresh)
}

// read reads a state; dir names what is read, for errors.
func (e *Engine) read(v store.Reader, dir string) (*state, error) {
	l := &loader{state: newState(), dir: dir}
	for _, part := range []struct {
		prefix string
		read   func(key, value []byte) error
	}{
		{countersKey, l.counters},
		{keyPrefix + string(instanceKind), l.instance},
		{keyPrefix + string(historyKind), l.event},
		{keyPrefix + string(messageKind), l.message},
		{keyPrefix + string(alarmKind), l.alarm},
		{keyPrefix + string(activityKind), l.activity},
	} {
		prefix := []byte(part.prefix)
		if err := v.Scan(prefix, store.PrefixEnd(prefix), part.read); err != nil {
			return nil, err
		}
	}
	return l.state, nil
}

// loader makes a state out of records.
type loader struct {
	*state
	dir string
}

func (l *loader) damage(format string, args ...any) error {
	return &store.CorruptError{Path: l.dir, Err: fmt.Errorf(format, args...)}
}

func (l *loader) counters(_, value []byte) error {
	if len(value) != 16 {
		return l.damage("the counters of the task hubs have %d bytes", len(value))
	}
	l.ids.N, l.order = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
	return nil
}

// split reads what key wrote.
func (l *loader) split(k []byte) (hub, instance string, rest []byte, err error) {
	rest = k[len(keyPrefix)+1:]
	for _, to := range []*string{&hub, &instance} {
		n, size := binary.Uvarint(rest)
		if size <= 0 || n > uint64(len(rest)-size) {
			return "", "", nil, l.damage("the key %q names no instance of a task hub", k)
		}
		*to = string(rest[size : size+int(n)])
		rest = rest[size+int(n):]
	}
	return hub, instance, rest, nil
}

// of finds the instance that a key belongs to, and the number behind it.
func (l *loader) of(k []byte) (inst *instance, n uint64, rest []byte, err error) {
	hubKey, id, rest, err := l.split(k)
	if err != nil {
		return nil, 0, nil, err
	}
	if h := l.hubs[hubKey]; h != nil {
		inst = h.instances[id]
	}
	if inst == nil || len(rest) < 8 {
		return nil, 0, nil, l.damage("something of instance %q of task hub %q is there without it", id, hubKey)
	}
	return inst, binary.BigEndian.Uint64(rest), rest[8:], nil
}

func (l *loader) instance(k, value []byte) error {
	hubKey, id, _, err := l.split(k)
	if err != nil {
		return err
	}
	var r instanceRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("instance %q of task hub %q cannot be read: %w", id, hubKey, err)
	}
	if strings.ToLower(r.Hub) != hubKey || r.ID != id {
		return l.damage("instance %q of task hub %q says that it is %q of %q", id, hubKey, r.ID, r.Hub)
	}
	h := l.hubs[hubKey]
	if h == nil {
		h = newHub(r.Hub)
		l.hubs[hubKey] = h
	}
	h.insert(&instance{entity: r.Entity, record: r.record})
	return nil
}

func (l *loader) event(k, value []byte) error {
	inst, n, _, err := l.of(k)
	if err != nil {
		return err
	}
	var r eventRecord
	if err := json.Unmarshal(value, &r); err != nil || n != uint64(len(inst.history)) || r.Type < 0 || int(r.Type) >= len(typeNames) {
		return l.damage("event %d of the history of instance %q cannot be used", n, inst.ID)
	}
	if inst.places == nil {
		inst.places = map[int]int{}
	}
	if r.ID >= 0 {
		inst.places[r.ID] = len(inst.history)
	}
	inst.history = append(inst.history, durable.Event(r))
	return nil
}

func (l *loader) message(k, value []byte) error {
	inst, n, _, err := l.of(k)
	if err != nil {
		return err
	}
	var r messageRecord
	if err := json.Unmarshal(value, &r); err != nil || r.Event.Type < 0 || int(r.Event.Type) >= len(typeNames) || inst.entity && r.Event.Input == nil {
		return l.damage("a message of instance %q cannot be read", inst.ID)
	}
	inst.inbox = append(inst.inbox, &message{seq: n, execution: r.Execution, event: durable.Event(r.Event)})
	l.order = max(l.order, n)
	if r.Event.Type == durable.ExecutionStarted && !r.Event.FireAt.IsZero() {
		inst.alarms = append(inst.alarms, &alarm{inst: inst, at: r.Event.FireAt, seq: n, number: -1})
	}
	return nil
}

func (l *loader) alarm(k, value []byte) error {
	inst, n, _, err := l.of(k)
	if err != nil {
		return err
	}
	var r alarmRecord
	if err := json.Unmarshal(value, &r); err != nil || r.Event.Type < 0 || int(r.Event.Type) >= len(typeNames) {
		return l.damage("a timer of instance %q cannot be read", inst.ID)
	}
	inst.alarms = append(inst.alarms, &alarm{inst: inst, at: r.At, seq: n, number: r.Number, event: durable.Event(r.Event)})
	l.order = max(l.order, n)
	return nil
}

// activity reads one whose instance may be gone: it ends unheard.
func (l *loader) activity(k, value []byte) error {
	hubKey, id, rest, err := l.split(k)
	if err != nil {
		return err
	}
	h := l.hubs[hubKey]
	if h == nil {
		return nil // all of its instances were purged
	}
	var r activityRecord
	if len(rest) < 8 || len(value) < 8 || json.Unmarshal(value[8:], &r) != nil {
		return l.damage("an activity of instance %q cannot be read", id)
	}
	a := &activity{
		hub: h, activityID: activityID{id, string(rest[8:]), int(binary.BigEndian.Uint64(rest))}, activityRecord: r, seq: binary.BigEndian.Uint64(value),
	}
	h.activities[a.activityID] = a
	l.order = max(l.order, a.seq)
	return nil
}
