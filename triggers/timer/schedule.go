package timer

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

// A ScheduleError says why a text is no schedule.
type ScheduleError struct {
	Text   string // as it was given
	Reason string
}

func (e *ScheduleError) Error() string {
	return fmt.Sprintf("schedule %q is not recognised as cron or time span: %s", e.Text, e.Reason)
}

// Schedule says when a timer ticks. It is made by [ParseSchedule]; the zero
// Schedule never ticks. Schedules are plain values and safe for concurrent use.
type Schedule struct {
	text string
	cron *cron         // nil for a time span
	span time.Duration // above zero for a time span
}

// ParseSchedule reads the schedule of a timer trigger. Two forms exist.
//
// A cron expression has six fields, separated by spaces: second, minute, hour,
// day of month, month and day of week; with five, the seconds are 0. A field is
// a list, separated by commas, of `*`, numbers, names and ranges `a-b`, each of
// which may be followed by a step `/n`. Months and days of the week have their
// English names, or a beginning of them, of which the first that fits counts. Sunday
// is 0, and 7 is not a day. A range that is written backwards is turned round,
// so FRI-MON means Monday to Friday (ncron: CrontabField.cs, Accumulate). All
// fields must match, day of month and day of week too. The signs ?, L, W and #
// of other dialects are errors.
//
// A time span (see [retrycontext.ParseTimeSpan]) is an interval, counted from
// the tick before. Mind its grammar: 24:00:00 is 24 days. A span that is not
// above zero is refused here; the platform takes it and then ticks without a
// pause.
//
// Errors are of type *[ScheduleError].
func ParseSchedule(text string) (Schedule, error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
	reason := fmt.Sprintf("a cron expression has five or six fields, this has %d", len(fields))
	if len(fields) == 5 || len(fields) == 6 {
		c, err := parseCron(fields)
		if err == nil {
			return Schedule{text: text, cron: c}, nil
		}
		reason = err.Error()
	}
	span, err := retrycontext.ParseTimeSpan(text)
	if err != nil {
		if e := (*retrycontext.TimeSpanError)(nil); len(fields) == 1 && errors.As(err, &e) {
			reason = e.Reason
		}
		return Schedule{}, &ScheduleError{Text: text, Reason: reason}
	}
	if span <= 0 {
		return Schedule{}, &ScheduleError{Text: text, Reason: "a time span between ticks must be above zero: the platform runs such a timer without a pause"}
	}
	return Schedule{text: text, span: span}, nil
}

// String returns the schedule as it was written.
func (s Schedule) String() string { return s.text }

// Next returns the first tick after a moment, in loc. A cron expression is
// matched against the wall clock of loc; fractions of a second in after are
// dropped first. A schedule that has no further tick yields the far future,
// which [IsNever] recognises.
//
// When the clock goes forward, a tick in the hour that does not exist comes as much later
// as the clock was moved: 02:30 comes at 03:30; of several in it the first comes alone,
// since the wall clock is then past the others. When it goes back, an interval schedule
// ticks in both hours; a point-in-time schedule ticks in the first one only, and not at
// all where the tick before had the later offset, as that of a yearly schedule has. An
// interval schedule is one that allows two neighbouring seconds, minutes or hours (minutes
// or hours, if it has five fields): the platform looks for the signs *, / and - in the
// expression as its library writes it, where steps are spelled out and neighbours are a
// range.
//
// The tick of a time span comes one span after the given moment, also over changes
// of the wall clock.
func (s Schedule) Next(after time.Time, loc *time.Location) time.Time {
	switch {
	case s.span > 0:
		next := after.In(loc).Add(s.span)
		if next.Year() > lastYear {
			return never(loc)
		}
		return next
	case s.cron == nil || s.cron.isNever():
		return never(loc)
	}
	if next, ok := s.cron.next(after, loc); ok {
		return next
	}
	return never(loc)
}

// AdjustForDST is the flag of that name in the payload: true for cron
// expressions, which follow the wall clock, false for time spans.
func (s Schedule) AdjustForDST() bool { return s.cron != nil }

// Frequent reports whether the schedule ticks more often than once a minute in
// the platform's sense, which switches its monitor off: a cron expression whose
// fields after the seconds all are `*` and that names two seconds or more, or a
// time span below one minute.
func (s Schedule) Frequent() bool {
	if s.cron == nil {
		return s.span < time.Minute
	}
	return s.cron.everyMinute() && s.cron.second.count() > 1
}

// Period returns the shortest time between two ticks by the wall clock: a retry
// loop that takes longer delays the tick that follows. It is the longest
// Duration for a schedule that never ticks, or only once.
func (s Schedule) Period() time.Duration {
	switch {
	case s.span > 0:
		return s.span
	case s.cron == nil || s.cron.isNever():
		return math.MaxInt64
	}
	return s.cron.shortestGap()
}

// lastYear is the last year of the platform's calendar.
const lastYear = 9999

// never returns the far future: the last moment of the platform's calendar.
func never(loc *time.Location) time.Time {
	return time.Date(lastYear, 12, 31, 23, 59, 59, 999_999_900, loc)
}

// IsNever reports whether t, a result of [Schedule.Next], stands for no tick at
// all.
func IsNever(t time.Time) bool { return t.Equal(never(t.Location())) }
