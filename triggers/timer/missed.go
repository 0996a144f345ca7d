package timer

import "time"

// check decides at the start of a listener whether a tick was missed (exttimer:
// ScheduleMonitor.cs, CheckPastDueAsync). It returns the status to go on with,
// whether that must be written, and whether a tick is past due.
//
// The stored Next is trusted only if the schedule would compute it again from
// what it was computed from. If not, the schedule was edited: Next is computed
// anew, from now if it would lie in the past, so that an edit never causes a run.
func check(s Schedule, stored *Status, now time.Time) (status Status, write, pastDue bool) {
	loc := now.Location()
	if stored == nil {
		return Status{Next: s.Next(now, loc), LastUpdated: now}, true, false
	}
	status = Status{Last: in(stored.Last, loc), Next: in(stored.Next, loc), LastUpdated: in(stored.LastUpdated, loc)}
	base := status.Last
	if base.IsZero() {
		base = status.LastUpdated
	}
	if base.IsZero() {
		base = now
	}
	expected := s.Next(base, loc)
	if !status.Next.Equal(expected) {
		if now.After(expected) {
			base, expected = now, s.Next(now, loc)
		}
		status = Status{Next: expected, LastUpdated: base}
		write = true
	}
	return status, write, now.After(status.Next)
}

// in is t.In for a time that may be the default date, which has no zone.
func in(t time.Time, loc *time.Location) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.In(loc)
}
