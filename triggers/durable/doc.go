// Package durable is the triggers of Durable Functions: orchestrators, entities and
// activities, on the work of a task hub (package bindings/durable).
//
// An activity is a delivery, with its attempts and its settlement ([Activities]). A turn of
// an orchestrator and a batch of an entity are none ([Turns]): nothing is redelivered, so
// the function is asked without records of a delivery, and what it answers is the hub's to
// understand.
//
// Read turns.go first, then activities.go, and values.go for what goes to a function and
// comes back.
//
// Source: spec durable 2.3, 3.8, 3.9, 5.9, 6; ext: Listener/OutOfProcOrchestrationShim.cs,
// Listener/TaskActivityShim.cs.
//
// Left out: everything that a hub decides, which is package host/emulator/durable.
package durable
