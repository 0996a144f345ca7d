package services

import (
	"errors"

	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/queues"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// A FaultPoint is a moment at which an operation of an embedded service can be made to
// fail: before it, so that nothing happens, and after its effect, so that the caller does
// not learn of it. The function that is asked may wait, by the clock.
type FaultPoint struct {
	Service   string // "queue", "blob", "servicebus", "eventhubs", "cosmos", "eventgrid" or "durable"; "handler" of what runs the functions
	Op        string // the method's name: "Delete", "Complete", "SendEvents", "Upsert", ...; of Event Grid "Deliver" and "Retry", of the handler "Invoke", of turns durable.BeforeTurn and its like
	Entity    string // queue, container/blob, path of an entity, hub, database/container, topic/subscription, function
	MessageID string // of settlements, renewals and events
	After     bool   // the operation has taken effect
}

// ErrNoEffect, as the fault of an operation before its effect, lets the operation do
// nothing and succeed nevertheless: a settlement that gets lost, so that the message
// comes again.
var ErrNoEffect = keep.ErrNoEffect

// Answered, as the fault of Event Grid's "Deliver", is the answer of the endpoint. As the
// fault of "Retry", ErrNoEffect leaves the retry out.
type Answered = eventgrid.Answered

// Foresee is the operation with which a listener asks whether it may leave out polls of an
// empty queue: where a fault answers with ErrNoEffect. Else every poll is made, and counts.
const Foresee = queues.Foresee

// Within calls do between the points of a fault, which may be nil: not at all when the
// first one fails. The error of the second comes after what do has done.
func Within[T any](fault func(FaultPoint) error, p FaultPoint, do func() (T, error)) (T, error) {
	if fault == nil {
		return do()
	}
	if err := fault(p); err != nil {
		return *new(T), err
	}
	v, err := do()
	p.After = true
	return v, errors.Join(err, fault(p))
}

func (e *Embedded) storageFault() func(storage.FaultPoint) error {
	if e.opts.Faults == nil {
		return e.opts.Fault
	}
	return func(p storage.FaultPoint) error {
		if e.opts.Fault != nil && p.Op == Foresee {
			return nil
		}
		if e.opts.Fault != nil {
			if err := e.opts.Fault(p); err != nil {
				return err
			}
		}
		point := FaultPoint{Service: "queue", Op: p.Op, Entity: p.Queue, MessageID: p.MessageID, After: p.After}
		if p.Container != "" {
			point.Service, point.Entity = "blob", p.Container
			if p.Blob != "" {
				point.Entity += "/" + p.Blob
			}
		}
		if p.Table != "" {
			point.Service, point.Entity = "table", p.Table
		}
		if p.Service != "" {
			point.Service = p.Service
		}
		return e.opts.Faults(point)
	}
}

func (e *Embedded) busFault() func(servicebus.FaultPoint) error {
	if e.opts.Faults == nil {
		return nil
	}
	return func(p servicebus.FaultPoint) error {
		return e.opts.Faults(FaultPoint{Service: "servicebus", Op: p.Op, Entity: p.Entity, MessageID: p.MessageID, After: p.After})
	}
}

func (e *Embedded) hubsFault() func(eventhubs.FaultPoint) error {
	if e.opts.Faults == nil {
		return nil
	}
	return func(p eventhubs.FaultPoint) error {
		return e.opts.Faults(FaultPoint{Service: "eventhubs", Op: p.Op, Entity: p.Hub, After: p.After})
	}
}

func (e *Embedded) cosmosFault() func(cosmos.FaultPoint) error {
	if e.opts.Faults == nil {
		return nil
	}
	return func(p cosmos.FaultPoint) error {
		return e.opts.Faults(FaultPoint{Service: "cosmos", Op: p.Op, Entity: p.Container, MessageID: p.ItemID, After: p.After})
	}
}

func (e *Embedded) gridFault() func(eventgrid.FaultPoint) error {
	if e.opts.Faults == nil {
		return nil
	}
	return func(p eventgrid.FaultPoint) error {
		return e.opts.Faults(FaultPoint{Service: "eventgrid", Op: p.Op, Entity: p.Subscription, MessageID: p.EventID, After: p.After})
	}
}

func (e *Embedded) durableFault() func(durable.FaultPoint) error {
	if e.opts.Faults == nil {
		return nil
	}
	return func(p durable.FaultPoint) error {
		return e.opts.Faults(FaultPoint{Service: "durable", Op: p.Op, Entity: p.Function, MessageID: p.Instance, After: p.After})
	}
}
