package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// plannedExit is the exit status with which a process asks for a new one
// (spec workers 9).
const plannedExit = 200

// Conn is the connection with one process that became ready. Its methods wait for the
// real world.
type Conn interface {
	// Child is the process.
	Child() *Child
	// HangUp breaks the connection. It is called after the end of the process, more
	// than once.
	HangUp()
	// Wait returns when the readers of the connection have ended, after HangUp.
	Wait()
	// Bye asks the process to end, and may wait for that.
	Bye()
	// Release gives back what the connection still holds, after the end of the process.
	Release()
}

// Lent is a Conn whose process may outlive the Keeper that has it, and serve another one.
type Lent interface {
	// GiveBack reports whether it does: then it is nothing of this Keeper any more. It is
	// asked while no call runs, and does not wait.
	GiveBack() bool
}

// Run is one run of a program that is kept running.
type Run[C Conn] struct {
	// Conn is the connection with its process.
	Conn C

	place int // among the processes of the Keeper

	// Owned by the Keeper, guarded by its mutex.
	calls  int                           // in flight
	reason string                        // why the host ends it; empty: it does not
	reaped bool                          // its end has been dealt with
	given  chan struct{}                 //clock:outside closed when the process is another Keeper's: see Lent
	naps   uint64                        // sleeps begun so far
	asleep map[uint64]context.CancelFunc // ends a sleep, by its number; one for each call at most
}

// Ended reports whether the process has ended.
func (r *Run[C]) Ended() bool { return r.Conn.Child().Ended() }

// idle reports whether no call would notice the end of the run by itself: there is
// none, or all sleep.
func (r *Run[C]) idle() bool { return r.calls == len(r.asleep) }

// Keeper keeps a program running: at each moment as many processes as [Spec] says, less
// those that are started anew.
//
// Except where a method says otherwise, call it with the clock's baton, from as
// many goroutines as you like.
type Keeper[C Conn] struct {
	clk     clock.Clock
	spec    Spec
	connect func(ctx context.Context, number int) (C, error)
	group   *clock.Group    // goroutines that start processes
	ctx     context.Context // ends with Close
	end     context.CancelFunc

	watchers sync.WaitGroup //clock:outside the part of the watchers that waits for a process
	closing  atomic.Bool    // for the watchers

	mu       sync.Mutex // guards:
	changed  *clock.Cond
	runs     []*Run[C]         // by place; nil where no process is ready
	turn     int               // the place whose process is called next
	starts   int               // so far
	filled   bool              // see Fill
	resume   map[int]time.Time // when the process of a place is started again, until it is
	earliest time.Time         // of the next restart
	budget   budget
	quiet    budget    // of quiet ends: only their pauses count
	stopped  error     // no more processes: why
	waiting  int       // calls that wait for a process
	wary     bool      // the last process crashed: those that wait are let in singly
	letIn    time.Time // when one of them was let in last
}

// Keep starts the first process of a program and returns when it is ready to be called:
// see [Keeper.Fill] for the others. connect starts the
// process of that number, counted from 1, and returns when it is ready; it runs outside
// the clock, and its error is a *[StartError]. Its ctx is for [NewChild].
func Keep[C Conn](clk clock.Clock, spec Spec, connect func(ctx context.Context, number int) (C, error)) (*Keeper[C], error) {
	k := &Keeper[C]{clk: clk, spec: spec.WithDefaults(), connect: connect, group: clock.NewGroup(clk, 0), resume: map[int]time.Time{}}
	k.runs, k.budget.processes, k.quiet.processes = make([]*Run[C], k.spec.Count), k.spec.Count, k.spec.Count
	k.ctx, k.end = clk.WithCancel(context.Background())
	k.changed = clock.NewCond(clk, &k.mu)
	if err := k.launch(0); err != nil {
		k.end()
		return nil, err
	}
	return k, nil
}

// Fill starts the other processes of the program, one after the other, each the interval
// of [Spec] after the one before it; the first of them at once. It does not wait for
// them. Later calls do nothing.
func (k *Keeper[C]) Fill() {
	k.mu.Lock()
	first := !k.filled
	k.filled = true
	k.mu.Unlock()
	if !first || k.spec.Count == 1 {
		return
	}
	k.group.Go("start "+k.spec.Name+" processes", func() {
		for place := 1; place < k.spec.Count; place++ {
			k.relaunch(place)
			if place+1 < k.spec.Count && k.clk.Idle(k.ctx, k.spec.StartInterval) != nil {
				return
			}
		}
	})
}

