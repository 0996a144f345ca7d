package queues

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
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
func (s *Service) takeLocked(fresh queuesState, from keep.Origin) {
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
func (s *Service) LeftInWork(queue string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[queue]
}

// inOrder returns the messages by insertion.
func (q *queueState) inOrder() []*message {
	return slices.SortedFunc(maps.Values(q.byID), func(a, b *message) int { return int(int64(a.sequence) - int64(b.sequence)) })
}

// readQueues reads everything about queues.
func readQueues(v store.Reader, dir string) (out queuesState, err error) {
	r := account.Records{Reader: v, Dir: dir}
	out.given, err = readGiven(r)
	if err == nil {
		out.queues, err = readEmpty(r)
	}
	if err == nil {
		err = readMessages(r, out.queues)
	}
	propertiesErr := r.JSON(propertiesKey, &out.properties)
	_, timeErr := r.LastTime()
	return out, errors.Join(err, propertiesErr, timeErr)
}

// readGiven reads how many identifiers have been given.
func readGiven(r account.Records) (uint64, error) {
	b, err := r.Get(idsKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case len(b) != 8:
		return 0, r.Damage("the count of identifiers has %d bytes", len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}

// readEmpty reads the queues without their messages.
func readEmpty(r account.Records) (map[string]*queueState, error) {
	queues := map[string]*queueState{}
	return queues, r.Each(queueKind, func(key, value []byte) error {
		if len(value) == 0 || value[0] != queueFormat {
			return r.Damage("queue %q has an unknown format", key[2:])
		}
		state := newQueueState()
		if !state.parse(value[1:]) {
			return r.Damage("the state of queue %q cannot be read", key[2:])
		}
		queues[string(key[2:])] = state
		return nil
	})
}

// readMessages reads the messages of the queues. One of which a half is missing is damage:
// both are written together.
func readMessages(r account.Records, queues map[string]*queueState) error {
	halves := map[string]map[uint64]*message{}
	err := r.Each(textKind, func(key, value []byte) error {
		name, sequence, ok := parseMessageKey(key)
		m := &message{sequence: sequence}
		if !ok || queues[name] == nil || !m.parseText(value) {
			return r.Damage("the text under key %q cannot be read", key)
		}
		if halves[name] == nil {
			halves[name] = map[uint64]*message{}
		}
		halves[name][sequence] = m
		return nil
	})
	if err != nil {
		return err
	}
	err = r.Each(stateKind, func(key, value []byte) error {
		name, sequence, ok := parseMessageKey(key)
		m := halves[name][sequence]
		if !ok || m == nil || !m.parseState(value) {
			return r.Damage("the message under key %q cannot be read", key)
		}
		delete(halves[name], sequence)
		q := queues[name]
		q.add(m)
		q.sequence = max(q.sequence, m.sequence, m.order)
		return nil
	})
	if err != nil {
		return err
	}
	for name, left := range halves {
		if len(left) > 0 {
			return r.Damage("%d messages of queue %q have lost their state", len(left), name)
		}
	}
	return nil
}
