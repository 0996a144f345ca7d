// Package all lists the services that operations are about, and the operations. A new service
// is a row here.
package all

import (
	"slices"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
	"github.com/redeliver/redeliver/host/ops/eventhubs"
	"github.com/redeliver/redeliver/host/ops/messages"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// emulated are the emulated services with their operations.
var emulated = []struct { // read only
	service    *ops.Service
	operations func() []ops.Deed
}{
	{queues.Service, queues.Operations},
	{servicebus.Service, servicebus.Operations},
	{eventgrid.Service, eventgrid.Operations},
	{eventhubs.Service, eventhubs.Operations},
	{cosmos.Service, cosmos.Operations},
	{blobs.Service, blobs.Operations},
}

// Services are those that operations are about.
func Services() []*ops.Service {
	list := run.Services()
	for _, row := range emulated {
		list = append(list, row.service)
	}
	return list
}

// Operations are all operations, also those that only some runs have. Of the journal there
// is the request only: a server writes it in ways of its own.
func Operations() []ops.Deed {
	list := slices.Concat(run.Operations(), messages.Operations())
	for _, row := range emulated {
		list = append(list, row.operations()...)
	}
	return list
}

// Routes are those of all operations, and of the journal.
func Routes() []ops.Route {
	list := []ops.Route{ops.RouteOf(run.ReadJournal{})}
	for _, op := range Operations() {
		list = append(list, op.Route)
	}
	return list
}
