package bus

import (
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// condDeadLetter is the condition with which clients reject a message.
const condDeadLetter wire.Symbol = "com.microsoft:dead-letter"

// Settle implements amqp.Producer (spec messaging 3.6): what has come together is
// one step for the namespace. The lock token counts, not the link; of a session's
// messages also that the session is still ours.
func (r *receiver) Settle(list []amqp.Settlement) {
	r.idle.used()
	steps := make([]servicebus.Disposition, 0, len(list))
	places := make([]int, 0, len(list)) // of the steps in the list
	for i := range list {
		s := &list[i]
		if s.State == nil {
			continue // the client forgets the delivery; its lock goes on
		}
		how, refused := settlementOf(s.State)
		switch s.Err = refused; {
		case refused != nil:
		case s.Txn != nil:
			r.settleWithin(s, how)
		default:
			steps = append(steps, servicebus.Disposition{LockToken: s.Message.(*outgoing).LockToken, Settlement: how})
			places = append(places, i)
		}
	}
	if len(steps) == 0 {
		return
	}
	session, _ := r.link.(servicebus.Session)
	r.settling.inside(r.b, "AMQP settle", func() {
		for i, err := range r.b.ns.SettleEach(background, r.source, session, steps) {
			list[places[i]].Err = asCondition(err)
		}
	})
}

// settleWithin settles what belongs to a transaction.
func (r *receiver) settleWithin(s *amqp.Settlement, how servicebus.Settlement) {
	if session, ok := r.link.(servicebus.Session); ok {
		id := session.SessionID()
		how.SessionID = &id
	}
	r.settling.inside(r.b, "AMQP settle", func() {
		s.Err = asCondition(r.b.within(r.within, s.Txn, func(t *ongoing) error {
			return t.Settle(background, r.source, how, s.Message.(*outgoing).LockToken)
		}))
	})
}

// settlementOf says what an outcome on the wire means.
func settlementOf(s *wire.State) (how servicebus.Settlement, refused *wire.Error) {
	switch s.Kind {
	case wire.StateAccepted:
		how.Action = servicebus.Complete
	case wire.StateReleased:
		how.Action = servicebus.Release
	case wire.StateModified:
		how.Action = servicebus.Abandon
		if s.UndeliverableHere {
			how.Action = servicebus.Defer
		}
		how.Properties = values.PlainMap(s.Annotations)
	case wire.StateRejected:
		how.Action = servicebus.DeadLetter
		if e := s.Error; e != nil {
			if e.Condition != condDeadLetter && len(e.Info) == 0 {
				how.Reason, how.Description = string(e.Condition), e.Description
			}
			how.Properties = values.PlainMap(e.Info)
			how.Reason, how.Description = takeText(how.Properties, servicebus.DeadLetterReason, how.Reason), takeText(how.Properties, servicebus.DeadLetterErrorDescription, how.Description)
		}
	default:
		return how, wire.Errorf(wire.CondNotImplemented, "deliveries are not settled in that way")
	}
	return how, nil
}

// takeText takes a text out of properties.
func takeText(properties map[string]any, key, otherwise string) string {
	s, ok := properties[key].(string)
	if !ok {
		return otherwise
	}
	delete(properties, key)
	return s
}
