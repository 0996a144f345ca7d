package hosttest

import (
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// journalCalls are the calls of a Host about its journal: what functions did.
type journalCalls struct{ h *Host }

// Attempts returns the attempt_ended records of a function, in order. A function that
// the app has never had ends the test.
func (k journalCalls) Attempts(function string) []journal.Record {
	k.h.tb.Helper()
	function = k.h.mustKnow(function)
	return k.h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.AttemptEnded && strings.EqualFold(r.Function, function)
	})
}

// Settlements returns the settled records of a function, in order, as Attempts does.
func (k journalCalls) Settlements(function string) []journal.Record {
	k.h.tb.Helper()
	function = k.h.mustKnow(function)
	return k.h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.Settled && strings.EqualFold(r.Function, function)
	})
}

// Select returns the records that match accepts, in order, earlier runs first (see
// StartAgain).
func (k journalCalls) Select(match func(*journal.Record) bool) []journal.Record {
	var out []journal.Record
	for _, r := range k.h.records() {
		if match(&r) {
			out = append(out, r)
		}
	}
	return out
}

// WantAttempts fails the test unless the function has made that many attempts.
func (k journalCalls) WantAttempts(function string, want int) {
	k.h.tb.Helper()
	if got := len(k.h.Attempts(function)); got != want {
		k.h.tb.Errorf("%s made %d attempts, want %d; the journal:\n%s", function, got, want, k.h.tail())
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
func (k journalCalls) WantDeliveries(function string, attempts ...int) {
	k.h.tb.Helper()
	function = k.h.mustKnow(function)
	var got []int
	at := map[string]int{} // by delivery
	var last uint64
	for _, r := range k.h.records() {
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
		k.h.tb.Errorf("%s ended %d attempts in its deliveries, want %d; the journal:\n%s", function, got, attempts, k.h.tail())
	}
}

// Waits returns the times between a function's attempts, from the end of each to the
// start of the next: the delays of its policy, and between two deliveries what the
// source adds. It means something when one message is in work.
func (k journalCalls) Waits(function string) []time.Duration {
	k.h.tb.Helper()
	function = k.h.mustKnow(function)
	var waits []time.Duration
	var ended time.Time
	for _, r := range k.h.Select(func(r *journal.Record) bool { return strings.EqualFold(r.Function, function) }) {
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
func (k journalCalls) WantWaits(function string, want ...time.Duration) {
	k.h.tb.Helper()
	if got := k.h.Waits(function); !slices.Equal(got, want) {
		k.h.tb.Errorf("%s waited %v between its attempts, want %v; the journal:\n%s", function, got, want, k.h.tail())
	}
}

// Elapsed is how far the clock has moved since New.
func (k journalCalls) Elapsed() time.Duration { return k.h.Host.Clock().Now().Sub(k.h.begins) }

// WantElapsed fails the test unless the clock has moved so far since New.
func (k journalCalls) WantElapsed(want time.Duration) {
	k.h.tb.Helper()
	if got := k.h.Elapsed(); got != want {
		k.h.tb.Errorf("%v have passed, want %v; the journal:\n%s", got, want, k.h.tail())
	}
}

// WantSettled fails the test unless the function's deliveries were settled so,
// in this order.
func (k journalCalls) WantSettled(function string, want ...triggers.Decision) {
	k.h.tb.Helper()
	for _, d := range want {
		mustBeDecision(k.h, d)
	}
	var got []triggers.Decision
	for _, r := range k.h.Settlements(function) {
		got = append(got, triggers.Decision(r.Decision))
	}
	if !slices.Equal(got, want) {
		k.h.tb.Errorf("%s settled %v, want %v; the journal:\n%s", function, got, want, k.h.tail())
	}
}
