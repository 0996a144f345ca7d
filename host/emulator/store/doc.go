// Package store keeps the state of the embedded services on disk: an ordered
// space of keys, changed by atomic batches, and files for what is too large to
// be a value. It makes two promises. A batch whose [Commit] is done survives
// the end of the process, however sudden, and with [Options.Sync] the loss of
// power too. And it reads back exactly the written bytes, or a [*CorruptError]
// says where they are damaged.
//
// It knows nothing of queues or blobs and nothing of the emulator's clock: its
// calls take real time. Owners keep what they need often in memory and write
// each change through before they report it.
//
// The common work of all owners, on the emulator's clock, is in package keep below;
// fields is the encoding of their values, storetest the frame of their tests.
//
// Keys are a log of batches (frame.go, log.go), rewritten from its old end when it has
// become too long (clean.go), and an index in memory of where the values lie in it
// (index.go). Read [Open], [Store.Begin] and [Store.View] first, then layout.go for what
// is on disk; docs/design.md says why there is no database under it. The package leaves
// out transactions that read (the owners' locks do that work), replication, and any repair
// of a damaged store.
package store
