package clock

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Virtual is a clock whose time does not pass by itself. Advance, Next and Run move
// it, or a Pace. Make one with NewVirtual.
//
// Every method that is not part of Clock is for foreign goroutines; called by a
// goroutine of the clock, those that would wait for that very goroutine panic.
// They may be called by several goroutines at once.
type Virtual struct {
	opts  VirtualOptions
	epoch time.Time // where it started
	wall  wall
	born  time.Duration // on the wall

	now atomic.Int64 // nanoseconds since start; written with mu held

	driving chan struct{} // has the one place of a drive: Advance, Next, Run

	mu        sync.Mutex
	holder    *task  // has the baton; nil: none is ready
	turn      uint64 // number of the holder's turn
	moved     uint64 // the turn in which time moved last, or something came in
	seq       uint64 // numbers deadlines, waits and calls
	ready     readyQueue
	out       []*call // calls that hold time still, in order of going out
	excused   int     // see Excuse
	slot      bool    // Serial: the one place outside is taken
	queued    []*task // Serial: the tasks that want it
	deadlines deadlines
	leftOver  bool // some that are due have not been served; see jumpLocked
	tasks     taskList
	free      *task // for reuse
	idle      []*worker

	settling []*visit // wait until this instant is worked off
	tails    []*visit // Serial: wait until nothing is ready
	drive    *drive   // Advance, Next or Run in progress

	pace     pacing
	watch    watching
	finished []*visit // to be let go by unlock
	notices  []Notice // to be delivered by unlock
	notifier task     // has the baton meanwhile, if it was free
}

// VirtualOptions adjust a Virtual. The zero value is right for most tests.
type VirtualOptions struct {
	// Seed feeds Shuffle.
	Seed uint64

	// Shuffle lets Seed choose among the ready goroutines, instead of first come
	// first served: another seed, another interleaving, each of them repeatable.
	Shuffle bool

	// Serial lets one call be outside at a time; the others queue. A foreign
	// goroutine in Inside is then held until all that follows from its input
	// has run, this instant. Handlers that call the host's servers during a
	// call thus become repeatable too. A call whose Patience is used up no
	// longer counts.
	Serial bool

	// Strict panics when a foreign goroutine uses the clock in a way that is
	// kept for the clock's own. It costs a nanosecond a call, on processors other than
	// amd64 and arm64 one or two thousand. Without it some misuse goes unnoticed, and
	// then anything may happen.
	Strict bool

	// Patience is the real time for which an outside call holds time still. When
	// it is used up, a Notice says so and time moves on without the call. Once the
	// call's context ends, say by its timeout, the clock waits for it again, for
	// as long again. A call that comes back in between takes the next free turn.
	// Zero waits for ever. In a pace time follows the wall while calls are out, so
	// that a handler that hangs does time out; holding still is then not jumping.
	Patience time.Duration

	// Arrival lets calls come back as they arrive, rather than in the order in
	// which they went out, so that one slow call does not hold up the others. The
	// order of events then depends on the outside world.
	Arrival bool

	// Watchdog is the real time after which a goroutine that keeps the baton is
	// named in a Notice, with its stack. Zero is 10 s, negative is off.
	Watchdog time.Duration

	// Notify receives the clock's notices. Any goroutine may call it, between two
	// turns; BatonKept comes during the turn that it is about. It must return soon
	// and, of the clock, may use nothing but Now. Nil drops notices and turns the
	// watchdog off.
	Notify func(Notice)
}

// NewVirtual returns a virtual clock that shows start. It starts no goroutine,
// and needs no Close unless it is given a pace. Nil options are the zero value.
func NewVirtual(start time.Time, opts *VirtualOptions) *Virtual {
	return newVirtual(start, opts, newRealWall())
}

func newVirtual(start time.Time, opts *VirtualOptions, w wall) *Virtual {
	v := &Virtual{epoch: start.Round(0), wall: w, born: w.now(), driving: make(chan struct{}, 1)}
	v.notifier.name = "VirtualOptions.Notify"
	if opts != nil {
		v.opts = *opts
	}
	if v.opts.Shuffle {
		v.ready.rand = rand.New(rand.NewPCG(v.opts.Seed, 0x5265_6465_6c69_7665))
	}
	if v.opts.Watchdog == 0 {
		v.opts.Watchdog = 10 * time.Second
	}
	return v
}

// Now returns the virtual time.
func (v *Virtual) Now() time.Time { return v.epoch.Add(time.Duration(v.now.Load())) }

// Elapsed returns how much time has passed since the clock was made, in its own
// time and in real time.
func (v *Virtual) Elapsed() (virtual, real time.Duration) {
	return time.Duration(v.now.Load()), v.wall.now() - v.born
}

// passLocked gives the free baton to the next goroutine, moving time if it
// may, and returns the new holder; nil when none can run now. The caller
// hands the result to unlock, which wakes it.
func (v *Virtual) passLocked() *task {
	for {
		if v.drive != nil {
			v.drive.cutLocked(v)
		}
		v.pace.keepUpLocked(v)
		for v.ready.len() > 0 {
			if t := v.ready.pop(); !t.void {
				return v.giveLocked(t)
			} else {
				v.buryLocked(t)
			}
		}
		if v.leftOver {
			v.jumpLocked(v.now.Load())
			continue
		}
		v.finishLocked(&v.tails)
		if len(v.out) > 0 {
			if c := v.returnedLocked(); c != nil && !v.opts.Arrival {
				c.uncountLocked(v)
				return v.giveLocked(c.task)
			}
			if v.waitsLocked() {
				return nil // a call is out: time stands still, and the call passes on when it comes back
			}
		} else {
			v.finishLocked(&v.settling)
		}
		if !v.moveLocked() {
			return nil
		}
	}
}

