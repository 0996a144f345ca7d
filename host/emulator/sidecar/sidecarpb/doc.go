// Package sidecarpb holds the messages of Durable Functions for .NET isolated and Java, and
// the service by which their clients ask, generated from sidecar.proto.
package sidecarpb
