package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/services"
)

// A Fault lets operations fail.
type Fault struct {
	// Service is one of [Services], or "handler". Empty: each that has such an operation.
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

// Services are what can fail, by the names that faults and their points have.
func Services() []string {
	return []string{"queue", "blob", "servicebus", "eventhubs", "cosmos", "eventgrid", Handler}
}

// check finds what no operation could match.
func (f *Fault) check() error {
	switch {
	case f.Times < 0, f.For < 0, f.Latency < 0:
		return errors.New("a fault has no negative times, for or latency")
	case f.Service != "" && !slices.Contains(Services(), f.Service):
		return fmt.Errorf("there is no service %q: want one of %s%s", f.Service, strings.Join(Services(), ", "), orMeant(f.Service, Services()))
	case f.Entity != "" && f.Service == "":
		return errors.New("the fault names an entity and no service")
	case f.Service == "" && (f.Operation == "" || f.Operation == "*") && !f.DiskFull:
		return errors.New("the fault names no operation and no service")
	case f.Operation != "" && f.DiskFull:
		return errors.New("a full disk concerns each operation that writes: leave the operation out")
	case f.After && f.Lost:
		return errors.New("an operation that is lost has no effect: leave out one of after and lost")
	case f.Lost && !slices.ContainsFunc(losable, func(op string) bool { return strings.EqualFold(op, f.Operation) }):
		return fmt.Errorf("only an operation that its caller does not ask for an answer can be lost: %s", strings.Join(losable, ", "))
	case f.checkOperation() != nil:
		return f.checkOperation()
	case f.Status != 0 && (f.Service != "eventgrid" || !strings.EqualFold(f.Operation, "Deliver")):
		return errors.New("a status is the answer to the operation Deliver of Event Grid")
	}
	return nil
}

// is reports whether the fault is for a point.
func (f *Fault) is(p services.FaultPoint) bool {
	switch {
	case f.After != p.After, f.Service != "" && f.Service != p.Service:
		return false
	case f.DiskFull:
		if !writes(p) {
			return false
		}
	case f.Operation == "" || f.Operation == "*":
		if p.Service == "eventgrid" && p.Op == "Retry" {
			return false // it is part of Deliver
		}
	case !strings.EqualFold(f.Operation, p.Op):
		return false
	}
	entity := p.Entity
	if container, _, ok := strings.Cut(entity, "/"); ok && p.Service == "blob" && !strings.Contains(f.Entity, "/") {
		entity = container
	}
	return f.Entity == "" || strings.EqualFold(f.Entity, entity)
}

// err is what the operation fails with; nil: it only takes its time.
func (f *Fault) err() error {
	switch {
	case f.Lost:
		return services.ErrNoEffect
	case f.Status != 0:
		return services.Answered{Status: f.Status}
	case f.Error != "":
		return fmt.Errorf("%s: %w", f.Error, bindings.ErrUnavailable)
	case f.DiskFull:
		return fmt.Errorf("no space left on the disk: %w", bindings.ErrUnavailable)
	case f.Latency > 0:
		return nil
	case f.Service == Handler:
		return errLostHandler
	}
	return bindings.ErrUnavailable
}

// errLostHandler is the failure of an attempt whose process has ended.
var errLostHandler = errors.New("the process of the handler has ended") // read only

// losable are the operations that can be lost: their callers go on without what they bring.
var losable = []string{ // read only
	"Abandon", "Complete", "DeadLetter", "Defer", "Delete", "Deliver", "Put", "Release", "Replace", "Retry", "Send", "SendEvents", "SetMetadata", "Update", "Upsert",
}

// writes reports whether the operation of a point changes what a service keeps.
func writes(p services.FaultPoint) bool {
	return slices.Contains(operations[p.Service].writes, p.Op)
}
