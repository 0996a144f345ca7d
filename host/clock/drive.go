package clock

import (
	"context"
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
	ended  bool   // its caller wants no further move
	cut    bool   // and it has ended so
	seen   uint64 // the last call that had gone out when the drive looked last
	given  uint64 // the last call that it waits for no more
	quiet  *Quiet // of UntilQuiet
	hurry  wallTimer
	visit  visit
}

// drivePatience is the real time for which a drive waits for a call that is out, at the
// least, in the paces Real and Auto: there time does not stand still for calls. In all
// others a drive waits as long as VirtualOptions.Patience says.
const drivePatience = time.Second

// A Driver drives a clock for a caller who may leave: when its context ends, the drive
// returns before the next move of time, though calls be out. What is due stays due.
type Driver struct {
	v   *Virtual
	ctx context.Context
}

// For returns the driver whose drives end with ctx, which is of the real world.
func (v *Virtual) For(ctx context.Context) Driver { return Driver{v, ctx} }

// Advance is Virtual.Advance; the error is the context's, when that has ended before.
func (d Driver) Advance(by time.Duration) error {
	if by < 0 {
		panic("clock: Advance by a negative duration")
	}
	return d.drive("Advance", &drive{kind: driveAdvance}, by)
}

// Next is Virtual.Next.
func (d Driver) Next() (moved bool, err error) {
	dr := &drive{kind: driveNext}
	err = d.drive("Next", dr, 0)
	return dr.jumped, err
}

// Jump is Virtual.Jump.
func (d Driver) Jump(by time.Duration) error {
	if by < 0 {
		panic("clock: Jump by a negative duration")
	}
	return d.drive("Jump", &drive{kind: driveJump}, by)
}

// UntilQuiet is Virtual.UntilQuiet.
func (d Driver) UntilQuiet(q *Quiet, done func() bool, max time.Duration) (met bool, err error) {
	if q == nil {
		q = &Quiet{}
	}
	dr := &drive{kind: driveUntil, done: done, quiet: q}
	err = d.drive("UntilQuiet", dr, max)
	return dr.jumped, err
}

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
// present instant. A negative d panics. It also jumps while a pace runs; in Real and Auto
// it gives each call that is out a second of real time to come back, and then goes on
// without it.
func (v *Virtual) Advance(d time.Duration) { _ = v.For(context.Background()).Advance(d) }

// Next works off the present instant, moves time to the next deadline of any
// kind, works that off too, and reports whether there was one.
func (v *Virtual) Next() bool {
	moved, _ := v.For(context.Background()).Next()
	return moved
}

// Jump moves time by d at once, as the clock of a machine does that has slept: everything
// that is due on the way happens at the end, in the order in which it was due. It starts
// by working off the present instant. A negative d panics.
func (v *Virtual) Jump(d time.Duration) { _ = v.For(context.Background()).Jump(d) }

// Run moves time while a goroutine waits for it (in Sleep, WaitUntil or
// WithTimeout), by no more than max, and returns by how much. While a wait for a
// later time is pending it ends max later, else at the deadline served last.
func (v *Virtual) Run(max time.Duration) time.Duration {
	d := &drive{kind: driveRun}
	_ = v.For(context.Background()).drive("Run", d, max)
	return time.Duration(d.end - d.begin)
}

// Until moves time from deadline to deadline of any kind, working each off,
// until done reports true, and returns true; it returns false when there is no
// further deadline within max. done is asked before the first move and after
// each, while the baton is free; it must return soon and, of the clock, may
// use nothing but Now.
func (v *Virtual) Until(done func() bool, max time.Duration) bool {
	d := &drive{kind: driveUntil, done: done}
	_ = v.For(context.Background()).drive("Until", d, max)
	return d.jumped
}

// UntilQuiet is Until that also gives up, and returns false, in a quiet time: time
// moves, and only idle waits are left (see Clock.Idle). It gives up when every wait
// that was pending at the beginning of the quiet time can have come and gone again
// (a Timer.Lapse within a day). Polls and ticks go on for ever, and promise nothing
// else. q carries its knowledge from one call to the next; nil has none.
func (v *Virtual) UntilQuiet(q *Quiet, done func() bool, max time.Duration) bool {
	met, _ := v.For(context.Background()).UntilQuiet(q, done, max)
	return met
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

// drive lets time move as dr says, by at most by, and waits for it.
func (d Driver) drive(op string, dr *drive, by time.Duration) error {
	v := d.v
	v.refuseOwn(op)
	select {
	case v.driving <- struct{}{}:
		defer func() { <-v.driving }()
	case <-d.ctx.Done():
		return d.ctx.Err()
	}
	if err := d.ctx.Err(); err != nil { // with both ready, the choice was chance
		return err
	}
	v.mu.Lock()
	now := v.now.Load()
	dr.begin, dr.limit, dr.end = now, plus(now, int64(max(by, 0))), now
	dr.visit.done = make(chan struct{})
	dr.seen = v.seq
	v.drive = dr
	dr.watchLocked(v)
	v.kickUnlock()
	leave := context.AfterFunc(d.ctx, func() {
		v.mu.Lock()
		dr.ended = true
		v.kickUnlock()
	})
	defer leave()
	<-dr.visit.done
	if dr.hurry != nil {
		dr.hurry.Stop()
	}
	if dr.cut {
		return d.ctx.Err()
	}
	return nil
}

// watchLocked sees to it that the drive looks at the calls that are out, once the clock has
// a pace.
func (d *drive) watchLocked(v *Virtual) {
	if d.hurry == nil && v.pace.kind != "" {
		d.hurry = v.wall.afterFunc(drivePatience, func() { d.hurryOn(v) })
	}
}

// hurryOn lets a drive go on without the calls that were out when it looked before, in a
// pace that would not wait for them.
func (d *drive) hurryOn(v *Virtual) {
	v.mu.Lock()
	if v.drive != d {
		v.mu.Unlock()
		return
	}
	if v.pace.kind == Real || v.pace.kind == Auto {
		d.given = d.seen
	}
	d.seen = v.seq
	d.hurry.Reset(drivePatience)
	v.kickUnlock()
}

// waitsLocked reports whether time stands still for the calls that are out.
func (v *Virtual) waitsLocked() bool {
	if !v.holdingLocked() {
		return false
	}
	if v.drive == nil {
		return v.pace.kind == ""
	}
	return v.out[len(v.out)-1].seq > v.drive.given // they are in this order
}

// moveLocked moves time one step, if there is a reason and a driver or pace that
// lets it. It is called when no goroutine is ready, and reports whether to look
// again.
func (v *Virtual) moveLocked() bool {
	d := v.drive
	if d == nil {
		return v.pace.moveLocked(v)
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
		d.finishLocked(v)
	}
	v.pace.inputLocked(v)
	v.pace.rebase(v)
	return true
}

// cutLocked ends a drive whose caller has left.
func (d *drive) cutLocked(v *Virtual) {
	if !d.ended {
		return
	}
	d.cut = true
	d.finishLocked(v)
	v.pace.inputLocked(v)
	v.pace.rebase(v)
}

// finishLocked ends the drive at the present time.
func (d *drive) finishLocked(v *Virtual) {
	v.moved = v.turn
	d.end = v.now.Load()
	v.finished = append(v.finished, &d.visit)
	v.drive = nil
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
