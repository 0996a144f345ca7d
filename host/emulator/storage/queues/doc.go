// Package queues is the queue service of an embedded storage account. [Service] is the
// queues of one account; the contract that they meet is queue.Queue, that of their account
// queue.Account and queue.Admin. What an operator sees and does beside it, by the
// identifier of a message, is in view.go and byhand.go.
//
// Read state.go first, the rules of one queue without locks, faults or a store; then
// service.go, which puts these around them; durable.go and record.go say what is written,
// load.go reads it.
package queues
