package durable

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Options of the listeners.
type Options struct {
	// Protocol is how the functions are spoken to: in that of protobuf the input of an
	// activity is JSON with its quotes, and what an orchestrator or entity returns is text.
	Protocol durable.Protocol

	// Aborts reports whether an error leaves nothing of a turn, beside a timeout and a stop
	// of the host: the turn comes again. Nil: none does.
	Aborts func(err error) bool

	// Failed says what a worker has told of a failed call: its message, labels included,
	// and its stack. Nil: the error's text.
	Failed func(err error) (message, stack string)

	// Reported is told that the hub has taken the end of an activity.
	Reported func(a *durable.Activity)
}

// Turns returns the listener of an orchestrator or of an entity. Its sink is a
// triggers.Caller. The hub limits how many turns run at a time.
func Turns(clk clock.Clock, work durable.Work, f durable.Function, opts *Options) triggers.Listener {
	return &turns{clk, work, f, filled(opts)}
}

func filled(opts *Options) Options {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Failed == nil {
		o.Failed = func(err error) (string, string) { return err.Error(), "" }
	}
	if o.Aborts == nil {
		o.Aborts = func(error) bool { return false }
	}
	if o.Reported == nil {
		o.Reported = func(*durable.Activity) {}
	}
	return o
}

type turns struct {
	clk  clock.Clock
	work durable.Work
	of   durable.Function
	opts Options
}

var errNoCaller = errors.New("the sink cannot call a function without a delivery")

// Run implements triggers.Listener. A turn in work ends before it returns.
func (l *turns) Run(ctx context.Context, sink triggers.Sink) error {
	caller, ok := sink.(triggers.Caller)
	if !ok {
		return errNoCaller
	}
	group := clock.NewGroup(l.clk, 0)
	defer group.Wait()
	for {
		t, err := l.work.NextTurn(ctx, l.of)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		group.Go("turn of "+t.Instance, func() { l.run(ctx, caller, t) })
	}
}

// run asks the function for one turn. The hub is told in any case, also when the listener
// is to end: what the worker has answered counts.
func (l *turns) run(ctx context.Context, caller triggers.Caller, t *durable.Turn) {
	res := caller.Call(&triggers.Event{
		Source: t.Hub,
		Messages: []triggers.Message{{
			ID: t.Instance, Value: bindings.StringValue(t.Request),
			Metadata: map[string]any{"instanceId": t.Instance},
		}},
	})
	// An error is the store's. The turn comes again, and nothing of it was written.
	_ = l.work.Finish(context.WithoutCancel(ctx), t, l.reply(res))
}

// reply is what came of a call. A timeout and a stop of the host leave nothing (spec durable
// 5.9); the end of the worker's process is a failure like any other, unless Aborts says else.
func (l *turns) reply(res triggers.Result) durable.Reply {
	switch {
	case res.Err == nil && l.opts.Protocol == durable.Protobuf:
		return durable.Reply{Value: resultOf(res.Returned)}
	case res.Err == nil:
		return durable.Reply{Value: stateOf(res.Returned)}
	case res.Cancelled || timedOut(res.Err) || l.opts.Aborts(res.Err):
		return durable.Reply{Aborted: res.Err}
	}
	message, stack := l.opts.Failed(res.Err)
	return durable.Reply{Failed: true, Message: message, Stack: stack}
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[triggers.Timeout](err)
	return ok && timeout.Timeout()
}
