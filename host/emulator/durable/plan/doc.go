// Package plan is what the platform's host makes of an orchestrator's reply: a pure
// function from a history and the reply to the events that follow (spec durable 4).
//
// Read [Plan] first, then machine.go for the events, walk.go for the actions. What an
// action becomes is told in retry.go, timer.go, compound.go, http.go and entity.go;
// outcome.go says how an execution ends, and finding.go names the faults of the platform
// that are met on the way. reply.go and action.go read what a worker answers, encode.go
// writes what it is asked, texts.go has the platform's sentences.
//
// Nothing here waits, asks for the time or does I/O: the same input gives the same output.
// Locks of entities are left out.
package plan
