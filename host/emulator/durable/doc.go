// Package durable is the embedded engine of Durable Functions: task hubs with instances of
// orchestrators and entities, their histories, inboxes, timers and activities, without
// partitions, queues and leases.
//
// Read [Engine] first, then instance.go for what is kept, turn.go for the way of a turn
// and commit.go for what comes of it. inbox.go has the messages and who is ready,
// activity.go the queue of activities, alarm.go what is due, desk.go which functions are
// there and who waits for work. Clients' calls are in client.go, control.go and query.go;
// records.go tells the journal. durable.go says what is written to the store, load.go
// reads it.
//
// The contract is bindings/durable; the rules and their sources are in spec durable. What
// a reply comes to is decided by package plan. An engine is passive: it has no goroutines
// but those of timers on the clock, and the triggers take work from it and bring it back.
// Everything that a turn does is one batch of the store, so histories are exact and an
// activity runs again only when a host died between its work and its result.
//
// The protobuf protocol of .NET and Java is in protobuf.go and package wire, locks of entities
// in lock.go. Locks asked for in JSON are left out.
package durable
