// Package all lists the services that operations are about, and the operations. A new service
// is a row of [Table].
package all

import (
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/host/ops/durable"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
	"github.com/redeliver/redeliver/host/ops/tables"
)

// Table lists the services and the operations. Of the journal it has no operation, see
// [Routes]: a server writes it in ways of its own.
func Table() ops.Table {
	return ops.Table{
		{Service: run.OutputService, Operations: run.Operations},
		{Operations: messages.Operations},
		{Service: queues.Service, Operations: queues.Operations},
		{Service: servicebus.Service, Operations: servicebus.Operations},
		{Service: eventgrid.Service, Operations: eventgrid.Operations},
		{Service: eventhubs.Service, Operations: eventhubs.Operations},
		{Service: cosmos.Service, Operations: cosmos.Operations},
		{Service: blobs.Service, Operations: blobs.Operations},
		{Service: tables.Service, Operations: tables.Operations},
		{Service: durable.Service, Operations: durable.Operations},
		{Service: durable.EntityService, Operations: durable.EntityOperations},
		{Service: run.HandlerService},
	}
}

// Routes are those of the operations of a table that have one, and of the journal.
func Routes(t ops.Table) []ops.Route {
	list := []ops.Route{ops.RouteOf(run.ReadJournal{})}
	for _, op := range t.Operations() {
		if op.Path != "" {
			list = append(list, op.Route)
		}
	}
	return list
}
