package clock

import (
	"strconv"
	"time"
)

// taskList holds all goroutines of the clock, in order of birth.
type taskList struct{ first, last *task }

// has reports whether a goroutine of that identity is in the list.
func (l *taskList) has(id uintptr) bool {
	for t := l.first; t != nil; t = t.next {
		if t.self == id {
			return true
		}
	}
	return false
}

func (l *taskList) add(t *task) {
	t.prev, t.next = l.last, nil
	if l.last == nil {
		l.first = t
	} else {
		l.last.next = t
	}
	l.last = t
}

func (l *taskList) remove(t *task) {
	if t.prev == nil {
		l.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		l.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
}

func (v *Virtual) newTaskLocked(name string, fn func()) *task {
	t := v.free
	if t == nil {
		t = &task{park: make(chan struct{}, 1)}
		t.due.task = t
		t.ctx.task = t
	} else {
		v.free, t.next = t.next, nil
	}
	t.name, t.fn, t.self, t.gid, t.void = name, fn, 0, 0, false
	v.tasks.add(t)
	return t
}

// buryLocked keeps a task that has ended for reuse. With the last one the idle workers
// go.
func (v *Virtual) buryLocked(t *task) {
	v.tasks.remove(t)
	t.name, t.fn, t.timer = "", nil, nil
	t.next, v.free = v.free, t
	if v.tasks.first == nil {
		for _, w := range v.idle {
			close(w.work)
		}
		v.idle = nil
	}
}

// mostIdle bounds the goroutines that wait for another task.
const mostIdle = 128

// A worker is a goroutine that the clock has started. It runs one task after the
// other, as a new goroutine would have to find out who it is and to grow its stack
// again. It waits for the next one only while there are tasks, so that it outlives
// nothing.
type worker struct {
	self uintptr
	gid  uint64
	work chan begun // capacity 1; closed when there is nothing left to wait for
}

// begun is a task that has its first turn.
type begun struct {
	t *task
	f func()
}

// run is the life of a worker, from the first turn of its first task on.
func (v *Virtual) run(first begun) {
	w := &worker{self: self(), gid: goid(), work: make(chan begun, 1)}
	v.mu.Lock()
	first.t.self, first.t.gid = w.self, w.gid
	v.mu.Unlock()
	for b, more := first, true; more; {
		b.run(v)
		b, more = w.rest(v, b.t)
	}
}

// run runs a task. When it panics or exits it passes the baton, so that no
// goroutine hangs, and the worker is gone.
func (b begun) run(v *Virtual) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v.mu.Lock()
		v.buryLocked(b.t)
		v.holder = nil
		v.unlock(v.passLocked(), nil)
	}()
	b.f()
	returned = true
}

// rest ends t, which w has run, passes the baton and waits for the next task. It
// reports false when w is not needed any more.
func (w *worker) rest(v *Virtual, t *task) (begun, bool) {
	v.mu.Lock()
	v.buryLocked(t)
	v.holder = nil
	next := v.passLocked()
	needed := v.tasks.first != nil && len(v.idle) < mostIdle
	if needed {
		v.idle = append(v.idle, w)
	}
	v.unlock(next, nil)
	if !needed {
		return begun{}, false
	}
	b, more := <-w.work
	return b, more
}

// workerLocked takes the worker that has rested for the shortest time for t; nil if
// there is none.
func (v *Virtual) workerLocked(t *task) *worker {
	n := len(v.idle) - 1
	if n < 0 {
		return nil
	}
	w := v.idle[n]
	v.idle[n] = nil
	v.idle = v.idle[:n]
	t.self, t.gid = w.self, w.gid
	return w
}

func (v *Virtual) beginLocked(name string, f func()) *task {
	t := v.newTaskLocked(name, f)
	t.doing = waitReady
	v.ready.push(t)
	return t
}

func (v *Virtual) start(name string, f func()) {
	v.mu.Lock()
	v.checkLocked("Group.Go")
	v.beginLocked(name, f)
	v.kickUnlock()
}

// Inside implements Clock.
func (v *Virtual) Inside(name string, f func()) { v.insideAs(self(), 0, name, f) }

// insideAs is Inside for the goroutine self, whose number gid may be 0: not known yet.
func (v *Virtual) insideAs(self uintptr, gid uint64, name string, f func()) {
	v.mu.Lock()
	if v.holder != nil && v.holder.self == self {
		v.mu.Unlock()
		f()
		return
	}
	var tail *visit
	if v.opts.Serial {
		tail = &visit{}
	}
	v.enterUnlock(self, gid, name, f, &v.tails, tail)
}

