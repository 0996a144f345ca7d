package faults

import "time"

// A Fault lets operations fail.
type Fault struct {
	// Service is the name of one of [List.Services]. Empty: each that has such an operation.
	Service string
	// Entity is the only one whose operations fail: a queue, container, entity, hub,
	// database/container, topic/subscription or function. Empty: all.
	Entity string
	// Operation is the name of the operation; empty, or a star: each of them.
	Operation string
	// DiskFull means each operation that writes, instead of the one that Operation names.
	DiskFull bool

	// After lets the operation have its effect and fail nevertheless.
	After bool
	// Lost lets the operation have no effect and succeed nevertheless; the operation Retry
	// of Event Grid is left out.
	Lost bool
	// Latency is how long the operation takes. Without Error and Status it does not fail.
	Latency time.Duration
	// Status is the answer of an endpoint of Event Grid, for the operation Deliver.
	Status int
	// Error is the text of the error.
	Error string

	// Times is how many operations fail; 0: one, or with For all of that time.
	Times int
	// For is how long the fault lasts, from the moment at which it is added.
	For time.Duration

	// Optional says that a test is right when no operation meets the fault, as where chance
	// decides what happens.
	Optional bool
}

// Handler is the name under which faults and their points have what runs the functions: its
// operation Invoke is lost before or after the handler has done its work, as when its process
// ends.
const Handler = "handler"
