// Package rest holds the HTTP servers of the embedded storage services: what an
// Azure Storage SDK talks to when its connection string names this machine.
//
// A [Server] listens on one port per service and serves a table of accounts.
// Read service.go first: a [Service] says what its addresses name and which operations it
// has. Then server.go, and front.go for the way of one request: find the account, find the
// operation, let the caller prove who it is, run. That part is common to all services, which
// do their work on a [Call]: addresses, keys, signatures (Call.Signature), tokens, dates,
// versions, request ids, CORS, errors ([Failure]), TLS and the properties of a service. The
// Queue service is in package queues on top of it, the Table service in package tables, and
// package served lists all. The Blob service is in blob.go, which has its table, and the other files named blob....
//
// Pages of other origins are refused before anything runs, unless a CORS rule of the
// service or the guard (Options.Guard, package listen) takes them. That is stricter than
// the service in the cloud, which runs what a page asks for and only keeps the answer
// from it: there the page has no key.
//
// Reference: Azure Storage REST API (docs: Blob Service REST API, Authorize
// with Shared Key, Create an account SAS, Create a service SAS), and Azurite for
// what the pages leave open.
//
// The package keeps no state of services: rules and messages are the business
// of queue.Account, queue.Admin, blob.Account, table.Account and table.Admin. It does not do Entra ID: a
// bearer token is believed over TLS, unless it names another audience, and
// refused without TLS.
package rest
