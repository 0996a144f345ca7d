package timer

import (
	"slices"
	"time"
)

// A wall clock is written as a time in UTC that shows the same. It may show a time twice,
// when it is put back, and never, when it is put forward.

// wallOf is what the wall clock of a zone shows at a moment.
func wallOf(at time.Time, loc *time.Location) time.Time {
	return at.UTC().Add(offsetOf(at.In(loc)))
}

// momentOf is the moment at which the wall clock shows a time, as .NET has it: of two the
// second; for one that it never shows, as much later as the clock was moved. twice says
// that there are two. (Of zones where summer is standard time, such as Dublin, .NET takes
// the first, and the platform's timers stand still when the clock is put forward there;
// here they go as in other zones.)
func momentOf(wall time.Time, loc *time.Location) (at time.Time, twice bool) {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc)
	offsets := []time.Duration{offsetOf(near)} // at, before and after it
	start, end := near.ZoneBounds()
	if !start.IsZero() {
		offsets = append(offsets, offsetOf(start.Add(-1)))
	}
	if !end.IsZero() {
		offsets = append(offsets, offsetOf(end))
	}
	var shown []time.Time
	for _, offset := range offsets {
		t := wall.Add(-offset).In(loc)
		if offsetOf(t) == offset && (len(shown) == 0 || !shown[0].Equal(t)) {
			shown = append(shown, t)
		}
	}
	switch len(shown) {
	case 0:
		return wall.Add(-slices.Min(offsets)).In(loc), false
	case 1:
		return shown[0], false
	}
	return later(shown[0], shown[1]), true
}

// isTwice reports whether the wall clock shows the time of a moment twice.
func isTwice(at time.Time, loc *time.Location) bool {
	_, twice := momentOf(wallOf(at, loc), loc)
	return twice
}

func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// next returns the first tick after a moment, as the platform finds it: by a wall clock
// that knows no zones, with corrections near a time that it shows twice (exttimer:
// CronSchedule.cs GetNextOccurrence, TryAdjustAmbiguousTime).
func (c *cron) next(after time.Time, loc *time.Location) (time.Time, bool) {
	now := after.In(loc)
	wall, ok := c.first(wallOf(now, loc).Truncate(time.Second).Add(time.Second), time.Time{})
	if !ok {
		return time.Time{}, false
	}
	next, twice := momentOf(wall, loc)
	difference := offsetOf(next) - offsetOf(now)
	switch {
	case c.interval && difference != 0 && (twice || isTwice(now, loc)), !c.interval && difference != 0 && twice:
		if moved := next.Add(difference); moved.After(now) {
			next = moved
		}
	case !c.interval && twice: // it has ticked in the first hour, or is taken to have
		for twice {
			if wall, ok = c.first(wall.Add(time.Second), time.Time{}); !ok {
				return time.Time{}, false
			}
			next, twice = momentOf(wall, loc)
		}
	}
	return next, true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