// giveLocked makes t the holder.
func (v *Virtual) giveLocked(t *task) *task {
	v.holder = t
	v.turn++
	if n := v.turn - v.moved; n%StandingTurns == 0 && v.pace.kind == "" {
		v.noticeLocked(Notice{Kind: Crowded, Name: t.name, From: v.Now(), To: v.Now(), Turns: n})
	}
	t.doing = running
	if t.call != nil {
		t.call.freeSlotLocked(v)
		t.call = nil
	}
	if t.timer != nil {
		t.timer.run = nil
		t.timer = nil
	}
	if !v.watch.armed {
		v.watch.armLocked(v)
	}
	return t
}

// unlock releases mu after the baton may have been passed, delivers what has piled
// up meanwhile, and lets next run; self is the calling goroutine if it is a task
// that runs on by itself when it is next. Notices are delivered before the next
// turn begins, or in a turn of their own; during a turn, the next pass of the baton
// delivers them. It reports whether self is the one to go on.
func (v *Virtual) unlock(next, self *task) bool {
	if next == nil && v.holder != nil {
		v.mu.Unlock()
		return false
	}
	for len(v.notices) > 0 {
		notices := v.notices
		v.notices = nil
		if next == nil {
			v.holder = &v.notifier
		}
		v.mu.Unlock()
		for _, n := range notices {
			v.opts.Notify(n)
		}
		v.mu.Lock()
		if v.notices == nil {
			clear(notices)
			v.notices = notices[:0] // nearly every jump has one
		}
		if next == nil {
			v.holder = nil
			next = v.passLocked()
		}
	}
	finished := v.finished
	v.finished = nil
	var begin func()
	var w *worker
	if next != nil && next.fn != nil {
		begin, next.fn = next.fn, nil
		w = v.workerLocked(next)
	}
	v.mu.Unlock()
	for _, w := range finished {
		close(w.done)
	}
	switch {
	case next == nil || next == self:
	case w != nil:
		w.work <- begun{next, begin}
	case begin != nil:
		go v.run(begun{next, begin})
	default:
		next.park <- struct{}{}
	}
	return next != nil && next == self
}

// kickUnlock sees to it that the clock goes on after a foreign goroutine has changed
// something, and releases mu.
func (v *Virtual) kickUnlock() {
	var next *task
	if v.holder == nil {
		next = v.passLocked()
	}
	v.unlock(next, nil)
}

// waitUnlock gives up the baton for t, releases mu, and returns when t has the
// baton again.
func (v *Virtual) waitUnlock(t *task) {
	v.holder = nil
	next := v.passLocked()
	if !v.unlock(next, t) {
		<-t.park
	}
}

// readyLocked ends t's wait with err: it is ready, and nothing else can end that wait.
func (v *Virtual) readyLocked(t *task, err error) {
	v.deadlines.remove(&t.due)
	t.ctx.leave()
	t.cond.leave(t)
	t.err = err
	t.doing = waitReady
	v.ready.push(t)
}

// holderLocked returns the goroutine that calls. It panics, without the lock, if
// that is not one of the clock's that has the baton, as far as can be told.
func (v *Virtual) holderLocked(op string) *task {
	t := v.holder
	switch {
	case t == nil:
		v.mu.Unlock()
		panic("clock: " + op + " called by a goroutine that the clock does not know: start it with a Group, or enter with Inside or Do")
	case v.opts.Strict && t.self != self():
		name := t.name
		v.mu.Unlock()
		panic("clock: " + op + " called by a foreign goroutine during the turn of " + quote(name) + ": start it with a Group, or enter with Inside or Do")
	}
	return t
}

// checkLocked is the Strict half of holderLocked for calls that do not wait.
func (v *Virtual) checkLocked(op string) {
	if v.opts.Strict {
		v.holderLocked(op)
	}
}

func (v *Virtual) nextSeqLocked() uint64 {
	v.seq++
	return v.seq
}

// setLocked makes d pending, after the given time from now.
func (v *Virtual) setLocked(d *deadline, after time.Duration, reason bool) {
	d.at = plus(v.now.Load(), int64(max(after, 0)))
	d.seq = v.nextSeqLocked()
	d.reason = reason
	v.deadlines.add(d)
}

// jumpLocked moves time to at and makes what is due then ready, in order of
// setting. A context that is due after a goroutine that may yet cancel it
// is left until that has run; see passLocked.
func (v *Virtual) jumpLocked(at int64) {
	if at > v.now.Load() {
		v.now.Store(at)
		v.moved = v.turn
	}
	v.leftOver = false
	woken := false
	for len(v.deadlines.heap) > 0 && v.deadlines.heap[0].at <= at {
		d := v.deadlines.heap[0].d
		if v.leftOver = d.ctx != nil && woken; v.leftOver {
			return
		}
		v.deadlines.remove(d)
		switch {
		case d.task != nil:
			v.readyLocked(d.task, nil)
			woken = true
		case d.timer != nil:
			d.timer.fireLocked()
			woken = true
		default:
			d.ctx.cancelLocked(endDeadline)
		}
	}
}
