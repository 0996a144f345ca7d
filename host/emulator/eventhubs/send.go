package eventhubs

import (
	"context"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/journal"
)

// SendEvents implements bindings.EventHubs.
func (ns *Namespace) SendEvents(ctx context.Context, hub string, opts *bindings.SendEventsOptions, events ...*bindings.Event) error {
	var o bindings.SendEventsOptions
	if opts != nil {
		o = *opts
	}
	size := int64(0)
	for _, e := range events {
		size += payloadOf(e)
	}
	switch {
	case size > bindings.MaxEventBatch:
		return refuse(bindings.ConditionMessageSizeExceeded, "the events are larger than %d bytes together", bindings.MaxEventBatch)
	case o.PartitionKey != nil && o.PartitionID != "":
		return refuse(bindings.ConditionArgumentError, "event hub %q: a partition key and a partition exclude each other", hub)
	case o.PartitionKey != nil && utf8.RuneCountInString(*o.PartitionKey) > bindings.MaxServiceBusID:
		return refuse(bindings.ConditionArgumentError, "event hub %q: a partition key has at most %d characters", hub, bindings.MaxServiceBusID)
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
					Kind: journal.Enqueued, Source: p.hub.Name + "/Partitions/" + p.id, MessageID: r.MessageID,
				})
			}
		}
		op.saveEnd(p)
		p.arrived.Broadcast()
		return nil
	})
}

// target is the partition that events come to.
func (ns *Namespace) target(name string, o bindings.SendEventsOptions) (*partition, error) {
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
