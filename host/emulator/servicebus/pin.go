package servicebus

import (
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// A lock of a client in real time pins a clock in the pace Auto exactly as
// long as it lasts: see [clock.Pins]. The messages of a session are pinned
// with it.

func (m *message) pinKey() string { return "lock " + m.token.String() }

func (m *message) pin(pins *clock.Pins, now time.Time) {
	if m.outside && m.session == nil && pins.Used() {
		pins.Hold(m.pinKey(), m.until.Sub(now))
	}
}

func (m *message) unpin(pins *clock.Pins) {
	if m.outside && m.session == nil && pins.Used() {
		pins.Release(m.pinKey())
	}
}

func (s *session) pinKey() string { return "lock of session " + s.id + " of " + s.q.name }

func (s *session) pin(now time.Time) {
	if s.outside && s.q.ns.pins.Used() {
		s.q.ns.pins.Hold(s.pinKey(), s.until.Sub(now))
	}
}

func (s *session) unpin() {
	if s.outside && s.q.ns.pins.Used() {
		s.q.ns.pins.Release(s.pinKey())
	}
}

// unpinAll ends the pins of a queue that can no longer be used.
func (q *queue) unpinAll() {
	for _, m := range q.tokens {
		m.unpin(q.ns.pins)
	}
	for _, s := range q.sessions.locks[half(true)].All() {
		s.unpin()
	}
}
