package servicebus

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// An intake dispatches the messages of one receiver, of the entity or of a session.
type intake struct {
	*run
	receiver servicebus.Receiver
	session  *lock // of a session; nil without
	work     *clock.Group
	load     *load // what the limit of deliveries in work counts

	release  func() // of the session: see bindings.Actions; nil without
	released atomic.Bool

	outage outage // belongs to take
}

func (r *run) newIntake(receiver servicebus.Receiver, session *lock, limited *load) *intake {
	return &intake{run: r, receiver: receiver, session: session, work: clock.NewGroup(r.clk, 0), load: limited}
}

// take dispatches until ctx ends, the receiver fails, or nothing has come for the
// idle time. Up to n single messages are in work at once; of batches there is one.
func (in *intake) take(ctx context.Context, n int, idle time.Duration) error {
	if in.opts.Batch {
		return in.batches(ctx, idle)
	}
	return in.messages(ctx, n, idle)
}

// finish waits until every delivery is settled, and closes the receiver; a
// session's lock is kept until then. When ctx ends meanwhile, deliveries lose
// their token unless this is a drain.
func (in *intake) finish(ctx context.Context) {
	if in.work.Below(ctx, 1) != nil && !in.sink.Draining() {
		in.cancelTokens()
	}
	in.work.Wait()
	if in.session != nil {
		in.session.stop()
	}
	_ = in.receiver.Close(context.WithoutCancel(ctx)) // there is nothing left to lose
}

// messages is take for single messages.
func (in *intake) messages(ctx context.Context, n int, idle time.Duration) error {
	for {
		if err := in.load.below(ctx, n); err != nil {
			return nil
		}
		admitted, err := in.sink.Gate().Admit(ctx, n-in.load.now())
		if err != nil {
			return unlessEnded(ctx, err)
		}
		waiting, release := in.sink.Gate().WhileAdmitted(ctx)
		batch, err := in.receiver.Receive(waiting, admitted, idle)
		refused := waiting.Err() != nil
		release()
		in.sink.Gate().Unused(admitted - len(batch))
		if ctx.Err() != nil {
			for _, m := range batch {
				in.handBack(ctx, in.eventOf(m), m)
			}
			return nil
		}
		switch {
		case refused && len(batch) == 0 && (err == nil || errors.Is(err, context.Canceled)):
			continue // until the function takes deliveries again
		case in.goesOn(ctx, err):
			continue
		case err != nil:
			return unlessEnded(ctx, err)
		case len(batch) == 0 && idle < 0:
			return errEarly
		case len(batch) == 0 && in.load.now() == 0:
			return nil // idle
		}
		for _, m := range batch {
			in.start("message of "+in.source, func() { in.deliver(m) })
		}
	}
}

// errEarly: a Receive that was to wait until its context ends has not.
var errEarly = errors.New("the service has ended a wait without an end")

// goesOn waits while the service cannot be reached; true: it is to be asked again. A
// session's lock belongs to its link, so that another one is accepted instead.
func (in *intake) goesOn(ctx context.Context, err error) bool {
	return in.session == nil && in.outage.wait(ctx, in.run, err)
}

// start runs a delivery.
func (in *intake) start(name string, deliver func()) {
	in.load.add(1)
	in.work.Go(name, func() {
		defer in.load.add(-1)
		deliver()
	})
}

// handBack gives back what came at the moment of the stop (spec messaging 2.3, last
// row). It may come too late for that: then the locks run out.
func (in *intake) handBack(ctx context.Context, ev *triggers.Event, messages ...*servicebus.Received) {
	in.sink.Skip(ev)
	if in.released.Load() {
		in.sink.Settled(ev, triggers.Settlement{Decision: triggers.Dropped, Note: NoteReleased}) // finish releases it
		return
	}
	s := in.settleAll(context.WithoutCancel(ctx), ev, messages, nil, triggers.Result{Err: errLate})
	if s.Decision == triggers.Abandoned && s.Note == "" {
		s.Note = NoteLate
	}
	in.sink.Settled(ev, s)
}

// errLate abandons a message.
var errLate = errors.New(NoteLate)

// eventOf is the delivery of one message.
func (in *intake) eventOf(m *servicebus.Received) *triggers.Event {
	return &triggers.Event{
		Source:        in.receiver.Source(),
		DeliveryCount: m.DeliveryNumber(),
		Messages:      []triggers.Message{in.opts.messageOf(m, in.sessionActions())},
		Details:       in.details(m),
	}
}

// deliver runs one message through the function and settles it.
func (in *intake) deliver(m *servicebus.Received) {
	ctx := context.WithoutCancel(in.tokens)
	ev := in.eventOf(m)
	held := in.session
	if held == nil {
		held = in.lockOf(ctx, m)
	}
	var renewal *lock
	if in.session == nil {
		renewal = held
	}
	own := in.actionsOn(ctx, renewal, m)
	ev.Actions = own
	res := in.sink.Handle(in.tokens, ev)
	own.end()
	if in.session == nil {
		held.stop()
	}
	in.sink.Settled(ev, in.settle(ctx, m, held, own, res))
}

// unlessEnded turns the end of ctx into a normal return.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
