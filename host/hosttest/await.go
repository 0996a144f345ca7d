package hosttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// Await moves time until a record is written that match accepts, and returns it. It
// looks at the records that come after the one that the Await before it returned, those
// that exist already among them. So two calls in a row find two records, and a test
// awaits things in the order in which they happen; one that an earlier Await passed over
// is found with Select.
//
// The test fails when the record can no longer come: nothing waits for time
// to move, and everything else that was pending (polls of a queue, ticks of
// a schedule, the end of a message's life) has had its turn. It fails too
// after 20,000 retries of policies without an end. The failure shows what
// did happen.
//
// match runs under no lock: it may use the host's other methods, except those that
// move time, and end the test.
func (h *Host) Await(match func(*journal.Record) bool) journal.Record {
	h.tb.Helper()
	return h.await(&wanted{what: "a record that match accepts", match: match})
}

// AwaitKind is Await for a record of that kind.
func (h *Host) AwaitKind(kind journal.Kind) journal.Record {
	h.tb.Helper()
	mustBeKind(h, kind)
	return h.await(&wanted{
		what: "a record of kind " + string(kind), kind: kind,
		match: func(r *journal.Record) bool { return r.Kind == kind },
	})
}

// AwaitSettled is Await for the settlement of a delivery of a function with that
// decision; an empty decision means any. A function that the app has never had ends
// the test.
func (h *Host) AwaitSettled(function string, decision triggers.Decision) journal.Record {
	h.tb.Helper()
	function = h.mustKnow(function)
	what := "a settlement of " + function
	if decision != "" {
		mustBeDecision(h, decision)
		what += " as " + string(decision)
	}
	return h.await(&wanted{
		what: what, function: function, kind: journal.Settled,
		match: func(r *journal.Record) bool {
			return r.Kind == journal.Settled && strings.EqualFold(r.Function, function) &&
				(decision == "" || r.Decision == string(decision))
		},
	})
}

// wanted describes the record that an Await looks for.
type wanted struct {
	what     string
	function string // whose records tell why not; empty: all do
	match    func(*journal.Record) bool

	// kind is the only one that match accepts; empty: match is the test's own. With
	// a kind match is quick and makes no calls: it may run under locks.
	kind journal.Kind
}

func (h *Host) await(w *wanted) journal.Record {
	h.tb.Helper()
	if h.awaiting {
		h.tb.Fatalf("hosttest: an Await within the match of another one: match only looks at records")
	}
	h.awaiting = true
	defer func() { h.awaiting = false }()
	forever := &retries{from: h.Journal().Len() + 1}
	found, ok := h.search(w, forever)
	if !ok {
		h.tb.Fatalf("hosttest: await: %s", h.missed(w, forever))
	}
	h.cursor = found.Seq + 1
	return found
}

// retries are the endless retries of one Await.
type retries struct {
	looks int
	from  uint64         // the first record not looked at
	last  journal.Record // of those
	total int
}

// mostRetries is how many of them are enough.
const mostRetries = 20_000

// tooMany reports whether there are. It looks now and then.
func (e *retries) tooMany(j *journal.Journal) bool {
	if e.looks++; e.looks%1000 == 0 {
		last := j.Len()
		j.FindKind(e.from, journal.RetryScheduled, func(r *journal.Record) bool {
			if last = max(last, r.Seq); r.MaxRetryCount == retrycontext.Forever {
				e.last = *r
				e.total++
			}
			return false
		})
		e.from = last + 1
	}
	return e.total >= mostRetries
}

func (e *retries) String() string {
	return fmt.Sprintf("%d retries of policies without an end, such as the one of %q (maxRetryCount %d, attempt %d of delivery %s has failed)",
		e.total, e.last.Function, e.last.MaxRetryCount, e.last.Attempt, e.last.Delivery)
}

// search moves time until the wanted record exists.
func (h *Host) search(w *wanted, forever *retries) (found journal.Record, ok bool) {
	h.tb.Helper()
	j := h.Journal()
	if h.virtual == nil {
		ctx, cancel := context.WithTimeout(context.Background(), realLimit) //clock:outside the system clock is real
		defer cancel()
		from := h.cursor
		r, err := j.Wait(ctx, func(r *journal.Record) bool { return r.Seq >= from && w.match(r) })
		return r, err == nil
	}
	next := h.cursor
	quiet := &clock.Quiet{}
	end := h.virtual.Now().Add(limit)
	for {
		happened := func() bool { return j.Len() >= next } // match looks without a lock held
		if w.kind != "" {
			happened = func() bool {
				found, ok = j.FindKind(next, w.kind, w.match)
				next = j.Len() + 1 // what is before did not match
				return ok
			}
		}
		var more bool
		stop := func() bool { return happened() || forever.tooMany(j) }
		h.wait(func() { more = h.virtual.UntilQuiet(quiet, stop, end.Sub(h.virtual.Now())) })
		if w.kind != "" {
			return found, ok
		}
		for _, r := range j.Since(next) {
			next = r.Seq + 1
			if w.match(&r) {
				return r, true
			}
		}
		if !more || forever.tooMany(j) {
			return journal.Record{}, false
		}
	}
}

