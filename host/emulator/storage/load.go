package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// queuesState is the queues of an account, what is kept about their service, and how
// many identifiers have been given.
type queuesState struct {
	queues     map[string]*queueState
	properties storage.ServiceProperties
	given      uint64
}

// takeLocked puts other queues in the place of the account's, and sees to what is to
// arrive and to expire in them. No receipt is given twice, so that a receipt from
// before fits no message of now.
func (s *Storage) takeLocked(fresh queuesState, from keep.Origin) {
	if from.Follow {
		fresh.given = max(fresh.given, s.ids.N)
	}
	s.ids = seeded.Series{Seed: seeded.Epoch(s.opts.Seed, from.Epoch), N: fresh.given, Restored: s.ids.Restored}
	if !from.Follow {
		s.ids.Restored++
	}
	s.properties = fresh.properties
	for _, state := range s.queues {
		state.stop()
	}
	s.queues = fresh.queues
	s.changeAllLocked()
	now := s.now()
	if s.left == nil {
		s.left = leftInWork(s.queues, now)
	}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		s.awaitExpiryLocked(name, s.queues[name], now)
		for _, m := range s.queues[name].inOrder() {
			if !m.arrived {
				m.arrival = s.clk.AfterFunc(max(m.at(visible).Sub(now), 0), "arrival in queue "+name, func() { s.arrive(name, m) })
			}
		}
	}
}

// leftInWork is LeftInWork for all queues, of a state that has just been read.
func leftInWork(queues map[string]*queueState, now time.Time) map[string]time.Time {
	left := map[string]time.Time{}
	for name, q := range queues {
		for _, m := range q.byID {
			if back := m.at(visible); m.count > 0 && back.After(now) && back.After(left[name]) {
				left[name] = back
			}
		}
	}
	return left
}

// LeftInWork implements queue.Heir.
func (s *Storage) LeftInWork(queue string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[queue]
}

// inOrder returns the messages by insertion.
func (q *queueState) inOrder() []*message {
	return slices.SortedFunc(maps.Values(q.byID), func(a, b *message) int { return int(int64(a.sequence) - int64(b.sequence)) })
}

// CheckLoads makes every later Load of db refuse a state that an account could not
// be read from, as Open does.
func CheckLoads(db *store.Store) {
	db.Check(func(v *store.View) error {
		_, queuesErr := readQueues(v, "archive")
		_, blobsErr := readBlobs(v, "archive")
		return errors.Join(queuesErr, blobsErr)
	})
}

func readProperties(v store.Reader, dir string) (p storage.ServiceProperties, err error) {
	value, err := v.Get(propertiesKey)
	if errors.Is(err, store.ErrNotFound) {
		return p, nil
	}
	if err == nil {
		err = blobReader{v, dir}.decode(propertiesKey, value, &p)
	}
	return p, err
}

// readQueues reads everything about queues. A message of which one half is missing is
// damage: both are written together.
func readQueues(v store.Reader, dir string) (out queuesState, err error) {
	out.queues, out.given, err = readMessages(v, dir)
	properties, propertiesErr := readProperties(v, dir)
	out.properties = properties
	_, timeErr := readTime(v, dir)
	return out, errors.Join(err, propertiesErr, timeErr)
}

func readMessages(v store.Reader, dir string) (map[string]*queueState, uint64, error) {
	damage := func(format string, args ...any) error {
		return &store.CorruptError{Path: dir, Err: fmt.Errorf(format, args...)}
	}
	var n uint64
	b, err := v.Get(idsKey)
	switch {
	case err == nil && len(b) == 8:
		n = binary.BigEndian.Uint64(b)
	case err == nil:
		return nil, 0, damage("the count of identifiers has %d bytes", len(b))
	case !errors.Is(err, store.ErrNotFound):
		return nil, 0, err
	}
	queues := map[string]*queueState{}
	err = scanKind(v, queueKind, func(key, value []byte) error {
		if len(value) == 0 || value[0] != queueFormat {
			return damage("queue %q has an unknown format", key[2:])
		}
		state := newQueueState()
		if !state.parse(value[1:]) {
			return damage("the state of queue %q cannot be read", key[2:])
		}
		queues[string(key[2:])] = state
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	halves := map[string]map[uint64]*message{}
	err = scanKind(v, textKind, func(key, value []byte) error {
		name, sequence, ok := parseMessageKey(key)
		m := &message{sequence: sequence}
		if !ok || queues[name] == nil || !m.parseText(value) {
			return damage("the text under key %q cannot be read", key)
		}
		if halves[name] == nil {
			halves[name] = map[uint64]*message{}
		}
		halves[name][sequence] = m
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	err = scanKind(v, stateKind, func(key, value []byte) error {
		name, sequence, ok := parseMessageKey(key)
		m := halves[name][sequence]
		if !ok || m == nil || !m.parseState(value) {
			return damage("the message under key %q cannot be read", key)
		}
		delete(halves[name], sequence)
		q := queues[name]
		q.add(m)
		q.sequence = max(q.sequence, m.sequence, m.order)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	for name, left := range halves {
		if len(left) > 0 {
			return nil, 0, damage("%d messages of queue %q have lost their state", len(left), name)
		}
	}
	return queues, n, nil
}

func scanKind(v store.Reader, kind byte, f func(key, value []byte) error) error {
	return v.Scan([]byte{kind, 0}, []byte{kind, 1}, f)
}
