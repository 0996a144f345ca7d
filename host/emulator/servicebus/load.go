package servicebus

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// takeLocked puts another state in the place of the one in memory. Plain receivers go
// on, if their queues are there; sessions are lost, as after a restart. No lock token is
// given twice, so that a lock token from before fits no message of now.
func (ns *Namespace) takeLocked(fresh *state, from keep.Origin) {
	ns.forgetLocked(errReloaded)
	if from.Follow {
		fresh.ids.N = max(fresh.ids.N, ns.ids.N)
	}
	fresh.ids.Seed = seeded.Epoch(ns.opts.Seed, from.Epoch)
	fresh.ids.Restored = ns.ids.Restored
	if !from.Follow {
		fresh.ids.Restored++
	}
	ns.state = *fresh
	now := ns.now()
	for _, e := range ns.sorted() {
		e.accessed = now // as far as anybody knows
		e.watchIdle(now)
		for _, q := range e.queues() {
			q.arm(now)
		}
	}
}

// forgetLocked ends the use of every queue.
func (ns *Namespace) forgetLocked(why error) {
	ns.giveUpLocked()
	for _, e := range ns.sorted() {
		for _, q := range e.queues() {
			q.end(why)
		}
		if e.idleTimer != nil {
			e.idleTimer.Stop()
		}
	}
}

// Reset removes everything, so that the namespace is as New made it. Receivers
// fail with ErrNotFound. It fails only when the store cannot be written.
func (ns *Namespace) Reset() error {
	op := operations.Get().(*operation)
	defer operations.Put(op)
	err := op.begin(ns)
	if err == nil {
		ns.giveUpLocked()
		for _, e := range ns.sorted() {
			if e.parent == nil {
				e.drop(op)
			}
		}
		ns.ids = seeded.Series{Seed: ns.opts.Seed, Restored: ns.ids.Restored + 1}
	}
	op.records, ns.untold = op.records[:0], nil
	if finishErr := op.finish(context.Background()); err == nil {
		err = finishErr
	}
	if err != nil {
		return fmt.Errorf("reset the Service Bus namespace: %w", err)
	}
	return nil
}

// loader reads the state of a namespace. Entities belong to owner from the beginning.
type loader struct {
	*state
	owner *Namespace
	view  store.Reader
	dir   string

	contents map[string]map[int64]*servicebus.Message
}

func (l *loader) damage(format string, args ...any) error {
	return &store.CorruptError{Path: l.dir, Err: fmt.Errorf(format, args...)}
}

