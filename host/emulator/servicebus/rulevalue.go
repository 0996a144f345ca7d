package servicebus

import (
	"encoding/binary"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// ruleValues returns the properties of a filter or the parameters of an expression
// as they are kept, in a map of its own. Rules may hold durations, which messages
// carry in their encoding only.
func ruleValues(rule string, values map[string]any) (map[string]any, error) {
	if values == nil {
		return nil, nil
	}
	out := make(map[string]any, len(values))
	for name, v := range values {
		p, ok := plain(v)
		if d, isDuration := v.(time.Duration); isDuration {
			p, ok = d, true
		}
		if !ok {
			return nil, refuse(messaging.ConditionArgumentError, "rule %q: the value of %q has the type %T, which a rule cannot hold", rule, name, v)
		}
		out[name] = p
	}
	return out, nil
}

// timespanSymbol describes a .NET TimeSpan in AMQP: a long of ticks of 100 ns.
//
// Source: azure-sdk-for-net: Azure.Messaging.ServiceBus, AmqpMessageConverter.cs.
const timespanSymbol = "com.microsoft:timespan"

// timespan is a duration as a message carries it.
func timespan(d time.Duration) messaging.Encoded {
	b := append([]byte{0x00, 0xa3, byte(len(timespanSymbol))}, timespanSymbol...)
	return binary.BigEndian.AppendUint64(append(b, 0x81), uint64(d/100))
}
