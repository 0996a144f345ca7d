package timer

import "time"

// A zonePeriod is a stretch of time in which a location keeps one offset from
// UTC, with what the change at its start did to the wall clock.
type zonePeriod struct {
	start, end time.Time     // end is exclusive; zero when there is no change
	offset     time.Duration // east of UTC
	before     time.Duration // the offset before start
}

// periodOf returns the period that t is in, in t's own location.
func periodOf(t time.Time) zonePeriod {
	start, end := t.ZoneBounds()
	p := zonePeriod{start: start, end: end, offset: offsetOf(t)}
	p.before = p.offset
	if !start.IsZero() {
		p.before = offsetOf(start.Add(-1))
	}
	return p
}

// skipped returns how far the wall clock was put forward at the start, else 0.
func (p zonePeriod) skipped() time.Duration { return max(0, p.offset-p.before) }

// repeated returns how far the wall clock was put back at the start, else 0.
func (p zonePeriod) repeated() time.Duration { return max(0, p.before-p.offset) }

func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// firstIn returns the first tick of the period that is not before from, which
// lies in it.
func (c *cron) firstIn(p zonePeriod, from time.Time) (time.Time, bool) {
	begin := from
	if !c.interval && p.repeated() > 0 {
		begin = later(begin, p.start.Add(p.repeated()))
	}
	next, ok := c.firstAt(begin, p.end, p.offset)
	if p.skipped() > 0 {
		// In the skipped hour a tick comes at its time by the old offset; the wall
		// clock then shows a later time.
		end := p.start.Add(p.skipped())
		if !p.end.IsZero() && p.end.Before(end) {
			end = p.end
		}
		if shifted, found := c.firstAt(from, end, p.before); found && (!ok || shifted.Before(next)) {
			return shifted, true
		}
	}
	return next, ok
}

// firstAt returns the first moment from begin to before end (zero: no end) at
// which a wall clock with the given offset matches.
func (c *cron) firstAt(begin, end time.Time, offset time.Duration) (time.Time, bool) {
	limit := end
	if !limit.IsZero() {
		limit = limit.UTC().Add(offset)
	}
	wall, ok := c.first(begin.UTC().Add(offset), limit)
	if !ok {
		return time.Time{}, false
	}
	return wall.Add(-offset).In(begin.Location()), true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
