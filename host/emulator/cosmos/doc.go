// Package cosmos is an embedded Cosmos DB account that is just large enough for
// the change feed: databases, containers with a partition key and a number of
// ranges, documents that are created, replaced and deleted, and one feed of
// changes for each range.
//
// An [Account] is state under one mutex. It starts no goroutines, and takes
// its time from its clock. [New] makes one that lives in memory, [Open] one
// that is kept in a store: every change is written before it is reported.
//
// A feed shows the latest version of each document that has changed since a
// position, in order of modification, and no deletes. Positions are the quoted
// logical sequence numbers (LSN) of the range: each transaction takes one.
//
// Read [cosmos.Container] for the contract, then feed.go. Fidelity: spec
// messaging 7; docs, "Change feed in Azure Cosmos DB", latest version mode.
//
// Left out: this is no Cosmos DB emulator. There are no queries, no stored
// procedures, no indexes, no expiry of documents (ttl is a property like any
// other), no consistency levels, no request units, no split of ranges, and no
// wire protocol.
package cosmos
