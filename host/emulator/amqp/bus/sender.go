package bus

import (
	"errors"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// formatBatch is the message-format of a batch: each data section of the body is
// a whole message.
const formatBatch = 0x80013700

// sender takes what a client sends to a queue or topic.
type sender struct {
	b    *Backend
	path string
	at   place
	all  []*servicebus.Message // reused
	in   guest
	idle *idle
}

// sender is the node of a client that sends.
func (b *Backend) sender(path servicebus.Path, r *amqp.AttachRequest) (*amqp.Grant, error) {
	switch {
	case path.SubQueue != servicebus.MainQueue:
		return nil, messaging.NewError(messaging.ConditionNotAllowed, "nothing can be sent to "+quote(path.String())+": messages come here through the entity only")
	case path.Subscription != "":
		return nil, messaging.NewError(messaging.ConditionNotAllowed, "nothing can be sent to the subscription "+quote(path.String())+": send to the topic")
	}
	e, err := b.findOrUse(path.Entity)
	if err != nil {
		return nil, err
	}
	if e.status == servicebus.StatusDisabled || e.status == servicebus.StatusSendDisabled {
		return nil, messaging.NewError(messaging.ConditionEntityDisabled, "the messaging entity "+quote(path.Entity)+" is disabled for sending")
	}
	return &amqp.Grant{
		Node:           &sender{b: b, path: path.Entity, at: place{r.Connection, r.Session}, idle: b.watchIdle(r, "publisher", "AmqpMessagePublisher")},
		MaxMessageSize: uint64(e.maxMessage),
		Properties:     wire.Map{{Key: wire.Symbol("com.microsoft:max-message-batch-size"), Value: uint64(e.maxMessage)}},
	}, nil
}

// Close implements amqp.Node.
func (s *sender) Close(bool) {
	s.b.clk.Inside("AMQP detach", s.idle.end)
}

// Consume implements amqp.Consumer. Messages that came together are sent together,
// for the sake of a namespace that writes to a disk; if that is refused, one by
// one.
func (s *sender) Consume(list []amqp.Delivery) {
	s.idle.used()
	all := s.all[:0]
	ends := make([]int, len(list)) // where in all the messages of a delivery end
	for i := range list {
		switch messages, err := decodeDelivery(all, &list[i]); {
		case err != nil:
			list[i].Err = asCondition(err)
		case list[i].Txn != nil:
			s.consumeWithin(&list[i], messages[len(all):])
		default:
			all = messages
		}
		ends[i] = len(all)
	}
	s.in.inside(s.b, "AMQP send", func() {
		err := s.b.ns.Send(background, s.path, all...)
		if err == nil {
			return
		}
		// A refusal has left nothing behind. After any other failure the outcome is
		// unknown, and a message that is sent again might be there twice.
		_, refused := errors.AsType[*messaging.Error](err)
		begin := 0
		for i, end := range ends {
			switch {
			case list[i].Err != nil || list[i].Txn != nil:
			case refused && len(list) > 1:
				list[i].Err = asCondition(s.b.ns.Send(background, s.path, all[begin:end]...))
			default:
				list[i].Err = asCondition(err)
			}
			begin = end
		}
	})
	clear(all)
	s.all = all[:0]
}

// consumeWithin sends what belongs to a transaction.
func (s *sender) consumeWithin(d *amqp.Delivery, messages []*servicebus.Message) {
	s.in.inside(s.b, "AMQP send", func() {
		d.Err = asCondition(s.b.within(s.at, d.Txn, func(t *ongoing) error {
			return t.Send(background, s.path, t.shared(s.at), messages...)
		}))
	})
}

// decodeDelivery adds the message of a delivery to all, or the messages of a batch.
func decodeDelivery(all []*servicebus.Message, d *amqp.Delivery) ([]*servicebus.Message, error) {
	if d.Format != formatBatch {
		m, err := decodeMessage(d.Payload)
		if err != nil {
			return nil, err
		}
		return append(all, m), nil
	}
	envelope, err := wire.ParseMessage(d.Payload)
	if err != nil {
		return nil, wire.Errorf(wire.CondDecodeError, "batch: %v", err)
	}
	parts := envelope.DataSections()
	if parts == nil {
		return nil, wire.Errorf(wire.CondDecodeError, "batch: the body is no data")
	}
	for _, part := range parts {
		m, err := decodeMessage(part)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
