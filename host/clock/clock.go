// Package clock is the one source of time, waiting and goroutines for a host
// and everything it drives: services, triggers, retries.
//
// It makes two promises, both kept by [Virtual]:
//
//   - Time moves only when no goroutine has work to do, and then jumps to the next
//     deadline. Fifteen minutes of back-off cost microseconds.
//   - The same seed and the same input give the same order of events, however
//     many goroutines take part and however long their calls to the outside
//     world really take.
//
// # How it works
//
// Goroutines of the clock take turns. One of them holds the baton and runs;
// a goroutine that waits (Sleep, a Cond, a full Group, an Outside call)
// hands the baton on. There is no scheduler goroutine. One rule picks the
// next: ready goroutines run first come first served; when none is ready,
// the oldest outside call comes back in, in the order in which the calls
// went out; when none is out, time moves to the earliest deadline, and
// everything due then becomes ready in order of setting.
//
// The goroutines of the clock are those started by [Group.Go] and
// [Clock.AfterFunc], and those that have entered by [Clock.Inside] or
// [Virtual.Do] for as long as they are in. All others are foreign: they may
// read Now, drive the clock (Advance, Next, Run, Do) and enter; for all
// other calls they must be inside. [VirtualOptions.Strict] turns a breach
// into a panic.
//
// # How code under the clock is written
//
// Code that is handed a [Clock] never asks which kind. It starts goroutines
// with a [Group], waits with Sleep, Idle or a [Cond], makes contexts with
// WithCancel and WithTimeout, and wraps every wait for the real world in
// Outside. It uses no go statement, channel, select, package time function
// that waits, or standard cancellable context; package clockvet checks
// that. It holds no mutex while it waits, except the one of the Cond it
// waits on.
//
// A panic in a goroutine of the clock is not recovered: it ends the process, as
// in any goroutine, rather than leave the others waiting. A goroutine that leaves by [runtime.Goexit] (t.FailNow)
// hands the baton on.
//
// # What to read first
//
// [Clock] for the calls, then the examples, then [Virtual] for driving time in a
// test, and Auto and Real there for a running host. [System] has the same calls
// over plain goroutines and package time: turn-taking hides data races, so test
// suites run on both.
//
// # What it leaves out
//
// There are no tickers and no channels: a loop around Idle or Cond.WaitUntil is
// both. Several things at once can be waited for only as signals of one Cond.
// Priorities do not exist.
package clock

import (
	"context"
	"sync"
	"time"
)

// A Clock tells the time, waits, and starts goroutines. It is implemented by
// [System] and by [*Virtual] and, having unexported methods, by nothing else.
//
// On a Virtual, all methods but Now, WithCancel and Inside must be called by a
// goroutine of that clock, with the baton; see the package comment. Waits take
// context.Background, values and contexts of the clock. A wait on a context
// that package context or errgroup made cancellable panics, because the clock
// could not see the cancellation.
type Clock interface {
	// Now returns the time. On a Virtual any goroutine may call it, and it stands
	// still during a turn.
	Now() time.Time

	// Sleep is a wait that matters, such as a retry delay: it gives time a
	// reason to jump. It returns nil after d, or ctx's error as soon as ctx ends.
	// With d of zero or less it lets ready goroutines run first, and takes no time.
	Sleep(ctx context.Context, d time.Duration) error

	// Idle is a wait that no work depends on, such as the next tick of a
	// schedule. It is Sleep, except that it is served on the way and is never
	// itself a reason for Virtual.Run or Virtual.Auto to jump.
	Idle(ctx context.Context, d time.Duration) error

	// AfterFunc runs f in a goroutine of the clock's own once d has passed: lock
	// renewal, the expiry of a lock or of a message. Like Idle it is never a reason
	// to jump. The name appears in diagnostics.
	AfterFunc(d time.Duration, name string, f func()) *Timer

	// WithCancel returns a context that ends with the returned function or with
	// parent. Waits on it end at once, in the order in which they began. The
	// parent must be one that the clock can see: background, values, or a context
	// of this clock.
	WithCancel(parent context.Context) (context.Context, context.CancelFunc)

	// WithTimeout is WithCancel that also ends, with context.DeadlineExceeded,
	// after d. The deadline is a reason for time to jump until the context has
	// ended, so call the returned function as soon as the work is done. The
	// context of a Virtual shows no Deadline: others would take it for a real one.
	WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)

	// Outside runs f on this goroutine without the baton: an RPC, the start of a
	// process, a file sync. Virtual time stands still meanwhile, however long f
	// takes, and calls come back in the order in which they went out. In f,
	// ctx.Done is a real channel; the clock itself is not to be used there. A panic
	// in f continues in the caller once it has the baton again. When the goroutine
	// is outside already, f simply runs.
	//
	// A call must not wait for a goroutine of the clock that comes back in after
	// this call: it would never return. See Patience, Serial and Arrival in
	// VirtualOptions.
	Outside(ctx context.Context, name string, f func())

	// Away is Outside for a caller that is known to have the baton, like the caller
	// of Sleep. It spares the search for the goroutine's identity, whose cost
	// grows with the depth of the stack; use it where calls are frequent. From
	// anywhere else, outside included, it is a breach; see Strict.
	Away(ctx context.Context, name string, f func())

	// Inside runs f on this goroutine with the baton. Goroutines that the
	// clock did not start come in by it, such as one that serves a request. It
	// waits for the next free turn, and returns when f has. Goroutines that f
	// made ready run after it, before time moves. Called by the goroutine that
	// has the baton it simply runs f, so that code may be reached both ways.
	Inside(name string, f func())

	// start runs f in a new goroutine of the clock.
	start(name string, f func())

	// newCond returns the clock's half of a Cond.
	newCond(l sync.Locker) condition
}

// A Timer is a pending AfterFunc.
type Timer struct {
	sys *time.Timer // on System; the rest is for Virtual

	v    *Virtual
	name string
	f    func()
	due  deadline
	run  *task // fired, and not begun yet

	lapse bool // see Lapse
}

// Lapse marks a timer, before it runs, as the end of something that may live for days,
// such as a message. Virtual.UntilQuiet does not look on for it while it is more than a
// day away. It returns t.
func (t *Timer) Lapse() *Timer {
	t.lapse = true
	return t
}

// Work says whether work depends on a pending timer: then a Virtual may jump to it, as to
// the end of a Sleep. Without it, time jumps for no timer. A Reset forgets it. On System
// it does nothing.
func (t *Timer) Work(depends bool) {
	if t.sys == nil {
		t.work(depends)
	}
}

// Stop keeps f from running. It reports whether it did: false means that f has
// begun, or was stopped before. On a Virtual an f that is due but has not had its turn
// is still stopped; on System there is no telling, and it may begin.
func (t *Timer) Stop() bool {
	if t.sys != nil {
		return t.sys.Stop()
	}
	return t.stop()
}

// Reset makes f run (again) once d has passed from now. It reports whether the
// timer was still pending.
func (t *Timer) Reset(d time.Duration) bool {
	if t.sys != nil {
		return t.sys.Reset(d)
	}
	return t.reset(d)
}
