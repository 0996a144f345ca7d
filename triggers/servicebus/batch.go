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
func (p *pump) batches(ctx context.Context, idle time.Duration) error {
	for {
		if err := p.load.below(ctx, 1); err != nil {
			return nil
		}
		admitted, err := p.sink.Gate().Admit(ctx, 1)
		if err != nil {
			return unlessEnded(ctx, err)
		}
		waiting, release := p.sink.Gate().WhileAdmitted(ctx)
		batch, err := p.collect(waiting, idle)
		refused := waiting.Err() != nil
		release()
		if ctx.Err() != nil || err != nil || len(batch) == 0 {
			if len(batch) > 0 {
				p.handBack(ctx, p.eventOfBatch(batch), batch...)
			} else {
				p.sink.Gate().Unused(admitted)
			}
			switch {
			case ctx.Err() != nil:
				return nil
			case refused && (err == nil || errors.Is(err, context.Canceled)):
				continue // until the function takes deliveries again
			case p.goesOn(ctx, err):
				continue
			case err == nil && idle < 0:
				return errEarly
			}
			return unlessEnded(ctx, err) // nil: idle
		}
		p.start("batch of "+p.source, func() { p.deliverBatch(batch) })
	}
}

// collect waits for a batch: the first messages, and if they are fewer than the
// minimum, more of them for no longer than the wait allows.
func (p *pump) collect(ctx context.Context, idle time.Duration) ([]*servicebus.Received, error) {
	batch, err := p.receiver.Receive(ctx, p.opts.MaxMessageBatchSize, idle)
	if err != nil || len(batch) == 0 {
		return nil, err
	}
	minimum := min(p.opts.MinMessageBatchSize, p.opts.MaxMessageBatchSize)
	for until := p.clk.Now().Add(p.opts.MaxBatchWait); len(batch) < minimum; {
		left := until.Sub(p.clk.Now())
		if left <= 0 {
			break
		}
		more, err := p.receiver.Receive(ctx, p.opts.MaxMessageBatchSize-len(batch), left)
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
func (p *pump) eventOfBatch(batch []*servicebus.Received) *triggers.Event {
	return &triggers.Event{
		Source:        p.receiver.Source(),
		DeliveryCount: batch[0].DeliveryNumber(),
		Messages:      p.opts.batchOf(batch, p.sessionActions()),
		Batch:         true,
	}
}

// deliverBatch runs a batch through the function and settles its messages.
func (p *pump) deliverBatch(batch []*servicebus.Received) {
	ctx := context.WithoutCancel(p.tokens)
	ev := p.eventOfBatch(batch)
	own := p.actionsOn(ctx, nil, batch...)
	ev.Actions = own
	res := p.sink.Handle(p.tokens, ev)
	own.end()
	p.sink.Settled(ev, p.settleAll(ctx, ev, batch, own, res))
}
