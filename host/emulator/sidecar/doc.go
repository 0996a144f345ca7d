// Package sidecar is the gRPC service by which the clients of .NET isolated and Java ask a
// task hub (spec durable 10.5): they start instances and signal entities, wait for them and
// manage them. Work does not go this way: it comes to functions as invocations.
//
// Read [Server] first; instances.go and entities.go have the methods, errors.go the codes.
//
// It is served at a free port of the loopback addresses, in plain HTTP/2, and needs no key: it
// takes only calls that name this machine.
//
// Left out: GetWorkItems and its like, which the platform does not serve either.
package sidecar
