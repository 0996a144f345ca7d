package queues

import (
	"time"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/journal"
)

// queueState is one queue: every rule of spec storage 16.3 as a method that is
// told the time. It is guarded by the account's mutex.
//
// Both heaps hold the messages themselves; the cost of a call grows with the
// logarithm of the queue's depth.
type queueState struct {
	byID      map[bindings.GUID]*message
	byVisible heap.Of[*message] // all messages: visible ones come first
	byExpiry  heap.Of[*message] // messages that expire
	sequence  uint64
	expiry    expiry // of the first of byExpiry

	queueFacts
}

func newQueueState() *queueState {
	return &queueState{
		byID: map[bindings.GUID]*message{},
		byVisible: heap.New(func(a, b *message) bool {
			if c := a.compare(b, visible); c != 0 {
				return c < 0
			}
			return a.order < b.order
		}, func(m *message) *int { return &m.byVisible }),
		byExpiry: heap.New(func(a, b *message) bool {
			if c := a.compare(b, expires); c != 0 {
				return c < 0
			}
			return a.sequence < b.sequence
		}, func(m *message) *int { return &m.byExpiry }),
	}
}

func (q *queueState) add(m *message) {
	q.byID[m.id] = m
	q.byVisible.Push(m)
	if !m.at(expires).IsZero() {
		q.byExpiry.Push(m)
	}
}

func (q *queueState) remove(m *message) {
	if m.arrival != nil {
		m.arrival.Stop()
	}
	delete(q.byID, m.id)
	q.byVisible.Remove(m)
	q.byExpiry.Remove(m)
}

// purge removes what has expired and returns it, in order of expiry.
func (q *queueState) purge(now time.Time) []*message {
	var expired []*message
	for m, ok := q.byExpiry.Min(); ok && !m.at(expires).After(now); m, ok = q.byExpiry.Min() {
		q.remove(m)
		expired = append(expired, m)
	}
	return expired
}

func (q *queueState) put(now time.Time, newID *seeded.Series, text string, visibility, ttl time.Duration) *message {
	q.sequence++
	m := &message{
		id:       newID.GUID(),
		text:     text,
		receipt:  newID.Token(),
		order:    q.sequence,
		sequence: q.sequence,
	}
	m.set(inserted, now)
	m.set(visible, now.Add(visibility))
	m.set(expires, time.Time{})
	if ttl != queueapi.NeverExpires {
		m.set(expires, now.Add(ttl))
	}
	q.add(m)
	return m
}

// receive hands out visible messages. The note function learns that a lock ended by
// time before its message came up here.
func (q *queueState) receive(now time.Time, newID *seeded.Series, n int, visibility time.Duration, note func(journal.Kind, *message)) []*message {
	var out []*message
	for len(out) < n {
		m, ok := q.byVisible.Min()
		if !ok || m.at(visible).After(now) {
			break
		}
		q.take(now, newID, m, visibility, note)
		out = append(out, m)
	}
	return out
}

// take hands out one visible message.
func (q *queueState) take(now time.Time, newID *seeded.Series, m *message, visibility time.Duration, note func(journal.Kind, *message)) {
	if m.lock > 0 {
		note(journal.LockExpired, m)
	}
	m.count++
	m.lock = visibility
	m.arrived = true
	m.receipt = newID.Token()
	m.set(visible, now.Add(visibility))
	m.order = m.sequence
	q.byVisible.Fix(m)
}

func (q *queueState) peek(now time.Time, n int) []*queueapi.Message {
	var out []*queueapi.Message
	var seen []*message
	for len(out) < n {
		m, ok := q.byVisible.Min()
		if !ok || m.at(visible).After(now) {
			break
		}
		q.byVisible.Remove(m)
		seen = append(seen, m)
		c := m.copy()
		c.PopReceipt, c.NextVisible = "", time.Time{}
		out = append(out, c)
	}
	for _, m := range seen {
		q.byVisible.Push(m)
	}
	return out
}

// message returns the message of an identifier, which is in lower case as it was given.
func (q *queueState) message(id string) (*message, bool) {
	guid, err := bindings.ParseGUID(id)
	if err != nil {
		return nil, false
	}
	m, ok := q.byID[guid]
	return m, ok && m.id.String() == id
}

// find returns the message that id and receipt name. A receipt is good until
// the next one is issued, however long ago its lock ended.
func (q *queueState) find(id, receipt string) (*message, error) {
	m, ok := q.message(id)
	switch {
	case !ok:
		return nil, bindings.ErrMessageNotFound
	case m.receipt.String() != receipt:
		return nil, queueapi.ErrPopReceiptMismatch
	}
	return m, nil
}

// update hides m for a time. At 0 it is visible at once, behind every message
// that is visible already, even at the same instant (S-13).
func (q *queueState) update(now time.Time, newID *seeded.Series, m *message, text *string, visibility time.Duration) {
	if text != nil {
		m.text = *text
	}
	m.receipt = newID.Token()
	m.set(visible, now.Add(visibility))
	m.order = m.sequence
	if visibility == 0 {
		q.sequence++
		m.order = q.sequence
	}
	q.byVisible.Fix(m)
	// The service has one call for both: hiding a message for as long as its
	// receive did renews the lock, anything shorter gives the message back. Only the
	// caller knows which it was, and writes the record of a renewal.
	if visibility < m.lock {
		m.lock = 0
	}
}
