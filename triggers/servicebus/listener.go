package servicebus

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Listener watches one queue or subscription, or a sub-queue of one, for one
// function. It implements [triggers.Listener].
//
// When Run's context ends it takes nothing more; messages that come in that
// moment are abandoned. Deliveries in work lose their token unless this is a
// drain; what is done to their messages is not cut short in either case.
type Listener struct {
	clk    clock.Clock
	ns     servicebus.Namespace
	source string
	opts   Options
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener for a source of the namespace, by its path. Nil opts are
// the zero Options.
func New(clk clock.Clock, ns servicebus.Namespace, source string, opts *Options) *Listener {
	return &Listener{clk: clk, ns: ns, source: source, opts: opts.withDefaults()}
}

// Run implements [triggers.Listener]. It fails when the source does not exist, or
// cannot be received from any more, after deliveries in work have ended, unless it may
// begin again beside them.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	tokens, cancel := l.clk.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &run{Listener: l, sink: sink, tokens: tokens, cancelTokens: cancel, all: newLoad(l.clk, nil)}
	var err error
	if l.opts.Sessions {
		err = r.sessions(ctx)
	} else {
		err = r.plain(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return l.failure(err)
	}
	return nil
}

func (l *Listener) failure(err error) error {
	return fmt.Errorf("service bus %q: %w", l.source, err)
}

// run is one Run at work.
type run struct {
	*Listener
	sink         triggers.Sink
	tokens       context.Context // of deliveries
	cancelTokens context.CancelFunc
	all          *load // deliveries in work
}

// plain receives from a source without sessions. The deliveries of a receiver that has
// failed count towards the limits of later receivers.
func (r *run) plain(ctx context.Context) error {
	finishing := clock.NewGroup(r.clk, 0)
	defer finishing.Wait()
	for {
		err := r.receive(ctx, finishing)
		if !r.beginAgain(ctx, err) {
			return err
		}
	}
}

// receive receives until ctx ends or the receiver fails, which is closed when its
// deliveries in work have ended.
func (r *run) receive(ctx context.Context, finishing *clock.Group) error {
	receiver, err := r.ns.Receiver(ctx, r.source, nil)
	if err != nil {
		return err
	}
	p := r.newPump(receiver, nil, r.all)
	err = p.take(ctx, r.opts.MaxConcurrentCalls, messaging.Forever)
	finishing.Go("deliveries in work of "+r.source, func() { p.finish(ctx) })
	return err
}

// beginAgain waits for the next start of a listener that has failed with deliveries in
// work; false: there is none.
func (r *run) beginAgain(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && r.all.now() > 0 && r.sink.BeginAgain(ctx, r.failure(err)) == nil
}
