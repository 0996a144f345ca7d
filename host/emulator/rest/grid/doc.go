// Package grid serves publishers of the embedded Event Grid:
//
//	POST    /{topic}/api/events?api-version=2018-01-01   publish
//	OPTIONS /{topic}/api/events                          what the topic takes
//	GET     /{topic}/validate?subscription=S&id=CODE     complete a validation
//
// The topic is part of the path here, while in the cloud it is part of the host's
// name. [Handler] serves both; it is for a server with or without TLS, which the
// caller brings. Official clients refuse to send a key over plain HTTP unless told
// otherwise.
//
// Read handler.go for the protocol, authorize.go for keys and tokens, body.go for
// what a request may hold and cloudevent.go for CloudEvents in binary mode. The
// rules of events are in host/emulator/eventgrid.
//
// What it leaves out: domains and partner channels, and the checks of Entra ID: a
// bearer token is believed over TLS and refused without.
package grid
