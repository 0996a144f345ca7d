// Package rest holds the HTTP servers of the embedded storage services: what an
// Azure Storage SDK talks to when its connection string names this machine.
//
// A [Server] listens on one port per service and serves a table of accounts.
// Read server.go first, then front.go for the way of one request: find the
// account, find the operation, let the caller prove who it is, run. That part,
// with signatures, CORS, errors and service properties, is common to all
// services; queue.go and the files named queue... are the Queue service:
//
//	GET    /?comp=list                           queuelist.go
//	GET    /?restype=service&comp=properties     properties.go
//	PUT    /?restype=service&comp=properties
//	GET    /?restype=service&comp=stats          (secondary)
//	PUT    /queue                                queueadmin.go
//	DELETE /queue
//	GET    /queue?comp=metadata   (HEAD)
//	PUT    /queue?comp=metadata
//	GET    /queue?comp=acl        (HEAD)         policies.go
//	PUT    /queue?comp=acl
//	GET    /queue/messages                       queuemessages.go
//	GET    /queue/messages?peekonly=true
//	POST   /queue/messages
//	DELETE /queue/messages
//	PUT    /queue/messages/id
//	DELETE /queue/messages/id
//
// The Blob service is in blob.go, which has its table, and the other files named
// blob....
//
// Pages of other origins are refused before anything runs, unless a CORS rule of the
// service or the guard (Options.Guard, package listen) takes them. That is stricter than
// the service in the cloud, which runs what a page asks for and only keeps the answer
// from it: there the page has no key.
//
// Reference: Azure Storage REST API (docs: Queue Service REST API, Authorize
// with Shared Key, Create an account SAS, Create a service SAS), and Azurite for
// what the pages leave open.
//
// The package keeps no state of services: rules and messages are the business
// of queue.Account, queue.Admin and blob.Account. It does not do Entra ID: a
// bearer token is believed over TLS, unless it names another audience, and
// refused without TLS.
package rest
