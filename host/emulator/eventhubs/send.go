package eventhubs

import (
	"context"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/journal"
)

// SendEvents implements eventhubs.Namespace.
func (ns *Namespace) SendEvents(ctx context.Context, hub string, opts *eventhubs.SendOptions, events ...*eventhubs.Event) error {
	var o eventhubs.SendOptions
	if opts != nil {
		o = *opts
	}
	size, longest := int64(0), 0
	for _, e := range events {
		size += payloadOf(e)
		if e.PartitionKey != nil {
			longest = max(longest, utf8.RuneCountInString(*e.PartitionKey))
		}
	}
	if o.PartitionKey != nil {
		longest = max(longest, utf8.RuneCountInString(*o.PartitionKey))
	}
	switch {
	case size > eventhubs.MaxBatch:
		return refuse(messaging.ConditionMessageSizeExceeded, "the events are larger than %d bytes together", eventhubs.MaxBatch)
	case o.PartitionKey != nil && o.PartitionID != "":
		return refuse(messaging.ConditionArgumentError, "event hub %q: a partition key and a partition exclude each other", hub)
	case longest > messaging.MaxID:
		return refuse(messaging.ConditionArgumentError, "event hub %q: a partition key has at most %d characters", hub, messaging.MaxID)
	}
	if err := ns.use(ctx, hub, ""); err != nil {
		return err
	}
	return ns.operate(ctx, FaultPoint{Op: "SendEvents", Hub: hub}, func(op *operation) error {
		p, err := ns.target(hub, o)
		if err != nil || len(events) == 0 {
			return err
		}
		p.trim(op)
		for _, e := range events {
			own := *e
			if o.PartitionKey != nil {
				own.PartitionKey = o.PartitionKey
			}
			r := p.add(op, &own)
			if ns.opts.Record != nil {
				op.records = append(op.records, journal.Record{
					Kind: journal.Enqueued, Service: journal.EventHubs, MessageNumber: r.SequenceNumber + 1, Source: p.hub.Name + "/Partitions/" + p.id, MessageID: r.MessageID,
				})
			}
		}
		op.saveEnd(p)
		p.arrived.Broadcast()
		return nil
	})
}

// target is the partition that events come to.
func (ns *Namespace) target(name string, o eventhubs.SendOptions) (*partition, error) {
	if o.PartitionID != "" {
		return ns.partition(name, o.PartitionID)
	}
	h, err := ns.find(name)
	if err != nil {
		return nil, err
	}
	if o.PartitionKey != nil {
		return h.partitions[partitionOf(*o.PartitionKey, len(h.partitions))], nil
	}
	p := h.partitions[h.next%len(h.partitions)]
	h.next++
	return p, nil
}
