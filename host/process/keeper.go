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

// Run is one run of a program that is kept running.
type Run[C Conn] struct {
	// Conn is the connection with its process.
	Conn C

	// Owned by the Keeper, guarded by its mutex.
	calls  int                           // in flight
	reason string                        // why the host ends it; empty: it does not
	reaped bool                          // its end has been dealt with
	naps   uint64                        // sleeps begun so far
	asleep map[uint64]context.CancelFunc // ends a sleep, by its number; one for each call at most
}

// Ended reports whether the process has ended.
func (r *Run[C]) Ended() bool { return r.Conn.Child().Ended() }

// idle reports whether no call would notice the end of the run by itself: there is
// none, or all sleep.
func (r *Run[C]) idle() bool { return r.calls == len(r.asleep) }

// Keeper keeps a program running: at each moment one process, or none while a new one
// is started.
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
	current  *Run[C] // nil while none is ready
	starts   int
	resumeAt time.Time // of the next start, while a pause is on
	budget   budget
	stopped  error // no more processes: why
}

// Keep starts a program and returns when it is ready to be called. connect starts the
// process of that number, counted from 1, and returns when it is ready; it runs outside
// the clock, and its error is a *[StartError]. Its ctx is for [NewChild].
func Keep[C Conn](clk clock.Clock, spec Spec, connect func(ctx context.Context, number int) (C, error)) (*Keeper[C], error) {
	k := &Keeper[C]{clk: clk, spec: spec.WithDefaults(), connect: connect, group: clock.NewGroup(clk, 0)}
	k.ctx, k.end = clk.WithCancel(context.Background())
	k.changed = clock.NewCond(clk, &k.mu)
	if err := k.launch(); err != nil {
		k.end()
		return nil, err
	}
	return k, nil
}

// launch starts one process and makes it the current one.
func (k *Keeper[C]) launch() error {
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
	r := &Run[C]{Conn: conn}
	k.mu.Lock()
	over := k.over()
	if over == nil {
		k.current = r // Close sees to it from here on
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
	k.resumeAt = time.Time{}
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
	<-r.Conn.Child().done //clock:outside the end of a process
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
	if k.current == r {
		k.current = nil
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
	k.ended(e)
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

// ended tells of the end of a process, or of a failed start, and prepares the
// next start.
func (k *Keeper[C]) ended(e Exit) {
	k.mu.Lock()
	e.Restart = -1
	var stop error
	if !k.closing.Load() {
		e.Restart = 0
		if !e.Planned {
			var usedUp bool
			e.Restart, usedUp = k.budget.crash(k.clk.Now())
			if usedUp && k.spec.StopHost != nil {
				e.Restart = -1
				stop = fmt.Errorf("the %s process crashed %d times within %v", k.spec.Name, k.budget.crashes, crashWindow)
				k.stopped = stop
			}
		}
		if e.Restart > 0 {
			k.resumeAt = k.clk.Now().Add(e.Restart)
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
		k.group.Go("restart "+k.spec.Name+" process", func() { k.restart(e.Restart) })
	}
}

// restart starts a process after a pause. The pause is idle time; calls that wait
// for it make it pass (see Acquire).
func (k *Keeper[C]) restart(pause time.Duration) {
	if pause > 0 && k.clk.Idle(k.ctx, pause) != nil {
		return
	}
	if k.closing.Load() {
		return
	}
	err := k.launch()
	if err == nil || k.over() != nil {
		return
	}
	e := Exit{Code: -1, Status: "not started", Err: err}
	if serr, ok := errors.AsType[*StartError](err); ok {
		e.Status = serr.Reason
	}
	k.ended(e)
}

// Acquire returns the running process, after waiting for one if need be, and
// counts a call in it until [Keeper.Leave].
func (k *Keeper[C]) Acquire(ctx context.Context) (*Run[C], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		switch r := k.current; {
		case k.closing.Load():
			return nil, ErrClosed
		case k.stopped != nil:
			return nil, k.stopped
		case r != nil && !r.Ended():
			r.calls++
			return r, nil
		case r != nil && r.idle():
			k.mu.Unlock()
			k.reap(r)
			k.mu.Lock()
			continue
		}
		until := k.resumeAt
		if !until.After(k.clk.Now()) {
			until = time.Time{} // the start is under way
		}
		if err := k.changed.WaitUntil(ctx, until); err != nil {
			return nil, err
		}
	}
}

// Ready is Acquire without the wait: the error says why no process can be called now.
func (k *Keeper[C]) Ready() (*Run[C], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch r := k.current; {
	case k.closing.Load():
		return nil, ErrClosed
	case k.stopped != nil:
		return nil, k.stopped
	case r == nil || r.Ended():
		return nil, fmt.Errorf("no %s process runs", k.spec.Name)
	default:
		r.calls++
		return r, nil
	}
}

// Leave ends a call in r. If the process is gone it is dealt with, and the
// failure of the call is an *ExitError.
func (k *Keeper[C]) Leave(r *Run[C]) *ExitError {
	k.mu.Lock()
	r.calls--
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
// once, unlike on the platform, where they wait for their own timeouts
// (spec host-and-retry 8). The end does not count as a crash.
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

// Close ends the process and waits until it is gone. Calls in flight fail; a
// host that wants them to finish waits for them first. The process is told to
// end, and killed after the grace of [Spec] or when ctx ends. Further calls of
// Close wait for nothing and return nil.
func (k *Keeper[C]) Close(ctx context.Context) error {
	if k.closing.Swap(true) {
		return nil
	}
	k.mu.Lock()
	r := k.current
	if r != nil && !r.Ended() {
		r.reason = "the host closed it"
	}
	k.changed.Broadcast()
	k.mu.Unlock()
	k.end()
	if r != nil {
		k.clk.Outside(ctx, "stop "+k.spec.Name+" process", func() { k.stop(ctx, r.Conn) })
		k.reap(r)
	}
	k.group.Wait()
	k.clk.Outside(context.Background(), "end of watching", k.watchers.Wait)
	return nil
}
