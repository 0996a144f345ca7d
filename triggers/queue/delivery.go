package queue

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/triggers"
)

// Notes of settlements.
const (
	// NoteUndecodable goes with every body that is not base64: the usual trap,
	// since most clients send plain text by default (spec storage 4.3).
	NoteUndecodable = "the body is not base64: set extensions.queues.messageEncoding to none, or have the sender encode its messages"
	// NoteNotOurs: another receiver took or removed the message before it could be
	// deleted or released.
	NoteNotOurs = "the message was no longer ours: its lock had ended, or it was deleted"
	// NoteNoPoisonQueue: a failed message stays hidden until its lock ends and
	// comes again, until it expires.
	NoteNoPoisonQueue = "this queue has no poison queue: the message comes back when its lock ends"
	// NoteLate: the message was received while the listener was being stopped, and is
	// handed back without a run.
	NoteLate = "received too late: the listener was being stopped"
	// NoteNotBegun: the message was received, the function took no deliveries, and the
	// listener was stopped. It is added anew, and its count begins again.
	NoteNotBegun = "the function took no deliveries until the listener was stopped: added anew"
	// NoteAsked: the handler asked for poison before the last delivery.
	NoteAsked = "the handler asked for the poison queue"
	// NoteUndecodableDropped: the body cannot be decoded, and the message is deleted.
	NoteUndecodableDropped = "the body is not base64: deleted"
)

// delivery is one message in work.
type delivery struct {
	l    *Listener
	ctx  context.Context // is not cancelled: what is done to a message is done
	m    *queue.Message
	body []byte
	lock *lock

	poisonAccount queue.Account
	poison        string // empty: there is no poison queue
}

// deliver runs a message through the table of spec storage 4.1 and reports one
// settlement. The rows stand in its order. A message becomes poison when the function
// fails on delivery MaxDequeueCount (5 by default), or when it is received later still.
func (l *Listener) deliver(token context.Context, sink triggers.Sink, m *queue.Message) {
	ctx := context.WithoutCancel(token)
	d := &delivery{l: l, ctx: ctx, m: m, lock: newLock(l.clk, l.queue, ctx, m, l.opts.Renewed), poisonAccount: l.account, poison: l.poison}
	ev, body, err := l.eventOf(m)
	if err != nil {
		sink.Skip(ev)
		sink.Settled(ev, d.undecodable(err))
		return
	}
	d.body = body
	if l.opts.Poison != nil {
		d.poisonAccount, d.poison = l.opts.Poison(body)
	}
	limit := int64(l.opts.MaxDequeueCount)
	hasPoison := d.poison != ""
	if hasPoison && m.DequeueCount > limit {
		sink.Skip(ev)
		sink.Settled(ev, d.toPoison(d.reachedLimit(), nil))
		return
	}
	d.lock.renewRegularly()
	res := sink.Handle(token, ev)
	switch {
	case res.Err == nil:
		sink.Settled(ev, d.done())
	case res.Cancelled && res.Attempts == 0:
		sink.Settled(ev, d.anew())
	case !hasPoison:
		d.lock.stop()
		sink.Settled(ev, triggers.Settlement{Decision: triggers.Dropped, Note: NoteNoPoisonQueue})
	case res.Asked.Decision == triggers.Poisoned && m.DequeueCount < limit:
		sink.Settled(ev, d.toPoison(NoteAsked, res.Err))
	case m.DequeueCount >= limit:
		sink.Settled(ev, d.toPoison(d.reachedLimit(), res.Err))
	default:
		sink.Settled(ev, d.release())
	}
}

// eventOf is the delivery of a message, and its decoded body. The error means that
// a message does not have the encoding; then the event has only the ID.
func (l *Listener) eventOf(m *queue.Message) (ev *triggers.Event, body []byte, err error) {
	now := l.clk.Now()
	ev = &triggers.Event{
		Source:        l.queue.Name(),
		DeliveryCount: m.DequeueCount,
		Messages:      []triggers.Message{{ID: m.ID}},
		Details:       []triggers.Detail{TimeDetail("InsertedOn", insertedOf(m, now))},
	}
	if body, err = l.opts.MessageEncoding.Decode(m.Text); err == nil {
		members := !l.opts.TextMembers || !l.opts.Deferred && !triggers.IsBinary(l.opts.DataType)
		ev.Messages[0] = messageOf(m, body, l.opts.DataType, members, now)
		if l.opts.Deferred {
			ev.Messages[0].Value, ev.Messages[0].Err = Model(m, body), nil
		}
	}
	return ev, body, err
}

