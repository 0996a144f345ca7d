package durable

import (
	"context"
	"strconv"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// NoteStopped is the note of an activity that the stop of the host has cut short. It comes
// again.
const NoteStopped = "stopped before its end: the activity comes again"

// Activities returns the listener of an activity, whose value goes to the binding of that
// name. The hub limits how many activities run at a time.
func Activities(clk clock.Clock, work durable.Work, name, binding string, opts *Options) triggers.Listener {
	return &activities{clk, work, name, binding, filled(opts)}
}

type activities struct {
	clk           clock.Clock
	work          durable.Work
	name, binding string
	opts          Options
}

// Run implements triggers.Listener. While the function's circuit breaker is open, activities
// stay with the hub.
func (l *activities) Run(ctx context.Context, sink triggers.Sink) error {
	token, end := l.clk.WithCancel(context.Background())
	defer end()
	group := clock.NewGroup(l.clk, 0)
	defer group.Wait()
	// A drain leaves deliveries their retry waits.
	defer func() {
		if !sink.Draining() {
			end()
		}
	}()
	for {
		a, err := l.next(ctx, sink.Gate())
		switch {
		case ctx.Err() != nil && a == nil:
			return nil
		case err != nil:
			return err
		case a != nil:
			group.Go("activity "+a.Name, func() { l.deliver(token, sink, a) })
		}
	}
}

// next waits for an activity. It returns nil, and no error, when the wait was cut short by
// the gate.
func (l *activities) next(ctx context.Context, gate triggers.Gate) (*durable.Activity, error) {
	if _, err := gate.Admit(ctx, 1); err != nil {
		return nil, err
	}
	waiting, release := gate.WhileAdmitted(ctx)
	defer release()
	a, err := l.work.NextActivity(waiting, l.name)
	if err == nil {
		return a, nil
	}
	gate.Unused(1)
	if waiting.Err() != nil {
		return nil, nil // another look, or the listener's end
	}
	return nil, err
}

// deliver runs an activity with all its attempts, and gives its end to its instance.
func (l *activities) deliver(token context.Context, sink triggers.Sink, a *durable.Activity) {
	ev := &triggers.Event{
		Source: a.Hub + "/" + a.Instance, DeliveryCount: a.Delivery,
		Messages: []triggers.Message{l.message(a)},
	}
	res := sink.Handle(token, ev)
	reply, s := l.reply(res)
	if s.Err = l.work.Report(context.WithoutCancel(token), a, reply); s.Err == nil && reply.Aborted == nil {
		l.opts.Reported(a)
	}
	sink.Settled(ev, s)
}

// reply is what came of a delivery. A timeout is a failure like any other; only a stop of
// the host gives the activity back (spec durable 6.3).
func (l *activities) reply(res triggers.Result) (durable.Reply, triggers.Settlement) {
	switch {
	case res.Err == nil:
		return durable.Reply{Value: resultOf(res.Returned)}, triggers.Settlement{Decision: triggers.Reported}
	case res.Cancelled:
		return durable.Reply{Aborted: res.Err}, triggers.Settlement{Decision: triggers.Released, Note: NoteStopped}
	}
	message, stack := l.opts.Failed(res.Err)
	return durable.Reply{Failed: true, Message: message, Stack: stack}, triggers.Settlement{Decision: triggers.Reported}
}

// message is the value and the metadata of an activity.
func (l *activities) message(a *durable.Activity) triggers.Message {
	m := triggers.Message{ID: a.Instance + "#" + strconv.Itoa(a.Number), Metadata: map[string]any{}}
	m.Value = given(l.opts.Protocol, a.Input)
	describe(m.Metadata, a, l.binding, m.Value)
	return m
}
