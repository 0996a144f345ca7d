package servicebus

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
)

// batches is take for batches: one after the other, because a batch is received
// when the last has been settled. Their locks are not renewed (spec messaging
// 2.4).
func (in *intake) batches(ctx context.Context, idle time.Duration) error {
	for {
		if err := in.load.below(ctx, 1); err != nil {
			return nil
		}
		admitted, err := in.sink.Gate().Admit(ctx, 1)
		if err != nil {
			return unlessEnded(ctx, err)
		}
		waiting, release := in.sink.Gate().WhileAdmitted(ctx)
		batch, err := in.collect(waiting, idle)
		refused := waiting.Err() != nil
		release()
		if ctx.Err() != nil || err != nil || len(batch) == 0 {
			if len(batch) > 0 {
				in.handBack(ctx, in.eventOfBatch(batch), batch...)
			} else {
				in.sink.Gate().Unused(admitted)
			}
			switch {
			case ctx.Err() != nil:
				return nil
			case refused && (err == nil || errors.Is(err, context.Canceled)):
				continue // until the function takes deliveries again
			case in.goesOn(ctx, err):
				continue
			case err == nil && idle < 0:
				return errEarly
			}
			return unlessEnded(ctx, err) // nil: idle
		}
		in.start("batch of "+in.source, func() { in.deliverBatch(batch) })
	}
}

// collect waits for a batch: the first messages, and if they are fewer than the
// minimum, more of them for no longer than the wait allows.
func (in *intake) collect(ctx context.Context, idle time.Duration) ([]*servicebus.Received, error) {
	batch, err := in.receiver.Receive(ctx, in.opts.MaxMessageBatchSize, idle)
	if err != nil || len(batch) == 0 {
		return nil, err
	}
	minimum := min(in.opts.MinMessageBatchSize, in.opts.MaxMessageBatchSize)
	for until := in.clk.Now().Add(in.opts.MaxBatchWait); len(batch) < minimum; {
		left := until.Sub(in.clk.Now())
		if left <= 0 {
			break
		}
		more, err := in.receiver.Receive(ctx, in.opts.MaxMessageBatchSize-len(batch), left)
		switch {
		case errors.Is(err, messaging.ErrSessionLockLost):
			return batch, err // the locks are gone with the session's
		case err != nil:
			return batch, nil // the messages that came are run; the next receive says why
		case len(more) == 0:
			return batch, nil
		}
		batch = append(batch, more...)
	}
	return batch, nil
}

// eventOfBatch is the delivery of a batch.
func (in *intake) eventOfBatch(batch []*servicebus.Received) *triggers.Event {
	return &triggers.Event{
		Source:        in.receiver.Source(),
		DeliveryCount: batch[0].DeliveryNumber(),
		Messages:      in.opts.batchOf(batch, in.sessionActions()),
		Batch:         true,
	}
}

// deliverBatch runs a batch through the function and settles its messages.
func (in *intake) deliverBatch(batch []*servicebus.Received) {
	ctx := context.WithoutCancel(in.tokens)
	ev := in.eventOfBatch(batch)
	own := in.actionsOn(ctx, nil, batch...)
	ev.Actions = own
	res := in.sink.Handle(in.tokens, ev)
	own.end()
	in.sink.Settled(ev, in.settleAll(ctx, ev, batch, own, res))
}
