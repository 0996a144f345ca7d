package queue

import "time"

// polls are the times at which an empty queue is polled: the waits of the
// series, each after the poll before it. They can be looked at in advance,
// and what was looked at stays.
type polls struct {
	series backoff
	last   time.Time       // the last poll
	waits  []time.Duration // after it, as far as they are known; behind the cap all are the same
}

// made notes a poll that found nothing; found says whether the previous poll found
// something. A poll that comes before its time takes the place of the next one.
func (p *polls) made(now time.Time, found bool) {
	if found {
		p.waits = append(p.waits[:0], p.series.next(true))
		p.last = now
		return
	}
	n := 0
	for at := p.last; n < len(p.waits) && at.Before(now); n++ {
		at = at.Add(p.waits[n])
	}
	p.waits = append(p.waits[:0], p.waits[n:]...)
	p.last = now
}

// next returns the first poll at or after a time, and after the last one.
func (p *polls) next(from time.Time) time.Time {
	at := p.last
	for i := 0; ; i++ {
		if i == len(p.waits) {
			if p.series.current == p.series.max { // so it is from now on
				n := max((from.Sub(at)+p.series.max-1)/p.series.max, 1)
				return at.Add(n * p.series.max)
			}
			p.waits = append(p.waits, p.series.next(false))
		}
		if at = at.Add(p.waits[i]); !at.Before(from) {
			return at
		}
	}
}