// missed says why there is no such record, and what there is.
func (k journalCalls) missed(w *wanted, forever *retries) string {
	var b strings.Builder
	switch {
	case k.h.virtual == nil:
		fmt.Fprintf(&b, "%s has not come within %v", w.what, realLimit)
	case forever.total >= mostRetries:
		fmt.Fprintf(&b, "%s has not come after %v; it is %s", w.what, forever, k.h.virtual.Now().Format(time.RFC3339))
	default:
		fmt.Fprintf(&b, "%s has not come, and nothing is left to happen; it is %s", w.what, k.h.virtual.Now().Format(time.RFC3339))
	}
	for _, r := range k.h.Journal().Records() {
		if r.Seq < k.h.cursor && w.match(&r) {
			fmt.Fprintf(&b, "\nrecord %d matches, but an earlier Await has returned a later one: await things in the order in which they happen, or look with Select\n  %s", r.Seq, r.String())
			break
		}
	}
	of := func(*journal.Record) bool { return true }
	if w.function != "" {
		of = func(r *journal.Record) bool { return strings.EqualFold(r.Function, w.function) }
	}
	records := k.h.Select(of)
	switch {
	case len(records) > 0 && w.function != "":
		fmt.Fprintf(&b, "\nwhat %s did:\n%s", w.function, end(records))
	case w.function != "":
		fmt.Fprintf(&b, "\n%s has done nothing: was anything sent to it? the journal:\n%s", w.function, k.h.tail())
	default:
		fmt.Fprintf(&b, "\nthe journal:\n%s", end(records))
	}
	if k.h.virtual != nil {
		fmt.Fprintf(&b, "waiting:\n%s", k.h.waiting())
	}
	return b.String()
}

// mustKnow is a function's name as records have it. It ends the test when no app of the run
// has ever had the function, and when several have it.
func (h *Host) mustKnow(function string) string {
	h.tb.Helper()
	switch list, _ := hostsOf(h, function); len(list) {
	case 0:
	case 1:
		return list[0]
	default:
		h.tb.Fatalf("hosttest: %d apps have a function %q; say which: %s", len(list), function, strings.Join(list, " or "))
	}
	if h.ran() == nil {
		h.tb.Fatalf("hosttest: function %q: no app has run, and nothing is true of its functions: %v", function, h.StartError)
	}
	all := functionNames(h)
	slices.Sort(all)
	h.tb.Fatalf("hosttest: the app has no function %q; it has %s%s", function, strings.Join(all, ", "), orMeant(function, all))
	return ""
}

// names reports whether a record is about a function of an app, or of a generation that has
// it.
func names(r *journal.Record, app, function string) bool {
	if strings.EqualFold(r.Function, journal.Qualified(app, function)) {
		return true
	}
	return r.Kind == journal.GenerationLoaded && slices.ContainsFunc(r.Fields, func(f journal.Field) bool {
		return f.Key == "functions" && slices.ContainsFunc(strings.Split(f.Value, ","), func(name string) bool { return strings.EqualFold(name, function) })
	})
}

// tail is the end of the journal, for messages.
func (k journalCalls) tail() string { return end(k.h.records()) }

// end shows the last records.
func end(records []journal.Record) string {
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

// waiting lists all waits and their reasons, for messages.
func (h *Host) waiting() string {
	var lines []string
	for _, w := range h.virtual.Waiting() {
		lines = append(lines, "  "+w.String())
	}
	return strings.Join(lines, "\n")
}

// Settle moves time until nothing is left to happen: nothing waits for time to move, and
// everything else that was pending (polls of a queue, ticks of a schedule) has had its
// turn. What an Await finds afterwards can no longer come. It ends the test after 60 days
// of time, and after 20,000 retries of policies without an end.
func (h *Host) Settle() {
	h.tb.Helper()
	h.forward("Settle", 0)
	j := h.Journal()
	forever := &retries{from: j.Len() + 1}
	var more bool
	end := h.virtual.Now().Add(limit)
	h.wait(func() {
		more = h.virtual.UntilQuiet(nil, func() bool { return forever.tooMany(j) }, end.Sub(h.virtual.Now()))
	})
	switch {
	case more:
		h.tb.Fatalf("hosttest: settle: %v; it is %s", forever, h.virtual.Now().Format(time.RFC3339))
	case !h.virtual.Now().Before(end):
		h.tb.Fatalf("hosttest: settle: something is left to happen after %v; waiting:\n%s", limit, h.waiting())
	}
}