// launch starts the process of a place.
func (k *Keeper[C]) launch(place int) error {
	k.mu.Lock()
	k.starts++
	number := k.starts
	k.mu.Unlock()
	var conn C
	var err error
	k.clk.Outside(k.ctx, "start "+k.spec.Name+" process", func() { conn, err = k.connect(k.ctx, number) })
	if err != nil {
		return cmp.Or(k.over(), err)
	}
	conn.Child().keep()
	r := &Run[C]{Conn: conn, place: place, given: make(chan struct{})} //clock:outside see watch
	k.mu.Lock()
	over := k.over()
	if over == nil {
		k.runs[place] = r // Close sees to it from here on
		k.watchers.Add(1)
	}
	k.mu.Unlock()
	if over != nil {
		k.clk.Outside(k.ctx, "stop "+k.spec.Name+" process", func() { k.stop(context.Background(), conn) })
		return over
	}
	if k.spec.OnStart != nil {
		k.spec.OnStart(conn.Child().process())
	}
	go k.watch(r) //clock:outside waits for the process; Close waits for it
	k.mu.Lock()
	delete(k.resume, place)
	k.changed.Broadcast()
	k.mu.Unlock()
	return nil
}

// over is why no process is wanted any more, nil while one is.
func (k *Keeper[C]) over() error {
	if k.closing.Load() {
		return ErrClosed
	}
	if k.spec.Life != nil {
		return k.spec.Life.Err()
	}
	return nil
}

// watch handles the end of a process without calls, or whose calls all
// sleep in the clock's time. Other calls see the end themselves, and the
// first of them to come back deals with it: at a moment that the clock has
// decided.
func (k *Keeper[C]) watch(r *Run[C]) {
	select { //clock:outside the end of a process
	case <-r.given: //clock:outside the same
		k.watchers.Done()
		return
	case <-r.Conn.Child().done: //clock:outside the same
	}
	r.Conn.HangUp()
	r.Conn.Wait()
	k.watchers.Done()
	if k.closing.Load() {
		return
	}
	k.clk.Inside(k.spec.Name+" process exited", func() {
		k.mu.Lock()
		idle := r.idle()
		k.mu.Unlock()
		if idle {
			k.reap(r)
		}
	})
}

// reap deals with the end of r, once: it ends the sleeps of its calls, tells the
// host, counts a crash and has a new process started.
func (k *Keeper[C]) reap(r *Run[C]) {
	k.mu.Lock()
	if r.reaped {
		k.mu.Unlock()
		return
	}
	r.reaped = true
	if k.runs[r.place] == r {
		k.runs[r.place] = nil
	}
	e := r.Conn.Child().exit(r.reason)
	if e.Code == plannedExit && !e.Planned {
		e.Planned, e.Reason = true, "asked for a new process"
	}
	asleep := r.asleep
	r.asleep = nil
	k.mu.Unlock()
	for _, nap := range slices.Sorted(maps.Keys(asleep)) {
		asleep[nap]()
	}
	name := "release " + k.spec.Name + " process"
	k.group.Go(name, func() { k.clk.Outside(k.ctx, name, func() { k.release(r.Conn) }) })
	k.ended(r.place, e)
}

// release gives back what a process that has ended still holds.
func (k *Keeper[C]) release(conn C) {
	conn.HangUp()
	conn.Release()
	conn.Child().out.close()
}

// stop asks the process to end, kills it after the grace or when ctx ends, and waits
// until it is gone.
func (k *Keeper[C]) stop(ctx context.Context, conn C) {
	conn.Child().Stop(ctx, conn.Bye)
	k.release(conn)
}

// ended tells of the end of the process of a place, or of a failed start, and prepares
// the next start.
func (k *Keeper[C]) ended(place int, e Exit) {
	k.mu.Lock()
	e.Restart = -1
	var stop error
	if !k.closing.Load() {
		now := k.clk.Now()
		e.Restart = 0
		usedUp := false
		switch {
		case e.Planned:
		case e.Quiet:
			e.Restart, _ = k.quiet.crash(now)
		default:
			e.Restart, usedUp = k.budget.crash(now)
			k.wary = true
		}
		if k.spec.Once {
			e.Restart = -1
			k.stopped = fmt.Errorf("the %s process is gone: %s", k.spec.Name, cmp.Or(e.Reason, e.Status))
			if k.spec.StopHost != nil {
				stop = k.stopped
			}
		} else if usedUp && k.spec.StopHost != nil {
			e.Restart = -1
			if !k.anyLocked() {
				stop = fmt.Errorf("the %s process crashed %d times within %v", k.spec.Name, k.budget.crashes, crashWindow)
				k.stopped = stop
			}
		} else {
			at := later(now.Add(e.Restart), k.earliest)
			k.resume[place], k.earliest = at, at.Add(k.spec.RestartInterval)
			e.Restart = at.Sub(now)
		}
	}
	k.changed.Broadcast()
	k.mu.Unlock()
	if k.spec.OnExit != nil {
		k.spec.OnExit(e)
	}
	if stop != nil {
		k.spec.StopHost(stop)
	}
	if e.Restart >= 0 {
		k.group.Go("restart "+k.spec.Name+" process", func() { k.again(place, e.Restart) })
	}
}

