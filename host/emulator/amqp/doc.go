// Package amqp is the AMQP 1.0 server of the emulated services, for the Service Bus and
// Event Hubs SDKs. It has no ports: a listen.Server has them, and tells AMQP from HTTP
// there.
//
// A [Server] speaks the protocol and knows no service. It asks a [Backend] for
// a [Node] per link: a [Consumer] for what clients send, a [Producer] for what
// they receive, a [Responder] for request and response ($cbs, $management). So
// read node.go first; then the way of a connection:
//
//	server.go     life and end of connections
//	websocket.go  AMQP over WebSockets
//	conn.go       one connection: the reader, and what it does with frames
//	handshake.go  protocol headers, SASL, open
//	writer.go     what goes out, heartbeats
//	session.go    windows, flow of a session
//	link.go       attach, detach, life of a link
//	incoming.go   transfers in, credit we grant
//	outgoing.go   transfers out, credit we are granted, drain
//	unwritten.go  what is sent settled, until it has been written
//	settle.go     dispositions both ways
//	respond.go    requests and their answers
//	coordinator.go  transactions: what begins and ends them
//
// A connection has one goroutine that reads and one that writes; each link that
// produces has one that pulls and one that watches. The reader handles all
// frames that have arrived before it lets nodes work on what they carried, so
// that a burst of messages enters the clock, and becomes durable, together; the
// writer writes all that has gathered at once. A connection's state has one
// mutex, which is free while a node is called.
//
// Errors end what they are about: a delivery is rejected, a link detached, a
// session ended, or the connection closed, with the condition in the frame that
// says so.
//
// The package lives in real time: it waits for sockets. Link resumption,
// multi-hop links and redirects are left out, and transactional acquisition.
//
// Reference: OASIS AMQP 1.0; docs, AMQP 1.0 in Azure Service Bus protocol guide;
// and what the clients do (Azure/go-amqp, rhea, Microsoft.Azure.Amqp, uamqp).
package amqp