func (l *loader) load() error {
	b, err := l.view.Get([]byte(idsKey))
	switch {
	case err == nil && len(b) == 8:
		l.ids.N = binary.BigEndian.Uint64(b)
	case err == nil:
		return l.damage("the count of identifiers has %d bytes", len(b))
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	l.contents = map[string]map[int64]*servicebus.Message{}
	for _, step := range []func() error{l.loadEntities, l.loadSequences, l.loadSeen, l.loadSessions, l.loadContents, l.loadStates} {
		if err := step(); err != nil {
			return err
		}
	}
	for key, left := range l.contents {
		if len(left) > 0 {
			return l.damage("%d messages of %q have lost their state", len(left), key)
		}
	}
	for _, e := range l.entities {
		for _, q := range e.queues() {
			for _, s := range q.sessions.byID {
				s.rank()
			}
		}
	}
	return nil
}

// scan calls f for each key of a kind, with the key of its entity and the rest.
func (l *loader) scan(kind byte, f func(e, rest string, value []byte) error) error {
	prefix := append([]byte(keyPrefix), kind)
	return l.view.Scan(prefix, store.PrefixEnd(prefix), func(key, value []byte) error {
		e, rest, ok := bytes.Cut(key[len(prefix):], []byte{0})
		if !ok {
			return l.damage("the key %q cannot be read", key)
		}
		return f(string(e), string(rest), value)
	})
}

// entityOf is for things that belong to an entity.
func (l *loader) entityOf(key, what string) (*entity, error) {
	if e := l.entities[key]; e != nil {
		return e, nil
	}
	return nil, l.damage("%s of %q is there without it", what, key)
}

func (l *loader) loadEntities() error {
	var subscriptions []*entity
	err := l.scan(entityKind, func(key, _ string, value []byte) error {
		var r entityRecord
		if err := json.Unmarshal(value, &r); err != nil {
			return l.damage("the entity %q cannot be read: %w", key, err)
		}
		var path servicebus.Path
		switch {
		case r.Queue != nil:
			path.Entity = r.Queue.Name
		case r.Topic != nil:
			path.Entity = r.Topic.Name
		case r.Subscription != nil:
			path.Entity, path.Subscription = r.Subscription.Topic, r.Subscription.Name
		}
		kinds := 0
		for _, is := range []bool{r.Queue != nil, r.Topic != nil, r.Subscription != nil} {
			if is {
				kinds++
			}
		}
		if path.Key() != key || key == "" || kinds != 1 {
			return l.damage("the entity %q says that it is %q", key, path)
		}
		e := newEntity(l.owner, path)
		e.queue, e.topic, e.subscription, e.created, e.updated = r.Queue, r.Topic, r.Subscription, r.Created, r.Updated
		if err := e.complete(); err != nil {
			return l.damage("the entity %q cannot be: %w", key, err)
		}
		for _, rule := range r.Rules {
			compiled, err := rule.rule(l.owner.ids.GUID)
			if err != nil {
				return l.damage("rule %q of %q: %w", rule.Name, key, err)
			}
			e.rules = append(e.rules, compiled)
		}
		if e.subscription != nil {
			subscriptions = append(subscriptions, e)
			return nil
		}
		l.install(e)
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range subscriptions {
		topic := l.entities[servicebus.Path{Entity: e.path.Entity}.Key()]
		if topic == nil || topic.topic == nil {
			return l.damage("the subscription %q is there without its topic", e.key)
		}
		e.parent = topic
		l.install(e)
	}
	return nil
}

func (l *loader) loadSequences() error {
	return l.scan(sequenceKind, func(key, _ string, value []byte) error {
		e, err := l.entityOf(key, "the sequence number")
		if err != nil {
			return err
		}
		if len(value) != 8 {
			return l.damage("the sequence number of %q has %d bytes", key, len(value))
		}
		e.main.next = int64(binary.BigEndian.Uint64(value))
		return nil
	})
}

func (l *loader) loadSeen() error {
	type seen struct {
		id string
		at time.Time
	}
	all := map[*entity][]seen{}
	err := l.scan(seenKind, func(key, id string, value []byte) error {
		e, err := l.entityOf(key, "duplicate detection")
		if err != nil {
			return err
		}
		r := newReader(value)
		all[e] = append(all[e], seen{id, r.Time()})
		if r.Bad() {
			return l.damage("the time of message id %q in %q cannot be read", id, key)
		}
		return nil
	})
	for e, list := range all {
		slices.SortStableFunc(list, func(a, b seen) int { return a.at.Compare(b.at) })
		for _, s := range list {
			e.seen.remember(s.id, s.at)
		}
	}
	return err
}

func (l *loader) loadSessions() error {
	return l.scan(sessionKind, func(key, id string, value []byte) error {
		e, err := l.entityOf(key, "a session")
		if err != nil {
			return err
		}
		r := newReader(value)
		if r.Byte() != sessionFormat || !e.requiresSession {
			return l.damage("session %q of %q cannot be read", id, key)
		}
		s := e.main.sessions.get(e.main, id)
		if r.session(s); !r.Done() {
			return l.damage("session %q of %q cannot be read", id, key)
		}
		if s.held() {
			e.main.sessions.locks[half(s.outside)].Push(s)
		}
		return nil
	})
}

func (l *loader) loadContents() error {
	return l.scan(contentKind, func(key, number string, value []byte) error {
		r := newReader(value)
		if len(number) != 8 || r.Byte() != contentFormat {
			return l.damage("a message of %q has an unknown format", key)
		}
		c := r.content()
		if !r.Done() {
			return l.damage("message %x of %q cannot be read", number, key)
		}
		if l.contents[key] == nil {
			l.contents[key] = map[int64]*servicebus.Message{}
		}
		l.contents[key][sequenceOf(number)] = c
		return nil
	})
}

func sequenceOf(number string) int64 {
	return int64(binary.BigEndian.Uint64([]byte(number)))
}

func (l *loader) loadStates() error {
	return l.scan(stateKind, func(key, number string, value []byte) error {
		e, err := l.entityOf(key, "a message")
		if err != nil {
			return err
		}
		r := newReader(value)
		if len(number) != 8 || r.Byte() != stateFormat {
			return l.damage("the state of a message of %q has an unknown format", key)
		}
		m := &message{seq: sequenceOf(number)}
		sub := r.state(m)
		m.content = l.contents[key][m.seq]
		switch {
		case r.Bad(), m.content == nil, m.seq > e.main.next,
			e.topic != nil && (sub > 0 || m.state != servicebus.StateScheduled), // a topic passes on all but these
			m.locked() && (m.state == servicebus.StateScheduled || e.queues()[sub].tokens[m.token] != nil):
			return l.damage("the state of message %d of %q cannot be used", m.seq, key)
		case sub == 0 && e.requiresSession && m.state != servicebus.StateScheduled && m.content.SessionID == nil:
			return l.damage("message %d of %q has no session", m.seq, key)
		}
		delete(l.contents[key], m.seq)
		m.size = sizeOf(m.content)
		e.queues()[sub].restore(m)
		return nil
	})
}

// restore puts a message back as it was.
func (q *queue) restore(m *message) {
	q.insert(m)
	q.owner.grow(m.size)
	switch {
	case m.locked() && m.session == nil:
		q.tokens[m.token] = m
		q.locks[half(m.outside)].Push(m)
		return
	case m.locked() && m.session.held():
		q.tokens[m.token] = m
		m.session.locked.Push(m)
		return
	}
	m.token, m.until = bindings.GUID{}, time.Time{}
	if m.state != servicebus.StateActive {
		return
	}
	if !m.expires.IsZero() {
		q.expiry.Push(m)
	}
	if m.session != nil {
		m.session.free.Push(m)
		return
	}
	q.all.setFree(m, true)
}
