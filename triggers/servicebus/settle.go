package servicebus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
)

// Notes of settlements.
const (
	// NoteUnsettled: autoCompleteMessages is off and the handler asked for nothing.
	NoteUnsettled = "autoCompleteMessages is off and the handler asked for no settlement: the message comes back when its lock ends"
	// NoteLockLost: the lock ended before the message was settled.
	NoteLockLost = "the lock had ended: the message is delivered again, or has been already"
	// NoteNotFromSubQueue: there is nowhere to move a message of a sub-queue.
	NoteNotFromSubQueue = "a message of a dead-letter queue cannot be dead-lettered: abandoned"
	// NoteLate: the message was received while the listener was being stopped, and is
	// abandoned without a run.
	NoteLate = "received too late: the listener was being stopped"
	// NoteAsked: the handler asked for this settlement.
	NoteAsked = "asked for by the handler"
	// NoteSettled: the handler settled the message itself.
	NoteSettled = "settled by the handler while it ran"
	// NoteSettledThenFailed: it did, and that is how the message stays.
	NoteSettledThenFailed = NoteSettled + ", before it failed"
	// NoteReleased: the message was received while the handler gave the session free, and
	// is released with it.
	NoteReleased = "received too late: the handler had released the session"
)

// decide says what becomes of a message after its delivery (spec messaging 2.3).
// A failure abandons the message at every value of autoCompleteMessages, unless
// the handler asked for another end. The empty decision leaves the message
// alone.
func (o *Options) decide(res triggers.Result) (d triggers.Decision, asked bool) {
	switch res.Asked.Decision {
	case triggers.Completed, triggers.Abandoned, triggers.Deferred, triggers.DeadLettered:
		return res.Asked.Decision, true
	}
	switch {
	case res.Err != nil:
		return triggers.Abandoned, false
	case o.LeaveUnsettled:
		return "", false
	}
	return triggers.Completed, false
}

// settle does it. What the handler settled itself is left as it is.
func (p *pump) settle(ctx context.Context, m *servicebus.Received, held *lock, own *actions, res triggers.Result) triggers.Settlement {
	if decision := own.settled(m); decision != "" {
		s := triggers.Settlement{Decision: decision, Note: NoteSettled}
		if res.Err != nil {
			s.Note = NoteSettledThenFailed
		}
		return s
	}
	decision, asked := p.opts.decide(res)
	s := triggers.Settlement{Decision: decision}
	if asked {
		s.Note = NoteAsked
	}
	if decision == "" {
		return triggers.Settlement{Decision: triggers.Dropped, Note: NoteUnsettled}
	}
	if held != nil && held.isKnownLost() && decision == triggers.Abandoned {
		return triggers.Settlement{Decision: triggers.LockLost, Note: NoteLockLost} // nothing is tried
	}
	how := &bindings.Disposition{Reason: res.Asked.Reason, Description: res.Asked.Description}
	err := p.carryOut(ctx, m, decision, how)
	if decision == triggers.DeadLettered && errors.Is(err, messaging.ErrNotAllowed) {
		s.Decision, s.Note = triggers.Abandoned, NoteNotFromSubQueue
		err = p.carryOut(ctx, m, triggers.Abandoned, how)
	}
	switch {
	case err == nil:
		return s
	case isLost(err):
		return triggers.Settlement{Decision: triggers.LockLost, Note: NoteLockLost}
	}
	s.Err = fmt.Errorf("settle (%s): %w", s.Decision, err)
	return s
}

// carryOut has the service settle a message.
func (p *pump) carryOut(ctx context.Context, m *servicebus.Received, decision triggers.Decision, how *bindings.Disposition) error {
	switch decision {
	case triggers.Completed:
		return p.receiver.Complete(ctx, m)
	case triggers.Deferred:
		return p.receiver.Defer(ctx, m, how.Properties)
	case triggers.DeadLettered:
		return p.receiver.DeadLetter(ctx, m, how.Reason, how.Description, how.Properties)
	}
	return p.receiver.Abandon(ctx, m, how.Properties)
}

// settleAll settles the messages of a batch, one by one, and sums up: what the host did
// counts before what the handler did.
func (p *pump) settleAll(ctx context.Context, ev *triggers.Event, batch []*servicebus.Received, own *actions, res triggers.Result) triggers.Settlement {
	var sum, byHandler triggers.Settlement
	lost, settled := 0, 0
	for i, m := range batch {
		handled := own.settled(m) != ""
		s := p.settle(ctx, m, nil, own, res)
		ev.Messages[i].Decision = s.Decision
		switch {
		case handled:
			if settled++; settled == 1 {
				byHandler = s
			}
		case s.Decision == triggers.LockLost:
			lost++
		case sum.Decision == "" || sum.Err == nil && s.Err != nil:
			sum = s
		}
	}
	switch {
	case settled == len(batch):
		return byHandler
	case lost == len(batch)-settled:
		sum = triggers.Settlement{Decision: triggers.LockLost, Note: NoteLockLost}
	case lost > 0:
		sum.Note = fmt.Sprintf("%d of %d locks had ended", lost, len(batch))
	}
	if settled > 0 {
		sum.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d of %d messages %s", sum.Note, settled, len(batch), byHandler.Note), "; ")
	}
	return sum
}