// anyLocked reports whether there is a process, or will be one.
func (k *Keeper[C]) anyLocked() bool {
	return len(k.resume) > 0 || slices.ContainsFunc(k.runs, func(r *Run[C]) bool { return r != nil && !r.Ended() })
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// again starts the process of a place after a pause. The pause is idle time; calls that
// wait for it make it pass (see Acquire).
func (k *Keeper[C]) again(place int, pause time.Duration) {
	if pause > 0 && k.clk.Idle(k.ctx, pause) != nil {
		return
	}
	k.relaunch(place)
}

// relaunch starts the process of a place; a failure counts as a crash.
func (k *Keeper[C]) relaunch(place int) {
	k.mu.Lock()
	over := k.endedLocked()
	k.mu.Unlock()
	if over != nil {
		return
	}
	err := k.launch(place)
	if err == nil || k.over() != nil {
		return
	}
	e := Exit{Code: -1, Status: "not started", Err: err}
	if serr, ok := errors.AsType[*StartError](err); ok {
		e.Status = serr.Reason
	}
	k.ended(place, e)
}

// Leave ends a call in r. If the process is gone it is dealt with, and the
// failure of the call is an *ExitError.
func (k *Keeper[C]) Leave(r *Run[C]) *ExitError {
	k.mu.Lock()
	if r.calls--; k.wary && r.calls == 0 {
		k.changed.Broadcast()
	}
	k.mu.Unlock()
	if !r.Ended() {
		return nil
	}
	k.reap(r)
	k.mu.Lock()
	defer k.mu.Unlock()
	return &ExitError{Exit: r.Conn.Child().exit(r.reason), Name: k.spec.Name}
}

// Dispose kills the process of r, which the host no longer trusts. All its calls fail at
// once (spec host-and-retry 8). The end does not count as a crash.
func (k *Keeper[C]) Dispose(r *Run[C], reason string) {
	k.mu.Lock()
	if r.reason == "" && !r.Ended() {
		r.reason = reason
	}
	k.mu.Unlock()
	k.clk.Outside(k.ctx, "kill "+k.spec.Name+" process", r.Conn.Child().Kill)
}

// FallAsleep notes that a call in r sleeps, and how to end that when the process ends.
// It returns the number of the sleep, for [Keeper.Awake]; it reports false when the
// process has ended.
func (k *Keeper[C]) FallAsleep(r *Run[C], wake context.CancelFunc) (nap uint64, alive bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Ended() {
		return 0, false
	}
	if r.asleep == nil {
		r.asleep = map[uint64]context.CancelFunc{}
	}
	r.naps++
	r.asleep[r.naps] = wake
	return r.naps, true
}

// Awake notes the end of a sleep.
func (k *Keeper[C]) Awake(r *Run[C], nap uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(r.asleep, nap)
}

// Close ends the processes and waits until they are gone. Calls in flight fail; a
// host that wants them to finish waits for them first. The processes are told to
// end, and killed after the grace of [Spec] or when ctx ends. Further calls of
// Close wait for nothing and return nil.
func (k *Keeper[C]) Close(ctx context.Context) error {
	if k.closing.Swap(true) {
		return nil
	}
	k.mu.Lock()
	var runs []*Run[C]
	for _, r := range k.runs {
		switch {
		case r == nil, k.giveBackLocked(r):
			continue
		case !r.Ended():
			r.reason = "the host closed it"
		}
		runs = append(runs, r)
	}
	k.changed.Broadcast()
	k.mu.Unlock()
	k.end()
	if len(runs) > 0 {
		k.clk.Outside(ctx, "stop "+k.spec.Name+" process", func() { k.stopAll(ctx, runs) })
	}
	for _, r := range runs {
		k.reap(r)
	}
	k.group.Wait()
	k.clk.Outside(context.Background(), "end of watching", k.watchers.Wait)
	return nil
}

// giveBackLocked gives back a process that is lent and well. It reports whether it has.
func (k *Keeper[C]) giveBackLocked(r *Run[C]) bool {
	lent, ok := any(r.Conn).(Lent)
	if !ok || r.calls > 0 || r.reason != "" || r.Ended() || !lent.GiveBack() {
		return false
	}
	r.reaped = true
	close(r.given)
	return true
}

// stopAll stops processes, all at once.
func (k *Keeper[C]) stopAll(ctx context.Context, runs []*Run[C]) {
	var stopping sync.WaitGroup //clock:outside the ends of processes
	for _, r := range runs {
		stopping.Add(1)
		go func() { //clock:outside waited for below
			defer stopping.Done()
			k.stop(ctx, r.Conn)
		}()
	}
	stopping.Wait() //clock:outside the ends of processes
}
