// Package listening runs the listeners of an app's functions: it starts each, starts it
// again when it fails or when the state of the embedded services was replaced, and keeps
// those that must not run twice apart. What a listener receives is the function's to handle.
//
// Read [Listeners.Start] first, then turn.go for one run of a listener, and singleton.go for
// the locks within this process. The locks between hosts are those of package hostlock.
package listening

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/internal/ids"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// The waits before a listener that cannot start or go on is started again (sdk:
// FunctionListener.cs).
const (
	backoffMin = 2 * time.Second
	backoffMax = 2 * time.Minute

	// longestOutageWait bounds it where a service could not be reached, because the
	// user restarts the service.
	longestOutageWait = 10 * time.Second
)

// Process has what the listeners of a host share, over its generations. Its methods may be
// called concurrently.
type Process struct {
	singletons *singletons

	mu   sync.Mutex
	made *clock.Cond // where listeners that failed wait for their next start
}

// NewProcess returns what the listeners of a host share.
func NewProcess(clk clock.Clock) *Process {
	p := &Process{singletons: newSingletons(clk)}
	p.made = clock.NewCond(clk, &p.mu)
	return p
}

// AwaitMade returns at a time, or when something was made, nil; or ctx's error. Time does
// not jump for it.
func (p *Process) AwaitMade(ctx context.Context, until time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made.IdleUntil(ctx, until)
}

// Made starts the listeners that failed at once, when a service has something new: the
// entity or container that was missing may be it.
func (p *Process) Made() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made.Broadcast()
}

// A Function handles what its listener receives: triggers.Sink without what concerns the
// listener itself.
type Function interface {
	Gate() triggers.Gate
	Handle(ctx context.Context, ev *triggers.Event) triggers.Result
	Settled(ev *triggers.Event, s triggers.Settlement)
	Skip(ev *triggers.Event)
	Draining() bool
	Call(ev *triggers.Event) triggers.Result
}

// A Listener is the listener of a function.
type Listener struct {
	Kind *kinds.Kind
	View *kinds.Function
	Function

	failing atomic.Pointer[error]
}

// Failing says why the listener does not run at the moment: it failed, and will start
// again. It is nil when the listener runs.
func (l *Listener) Failing() error {
	if err := l.failing.Load(); err != nil {
		return *err
	}
	return nil
}

// backoff is the series of waits before the listener is started again.
func (l *Listener) backoff() *retrycontext.Series {
	return retrycontext.NewSeries(&retrycontext.Policy{
		Strategy: retrycontext.ExponentialBackoff, MaxRetryCount: retrycontext.Forever,
		MinimumInterval: backoffMin, MaximumInterval: backoffMax,
	}, ids.Jitter(l.View.Seed, uint64(l.View.ID())<<32))
}

// Listeners are those of one generation. Its methods may be called concurrently.
type Listeners struct {
	process *Process
	clk     clock.Clock
	group   *clock.Group
	ctx     context.Context // ends when listeners stop receiving
	stop    context.CancelFunc

	mu    sync.Mutex
	turns []*turn // whose listeners run, or wait for their next start
}

// Listeners returns the listeners of a generation, none so far. They run in group, until
// ctx ends at the latest.
func (p *Process) Listeners(ctx context.Context, clk clock.Clock, group *clock.Group) *Listeners {
	g := &Listeners{process: p, clk: clk, group: group}
	g.ctx, g.stop = clk.WithCancel(ctx)
	return g
}

// Start starts a listener. Only its function is affected when it fails.
func (g *Listeners) Start(l *Listener) { g.start(l, false) }

// start starts a listener; again: after another of this generation.
func (g *Listeners) start(l *Listener, again bool) {
	g.group.Go("listener "+journal.Qualified(l.View.AppName, l.View.Def.Name), func() { g.supervise(l, again) })
}

