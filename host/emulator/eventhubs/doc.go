// Package eventhubs is the embedded Event Hubs namespace: hubs of partitions,
// which are logs that consumers read at positions of their own, without a network.
//
// Read [Namespace] first, then send.go (which partition an event comes to), groups.go
// (who may read), reader.go (positions, owner levels, waiting) and partition.go
// (numbers, offsets, retention). durable.go says what is written to the store, load.go reads it.
//
// The contract is eventhubs.Namespace; the rules and their sources are in
// spec messaging 3.13. Nothing is settled and nothing redelivered: what becomes of
// a batch that fails is the consumer's business, and its position is kept in a
// checkpoint store of its own (package triggers/eventhubs).
//
// It leaves out capture, schema groups, application groups, geo-replication and
// idempotent producers.
package eventhubs
