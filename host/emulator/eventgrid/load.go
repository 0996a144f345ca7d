package eventgrid

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// read reads a state; dir names what is read, for errors.
func (g *Grid) read(v store.Reader, dir string) (*loader, error) {
	l := &loader{state: newState(g.endpointOf), dir: dir}
	for _, part := range []struct {
		prefix []byte
		read   func(key, value []byte) error
	}{
		{[]byte(countersKey), l.counters},
		{recordKey(topicKind, ""), l.readTopic},
		{recordKey(subscriptionKind, ""), l.readSubscription},
		{recordKey(eventKind, ""), l.event},
		{recordKey(stateKind, ""), l.progress},
		{recordKey(healthKind, ""), l.health},
		{[]byte(declaredKey), l.declare},
	} {
		if err := v.Scan(part.prefix, store.PrefixEnd(part.prefix), part.read); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// takeLocked puts another state in the place of the one in memory. Requests that are
// out belong to the state before, and change nothing any more.
func (g *Grid) takeLocked(l *loader, from keep.Origin) {
	if from.Follow {
		l.number, l.ids.N = max(l.number, g.number), max(l.ids.N, g.ids.N)
	}
	l.ids.Seed, l.ids.Restored = seeded.Epoch(g.opts.Seed, from.Epoch), g.ids.Restored
	g.forgetAllLocked()
	g.state = l.state
	for _, t := range g.topics {
		l.sort(t)
	}
	for _, d := range g.live {
		g.pump.queue.push(d)
	}
	g.pump.kick()
}

// forgetAllLocked empties the memory.
func (g *Grid) forgetAllLocked() {
	for _, d := range g.live {
		d.state, d.parked = over, 0
		g.pump.queue.remove(d)
	}
	fresh := newState(g.endpointOf)
	fresh.ids, fresh.number = g.ids, g.number
	g.state = fresh
	g.pump.changed.Signal()
}

// Reset removes everything, so that the Grid is as New made it, with its present
// rules.
func (g *Grid) Reset() error {
	err := g.lock()
	if err == nil {
		g.writing.DeletePrefix([]byte(keyPrefix))
	}
	g.forgetAllLocked()
	g.ids.N, g.number = 0, 0
	if writeErr := g.unlock(context.Background()); err == nil {
		err = writeErr
	}
	return err
}

// loader makes a state out of records.
type loader struct {
	state
	dir    string
	orders map[*subscription]int
}

func (l *loader) damage(what string, err error) error {
	return &store.CorruptError{Path: l.dir, Err: fmt.Errorf("%s of Event Grid: %w", what, err)}
}

func (l *loader) counters(_, value []byte) error {
	if len(value) != 16 {
		return l.damage("the counters", fmt.Errorf("%d bytes", len(value)))
	}
	l.ids.N, l.number = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
	return nil
}

func (l *loader) readTopic(_, value []byte) error {
	t := &topic{}
	if err := json.Unmarshal(value, &t.Topic); err != nil {
		return l.damage("a topic", err)
	}
	l.topics[fold(t.Name)] = t
	return nil
}

func (l *loader) readSubscription(key, value []byte) error {
	name, _, _ := bytes.Cut(key[len(keyPrefix)+1:], []byte{0})
	t := l.topics[string(name)]
	var r subscriptionRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("an event subscription", err)
	}
	if t == nil {
		return l.damage("an event subscription", fmt.Errorf("its topic %q is not there", name))
	}
	s, err := newSubscription(t, r.Subscription)
	if err != nil {
		return l.damage("an event subscription", err)
	}
	s.endpoint = l.endpoints.of(s)
	s.state, s.code, s.until = r.State, r.Code, r.Until
	if l.orders == nil {
		l.orders = map[*subscription]int{}
	}
	l.orders[s] = r.Order
	t.subscriptions = append(t.subscriptions, s)
	return nil
}

// health is kept for endpoints that are still named.
func (l *loader) health(key, value []byte) error {
	var r healthRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("the health of an endpoint", err)
	}
	if e := l.endpoints.byKey[string(key[len(keyPrefix)+1:])]; e != nil {
		e.failures, e.until, e.length, e.saved = r.Failures, r.Until, r.Length, true
	}
	return nil
}

func (l *loader) declare(_, value []byte) error {
	if err := json.Unmarshal(value, &l.declared); err != nil {
		return l.damage("the description of the app", err)
	}
	return nil
}

// sort puts subscriptions into the order of their creation.
func (l *loader) sort(t *topic) {
	slices.SortStableFunc(t.subscriptions, func(a, b *subscription) int { return cmp.Compare(l.orders[a], l.orders[b]) })
}

func (l *loader) event(key, value []byte) error {
	var r eventRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("an event", err)
	}
	t := l.topics[fold(r.Topic)]
	if t == nil || t.find(r.Subscription) == nil || len(key) != len(keyPrefix)+9 {
		return l.damage("an event", fmt.Errorf("its subscription %q of topic %q is not there", r.Subscription, r.Topic))
	}
	if r.Object == nil {
		r.Object = r.Event
	}
	members, err := parseObject(r.Object)
	if err != nil {
		return l.damage("an event", err)
	}
	e := &Event{schema: r.Schema, members: members}
	e.ID, e.Subject, e.Type = e.text("id"), e.text("subject"), e.text(typeField(r.Schema))
	e.seal()
	number := binary.BigEndian.Uint64(key[len(keyPrefix)+1:])
	l.live[number] = &delivery{
		number: number, sub: t.find(r.Subscription), event: e,
		published: r.Published, expires: r.Expires, due: r.Published, when: r.Published,
	}
	return nil
}

func (l *loader) progress(key, value []byte) error {
	var r stateRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return l.damage("the state of an event", err)
	}
	if len(key) != len(keyPrefix)+9 {
		return nil
	}
	d := l.live[binary.BigEndian.Uint64(key[len(keyPrefix)+1:])]
	if d == nil {
		return nil
	}
	d.skipped = r.Skipped
	d.due, d.when, d.attempts, d.outcome, d.status, d.reason, d.until = r.Due, r.When, r.Attempts, r.Outcome, r.Status, r.Reason, r.Until
	switch {
	case d.reason != "":
		d.state = dead
	case d.due.After(d.expires):
		d.state, d.when = expiring, d.expires
	default:
		d.state, d.when = waiting, d.due
	}
	return nil
}