// reachedLimit has the platform's text.
func (d *delivery) reachedLimit() string {
	return fmt.Sprintf("Message has reached MaxDequeueCount of %d. Moving message to queue '%s'.", d.l.opts.MaxDequeueCount, d.poison)
}

// done deletes the message of a successful delivery.
func (d *delivery) done() triggers.Settlement {
	note, err := d.delete()
	return triggers.Settlement{Decision: triggers.Deleted, Err: err, Note: note}
}

// release makes the message visible again.
func (d *delivery) release() triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.Released}
	receipt := d.lock.stop()
	_, err := d.l.queue.Update(d.ctx, d.m.ID, receipt, &d.m.Text, d.l.opts.VisibilityTimeout)
	switch {
	case err == nil:
		d.l.expect(d.l.clk.Now().Add(d.l.opts.VisibilityTimeout))
	case gone(err):
		s.Note = NoteNotOurs
	default:
		s.Err = fmt.Errorf("release: %w", err)
	}
	return s
}

// anew puts another message in the place of one with which nothing was tried. Its
// receipt counts for nothing, and enough of them would make it poison.
func (d *delivery) anew() triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.Released, Note: NoteNotBegun}
	if _, err := queue.PutOrCreate(d.ctx, d.l.queue, d.m.Text, nil); err != nil {
		return d.release()
	}
	_, s.Err = d.delete()
	d.l.expect(d.l.clk.Now())
	return s
}

// handBack makes a message visible again that came when nothing was to be taken any more:
// it would be hidden until its lock ends. Its delivery counts, as every receipt does.
func (l *Listener) handBack(token context.Context, sink triggers.Sink, m *queue.Message) {
	ev, _, _ := l.eventOf(m) // whose body may be anything
	sink.Skip(ev)
	s := triggers.Settlement{Decision: triggers.Released, Note: NoteLate}
	_, err := l.queue.Update(context.WithoutCancel(token), m.ID, m.PopReceipt, &m.Text, 0)
	switch {
	case err == nil:
		l.expect(l.clk.Now())
	case gone(err):
		s.Note = NoteNotOurs
	default:
		s.Err = fmt.Errorf("release: %w", err)
	}
	sink.Settled(ev, s)
}

// undecodable moves a message that is not what the encoding says, character by
// character as it came (S-4).
func (d *delivery) undecodable(failure error) triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.Undecodable, Note: NoteUndecodable}
	if d.l.opts.DropUndecodable {
		_, s.Err = d.delete()
		s.Note = NoteUndecodableDropped
		return s
	}
	if d.poison == "" {
		return s
	}
	s.Target, s.Failure = d.poison, failure
	if s.Copy, s.Err = d.copyToPoison(d.m.Text); s.Err != nil {
		return s
	}
	_, s.Err = d.delete()
	return s
}

// toPoison moves the message to the poison queue. The failure that brought it
// there is nil where the function did not run.
func (d *delivery) toPoison(note string, failure error) triggers.Settlement {
	s := triggers.Settlement{Decision: triggers.Poisoned, Target: d.poison, Note: note, Failure: failure}
	d.lock.stop()
	if s.Copy, s.Err = d.copyToPoison(d.l.opts.MessageEncoding.Encode(d.body)); s.Err != nil {
		s.Decision = triggers.Dropped
		return s
	}
	_, s.Err = d.delete()
	return s
}

// copyToPoison adds the message to the poison queue, makes that queue if need
// be, and wakes a listener on it. When it fails the message is left alone: it
// comes again when its lock ends, one delivery later. id is the copy's.
func (d *delivery) copyToPoison(text string) (id string, err error) {
	m, err := queue.PutOrCreate(d.ctx, d.poisonAccount.Queue(d.poison), text, nil)
	if err != nil {
		return "", fmt.Errorf("copy to the poison queue: %w", err)
	}
	if d.l.opts.Watcher != nil {
		d.l.opts.Watcher.Notify(d.poison)
	}
	return m.ID, nil
}

// delete removes the message with its newest receipt. When the message is no longer
// the listener's, the result is a note and not an error.
func (d *delivery) delete() (note string, err error) {
	err = d.l.queue.Delete(d.ctx, d.m.ID, d.lock.stop())
	switch {
	case err == nil:
		return "", nil
	case gone(err):
		return NoteNotOurs, nil
	}
	return "", fmt.Errorf("delete: %w", err)
}
