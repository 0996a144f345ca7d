package bus

import "github.com/redeliver/redeliver/bindings/servicebus"

// AppendLocked adds a message with its lock, as the platform's libraries read it outside a
// link: the lock token in .NET's order of bytes, then the message, with the token among
// its delivery annotations (spec workers-dotnet-java 1.8). Libraries look for the token
// there, so that a message without a lock has the empty one.
func AppendLocked(b []byte, m *servicebus.Received) []byte {
	return appendSections(append(b, deliveryTag(m.LockToken)...), m, true)
}
