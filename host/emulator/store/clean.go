package store

import (
	"errors"
	"math"
	"sync"
)

// The log is rewritten from its old end: the records of the oldest segment that still
// count are written anew, and the segment goes. A record that removes a key is needed only
// as long as an older segment may have the key, and so never in the oldest.
const (
	cleanFactor = 2       // the log may be so many times as long as what counts in it
	cleanLeast  = 4 << 20 // and so much longer
	cleanAtOnce = 64 << 10
	cleanAgain  = 1 << 20 // bytes that the log grows by before it is tried again

	noCleaning = math.MaxInt64
)

// cleanLocked begins to rewrite the log when it has become too long.
func (e *engine) cleanLocked() {
	if e.cleaning || e.log.size < e.cleanAt || e.log.size <= cleanFactor*e.log.live+e.cleanSlack {
		return
	}
	e.cleaning = true
	e.cleaners.Go(func() {
		for e.cleanOldest(cleanFactor, e.cleanSlack) {
		}
	})
}

// reclaim rewrites the log until it has little that does not count, or there is no room for
// that; each segment once, since the heads of frames alone may be more than little.
func (e *engine) reclaim() {
	e.mu.Lock()
	last := e.log.last().number
	begun := !e.cleaning && e.cleanAt != noCleaning
	if begun {
		e.cleaning = true
		e.cleaners.Add(1)
	}
	e.mu.Unlock()
	if !begun {
		return
	}
	defer e.cleaners.Done()
	for e.cleanOldest(1, segmentLeast) {
		e.mu.Lock()
		over := e.log.segments[0].number > last
		if over {
			e.endCleaningLocked(nil)
		}
		e.mu.Unlock()
		if over {
			return
		}
	}
}

// cleanOldest rewrites the oldest segment if the log is longer than so, and reports whether
// it may be still. Otherwise the cleaning has ended.
func (e *engine) cleanOldest(factor, more int64) bool {
	e.mu.Lock()
	done := e.cleanAt == noCleaning || e.failed() != nil || e.log.size <= factor*e.log.live+more
	var err error
	if !done && len(e.log.segments) == 1 {
		err = e.rotateLocked()
	}
	if done || err != nil {
		e.endCleaningLocked(err)
		e.mu.Unlock()
		return false
	}
	g := e.log.segments[0]
	g.users.Add(1)
	e.mu.Unlock()
	defer g.release()

	if err = e.moveRecords(g); err == nil {
		err = e.giveUp(g)
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.endCleaningLocked(err)
		return false
	}
	return true
}

// endCleaningLocked ends the cleaning. It is tried for the sake of room only: an error, as
// on a full disk, keeps the next try away, and no more.
func (e *engine) endCleaningLocked(err error) {
	e.cleaning = false
	if err != nil && e.cleanAt != noCleaning {
		e.cleanAt = e.log.size + cleanAgain
	}
}

// moveRecords writes the records of a segment that still count anew.
func (e *engine) moveRecords(g *segment) error {
	e.mu.RLock()
	live := g.live
	e.mu.RUnlock()
	if live == 0 {
		return nil
	}
	b := make([]byte, g.size)
	if err := g.readAt(b, 0); err != nil {
		return err
	}
	type found struct {
		r  record
		at int64
	}
	var some []found
	bytes := 0
	move := func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.cleanAt == noCleaning {
			return errEnds
		}
		frame := newFrame()
		for _, f := range some {
			if p, ok := e.index.get(f.r.key); ok && p.segment == g.number && p.at == f.at {
				frame = appendSet(frame, nil, f.r.key, f.r.value)
			}
		}
		some, bytes = some[:0], 0
		if len(frame) == frameHead {
			return nil
		}
		return e.addLocked(frame)
	}
	for at := int64(0); at < g.size; {
		_, records, n, ok := openFrame(b[at:])
		if !ok {
			return corrupt(g.name, "the frame at %d is not what was written", at)
		}
		eachRecord(records, func(r record) {
			if r.kind == recordSet {
				some = append(some, found{r, at + frameHead + int64(r.at)})
				bytes += len(r.key) + len(r.value)
			}
		})
		if bytes >= cleanAtOnce {
			if err := move(); err != nil {
				return err
			}
		}
		at += int64(n)
	}
	return move()
}

// giveUp removes the oldest segment, once what was written in its place is as durable as it
// was.
func (e *engine) giveUp(g *segment) error {
	e.mu.Lock()
	err := e.addLocked(appendLog(newFrame(), 0, g.number+1))
	last, number := e.log.last(), e.log.number
	last.users.Add(1)
	e.mu.Unlock()
	defer last.release()
	switch {
	case err != nil:
	case e.disk.sync:
		err = e.syncTo(number) // a failure later on does not go back behind it
	default:
		err = e.syncFile(last)
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	g.closed = e.removeSegments
	e.outgoing.add(g)
	e.log.dropOldest().release()
	return nil
}

// outgoing is the segments that are out of use, the oldest first. Their files go in this
// order, when nobody reads them: a later one may say that what an earlier one has is gone.
type outgoing struct {
	mu       sync.Mutex
	segments []*segment
}

func (o *outgoing) add(g *segment) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.segments = append(o.segments, g)
}

// removeSegments removes the files of segments that are out of use. What stays is read
// again at the next opening, and goes later.
func (e *engine) removeSegments() {
	e.outgoing.mu.Lock()
	defer e.outgoing.mu.Unlock()
	for len(e.outgoing.segments) > 0 && e.failed() == nil {
		g := e.outgoing.segments[0]
		if g.users.Load() > 0 || e.disk.Remove(g.name) != nil {
			return
		}
		e.outgoing.segments = e.outgoing.segments[1:]
	}
}

// errEnds ends a cleaning whose engine ends.
var errEnds = errors.New("the engine ends")
