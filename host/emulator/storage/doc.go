// Package storage is the embedded storage service, queues and blobs: state and rules,
// in memory, without a network. [Storage] is a storage account with its queues.
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
// Read [Storage] first, then queuestate.go for the rules and durable.go for
// what is written. Servers for SDKs live in
// host/emulator/rest and host/emulator/amqp, durable state in
// host/emulator/store; the contract that the queues meet is queue.Queue.
package storage
