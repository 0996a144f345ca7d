// Package hubs puts an Event Hubs namespace behind the AMQP server: it gives the links of
// package amqp their nodes, and leaves links to other addresses to another backend, so
// that both are behind one port (spec messaging 1.11, 3.13).
//
// Read backend.go first: it tells addresses apart. Then, by address:
//
//	HUB, HUB/Partitions/P                        sender.go    what clients send
//	HUB/ConsumerGroups/G/Partitions/P            receiver.go  what they receive; position.go
//	$management                                  management.go
//
// message.go turns AMQP messages into events and back. The namespace decides
// everything, this package translates.
//
// Claims are the other backend's matter, and are not asked for here. Idempotent
// producers and geo-replication are left out.
//
// Reference: spec messaging 3.13; the code of the clients for Go, JavaScript, Python
// and .NET.
package hubs
