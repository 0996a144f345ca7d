package hubs

import "github.com/redeliver/redeliver/bindings/eventhubs"

// Append adds an event as clients get it.
func Append(b []byte, e *eventhubs.ReceivedEvent) []byte {
	return (&outgoing{ReceivedEvent: e}).Append(b)
}
