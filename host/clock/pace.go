package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Limits of Auto.
const (
	quiet = 5 * time.Millisecond // real time without input before it jumps
	// asleep is how late a deadline is, in the pace Real, when the process or the
	// machine slept: it and all others that have passed are then due now, at one
	// instant. A reader of the clock sees time as real clients do, for instance
	// that a lease has ended.
	asleep   = 2 * time.Second
	farAhead = 7 * 24 * time.Hour // virtual time since the last input after which it stops
)

// lag is how far a pace may fall behind the wall while some goroutine is always
// ready.
const lag = 5 * time.Millisecond

// wall is real time, replaced in tests of the paces.
type wall interface {
	now() time.Duration // monotonic
	afterFunc(d time.Duration, f func()) wallTimer
}

type wallTimer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// realWall is the machine's clock. It goes on while the machine sleeps, which the
// monotonic clock of some systems does not; it never goes back.
type realWall struct {
	start time.Time
	slept atomic.Int64 // what the monotonic clock did not see, in all
}

func newRealWall() *realWall { return &realWall{start: time.Now()} }

func (w *realWall) now() time.Duration {
	t := time.Now()
	return w.at(t.Sub(w.start), t.Round(0).Sub(w.start.Round(0)))
}

// at is the time when the monotonic clock and the clock of the calendar show these
// times since the start. Small differences are corrections of the calendar.
func (w *realWall) at(monotonic, calendar time.Duration) time.Duration {
	for {
		slept := w.slept.Load()
		if calendar-monotonic-time.Duration(slept) < asleep {
			return monotonic + time.Duration(slept)
		}
		w.slept.CompareAndSwap(slept, int64(calendar-monotonic))
	}
}

func (*realWall) afterFunc(d time.Duration, f func()) wallTimer { return time.AfterFunc(d, f) }

// A Pace is how the time of a [Virtual] moves by itself. It may be changed at any time:
// time goes on from where it is.
type Pace string

// The paces. The empty one, which a clock begins with and Close ends with, is for tests:
// time stands still, and a drive waits for calls that are out however long they take.
const (
	// Auto makes time jump while work waits for it, and otherwise follow the wall: it
	// is never slower. It does not jump while a call is out (see
	// VirtualOptions.Patience) or the clock is pinned, nor for a few quiet milliseconds
	// after an input (Inside, Do, a drive), and no longer jumps when it is seven days
	// past the last input.
	Auto Pace = "auto"

	// Real makes time follow the wall, and never jump by itself. As in Auto a call that
	// is out does not hold time still: a handler's real duration counts, as does its
	// timeout. Ready goroutines still run first.
	Real Pace = "real"

	// Debug is Real, except that time stands still while a call is out, such as a
	// handler at a breakpoint: neither its timeout nor a lock ends. The duration of a
	// call does not count.
	Debug Pace = "debug"

	// Manual makes time stand still until Advance, Next, Run or Until move it.
	Manual Pace = "manual"
)

// pacing is the state of the paces. Between events only a real timer runs for them.
// Fields are guarded by Virtual.mu unless said otherwise.
type pacing struct {
	changing sync.Mutex     // held during a change of the pace; not guarded by Virtual.mu
	ticking  sync.WaitGroup // the timer's function at work

	kind    Pace
	held    bool          // Debug: a call was out when time was looked at last
	virtual int64         // this virtual time...
	real    time.Duration // ...was then on the wall
	timer   wallTimer
	pins    map[*pin]struct{}

	inputReal    time.Duration // when the last input was, on the wall
	inputVirtual int64         // and in virtual time
	stopped      bool          // seven days ahead, and said so
}

// Auto is SetPace(Auto). Close ends it. An Advance, Next or Run jumps all the same.
func (v *Virtual) Auto() { v.SetPace(Auto) }

// Real is SetPace(Real). Close ends it.
func (v *Virtual) Real() { v.SetPace(Real) }

// Pace returns the pace.
func (v *Virtual) Pace() Pace {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pace.kind
}

// Close ends the pace, and waits until the pace is no longer at work. The clock
// can still be driven. Closing twice is fine.
func (v *Virtual) Close() {
	v.SetPace("")
	v.watch.stop(v)
}

