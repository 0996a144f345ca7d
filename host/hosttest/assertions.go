package hosttest

import (
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Attempts returns the attempt_ended records of a function, in order. A function that
// the app has never had ends the test.
func (h *Host) Attempts(function string) []journal.Record {
	h.tb.Helper()
	function = h.mustKnow(function)
	return h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.AttemptEnded && strings.EqualFold(r.Function, function)
	})
}

// Settlements returns the settled records of a function, in order, as Attempts does.
func (h *Host) Settlements(function string) []journal.Record {
	h.tb.Helper()
	function = h.mustKnow(function)
	return h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.Settled && strings.EqualFold(r.Function, function)
	})
}

// Select returns the records that match accepts, in order, earlier runs first (see
// StartAgain).
func (h *Host) Select(match func(*journal.Record) bool) []journal.Record {
	var out []journal.Record
	for _, r := range h.records() {
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

// WantDeliveries fails the test unless the function had as many deliveries as numbers
// are given, and ended so many attempts in each:
//
//	h.WantDeliveries("ProcessOrder", 5, 5, 5, 5, 5)
//
// Deliveries count in the order in which they were received, also those that are still in
// work, and with 0 those that ended before their first attempt; the retry counts of n
// attempts are 0 to n-1.
func (h *Host) WantDeliveries(function string, attempts ...int) {
	h.tb.Helper()
	function = h.mustKnow(function)
	var got []int
	at := map[string]int{} // by delivery
	var last uint64
	for _, r := range h.records() {
		if r.Seq <= last {
			clear(at) // another run begins the names of deliveries anew
		}
		last = r.Seq
		if !strings.EqualFold(r.Function, function) {
			continue
		}
		switch r.Kind {
		case journal.Received:
			at[r.Delivery] = len(got)
			got = append(got, 0)
		case journal.AttemptEnded:
			got[at[r.Delivery]]++
		}
	}
	if !slices.Equal(got, attempts) {
		h.tb.Errorf("%s ended %d attempts in its deliveries, want %d; the journal:\n%s", function, got, attempts, h.tail())
	}
}

// Waits returns the times between a function's attempts, from the end of each to the
// start of the next: the delays of its policy, and between two deliveries what the
// source adds. It means something when one message is in work.
func (h *Host) Waits(function string) []time.Duration {
	h.tb.Helper()
	function = h.mustKnow(function)
	var waits []time.Duration
	var ended time.Time
	for _, r := range h.Select(func(r *journal.Record) bool { return strings.EqualFold(r.Function, function) }) {
		switch {
		case r.Kind == journal.AttemptEnded:
			ended = r.Time
		case r.Kind == journal.AttemptStarted && !ended.IsZero():
			waits = append(waits, r.Time.Sub(ended))
		}
	}
	return waits
}

// WantWaits fails the test unless [Host.Waits] are these.
func (h *Host) WantWaits(function string, want ...time.Duration) {
	h.tb.Helper()
	if got := h.Waits(function); !slices.Equal(got, want) {
		h.tb.Errorf("%s waited %v between its attempts, want %v; the journal:\n%s", function, got, want, h.tail())
	}
}

// Elapsed is how far the clock has moved since New.
func (h *Host) Elapsed() time.Duration { return h.Host.Clock().Now().Sub(h.begins) }

// WantElapsed fails the test unless the clock has moved so far since New.
func (h *Host) WantElapsed(want time.Duration) {
	h.tb.Helper()
	if got := h.Elapsed(); got != want {
		h.tb.Errorf("%v have passed, want %v; the journal:\n%s", got, want, h.tail())
	}
}

// WantSettled fails the test unless the function's deliveries were settled so,
// in this order.
func (h *Host) WantSettled(function string, want ...triggers.Decision) {
	h.tb.Helper()
	for _, d := range want {
		mustBeDecision(h, d)
	}
	var got []triggers.Decision
	for _, r := range h.Settlements(function) {
		got = append(got, triggers.Decision(r.Decision))
	}
	if !slices.Equal(got, want) {
		h.tb.Errorf("%s settled %v, want %v; the journal:\n%s", function, got, want, h.tail())
	}
}

// WantQueue fails the test unless the visible messages of a queue have exactly
// these bodies, in this order, and for a slip of the name of one of the app's queues.
func (h *Host) WantQueue(queue string, want ...string) {
	h.tb.Helper()
	if got := h.Bodies(queue); !slices.Equal(got, want) {
		h.tb.Errorf("queue %q holds %q, want %q", queue, got, want)
	}
}

// WantHidden fails the test unless the invisible messages of a queue (in
// work, waiting for redelivery, delayed) have exactly these bodies, in the
// order in which they will be visible. Hidden says when that is.
func (h *Host) WantHidden(queue string, want ...string) {
	h.tb.Helper()
	got := h.HiddenBodies(queue)
	if !slices.Equal(got, want) {
		h.tb.Errorf("queue %q hides %q, want %q", queue, got, want)
	}
}
