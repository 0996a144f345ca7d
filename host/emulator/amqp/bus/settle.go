package bus

import (
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// condDeadLetter is the condition with which clients reject a message.
const condDeadLetter wire.Symbol = "com.microsoft:dead-letter"

// Settle implements amqp.Producer (spec servicebus 3.6). The lock token counts, not
// the link; of a session's messages also that the session is still ours.
func (r *receiver) Settle(list []amqp.Settlement) {
	r.settling.inside(r.b, "AMQP settle", func() {
		for i := range list {
			s := &list[i]
			if s.Err = r.settle(s); s.Err == nil && r.echoes && s.State != nil {
				s.Answer = &wire.State{Kind: s.State.Kind}
			}
		}
	})
}

// wantsEcho tells clients that want a settlement confirmed with the outcome they
// asked for from the others, which take accepted for all of them, and some of which
// take their own rejected for a failure. azure-servicebus for Python compares since
// 7.15 (its _pyamqp/receiver.py, check_disposition_outcome).
func wantsEcho(client wire.Map) bool {
	product := client.Get("product")
	s, ok := product.(string)
	if !ok {
		symbol, _ := product.(wire.Symbol)
		s = string(symbol)
	}
	return strings.HasPrefix(s, "azsdk-python-servicebus")
}

func (r *receiver) settle(s *amqp.Settlement) *wire.Error {
	if s.State == nil {
		return nil // the client forgets the delivery; its lock goes on
	}
	m := s.Message.(*outgoing)
	how, refused := settlementOf(s.State)
	if refused != nil {
		return refused
	}
	r.b.let(m.LockToken)
	if session, ok := r.link.(bindings.ServiceBusSession); ok {
		return asCondition(settleBy(session, m.ServiceBusReceived, how))
	}
	return asCondition(r.b.ns.Settle(background, r.source, how, m.LockToken))
}

// settleBy settles a message through the receiver that got it.
func settleBy(r bindings.ServiceBusReceiver, m *bindings.ServiceBusReceived, how bindings.ServiceBusSettlement) error {
	switch how.Action {
	case bindings.ServiceBusComplete:
		return r.Complete(background, m)
	case bindings.ServiceBusAbandon:
		return r.Abandon(background, m, how.Properties)
	case bindings.ServiceBusDefer:
		return r.Defer(background, m, how.Properties)
	case bindings.ServiceBusDeadLetterAction:
		return r.DeadLetter(background, m, how.Reason, how.Description, how.Properties)
	default:
		return r.Release(background, m)
	}
}

// settlementOf says what an outcome on the wire means.
func settlementOf(s *wire.State) (how bindings.ServiceBusSettlement, refused *wire.Error) {
	switch s.Kind {
	case wire.StateAccepted:
		how.Action = bindings.ServiceBusComplete
	case wire.StateReleased:
		how.Action = bindings.ServiceBusRelease
	case wire.StateModified:
		how.Action = bindings.ServiceBusAbandon
		if s.UndeliverableHere {
			how.Action = bindings.ServiceBusDefer
		}
		how.Properties = values.PlainMap(s.Annotations)
	case wire.StateRejected:
		how.Action = bindings.ServiceBusDeadLetterAction
		if e := s.Error; e != nil {
			if e.Condition != condDeadLetter && len(e.Info) == 0 {
				how.Reason, how.Description = string(e.Condition), e.Description
			}
			how.Properties = values.PlainMap(e.Info)
			how.Reason, how.Description = takeText(how.Properties, bindings.DeadLetterReason, how.Reason), takeText(how.Properties, bindings.DeadLetterErrorDescription, how.Description)
		}
	default:
		return how, wire.Errorf(wire.CondNotImplemented, "deliveries are not settled in that way: transactions are not offered")
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
