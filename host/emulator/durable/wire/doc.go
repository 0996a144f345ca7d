// Package wire is what goes between a task hub and the functions that speak the protobuf
// protocol of Durable Functions (spec durable 10): .NET isolated and Java. Requests and
// replies are protobuf in base64, as the values of invocations.
//
// Read request.go for what an orchestrator is asked, reply.go for what its answer comes to,
// entity.go for batches of entities, and failure.go for failures of activities. There is no
// plan in this protocol: a worker numbers its actions itself, and each becomes an event of
// the history.
//
// The package is pure: no clock, no randomness, no I/O. Its messages are in
// host/emulator/sidecar/sidecarpb.
package wire
