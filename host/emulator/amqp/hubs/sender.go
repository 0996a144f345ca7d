package hubs

import (
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// sender takes what a client sends to a hub, or to one of its partitions.
type sender struct {
	b  *Backend
	to eventhubs.Address
	in *clock.Visitor // of the one goroutine that calls Consume
}

// sender is the node of a client that sends.
func (b *Backend) sender(to eventhubs.Address) (*amqp.Grant, error) {
	if to.Partition != "" {
		if _, err := b.ns.Partition(background, to.Hub, to.Partition); err != nil {
			return nil, err
		}
	}
	return &amqp.Grant{
		Node:           &sender{b: b, to: to},
		MaxMessageSize: eventhubs.MaxBatch,
		Properties:     wire.Map{{Key: wire.Symbol("com.microsoft:max-message-batch-size"), Value: uint64(eventhubs.MaxBatch)}},
	}, nil
}

// Close implements amqp.Node.
func (s *sender) Close(bool) {}

// keep gives a batch's key to those of its events that have none.
func keep(key *string, events []*eventhubs.Event) {
	for _, e := range events {
		if e.PartitionKey == nil {
			e.PartitionKey = key
		}
	}
}

// Consume implements amqp.Consumer. A batch is taken as a whole or not at all.
func (s *sender) Consume(list []amqp.Delivery) {
	if s.in == nil {
		s.in = clock.NewVisitor(s.b.clk)
	}
	s.in.Inside("AMQP send events", func() {
		for i := range list {
			events, key, err := decode(list[i].Format, list[i].Payload)
			if err == nil {
				opts := &eventhubs.SendOptions{PartitionKey: key}
				if s.to.Partition != "" {
					// Who names the partition may send a key along, which then picks none:
					// buffered producers hash keys themselves.
					opts = &eventhubs.SendOptions{PartitionID: s.to.Partition}
					keep(key, events)
				}
				err = s.b.ns.SendEvents(background, s.to.Hub, opts, events...)
			}
			list[i].Err = asCondition(err)
		}
	})
}
