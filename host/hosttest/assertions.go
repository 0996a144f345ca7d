package hosttest

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Attempts returns the attempt_ended records of a function, in order. A function that
// the app has never had ends the test.
func (h *Host) Attempts(function string) []journal.Record {
	h.tb.Helper()
	h.mustKnow(function)
	return h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.AttemptEnded && strings.EqualFold(r.Function, function)
	})
}

// Settlements returns the settled records of a function, in order, as Attempts does.
func (h *Host) Settlements(function string) []journal.Record {
	h.tb.Helper()
	h.mustKnow(function)
	return h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.Settled && strings.EqualFold(r.Function, function)
	})
}

// Select returns the records that match accepts, in order.
func (h *Host) Select(match func(*journal.Record) bool) []journal.Record {
	var out []journal.Record
	for _, r := range h.Journal().Records() {
		if match(&r) {
			out = append(out, r)
		}
	}
	return out
}

// WantAttempts fails the test unless the function has made that many attempts.
func (h *Host) WantAttempts(function string, want int) {
	h.tb.Helper()
	if got := len(h.Attempts(function)); got != want {
		h.tb.Errorf("%s made %d attempts, want %d; the journal:\n%s", function, got, want, h.tail())
	}
}

// WantSettled fails the test unless the function's deliveries were settled so,
// in this order.
func (h *Host) WantSettled(function string, want ...triggers.Decision) {
	h.tb.Helper()
	var got []triggers.Decision
	for _, r := range h.Settlements(function) {
		got = append(got, triggers.Decision(r.Decision))
	}
	if !slices.Equal(got, want) {
		h.tb.Errorf("%s settled %v, want %v; the journal:\n%s", function, got, want, h.tail())
	}
}

// WantQueue fails the test unless the visible messages of a queue have exactly
// these bodies, in this order.
func (h *Host) WantQueue(queue string, want ...string) {
	h.tb.Helper()
	if got := h.Bodies(queue); !slices.Equal(got, want) {
		h.tb.Errorf("queue %q holds %q, want %q", queue, got, want)
	}
}
