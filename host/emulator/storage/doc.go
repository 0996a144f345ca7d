// Package storage is an embedded storage account: state and rules, in memory, without a
// network. [Storage] puts its services together, each a package of its own: queues, blobs and
// tables. What happens to all of them at once is here: opening, copies, replacements, and
// the handles of callers of one epoch. What they share is in the package account.
//
// Services are passive. Each one is state under one mutex whose rules take the
// time as an argument; nothing runs by itself. The next call notices the end of
// a lock or of a message's life, and frees the memory. Only the arrival of a
// delayed message is announced through the clock, because a listener may wait
// for it. On a virtual clock the methods are called from inside it, with the baton.
//
// An account made by [New] ends with the process. One made by [Open] writes each
// change through to a store before it reports it, and goes on where it was.
//
// Identifiers and receipts come from the seed and a counter: the same calls give
// the same answers.
//
// Read [Storage] first, then snapshot.go. Servers for SDKs live in host/emulator/rest,
// durable state in host/emulator/store.
package storage
