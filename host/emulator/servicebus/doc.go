// Package servicebus is the embedded Service Bus namespace: its state and its
// rules, without a network.
//
// Read [Namespace] first, then queue.go for the rules of one queue (take, lock,
// fail, put back), route.go for the way of a message through topics, forwarding
// and dead-letter queues, and time.go for events without a call. topology.go is which
// entities there are, session.go, sessions.go and accept.go are sessions, rule.go is filters and actions, admin*.go and
// settings.go the administration, management.go the further needs of an AMQP
// server, transaction.go transactions, inspect.go the calls of testers and
// operators. durable.go says what is written to the store, load.go reads it.
//
// The contracts are servicebus.Namespace, servicebus.Admin and
// servicebus.Management; the rules and their sources are in spec messaging 1.
//
// A namespace is state under one mutex: all its events have one order,
// settlements and ends of locks included. Each call first does the due work
// of its queue. A timer of the clock does due work between calls, because
// it may send a message on to another entity. Cost does not grow with the
// number of messages in a queue, but for peeking in one session.
//
// Delivery counts are failed deliveries so far (spec 0, rule 1); the journal and
// [servicebus.Received.DeliveryNumber] count from 1.
//
// It leaves out partitions (spec 1.11). The SQL of rules is
// package sqlfilter.
package servicebus
