package servicebus

import (
	"context"
	"errors"
	"fmt"

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

// settle does it.
func (in *intake) settle(ctx context.Context, m *servicebus.Received, held *lock, res triggers.Result) triggers.Settlement {
	decision, asked := in.opts.decide(res)
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
	var err error
	switch decision {
	case triggers.Completed:
		err = in.receiver.Complete(ctx, m)
	case triggers.Deferred:
		err = in.receiver.Defer(ctx, m, nil)
	case triggers.DeadLettered:
		err = in.receiver.DeadLetter(ctx, m, res.Asked.Reason, res.Asked.Description, nil)
		if errors.Is(err, messaging.ErrNotAllowed) {
			s.Decision, s.Note = triggers.Abandoned, NoteNotFromSubQueue
			err = in.receiver.Abandon(ctx, m, nil)
		}
	default:
		err = in.receiver.Abandon(ctx, m, nil)
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

// settleAll settles the messages of a batch, one by one, and sums up.
func (in *intake) settleAll(ctx context.Context, batch []*servicebus.Received, res triggers.Result) triggers.Settlement {
	var sum triggers.Settlement
	lost := 0
	for _, m := range batch {
		s := in.settle(ctx, m, nil, res)
		switch {
		case s.Decision == triggers.LockLost:
			lost++
		case sum.Decision == "" || sum.Err == nil && s.Err != nil:
			sum = s
		}
	}
	switch {
	case lost == len(batch):
		return triggers.Settlement{Decision: triggers.LockLost, Note: NoteLockLost}
	case lost > 0:
		sum.Note = fmt.Sprintf("%d of %d locks had ended", lost, len(batch))
	}
	return sum
}