// Do enters, runs f on this goroutine, and returns when this instant is worked off:
// no goroutine is ready and no call is out. Time does not move, unless a pace moves
// it. Tests send their input with it. A nil f only works off the instant. When f
// waits for time to pass, so does Do: something else has to drive the clock then.
func (v *Virtual) Do(name string, f func()) {
	v.foreign("Do")
	v.mu.Lock()
	v.enterUnlock(self(), 0, name, f, &v.settling, &visit{})
}

// A visit is a foreign goroutine that waits for the clock.
type visit struct{ done chan struct{} }

func (v *Virtual) finishLocked(list *[]*visit) {
	if len(*list) > 0 {
		v.finished = append(v.finished, *list...)
		*list = nil
	}
}

// enterUnlock takes a turn for the foreign goroutine self, runs f and passes the baton on.
// If w is set it is put on list then, and waited for.
func (v *Virtual) enterUnlock(self uintptr, gid uint64, name string, f func(), list *[]*visit, w *visit) {
	t := v.newTaskLocked(name, nil)
	if gid == 0 && v.opts.watches() {
		gid = goid()
	}
	t.self, t.gid = self, gid
	v.pace.inputLocked(v)
	var next *task
	if v.holder == nil {
		next = v.passLocked() // lets the pace, if any, catch up first
	}
	if v.holder == nil {
		v.giveLocked(t)
		v.unlock(t, t)
	} else {
		t.doing = waitReady
		v.ready.pushGuest(t)
		v.unlock(next, nil)
		<-t.park
	}

	returned := false
	defer func() {
		v.mu.Lock()
		v.pace.inputLocked(v)
		v.buryLocked(t)
		v.holder = nil
		if !returned {
			w = nil // f panicked or exited: no caller is left to wait
		}
		if w != nil {
			w.done = make(chan struct{})
			*list = append(*list, w)
		}
		v.unlock(v.passLocked(), nil)
		if w != nil {
			<-w.done
		}
	}()
	if f != nil {
		f()
	}
	returned = true
}

// foreign panics if the clock would wait for the calling goroutine.
func (v *Virtual) foreign(op string) {
	id := self()
	v.mu.Lock()
	who := ""
	if v.holder != nil && v.holder.self == id {
		who = "the goroutine that has the turn: " + quote(v.holder.name)
	}
	for t := v.tasks.first; t != nil && who == ""; t = t.next {
		if t.self == id {
			who = "a goroutine that is outside: " + quote(t.name)
		}
	}
	v.mu.Unlock()
	if who != "" {
		panic("clock: " + op + " called by " + who + "; it is for goroutines that the clock does not wait for")
	}
}

// refuseOwn panics if the clock would wait for the calling goroutine. It spares the
// search when all goroutines of the clock wait: then the caller is not one of them.
func (v *Virtual) refuseOwn(op string) {
	v.mu.Lock()
	t := v.tasks.first
	for t != nil && t.doing != running && t.doing != waitOutside {
		t = t.next
	}
	v.mu.Unlock()
	if t != nil {
		v.foreign(op)
	}
}

// AfterFunc implements Clock.
func (v *Virtual) AfterFunc(d time.Duration, name string, f func()) *Timer {
	t := &Timer{v: v, name: name, f: f}
	t.due.timer = t
	v.mu.Lock()
	v.checkLocked("AfterFunc")
	t.armLocked(d)
	v.kickUnlock()
	return t
}

func (t *Timer) armLocked(d time.Duration) {
	if d <= 0 {
		t.fireLocked()
		return
	}
	t.v.setLocked(&t.due, d, false)
}

func (t *Timer) work(depends bool) {
	v := t.v
	v.mu.Lock()
	v.checkLocked("Timer.Work")
	v.deadlines.mark(&t.due, depends)
	v.kickUnlock()
}

// fireLocked makes t's function ready.
func (t *Timer) fireLocked() {
	t.run = t.v.beginLocked(t.name, t.f)
	t.run.timer = t
}

func (t *Timer) disarmLocked() bool {
	if t.run != nil {
		t.run.void = true
		t.run.timer = nil
		t.run = nil
		return true
	}
	return t.v.deadlines.remove(&t.due)
}

func (t *Timer) stop() bool {
	v := t.v
	v.mu.Lock()
	v.checkLocked("Timer.Stop")
	was := t.disarmLocked()
	v.kickUnlock()
	return was
}

func (t *Timer) reset(d time.Duration) bool {
	v := t.v
	v.mu.Lock()
	v.checkLocked("Timer.Reset")
	was := t.disarmLocked()
	t.armLocked(d)
	v.kickUnlock()
	return was
}

func quote(s string) string { return strconv.Quote(s) }
