package eventhubs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/triggers"
)

// Notes of settlements.
const (
	// NoteStopped: the host stops, or another one has the partition now.
	NoteStopped = "no checkpoint: the events come again, here or on another host"
	// NoteFrequency: this batch has no checkpoint of its own.
	NoteFrequency = "no checkpoint: batchCheckpointFrequency"
	// NoteOff: no batch has one. The next start reads all of them again.
	NoteOff = "no checkpoint: enableCheckpointing is false"
)

// ownerLevel is the epoch of every processor's readers: the last reader gets the
// partition.
const ownerLevel = int64(0)

// A pump reads one partition, and delivers one batch after the other.
type pump struct {
	*run
	partition, source string
	ctx               context.Context // ends with Run's, and when the partition is lost
	token             context.Context // of deliveries
	cancel            context.CancelFunc

	recall  triggers.Recall
	since   *Checkpoint // what it began behind; nil: the initial offset
	reading bool        // the reader is open
	invoked bool        // the function has run for this partition
	working bool        // a delivery is in work; with the lock of the run
	batches int         // since the last checkpoint
}

// read reads behind the checkpoint, or where a partition without one begins, until
// the pump's context ends, or it cannot go on. A checkpoint that the service does
// not take is not one of this partition, and does not count: no event is left out,
// and it need not be removed.
func (p *pump) read() (err error) {
	if p.since, err = p.store.Checkpoint(p.ctx, p.partition); err != nil {
		return err
	}
	if p.since == nil {
		return p.readFrom(p.opts.Initial)
	}
	err = p.readFrom(p.since.position())
	if p.invoked || !errors.Is(err, bindings.ErrInvalidArgument) {
		return err
	}
	p.notify("the checkpoint is not one of this partition, which is read from the initial offset", fmt.Errorf("checkpoint at %s: %w", p.since, err))
	p.since = nil
	return p.readFrom(p.opts.Initial)
}

// readFrom reads from a position.
func (p *pump) readFrom(from eventhubs.Position) error {
	level := ownerLevel
	reader, err := p.hubs.ReadEvents(p.ctx, p.hub, p.opts.ConsumerGroup, p.partition, from, &eventhubs.ReaderOptions{OwnerLevel: &level})
	if err != nil {
		return err
	}
	p.reading = true
	defer func() { _ = reader.Close(context.WithoutCancel(p.ctx)) }() // there is nothing to lose
	for {
		events, err := p.collect(reader)
		if err != nil || p.ctx.Err() != nil {
			return err
		}
		// Reading counts nothing. The function is asked when there is something for it:
		// a partition without events would keep what another one needs.
		if p.opts.Batch {
			if _, err := p.sink.Gate().Admit(p.ctx, 1); err != nil {
				return err
			}
			p.deliverBatch(events)
			continue
		}
		p.deliverOneByOne(events)
	}
}

func (p *pump) notify(what string, err error) {
	if p.opts.Notify != nil {
		p.opts.Notify(p.source, what, err)
	}
}

// collect waits for the events of a batch.
func (p *pump) collect(reader eventhubs.Reader) ([]*eventhubs.ReceivedEvent, error) {
	limit := p.opts.MaxEventBatchSize
	events, err := reader.Receive(p.ctx, limit, messaging.Forever)
	if !p.opts.Batch {
		return events, err
	}
	for until := p.clk.Now().Add(p.patience()); err == nil && len(events) < p.opts.MinEventBatchSize; {
		left := until.Sub(p.clk.Now())
		if left <= 0 {
			break
		}
		var more []*eventhubs.ReceivedEvent
		more, err = reader.Receive(p.ctx, limit-len(events), left)
		events = append(events, more...)
	}
	return events, err
}

// patience is how long a batch that is too small waits. Before the first one it is
// what is left since the last checkpoint, and nothing without one: the partition may
// have come from another host.
//
// Source: EventHubListener.PartitionProcessor.cs GetAdjustedMaxWaitTime.
func (p *pump) patience() time.Duration {
	switch {
	case p.invoked:
		return p.opts.MaxWait
	case p.since == nil:
		return 0
	}
	return p.opts.MaxWait - p.clk.Now().Sub(p.since.Written)
}

// deliverBatch runs a batch through the function.
func (p *pump) deliverBatch(events []*eventhubs.ReceivedEvent) {
	p.batches++
	ev := &triggers.Event{Source: p.source, Messages: p.batchOf(events), Batch: true, Recall: &p.recall}
	p.handle(ev)
	p.sink.Settled(ev, p.settle(events[len(events)-1]))
}

// deliverOneByOne runs the events of a batch through the function, until the pump's
// context ends.
func (p *pump) deliverOneByOne(events []*eventhubs.ReceivedEvent) {
	p.batches++
	var handled []*triggers.Event
	for _, e := range events {
		if _, err := p.sink.Gate().Admit(p.ctx, 1); err != nil {
			break // they come again
		}
		ev := &triggers.Event{Source: p.source, Messages: []triggers.Message{p.messageOf(e)}, Recall: &p.recall}
		p.handle(ev)
		handled = append(handled, ev)
	}
	if len(handled) == 0 {
		return
	}
	s := p.settle(events[len(handled)-1])
	for _, ev := range handled {
		p.sink.Settled(ev, s)
	}
}

// handle runs the function.
func (p *pump) handle(ev *triggers.Event) {
	set := func(working bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.working = working
	}
	set(true)
	defer set(false)
	p.sink.Handle(p.token, ev)
	p.invoked = true
}

// checkpoints reports whether the batch in work has a checkpoint at its end.
func (p *pump) checkpoints() bool {
	return !p.opts.NoCheckpoints && p.batches >= p.opts.CheckpointFrequency
}

// settle writes the checkpoint behind a batch, also after a failure (spec messaging
// 6.2).
func (p *pump) settle(last *eventhubs.ReceivedEvent) triggers.Settlement {
	switch {
	case p.ctx.Err() != nil:
		return triggers.Settlement{Decision: triggers.NotCheckpointed, Note: NoteStopped}
	case p.opts.NoCheckpoints:
		return triggers.Settlement{Decision: triggers.NotCheckpointed, Note: NoteOff}
	case !p.checkpoints():
		return triggers.Settlement{Decision: triggers.NotCheckpointed, Note: NoteFrequency}
	case p.lost():
		p.cancel()
		return triggers.Settlement{Decision: triggers.NotCheckpointed, Note: NoteStopped}
	}
	if err := p.store.Write(context.WithoutCancel(p.ctx), p.partition, p.opts.Owner, last); err != nil {
		return triggers.Settlement{Decision: triggers.NotCheckpointed, Err: err} // the next batch tries again
	}
	p.batches = 0
	if p.opts.Written != nil {
		p.opts.Written(CheckpointWritten{p.source, last.SequenceNumber, last.Offset})
	}
	return triggers.Settlement{Decision: triggers.Checkpointed}
}

// lost reports whether another listener has taken the partition since the last look. A
// store that does not say is not believed to.
func (p *pump) lost() bool {
	if p.opts.Alone {
		return false
	}
	owner, err := p.store.Owner(p.ctx, p.partition)
	return err == nil && owner != p.opts.Owner
}

// lostRace reports whether another listener has changed the ownership meanwhile.
func lostRace(err error) bool { return errors.Is(err, bindings.ErrConditionNotMet) }
