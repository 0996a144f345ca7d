// Package bus puts a Service Bus namespace behind the AMQP server: it gives the
// links of package amqp their nodes.
//
// Read backend.go first: it tells addresses apart. Then, by address:
//
//	queue, topic               sender.go    what clients send
//	queue, subscription, DLQ   receiver.go  what they receive; settle.go, session.go
//	ENTITY/$management         management.go and the files named manage...: a table of operations
//	$cbs                       cbs.go       claims
//	transaction coordinator    transaction.go; group.go for those of several entities
//
// decode.go and encode.go turn AMQP messages into the namespace's and back. The namespace is
// any implementation of the contracts of package bindings. It decides everything,
// and this package translates. Its calls enter the clock by Inside.
//
// Non-exclusive sessions are left out.
//
// Reference: spec messaging 3; docs, AMQP 1.0 in Azure Service Bus:
// request-response-based operations; the code of the SDKs for Go, JavaScript and .NET.
package bus