// SetPace changes the pace. Time goes on from the present moment, which is what the wall
// stands for in a pace that has followed it, as far as nothing is due before; in a turn
// that is under way it is that turn's. Nothing pending is lost, nor comes early. Any
// goroutine may call it.
func (v *Virtual) SetPace(kind Pace) {
	p := &v.pace
	p.changing.Lock()
	defer p.changing.Unlock()
	v.mu.Lock()
	v.pace.presentLocked(v)
	p.kind = kind
	p.held = false
	if kind != "" {
		p.rebase(v)
		p.inputLocked(v)
		if v.drive != nil {
			v.drive.watchLocked(v)
		}
		v.kickUnlock()
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	v.mu.Unlock()
	p.ticking.Wait()
}

type pin struct{ name string }

// Pin keeps Auto from jumping until unpin is called, because a client owes an
// answer: it holds a lock, or has sent half a request. Any goroutine may call it;
// unpin may be called more than once. The name appears in Waiting.
func (v *Virtual) Pin(name string) (unpin func()) {
	p := &pin{name}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pace.pins == nil {
		v.pace.pins = make(map[*pin]struct{})
	}
	v.pace.pins[p] = struct{}{}
	return func() {
		v.mu.Lock()
		delete(v.pace.pins, p)
		v.kickUnlock()
	}
}

// inputLocked notes that something came in from the outside.
func (p *pacing) inputLocked(v *Virtual) {
	v.moved = v.turn
	if p.kind == "" {
		return
	}
	p.inputReal = v.wall.now()
	p.inputVirtual = v.now.Load()
	p.stopped = false
}

// rebase makes the wall continue from the present virtual time.
func (p *pacing) rebase(v *Virtual) {
	if p.kind != "" {
		p.virtual, p.real = v.now.Load(), v.wall.now()
	}
}

// follows reports whether time moves by itself.
func (p *pacing) follows() bool { return p.kind != "" && p.kind != Manual }

// holdsLocked reports whether Debug holds time still because of a call. When it does no
// longer, time goes on from where it is.
func (p *pacing) holdsLocked(v *Virtual) bool {
	if p.kind != Debug || !v.holdingLocked() && !p.held {
		return false
	}
	p.held = v.holdingLocked()
	p.rebase(v)
	return p.held
}

// catchUpLocked lets time follow the wall as far as nothing is due before.
func (p *pacing) catchUpLocked(v *Virtual) {
	wall := p.wallLocked(v, v.wall.now())
	if at, any := v.deadlines.first(); any {
		wall = min(wall, max(at, v.now.Load()))
	}
	v.now.Store(wall)
}

// wallLocked is the virtual time that the wall stands for.
func (p *pacing) wallLocked(v *Virtual, now time.Duration) int64 {
	return max(plus(p.virtual, int64(now-p.real)), v.now.Load())
}

// keepUpLocked lets time follow the wall while some goroutine is always ready, such
// as an endless retry without delay. Goroutines that are ready at one instant run
// at that instant unless they take too long.
func (p *pacing) keepUpLocked(v *Virtual) {
	if !p.follows() || v.drive != nil || p.holdsLocked(v) || v.ready.len() == 0 && v.returnedLocked() == nil {
		return // or moveLocked does it
	}
	wall := p.wallLocked(v, v.wall.now())
	if wall-v.now.Load() <= int64(lag) {
		return
	}
	if at, any := v.deadlines.first(); any {
		wall = min(wall, max(at, v.now.Load()))
	}
	v.jumpLocked(wall)
}

// moveLocked is Virtual.moveLocked for the paces.
func (p *pacing) moveLocked(v *Virtual) bool {
	if !p.follows() || p.holdsLocked(v) {
		return false
	}
	now := v.wall.now()
	wall := p.wallLocked(v, now)
	at, any := v.deadlines.first()
	if any && at <= wall {
		if p.kind != Auto && wall-at > int64(asleep) {
			at = wall
		}
		v.jumpLocked(at)
		return true
	}
	wake := forever
	if any {
		wake = time.Duration(at - wall)
		if p.kind == Auto && v.deadlines.reasons > 0 && len(p.pins) == 0 && (len(v.out) == 0 || !v.holdingLocked() && v.deadlines.haveWork()) {
			rest := p.inputReal + quiet - now
			switch {
			case rest > 0:
				wake = min(wake, rest)
			case at-p.inputVirtual <= int64(farAhead):
				v.jumpNoticeLocked(at)
				v.jumpLocked(at)
				p.rebase(v)
				return true
			case !p.stopped:
				p.stopped = true
				v.noticeLocked(Notice{Kind: RanAhead, From: v.at(wall), To: v.at(at)})
			}
		}
	}
	v.now.Store(wall)
	switch {
	case wake == forever:
	case p.timer == nil:
		p.timer = v.wall.afterFunc(wake, func() { p.tick(v) })
	default:
		p.timer.Reset(wake)
	}
	return false
}

// Present is Now, after time has followed the wall up to here, where it does and nobody has
// a turn. Any goroutine may call it: it is for facts that come from outside and start no
// work, such as a line that a process writes.
func (v *Virtual) Present() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.drive == nil {
		v.pace.presentLocked(v)
	}
	return v.Now()
}

// Present lets a clock that follows the wall show the time that it is; see Virtual.Present.
func Present(c Clock) {
	if v, ok := c.(interface{ Present() time.Time }); ok {
		v.Present()
	}
}

// presentLocked lets time follow the wall up to here, unless somebody has a turn.
func (p *pacing) presentLocked(v *Virtual) {
	if v.holder == nil && v.ready.len() == 0 && p.follows() && !p.holdsLocked(v) {
		p.catchUpLocked(v)
	}
}

// tick looks whether time may move now.
func (p *pacing) tick(v *Virtual) {
	v.mu.Lock()
	if !p.follows() {
		v.mu.Unlock()
		return
	}
	p.ticking.Add(1)
	defer p.ticking.Done()
	v.kickUnlock()
}
