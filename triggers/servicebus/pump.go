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

// A pump takes the messages of one receiver, of the entity or of a session, and has each
// delivered. All listeners call so what takes from one place and delivers.
type pump struct {
	*run
	receiver servicebus.Receiver
	session  *lock // of a session; nil without
	work     *clock.Group
	load     *load // what the limit of deliveries in work counts

	release  func() // of the session: see bindings.Actions; nil without
	released atomic.Bool

	outage outage // belongs to take
}

func (r *run) newPump(receiver servicebus.Receiver, session *lock, limited *load) *pump {
	return &pump{run: r, receiver: receiver, session: session, work: clock.NewGroup(r.clk, 0), load: limited}
}

// take dispatches until ctx ends, the receiver fails, or nothing has come for the
// idle time. Up to n single messages are in work at once; of batches there is one.
func (p *pump) take(ctx context.Context, n int, idle time.Duration) error {
	if p.opts.Batch {
		return p.batches(ctx, idle)
	}
	return p.messages(ctx, n, idle)
}

// finish waits until every delivery is settled, and closes the receiver; a
// session's lock is kept until then. When ctx ends meanwhile, deliveries lose
// their token unless this is a drain.
func (p *pump) finish(ctx context.Context) {
	if p.work.Below(ctx, 1) != nil && !p.sink.Draining() {
		p.cancelTokens()
	}
	p.work.Wait()
	if p.session != nil {
		p.session.stop()
	}
	_ = p.receiver.Close(context.WithoutCancel(ctx)) // there is nothing left to lose
}

// messages is take for single messages.
func (p *pump) messages(ctx context.Context, n int, idle time.Duration) error {
	for {
		if err := p.load.below(ctx, n); err != nil {
			return nil
		}
		admitted, err := p.sink.Gate().Admit(ctx, n-p.load.now())
		if err != nil {
			return unlessEnded(ctx, err)
		}
		waiting, release := p.sink.Gate().WhileAdmitted(ctx)
		batch, err := p.receiver.Receive(waiting, admitted, idle)
		refused := waiting.Err() != nil
		release()
		p.sink.Gate().Unused(admitted - len(batch))
		if ctx.Err() != nil {
			for _, m := range batch {
				p.handBack(ctx, p.eventOf(m), m)
			}
			return nil
		}
		switch {
		case refused && len(batch) == 0 && (err == nil || errors.Is(err, context.Canceled)):
			continue // until the function takes deliveries again
		case p.goesOn(ctx, err):
			continue
		case err != nil:
			return unlessEnded(ctx, err)
		case len(batch) == 0 && idle < 0:
			return errEarly
		case len(batch) == 0 && p.load.now() == 0:
			return nil // idle
		}
		for _, m := range batch {
			p.start("message of "+p.source, func() { p.deliver(m) })
		}
	}
}

// errEarly: a Receive that was to wait until its context ends has not.
var errEarly = errors.New("the service has ended a wait without an end")

// goesOn waits while the service cannot be reached; true: it is to be asked again. A
// session's lock belongs to its link, so that another one is accepted instead.
func (p *pump) goesOn(ctx context.Context, err error) bool {
	return p.session == nil && p.outage.wait(ctx, p.run, err)
}

// start runs a delivery.
func (p *pump) start(name string, deliver func()) {
	p.load.add(1)
	p.work.Go(name, func() {
		defer p.load.add(-1)
		deliver()
	})
}

// handBack gives back what came at the moment of the stop (spec messaging 2.3, last
// row). It may come too late for that: then the locks run out.
func (p *pump) handBack(ctx context.Context, ev *triggers.Event, messages ...*servicebus.Received) {
	p.sink.Skip(ev)
	if p.released.Load() {
		p.sink.Settled(ev, triggers.Settlement{Decision: triggers.Dropped, Note: NoteReleased}) // finish releases it
		return
	}
	s := p.settleAll(context.WithoutCancel(ctx), ev, messages, nil, triggers.Result{Err: errLate})
	if s.Decision == triggers.Abandoned && s.Note == "" {
		s.Note = NoteLate
	}
	p.sink.Settled(ev, s)
}

// errLate abandons a message.
var errLate = errors.New(NoteLate)

// eventOf is the delivery of one message.
func (p *pump) eventOf(m *servicebus.Received) *triggers.Event {
	return &triggers.Event{
		Source:        p.receiver.Source(),
		DeliveryCount: m.DeliveryNumber(),
		Messages:      []triggers.Message{p.opts.messageOf(m, p.sessionActions())},
		Details:       p.details(m),
	}
}

// deliver runs one message through the function and settles it.
func (p *pump) deliver(m *servicebus.Received) {
	ctx := context.WithoutCancel(p.tokens)
	ev := p.eventOf(m)
	held := p.session
	if held == nil {
		held = p.lockOf(ctx, m)
	}
	var renewal *lock
	if p.session == nil {
		renewal = held
	}
	own := p.actionsOn(ctx, renewal, m)
	ev.Actions = own
	res := p.sink.Handle(p.tokens, ev)
	own.end()
	if p.session == nil {
		held.stop()
	}
	p.sink.Settled(ev, p.settle(ctx, m, held, own, res))
}

// unlessEnded turns the end of ctx into a normal return.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
