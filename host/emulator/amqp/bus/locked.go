package bus

import "github.com/redeliver/redeliver/bindings/servicebus"

// AppendLocked adds a message with its lock, as the platform's libraries read it outside a
// link: the lock token in .NET's order of bytes, then the message, with the token among
// its delivery annotations (spec workers-dotnet-java 1.8). Libraries look for the token
// there, so that a message without a lock has the empty one. Its delivery count is the number
// of this delivery, since the client that has received it counts one up in the message that
// it keeps; on the wire it is the number of those before.
func AppendLocked(b []byte, m *servicebus.Received) []byte {
	counted := *m
	counted.DeliveryCount = m.DeliveryNumber()
	return appendSections(append(b, deliveryTag(m.LockToken)...), &counted, true)
}