// supervise runs a listener, while it has the lock of its kind within this process.
func (g *Listeners) supervise(l *Listener, again bool) {
	if l.Kind.Singleton || l.Kind.Serial {
		name := l.View.Def.Name
		if l.Kind.Serial {
			// Listeners of another state are harmless.
			name += "/" + strconv.FormatUint(uint64(l.View.Epoch().Number), 10)
		}
		release, err := g.process.singletons.acquire(g.ctx, name)
		if err != nil {
			return
		}
		defer release()
	}
	l.failing.Store(nil)
	for backoff := l.backoff(); ; {
		t := g.begin(l, again)
		t.backoff = backoff
		err := t.listen()
		if err == nil {
			err = errEnded
		}
		ended := t.BeginAgain(t.ctx, err)
		g.end(t)
		if ended != nil {
			return
		}
		backoff = t.backoff
	}
}

// errEnded is the fault of a listener that ended before it was to.
var errEnded = errors.New("the listener has ended without an error")

// Stop has the listeners receive nothing more. In a drain, kinds that leave deliveries their
// token do not cancel it.
func (g *Listeners) Stop(drain bool) {
	g.stop()
	if !drain {
		g.cutReplaced()
	}
}

// BeginAgain implements triggers.Sink: it tells that the listener has failed, and waits
// for its next start.
func (t *turn) BeginAgain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l := t.of
	if t.in.clk.Now().Sub(t.begun) >= backoffMax {
		t.backoff = l.backoff() // it ran well: this is another failure
	}
	wait := t.backoff.Next()
	outage := l.View.Connections.TellsOutage(err)
	if outage {
		wait = min(wait, longestOutageWait)
	} else {
		rec := l.View.Record(journal.FunctionError)
		rec.Message, rec.Error, rec.Delay, rec.HasDelay = "listener failed and will start again", err.Error(), wait, true
		l.View.Journal.Append(rec)
	}
	l.failing.Store(&err)
	if err := t.waitToListen(ctx, wait, outage); err != nil {
		return err
	}
	l.failing.Store(nil)
	t.begun = t.in.clk.Now()
	return nil
}

// waitToListen is the wait of a listener that failed. The missing entity or
// container wakes it when it is made, unless wakeUp is faithful; the end of an
// outage always does.
func (t *turn) waitToListen(ctx context.Context, wait time.Duration, outage bool) error {
	if t.of.View.App().Switches.WakeUp != "fast" && !outage {
		return t.in.clk.Idle(ctx, wait)
	}
	return t.in.process.AwaitMade(ctx, t.in.clk.Now().Add(wait))
}

// listen runs the listener.
func (t *turn) listen() error {
	if t.of.Kind.Singleton {
		return t.listenAlone()
	}
	return t.run(t.ctx)
}

func (t *turn) run(ctx context.Context) error {
	l, err := t.of.Kind.Listen(&t.view)
	if err != nil {
		return err
	}
	return l.Run(ctx, t)
}

// listenAlone runs the listener of a singleton kind while this host has the
// function's lock, again each time that it gets it: among the hosts with one ID,
// one runs the listener (spec host-and-retry 10.5).
func (t *turn) listenAlone() error {
	view := t.of.View
	locks := view.Locks()
	if !locks.Shares() {
		return t.run(t.ctx)
	}
	in, err := t.view.Container()
	if err != nil {
		return err
	}
	name := hostlock.ListenerName(view.App().ID, app.FunctionID(view.Def.Name))
	lease, retry := locks.Listener()
	return locks.New(in, name, &hostlock.Options{Lease: lease, Retry: retry, Notify: t.lockEvent}).Hold(t.ctx, func(ctx context.Context, held *hostlock.Held) error {
		t.view.Held = held
		return t.run(ctx)
	})
}

// lockEvent tells of a lock that was lost.
func (t *turn) lockEvent(e hostlock.Event, err error) {
	if e == hostlock.Lost {
		rec := t.of.View.Record(journal.ListenerLockLost)
		rec.Message, rec.Error = "another host may run it now", err.Error()
		t.of.View.Journal.Append(rec)
	}
}
