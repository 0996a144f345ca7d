package servicebus

import "time"

// A lock of a client in real time pins a clock in the pace Auto exactly as
// long as it lasts: see [clock.Pins]. The messages of a session are pinned
// with it.

func (m *message) pinKey() string { return "lock " + m.token.String() }

func (q *queue) pinMessage(m *message, now time.Time) {
	if m.outside && m.session == nil && q.ns.pins.Used() {
		q.ns.pins.Hold(m.pinKey(), m.until.Sub(now))
	}
}

func (q *queue) unpinMessage(m *message) {
	if m.outside && m.session == nil && q.ns.pins.Used() {
		q.ns.pins.Release(m.pinKey())
	}
}

func (q *queue) sessionPinKey(s *session) string { return "lock of session " + s.id + " of " + q.name }

func (q *queue) pinSession(s *session, now time.Time) {
	if s.outside && q.ns.pins.Used() {
		q.ns.pins.Hold(q.sessionPinKey(s), s.until.Sub(now))
	}
}

func (q *queue) unpinSession(s *session) {
	if s.outside && q.ns.pins.Used() {
		q.ns.pins.Release(q.sessionPinKey(s))
	}
}

// unpinAll ends the pins of a queue that can no longer be used.
func (q *queue) unpinAll() {
	for _, m := range q.tokens {
		q.unpinMessage(m)
	}
	for _, s := range q.sessionLocks[half(true)].All() {
		q.unpinSession(s)
	}
}
