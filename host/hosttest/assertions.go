package hosttest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Await moves time until a record is written that match accepts, and returns
// it. It looks at the records that no Await has returned or passed over yet, so
// that two calls in a row find two records. The test fails when nothing happens
// any more.
func (h *Host) Await(match func(*journal.Record) bool) journal.Record {
	h.tb.Helper()
	j := h.Journal()
	if h.virtual == nil {
		ctx, cancel := context.WithTimeout(context.Background(), realLimit) //clock:outside the system clock is real
		defer cancel()
		from := h.cursor
		r, err := j.Wait(ctx, func(r *journal.Record) bool { return r.Seq >= from && match(r) })
		if err != nil {
			h.tb.Fatalf("hosttest: await: nothing matched within %v; the journal:\n%s", realLimit, h.tail())
		}
		h.cursor = r.Seq + 1
		return r
	}
	var found journal.Record
	next := h.cursor
	ok := h.virtual.Until(func() (ok bool) {
		found, ok = j.Find(next, match)
		next = j.Len() + 1 // what is before did not match
		return ok
	}, limit)
	if !ok {
		h.tb.Fatalf("hosttest: await: nothing matched until %v; waiting:\n%s\nthe journal:\n%s", h.virtual.Now(), h.waiting(), h.tail())
	}
	h.cursor = found.Seq + 1
	return found
}

// AwaitKind is Await for a record of that kind.
func (h *Host) AwaitKind(kind journal.Kind) journal.Record {
	h.tb.Helper()
	return h.Await(func(r *journal.Record) bool { return r.Kind == kind })
}

// AwaitSettled is Await for the settlement of a delivery of a function with that
// decision; an empty decision means any.
func (h *Host) AwaitSettled(function string, decision triggers.Decision) journal.Record {
	h.tb.Helper()
	return h.Await(func(r *journal.Record) bool {
		return r.Kind == journal.Settled && strings.EqualFold(r.Function, function) &&
			(decision == "" || r.Decision == string(decision))
	})
}

// Attempts returns the attempt_ended records of a function, in order.
func (h *Host) Attempts(function string) []journal.Record {
	return h.Select(func(r *journal.Record) bool {
		return r.Kind == journal.AttemptEnded && strings.EqualFold(r.Function, function)
	})
}

// Settlements returns the settled records of a function, in order.
func (h *Host) Settlements(function string) []journal.Record {
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

// tail is the end of the journal, for messages.
func (h *Host) tail() string {
	records := h.Journal().Records()
	const shown = 40
	var b strings.Builder
	if n := len(records) - shown; n > 0 {
		fmt.Fprintf(&b, "... %d records before\n", n)
		records = records[n:]
	}
	for _, r := range records {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// waiting lists who waits for what, for messages.
func (h *Host) waiting() string {
	var lines []string
	for _, w := range h.virtual.Waiting() {
		lines = append(lines, "  "+w.String())
	}
	return strings.Join(lines, "\n")
}
