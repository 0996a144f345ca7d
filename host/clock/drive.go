package clock

import (
	"math"
	"time"
)

// A drive is an Advance, Next, Run or Until in progress.
type drive struct {
	kind   driveKind
	done   func() bool // of Until
	begin  int64       // virtual times, as deadlines have them
	limit  int64
	end    int64
	jumped bool
	alone  bool   // goes on although calls are out
	quiet  *Quiet // of UntilQuiet
	visit  visit
}

// drivePatience is the real time for which a drive waits for calls that are
// out in a pace, whose wall would not wait for them at all.
const drivePatience = time.Second

type driveKind uint8

const (
	driveAdvance driveKind = iota
	driveNext
	driveRun
	driveUntil
	driveJump
)

// Advance moves time by d, through every deadline on the way, and returns when
// everything due at the end is worked off too. It starts by working off the
// present instant. A negative d panics. It also jumps while a pace runs; there it
// gives calls that are out a second of real time to come back, and then goes on
// without them.
func (v *Virtual) Advance(d time.Duration) {
	if d < 0 {
		panic("clock: Advance by a negative duration")
	}
	v.driveBy("Advance", driveAdvance, d)
}

// Next works off the present instant, moves time to the next deadline of any
// kind, works that off too, and reports whether there was one.
func (v *Virtual) Next() bool { return v.driveBy("Next", driveNext, 0).jumped }

// Jump moves time by d at once, as the clock of a machine does that has slept: everything
// that is due on the way happens at the end, in the order in which it was due. It starts
// by working off the present instant. A negative d panics.
func (v *Virtual) Jump(d time.Duration) {
	if d < 0 {
		panic("clock: Jump by a negative duration")
	}
	v.driveBy("Jump", driveJump, d)
}

// Run moves time while a goroutine waits for it (in Sleep, WaitUntil or
// WithTimeout), by no more than max, and returns by how much. While a wait for a
// later time is pending it ends max later, else at the deadline served last.
func (v *Virtual) Run(max time.Duration) time.Duration {
	d := v.driveBy("Run", driveRun, max)
	return time.Duration(d.end - d.begin)
}

// Until moves time from deadline to deadline of any kind, working each off,
// until done reports true, and returns true; it returns false when there is no
// further deadline within max. done is asked before the first move and after
// each, while the baton is free; it must return soon and, of the clock, may
// use nothing but Now.
func (v *Virtual) Until(done func() bool, max time.Duration) bool {
	return v.drive1("Until", &drive{kind: driveUntil, done: done}, max).jumped
}

// UntilQuiet is Until that also gives up, and returns false, in a quiet time: time
// moves, and only idle waits are left (see Clock.Idle). It gives up when every wait
// that was pending at the beginning of the quiet time can have come and gone again
// (a Timer.Lapse within a day). Polls and ticks go on for ever, and promise nothing
// else. q carries its knowledge from one call to the next; nil has none.
func (v *Virtual) UntilQuiet(q *Quiet, done func() bool, max time.Duration) bool {
	if q == nil {
		q = &Quiet{}
	}
	return v.drive1("UntilQuiet", &drive{kind: driveUntil, done: done, quiet: q}, max).jumped
}

// Quiet is the knowledge of UntilQuiet about a time of idle waits only. The
// zero value is ready for use. It belongs to one clock.
type Quiet struct { // guarded by Virtual.mu
	idle   bool  // nobody does
	spent  int64 // how much there was of it
	enough int64 // and is to be at the most
}

// leastQuiet is how long UntilQuiet looks on at the least, lapseInSight how far away the
// end of a life may be that it looks on for.
const (
	leastQuiet   = 10 * time.Minute
	lapseInSight = 24 * time.Hour
)

// passed notes that time is to move to at, and reports whether that is too much.
func (q *Quiet) passed(v *Virtual, at int64) bool {
	if v.deadlines.reasons > 0 {
		q.idle = false
		return false
	}
	now := v.now.Load()
	if !q.idle {
		q.idle = true
		latest := now
		for _, e := range v.deadlines.heap {
			if t := e.d.timer; t == nil || !t.lapse || e.at-now <= int64(lapseInSight) {
				latest = max(latest, e.at)
			}
		}
		q.enough = max(q.enough, int64(leastQuiet), plus(latest-now, latest-now))
	}
	q.spent += at - now
	return q.spent > q.enough
}

// driveBy lets time move as kind says, by at most d, and waits for it.
func (v *Virtual) driveBy(op string, kind driveKind, d time.Duration) *drive {
	return v.drive1(op, &drive{kind: kind}, d)
}

func (v *Virtual) drive1(op string, dr *drive, d time.Duration) *drive {
	v.refuseOwn(op)
	v.driving.Lock()
	defer v.driving.Unlock()
	v.mu.Lock()
	now := v.now.Load()
	dr.begin, dr.limit = now, plus(now, int64(max(d, 0)))
	dr.visit.done = make(chan struct{})
	v.drive = dr
	if v.pace.kind != "" {
		patience := v.wall.afterFunc(drivePatience, func() { v.hurry(dr) })
		defer patience.Stop()
	}
	v.kickUnlock()
	<-dr.visit.done
	return dr
}

// hurry lets a drive go on without the calls that are out.
func (v *Virtual) hurry(d *drive) {
	v.mu.Lock()
	d.alone = true
	v.kickUnlock()
}

// moveLocked moves time one step, if there is a reason and a driver or pace that
// lets it. It is called when no goroutine is ready, and reports whether to look
// again.
func (v *Virtual) moveLocked() bool {
	d := v.drive
	if d == nil {
		return v.paceLocked()
	}
	at, any := v.deadlines.first()
	any = any && at < math.MaxInt64 // a deadline past the clock's last moment never comes
	within := any && at <= d.limit
	switch d.kind {
	case driveJump:
		within = !d.jumped
		at = d.limit
	case driveNext:
		within = any && !d.jumped
		d.limit = v.now.Load()
	case driveRun:
		if v.deadlines.reasons == 0 {
			within = false
			d.limit = v.now.Load()
		}
	case driveUntil:
		d.jumped = d.done()
		within = within && !d.jumped && (d.quiet == nil || !d.quiet.passed(v, at))
		if !within {
			d.limit = v.now.Load()
		}
	}
	if within {
		d.jumped = d.kind != driveUntil
		v.jumpNoticeLocked(at)
		v.jumpLocked(at)
	} else {
		v.jumpNoticeLocked(d.limit)
		v.now.Store(max(d.limit, v.now.Load()))
		v.moved = v.turn
		d.end = v.now.Load()
		v.drive = nil
		v.finished = append(v.finished, &d.visit)
	}
	v.inputLocked()
	v.pace.rebase(v)
	return true
}

func (v *Virtual) jumpNoticeLocked(to int64) {
	if from := v.now.Load(); to > from {
		v.noticeLocked(Notice{Kind: Moved, From: v.at(from), To: v.at(to)})
	}
}

// at returns the time that is n nanoseconds after the clock's start.
func (v *Virtual) at(n int64) time.Time { return v.epoch.Add(time.Duration(n)) }

// forever is later than every deadline that matters.
const forever = time.Duration(math.MaxInt64)
