package timer

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Options are what else a timer's binding says. The zero Options, like nil, are
// a monitored timer in UTC whose status lives as long as its listener.
type Options struct {
	// Location is the time zone of the schedule and of the times in the payload.
	// Default: UTC. See the function Location.
	Location *time.Location

	// Store keeps the status. Default: a new [Memory].
	Store StatusStore

	// RunOnStartup makes each start of the listener begin with a run, unless
	// that start finds a missed tick, whose run takes its place.
	RunOnStartup bool

	// Unmonitored is useMonitor: false. The status is neither read nor written nor
	// shown to the function. Schedules that tick more often than once a minute
	// are never monitored (see [Schedule.Frequent]).
	Unmonitored bool

	// Sure is asked before each run: it returns once the timer is this listener's
	// beyond doubt, or fails when it is not, or with the context's error. Default: it
	// is.
	Sure func(ctx context.Context) error
}

// Listener runs a function at the ticks of a schedule. It implements
// [triggers.Listener].
//
// Ticks never overlap: the next is computed when the attempts of the last have
// come to their end, success or failure, and from the time at which it began.
// So if they took longer than to the next tick, one run follows at once and the
// ticks between are gone. When Run's context ends in the middle of a tick, its
// retry loop ends too, in a drain as in any other stop, and the tick is lost: it
// counts as done. Only when the state was replaced the attempts go on.
type Listener struct {
	clk       clock.Clock
	schedule  Schedule
	opts      Options
	monitored bool

	status Status // belongs to Run
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener for a schedule; nil opts are the zero Options. A
// listener is run once.
func New(clk clock.Clock, s Schedule, opts *Options) *Listener {
	l := &Listener{clk: clk, schedule: s}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Location == nil {
		l.opts.Location = time.UTC
	}
	if l.opts.Store == nil {
		l.opts.Store = new(Memory)
	}
	l.monitored = !l.opts.Unmonitored && !s.Frequent()
	return l
}

// startup says whether a run was brought about by the start of the listener, and
// by what.
type startup uint8

const (
	regular startup = iota
	pastDue
	onStartup
)

// Run implements [triggers.Listener]. It fails only when the stored status cannot
// be read, or the first one not be written; after that, errors of the store are
// reported with the settlement of the tick, and nothing else follows from them.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	why, err := l.start(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if why != regular {
		l.tick(ctx, sink, why)
	}
	for l.wait(ctx) {
		l.tick(ctx, sink, regular)
	}
	return nil
}

// start brings the status up to date and says whether a run is due at once.
func (l *Listener) start(ctx context.Context) (startup, error) {
	now := l.now()
	l.status = Status{Next: l.schedule.Next(now, l.opts.Location)}
	missed := false
	if l.monitored {
		stored, err := l.opts.Store.Status(ctx)
		if err != nil {
			return regular, fmt.Errorf("read schedule status: %w", err)
		}
		var status Status
		var write bool
		status, write, missed = check(l.schedule, stored, now)
		if write {
			if err := l.opts.Store.SetStatus(ctx, status); err != nil {
				return regular, fmt.Errorf("write schedule status: %w", err)
			}
		}
		if stored != nil {
			// The first tick ever shows no LastUpdated, though it was written
			// (exttimer: TimerListener.cs, StartAsync).
			l.status = status
		}
	}
	switch {
	case missed:
		return pastDue, nil
	case l.opts.RunOnStartup:
		return onStartup, nil
	}
	return regular, nil
}

// maxWait is the longest wait at a stretch; the platform's timers count their
// milliseconds in 32 bits (exttimer: TimerListener.cs, MaxTimerInterval).
const maxWait = 24 * 24 * time.Hour

// wait waits for the tick that is due and reports false when ctx ends first. An
// overdue tick comes as soon as all ready goroutines have had their turn.
func (l *Listener) wait(ctx context.Context) bool {
	for ctx.Err() == nil {
		left := l.status.Next.Sub(l.clk.Now())
		if err := l.clk.Idle(ctx, min(max(left, 0), maxWait)); err != nil {
			return false
		}
		if left <= maxWait {
			return ctx.Err() == nil
		}
	}
	return false
}

// tick runs the function once, all attempts included, and advances the status.
func (l *Listener) tick(ctx context.Context, sink triggers.Sink, why startup) {
	if ctx.Err() != nil || l.opts.Sure != nil && l.opts.Sure(ctx) != nil {
		return
	}
	_, admitted := sink.Gate().Try()
	begun := l.now()
	ev := l.event(begun, why == pastDue)
	settlement := triggers.Settlement{Decision: triggers.Recorded}
	if !admitted {
		settlement.Note = "skipped: circuit open"
	} else if res := l.handle(ctx, sink, ev); res.Cancelled {
		settlement.Note = "tick lost: stopped in its retry loop"
	}
	settlement.Err = l.advance(ctx, begun, why)
	sink.Settled(ev, settlement)
}

// handle runs the function. Its token ends with ctx, unless the state was replaced.
func (l *Listener) handle(ctx context.Context, sink triggers.Sink, ev *triggers.Event) (res triggers.Result) {
	token, cancel := l.clk.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	work := clock.NewGroup(l.clk, 0)
	work.Go("tick of "+ev.Source, func() { res = sink.Handle(token, ev) })
	if work.Below(ctx, 1) != nil && !sink.Replaced() {
		cancel()
	}
	work.Wait()
	return res
}

// advance moves the status past a tick and stores it, also after ctx has ended.
// A wait that ended early (a clock that was set) counts from the tick that it
// stood for; else that tick would come twice.
func (l *Listener) advance(ctx context.Context, begun time.Time, why startup) error {
	last := begun
	if why == regular {
		last = later(last, l.status.Next)
	}
	l.status = Status{Last: last, Next: l.schedule.Next(last, l.opts.Location), LastUpdated: last}
	if !l.monitored {
		return nil
	}
	if err := l.opts.Store.SetStatus(context.WithoutCancel(ctx), l.status); err != nil {
		return fmt.Errorf("write schedule status: %w", err)
	}
	return nil
}

// event makes the delivery of one tick. Its payload is made here, once, so that
// all attempts see the same.
func (l *Listener) event(now time.Time, pastDue bool) *triggers.Event {
	var status *Status
	if l.monitored {
		status = &l.status
	}
	return &triggers.Event{
		Source: l.schedule.String(),
		Messages: []triggers.Message{{
			Value:    Info(l.schedule, status, pastDue),
			Metadata: Metadata(now),
		}},
	}
}

// Metadata is the platform's binding data: the time, as text (exttimer:
// TimerTriggerBinding.cs).
func Metadata(now time.Time) map[string]any {
	return map[string]any{"TimerTrigger": now.Format("01/02/2006 15:04:05")}
}

// now is the time in the schedule's zone and the platform's unit.
func (l *Listener) now() time.Time { return l.clk.Now().Truncate(tick).In(l.opts.Location) }
